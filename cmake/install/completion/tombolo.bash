# bash completion for tombolo -*- shell-script -*-
# SPDX-License-Identifier: BSD-3-Clause
# Written by scripts/completion.py from the manual pages: run that with --write instead.
_tombolo() {
  local cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[1]} options='' takes='' i word
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'run cc c++ fc upcc upcrun ps top why view info doctor explain bench tune sim version help' -- "$cur")
    return
  fi
  case $name in
    run)
      options='--bind --chaos= --check= --check-json= --cwd= --cyclic --env-only= -E --env= --hostfile= --hosts= --label --live -n --ranks= -N --nodes= --only= --record= --replay= --stats --stdin= --timeout= --trace= -v --verbose --watchdog= -? --help --usage --version'
      takes='--chaos --check --check-json --cwd --env-only -E --env --hostfile --hosts -n --ranks -N --nodes --only --record --replay --stdin --timeout --trace --watchdog' ;;
    cc)
      options='--par --parsync --seq --debug --check --show --compiler= --help'
      takes='--compiler' ;;
    c++)
      options='--par --parsync --seq --debug --check --show --compiler= --help'
      takes='--compiler' ;;
    fc)
      options='--check --show --compiler= --prif --help'
      takes='--compiler' ;;
    upcc)
      options='-T -c -E -S -trans -o -D -U -I -L -l -O -g -f -m -W -std -Wp -Wc -Wl --pointers= --berkeley --check -extern-main -save-temps --show -v --compiler= -print-include-dir --help --version'
      takes='-T -o -D -U -I -L -l -O -g -f -m -W -std --pointers --compiler' ;;
    upcrun)
      options='-n -np -t -show -v -bind-threads -version -h'
      takes='-n -np' ;;
    ps)
      options='-r --ranks -? --help --usage --version'
      takes='' ;;
    top)
      options='-i --interval= -n --count= -? --help --usage --version'
      takes='-i --interval -n --count' ;;
    why)
      options='--all -i --interval= --no-stacks --stacks -? --help --usage --version'
      takes='-i --interval' ;;
    view)
      options='--compare= --diagram= --from= -o --output= --summary --title= --until= -? --help --usage --version'
      takes='--compare --diagram --from -o --output --title --until' ;;
    info)
      options='-c --config -j --json --markdown -n --network -? --help --usage'
      takes='' ;;
    doctor)
      options='--hosts= -j --json -? --help --usage'
      takes='--hosts' ;;
    explain)
      options='--list -? --help --usage --version'
      takes='' ;;
    bench)
      options='--dir= --hosts= --json= --min-time= --no-bind -n --ranks= --quick --runs= --timeout= -v --verbose -? --help --usage'
      takes='--dir --hosts --json --min-time -n --ranks --runs --timeout' ;;
    tune)
      options='-c --collective= --dir= --hosts= --max-bytes= -n --ranks= -o --output= --quick -v --verbose -? --help --usage'
      takes='-c --collective --dir --hosts --max-bytes -n --ranks -o --output' ;;
    sim)
      options='--machine= --ranks= --set= --loggp= --far --json='
      takes='--machine --ranks --set --loggp --json' ;;
  esac
  case $name in
    run|upcrun) # behind the program everything is its own
      for ((i = 2; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == '=' || " $takes " == *" $word "* && ${COMP_WORDS[i + 1]} != '=' ]]; then
          ((i++))
        elif [[ $word != -* ]]; then
          return
        fi
      done ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
    return
  fi
  case $name in
    bench) word='p2p am startup oversubscribed wake vis atomic notify coll lock loggp net fortran upc shmem all' ;;
    sim) word='ft collective links message machine event pipeline barrier stencil hydro fetch-add native start matmul cholesky' ;;
    explain) word=$(tombolo explain --list 2>/dev/null | cut -d' ' -f 1 | sort -u) ;;
    *) word='' ;;
  esac
  if [[ $name == sim && " ${COMP_WORDS[*]:COMP_CWORD-2:2}" == *' --machine'* ]]; then
    word='aries aries-manycore dragonfly ethernet fat-tree torus'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$word" -- "${cur#=}")
  case $name in
    doctor|explain|help|info|ps|top|version|why) compopt +o default +o bashdefault ;;
  esac
} 2>/dev/null
complete -o bashdefault -o default -F _tombolo tombolo
