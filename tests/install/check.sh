#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh METHOD BUILD_DIR: installs the build into a fresh prefix, then builds and runs clients
# as a user would who only knows that prefix. The methods are at the end.
set -euo pipefail
method=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
[ "$method" != blanks ] || prefix="$work/pré fix"
case $method in
  manual | uninstall | packages) ;;
  *) export TMB_INSTALL_PAGES=no ;; # the pages of the manual take most of the time
esac
cmake --install "$build" --prefix "$prefix" >"$work/install.log" || {
  cat "$work/install.log"
  exit 1
}
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cd "$work"

# Runs a client on three ranks, with and without a launcher; it must say that it is well.
run_client() {
  "$prefix/bin/gasnetrun_smp" -n 3 -- "$1" | grep -x "install client: 3 ranks ok"
  GASNET_PSHM_NODES=2 timeout 60 "$1" | grep -x "install client: 2 ranks ok"
}

expect_variable() { # every name of the build contract has a value or is known to be empty
  case $1 in
    *MISC* | *MANUAL*) ;;
    *) [ -n "$2" ] || { echo "FAILED: $1 is empty in $3"; exit 1; } ;;
  esac
}

# The page of a name is found by that name, and says what the header says.
by_manual() {
  if ! [ -d "$prefix/share/man/man3" ]; then
    echo "skipped: this build has no reference pages (clang)"
    exit 77
  fi
  for name in gex_RMA_PutNB gex_RMA_GetBlocking gex_Event_Wait; do
    if command -v man >/dev/null; then
      LC_ALL=C.UTF-8 MANPAGER=cat man -M "$prefix/share/man" "$name" >page.txt
    else
      page=$(sed -n 's/^\.so //p' "$prefix/share/man/man3/$name.3")
      cp "$prefix/share/man/${page:-man3/$name.3}" page.txt
    fi
    for words in "$name" gasnetex.h COMPLETION THREADS ERRORS COST EXAMPLE; do
      grep -q -- "$words" page.txt || { echo "FAILED: page of $name without $words"; exit 1; }
    done
  done
}

by_mak() {
  for mode in seq par parsync; do
    {
      echo "include $prefix/include/smp-conduit/smp-$mode.mak"
      echo "client: client.o"
      printf '\t$(GASNET_LD) $(GASNET_LDFLAGS) -o $@ $< $(GASNET_LIBS)\n'
      echo "client.o: $here/client.c"
      printf '\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -c -o $@ $<\n'
      printf 'show-%%:\n\t@echo "$($*)"\n'
    } >"Makefile.$mode"
    rm -f client client.o
    make -s -f "Makefile.$mode" client
    run_client ./client
    while read -r name; do
      expect_variable "$name" "$(make -s -f "Makefile.$mode" "show-$name")" "smp-$mode.mak"
    done < <(awk -F '\t' '$2 == "make-var" && /^GASNET_/ { print $1 }' "$here/../data/symbols.txt")
  done
  for mode in seq par; do
    {
      echo "include $prefix/include/gasnet_tools-$mode.mak"
      echo "tools: $here/tools_client.c"
      printf '\t$(GASNETTOOLS_CC) $(GASNETTOOLS_CPPFLAGS) $(GASNETTOOLS_CFLAGS) '
      printf '$(GASNETTOOLS_LDFLAGS) -o $@ $< $(GASNETTOOLS_LIBS)\n'
    } >"Makefile.tools-$mode"
    rm -f tools
    make -s -f "Makefile.tools-$mode" tools
    ./tools
  done
  # The makefile that docs/book/from-gasnet.md shows.
  awk '/^```make$/ { on = 1; next } /^```$/ { on = 0 } on' \
    "$here/../../docs/book/from-gasnet.md" >Makefile
  cp "$here/client.c" program.c
  make -s PREFIX="$prefix" program
  run_client ./program
  # Another compiler, chosen by this client alone.
  if command -v clang >/dev/null; then
    rm -f client client.o
    GASNET_CC=clang make -f Makefile.par client >make.out
    [ "$(grep -c '^clang ' make.out)" = 2 ] || { cat make.out; echo "FAILED: not clang"; exit 1; }
    run_client ./client
  fi
  # The shortest thing that people type; the static names must link too.
  cc -DGASNET_SEQ -I"$prefix/include" "$here/client.c" -o plain \
    -L"$prefix/lib" -lgasnet-smp-seq -Wl,-rpath,"$prefix/lib"
  run_client ./plain
  cc -DGASNET_PAR -I"$prefix/include" "$here/client.c" -o static \
    "$prefix/lib/libgasnet-smp-par.a" -lpthread -lm
  run_client ./static
}

by_pkg_config() {
  # shellcheck disable=SC2046
  for mode in seq par parsync; do
    package=gasnet-smp-$mode
    $(pkg-config --variable=GASNET_CC $package) $(pkg-config --cflags $package) \
      "$here/client.c" -o client $(pkg-config --libs $package)
    run_client ./client
    while read -r name; do
      expect_variable "$name" "$(pkg-config "--variable=$name" $package)" "$package.pc"
    done < <(awk -F '\t' '$2 == "make-var" && /^GASNET_/ { print $1 }' "$here/../data/symbols.txt")
  done
  for mode in seq par; do
    cc $(pkg-config --cflags gasnet_tools-$mode) "$here/tools_client.c" -o tools \
      $(pkg-config --libs gasnet_tools-$mode)
    ./tools
  done
  cc -DGASNET_SEQ "$here/client.c" -o client $(pkg-config --cflags --libs tombolo)
  run_client ./client
  for mode in seq parsync par; do
    "$prefix/bin/tombolo" cc --$mode "$here/client.c" -o client
    run_client ./client
  done
  as_start_says
  sources_alone
}

# A program that the Book's commands have made beside its source is not installed.
sources_alone() {
  made=$here/../../examples/install-check
  trap 'rm -rf "$work" "$made"' EXIT
  touch "$made"
  DESTDIR=$work/docs cmake --install "$build" --component doc >"$work/install.log"
  find docs -name neighbour.c | grep -q . || { echo "FAILED: no examples are installed"; exit 1; }
  if find docs -name install-check | grep .; then
    echo "FAILED: that is no source, and is installed"
    exit 1
  fi
}

# Each of examples/*.c, neighbour.c last, compiled by the line of the first chapter with pkg-config.
as_start_says() {
  local line source page=$here/../../docs/book/start.md
  line=$(grep -e "^cc .*neighbour\.c.*--libs tombolo" "$page" | head -n 1)
  line=${line/GASNET_SEQ/GASNET_PAR}
  line=${line/ -o/ -Wall -Wextra -Werror -o}
  line=${line/ [a-z\/]*neighbour.c/ program.c}
  line=${line/ neighbour.c/ program.c}
  for source in "$here"/../../examples/*.c "$here/../../examples/neighbour.c"; do
    cp "$source" program.c
    eval "$line" || { echo "FAILED: the line of $page does not compile $source: $line"; exit 1; }
  done
  "$prefix/bin/tombolo" run -n 4 ./neighbour >neighbour.out
  [ "$(grep -c 'of 4 got' neighbour.out)" = 4 ] || { cat neighbour.out; exit 1; }
}

# A prefix with a blank: clients by each method, what is loaded before a program, and what commands
# look for beside themselves, which is not where the build's own prefix is.
by_blanks() {
  local tombolo=$prefix/bin/tombolo
  "$tombolo" info --json >info.json
  grep -qF "\"prefix\": \"$prefix\"" info.json ||
    { echo "FAILED: tombolo info does not name its prefix, $prefix"; exit 1; }
  eval "cc -DGASNET_SEQ '$here/client.c' -o client $(pkg-config --cflags --libs tombolo)"
  run_client ./client
  eval "cc '$here/client.c' -o client $(pkg-config --cflags --libs gasnet-smp-par)"
  run_client ./client
  {
    echo "include ${prefix// /\\ }/include/smp-conduit/smp-seq.mak"
    printf 'by-make:\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ '
    printf '%s $(GASNET_LDFLAGS) $(GASNET_LIBS)\n' "'$here/client.c'"
  } >Makefile
  make -s by-make
  run_client ./by-make
  "$tombolo" cc "$here/client.c" -o client
  run_client ./client
  "$tombolo" run -n 2 --check=all ./client 2>said | grep -x "install client: 2 ranks ok"
  "$tombolo" run -n 2 --record "re cord" ./client 2>>said | grep -x "install client: 2 ranks ok"
  "$tombolo" run --replay "re cord" ./client 2>>said | grep -x "install client: 2 ranks ok"
  [ ! -s said ] || { cat said; exit 1; }
  if [ -x "$prefix/libexec/tombolo/sim" ]; then
    cp "$prefix/share/tombolo/machines/torus.json" "$prefix/share/tombolo/machines/own.json"
    "$tombolo" sim machine --machine own >sim.out || { cat sim.out; exit 1; }
  fi
  if [ -x "$prefix/libexec/tombolo/upc1" ]; then
    printf '#include <upc.h>\nint main(void) { upc_barrier; }\n' >u.upc
    "$tombolo" upcc u.upc -o u && "$tombolo" run -n 2 ./u
  fi
}

# Starts a client of conduit udp; it must say that it has so many ranks and one argument.
run_udp() { # RANKS COMMAND...
  local ranks=$1
  shift
  timeout 60 "$@" >udp.out || { cat udp.out; echo "FAILED: $*"; exit 1; }
  printf 'install client: %s ranks ok\ninstall client: argument x y\n' "$ranks" | cmp - udp.out || {
    cat udp.out
    echo "FAILED: $*"
    exit 1
  }
}

# Conduit udp: the number of ranks on the command line, launchers by their names, hosts by a remote
# shell that stays here.
by_udp() {
  unset "${!GASNET_@}" "${!TOMBOLO_@}"
  for page in tombolo tombolo-run tombolo-why gasnetrun_udp amudprun; do
    [ -s "$prefix/share/man/man1/$page.1" ] || { echo "no manual page of $page"; exit 1; }
  done
  for mode in seq par parsync; do
    {
      echo "include $prefix/include/udp-conduit/udp-$mode.mak"
      printf 'client:\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ '
      printf '%s $(GASNET_LDFLAGS) $(GASNET_LIBS)\n' "$here/client.c"
    } >"Makefile.$mode"
    rm -f client
    make -s -f "Makefile.$mode" client
    run_udp 3 ./client 3 "x y"
    GASNET_SPAWNFN=L run_udp 2 ./client 2 "x y"
    run_udp 1 ./client 1 "x y"
  done
  run_udp 3 "$prefix/bin/amudprun" -np 3 ./client "x y"
  run_udp 3 "$prefix/bin/gasnetrun_udp" -n 3 -spawner=fork ./client "x y"
  run_udp 1 ./client "x y" # no number: one rank, nothing is taken away
  # shellcheck disable=SC2046
  $(pkg-config --variable=GASNET_CC gasnet-udp-par) $(pkg-config --cflags gasnet-udp-par) \
    "$here/client.c" -o client $(pkg-config --libs gasnet-udp-par)
  printf '#!/bin/sh\nexec sh -c "$2"\n' >rsh
  printf '#!/bin/sh\n[ "$1" = to ] || exit 1\nshift 2\nexec "$@"\n' >custom
  chmod +x rsh custom
  export GASNET_SSH_SERVERS="hosta hostb" GASNET_SSH_CMD=$work/rsh
  run_udp 4 ./client 4 "x y"
  GASNET_SPAWNFN=S run_udp 2 ./client 2 "x y"
  GASNET_SPAWNFN=L run_udp 3 ./client 3 "x y"
  run_udp 4 "$prefix/bin/amudprun" -np 4 -N 2 ./client "x y"
  run_udp 2 "$prefix/bin/gasnetrun_udp" -n 2 -N 1 ./client "x y"
  "$prefix/bin/gasnetrun_smp" -n 3 -- ./client | grep -qx "install client: 3 ranks ok"
  unset GASNET_SSH_SERVERS
  AMUDP_SSH_SERVERS="hosta,hostb" AMUDP_SPAWNFN=S run_udp 2 ./client 2 "x y"
  SSH_SERVERS="hosta,hostb" SPAWNFN=S run_udp 2 ./client 2 "x y"
  GASNET_SPAWNFN=C GASNET_CSPAWN_CMD="$work/custom to %M %C" GASNET_CSPAWN_SERVERS="a b" \
    run_udp 2 ./client 2 "x y"
  # Without hosts a custom command runs once, here, by a shell, and may leave the agent behind it.
  printf '#!/bin/sh\nn=$1\nshift\nwhile [ "$n" -gt 0 ]; do "$@" & n=$((n - 1)); done\nwait\n' >many
  chmod +x many
  for way in "nice %C" "sh -c '%C'" 'for i in $(seq %N); do %C & done; wait' "$work/many %N %C"; do
    GASNET_SPAWNFN=C GASNET_CSPAWN_CMD="$way" run_udp 3 ./client 3 "x y"
  done
  if GASNET_SPAWNFN=S ./client 2 2>said; then exit 1; fi
  grep -q "no hosts are named; give --hosts, or set GASNET_SSH_SERVERS" said
  if GASNET_SPAWNFN=C GASNET_SSH_SERVERS=a ./client 2 2>said; then exit 1; fi
  grep -q "GASNET_CSPAWN_CMD is" said
  if GASNET_SPAWNFN=X ./client 2 2>said; then exit 1; fi
  grep -q "GASNET_SPAWNFN" said
  if ./client 5000 2>said; then exit 1; fi
  grep -q "5000: the first argument, a number of ranks, must be from 1 to 1024" said
}

# Conduit ofi, and the names that stand for it: fragments, pkg-config, launchers. On hosts that are
# pretended the client goes through libfabric, because its fragment says so.
by_ofi() {
  [ -e "$prefix/lib/tombolo/tombolo-net-ofi.so" ] || { echo "skipped: ofi is not built"; exit 77; }
  unset "${!GASNET_@}" "${!TOMBOLO_@}"
  export TOMBOLO_PLACES=2 TOMBOLO_OFI_PROVIDER="tcp;ofi_rxm"
  for net in ofi ibv aries ucx; do
    for mode in seq par parsync; do
      {
        echo "include $prefix/include/$net-conduit/$net-$mode.mak"
        printf 'client:\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ '
        printf '%s $(GASNET_LDFLAGS) $(GASNET_LIBS)\n' "$here/client.c"
      } >"Makefile.$net-$mode"
      rm -f client
      make -s -f "Makefile.$net-$mode" client
    done
    run_udp 3 "$prefix/bin/gasnetrun_$net" -n 3 ./client "x y"
    # shellcheck disable=SC2046
    $(pkg-config --variable=GASNET_CC gasnet-$net-par) $(pkg-config --cflags gasnet-$net-par) \
      "$here/client.c" -o client $(pkg-config --libs gasnet-$net-par)
    run_udp 2 "$prefix/bin/gasnetrun_$net" -n 2 ./client "x y"
    TOMBOLO_OFI_PROVIDER=nothing timeout 60 "$prefix/bin/gasnetrun_$net" -n 2 ./client 2>said &&
      { echo "FAILED: $net does not go through libfabric"; exit 1; }
    grep -q "TOMBOLO_OFI_PROVIDER=nothing" said || { cat said; exit 1; }
    TOMBOLO_CONDUIT=udp TOMBOLO_OFI_PROVIDER=nothing \
      run_udp 2 "$prefix/bin/gasnetrun_$net" -n 2 ./client "x y"
  done
}

# Conduit mpi, by each MPI's launcher: the client knows nothing of MPI, its fragment names the
# conduit.
by_mpi() {
  unset "${!GASNET_@}" "${!TOMBOLO_@}" "${!OMPI_@}" "${!PMI@}"
  export TOMBOLO_PLACES=2 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_btl_base_warn_component_unused=0
  local abi tried= many=$(($(nproc) + 2)) # more ranks than processors
  for abi in openmpi mpich; do
    [ -e "$prefix/lib/tombolo/tombolo-net-mpi-$abi.so" ] || continue
    export TOMBOLO_MPI=$abi
    for mode in seq par parsync; do
      {
        echo "include $prefix/include/mpi-conduit/mpi-$mode.mak"
        printf 'client:\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ '
        printf '%s $(GASNET_LDFLAGS) $(GASNET_LIBS)\n' "$here/client.c"
      } >"Makefile.mpi-$mode"
      rm -f client
      make -s -f "Makefile.mpi-$mode" client
    done
    tried=1
    run_udp $many "$prefix/bin/gasnetrun_mpi" -n $many ./client "x y"
    TOMBOLO_PLACES= run_udp $many "$prefix/bin/gasnetrun_mpi" -n $many -N 1 ./client "x y"
    # shellcheck disable=SC2046
    $(pkg-config --variable=GASNET_CC gasnet-mpi-seq) $(pkg-config --cflags gasnet-mpi-seq) \
      "$here/client.c" -o client $(pkg-config --libs gasnet-mpi-seq)
    run_udp 2 "$prefix/bin/gasnetrun_mpi" -n 2 ./client "x y"
    launcher=$([ $abi = mpich ] && echo mpiexec.hydra || echo mpirun.openmpi)
    MPIRUN_CMD="$launcher -n %N %P %A" run_udp 2 "$prefix/bin/gasnetrun_mpi" -n 2 ./client "x y"
    # It goes through MPI: with a setting of the conduit that is wrong it says so.
    TOMBOLO_MPI_THREAD=knotted "$prefix/bin/gasnetrun_mpi" -n 2 ./client >said 2>&1 || true
    grep -q "TOMBOLO_MPI_THREAD=knotted" said || { cat said; echo "FAILED: not by MPI"; exit 1; }
  done
  [ -n "$tried" ] || { echo "skipped: no MPI plug-in is built"; exit 77; }
  printf 'printf "[%%s]" "$@"\necho\n' >echo-words
  GASNET_MPI_SPAWNER=fork TOMBOLO_PLACES=1 run_udp 2 "$prefix/bin/gasnetrun_mpi" -n 2 ./client "x y"
  "$prefix/bin/gasnetrun_mpi" -t -spawner=ssh -n 2 ./client 2>said
  grep -q "tombolo run -n 2 -- ./client" said
  GASNET_MPI_SPAWNER=pmi "$prefix/bin/gasnetrun_mpi" -t -n 2 ./client 2>said
  grep -q "srun -n 2 ./client" said
  # Commands of the user: letters inside words, quotes, arguments with blanks and percent signs.
  for what in "%P %A" "%C"; do
    way="sh echo-words -n%N 'a  b' 100%% $what end"
    MPIRUN_CMD=$way "$prefix/bin/gasnetrun_mpi" -n 2 ./client "x  %y" '$z' >said
    grep -qxF '[-n2][a  b][100%][./client][x  %y][$z][end]' said
    PMIRUN_CMD=$way "$prefix/bin/gasnetrun_mpi" -spawner=pmi -n 2 ./client "x  %y" '$z' >said
    grep -qxF '[-n2][a  b][100%][./client][x  %y][$z][end]' said
  done
  MPIRUN_CMD="sh echo-words %D" "$prefix/bin/gasnetrun_mpi" -n 2 ./client "x y" >said
  grep -qxF "[$PWD][./client][x y]" said
}

# Plug-ins lie beside the library, where it looks for them.
if grep -q '^TMB_CUDA:BOOL=ON' "$build/CMakeCache.txt"; then
  plugin=$prefix/lib/libtombolo-mk-cuda.so
  [ -f "$plugin" ] || { echo "FAILED: $plugin was not installed"; exit 1; }
fi

by_cmake() {
  mkdir src
  cp "$here/client.c" src/
  cat >src/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES C)
find_package(tombolo 0.1 REQUIRED)
foreach(kind tombolo tombolo_static)
  add_executable(client_${kind} client.c)
  target_compile_definitions(client_${kind} PRIVATE GASNET_PARSYNC=1)
  target_link_libraries(client_${kind} PRIVATE tombolo::${kind})
endforeach()
END
  cmake -S src -B out -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; exit 1; }
  cmake --build out >build.log || { cat build.log; exit 1; }
  run_client out/client_tombolo
  run_client out/client_tombolo_static
  by_cmake_in_part
  by_cmake_below
}

# The sources are a subdirectory of a project, which knows the same targets. Nothing is built.
by_cmake_below() {
  mkdir whole
  cat >whole/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(whole LANGUAGES C)
add_subdirectory("$here/../.." tombolo EXCLUDE_FROM_ALL)
add_executable(client "$here/client.c")
target_link_libraries(client PRIVATE tombolo::shmem tombolo::tombolo)
if(TARGET victim OR TARGET nightly)
  message(FATAL_ERROR "the tests are part of a project that did not ask for them")
endif()
END
  cmake -S whole -B out-whole >cmake.log 2>&1 || { cat cmake.log; exit 1; }
}

# Only some packages are installed: find_package finds what is there, and misses what is asked for.
by_cmake_in_part() {
  for part in lib dev; do
    cmake --install "$build" --prefix "$work/part" --component "$part" >part.log
  done
  cmake -S src -B out-part -DCMAKE_PREFIX_PATH="$work/part" >cmake.log || { cat cmake.log; exit 1; }
  sed -i 's/tombolo 0.1 REQUIRED/& COMPONENTS SHMEM/' src/CMakeLists.txt
  if cmake -S src -B out-none -DCMAKE_PREFIX_PATH="$work/part" >cmake.log 2>&1; then
    echo "FAILED: the component SHMEM is found without its package"
    exit 1
  fi
  grep -q "component SHMEM is not installed" cmake.log || { cat cmake.log; exit 1; }
}

# Coarray Fortran: the wrapper, pkg-config, and CMake's component.
by_fortran() {
  command -v gfortran >/dev/null || { echo "skipped: no gfortran"; exit 77; }
  [ ! -e "$prefix/bin/caf" ] || { echo "FAILED: caf was installed unasked"; exit 1; }
  CAF_ALIASES=1 cmake --install "$build" --prefix "$work/aliases" >install2.log
  "$prefix/bin/tombolo" fc -O2 "$here/client.f90" -o wrapped
  run_fortran "$prefix/bin/tombolo" run -n 3 ./wrapped
  "$work/aliases/bin/caf" "$here/client.f90" -o aliased
  run_fortran "$work/aliases/bin/cafrun" -n 3 ./aliased
  # shellcheck disable=SC2046
  gfortran "$here/client.f90" -o by_hand $(pkg-config --cflags --libs caf_tombolo)
  run_fortran env GASNET_PSHM_NODES=3 ./by_hand
  mkdir src
  cp "$here/client.f90" src/
  cat >src/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES C Fortran)
find_package(tombolo 0.1 REQUIRED COMPONENTS Fortran)
add_executable(client client.f90)
target_link_libraries(client PRIVATE tombolo::caf)
END
  cmake -S src -B out -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; exit 1; }
  cmake --build out >build.log || { cat build.log; exit 1; }
  run_fortran "$prefix/bin/tombolo" run -n 3 out/client
  # The interface of gfortran 16 is another library; here called by hand.
  printf 'void _gfortran_caf_init(int *, char ***);\nvoid _gfortran_caf_finalize(void);\n%s\n' \
    'int main(int c, char **v) { _gfortran_caf_init(&c, &v); _gfortran_caf_finalize(); }' >by16.c
  # shellcheck disable=SC2046
  cc by16.c -o by16 $(pkg-config --libs caf_tombolo16)
  "$prefix/bin/tombolo" run -n 2 ./by16
  # The module of notified access.
  printf 'use tombolo_caf\ninteger :: a[*]\ncall event_detach(loc(a), i)\nend\n' >module.f90
  "$prefix/bin/tombolo" fc module.f90 -o module && ./module
  # Static coarrays start the job in a constructor: the library's own must have run, here too.
  gfortran -fcoarray=lib "$here/client.f90" -o static \
    "$prefix/lib/libcaf_tombolo.a" "$prefix/lib/libtombolo.a" -lpthread -lm
  run_fortran "$prefix/bin/tombolo" run -n 3 ./static
  # One image without a launcher.
  [ "$(./by_hand)" = "fortran client: 1 images ok" ] || { ./by_hand; exit 1; }
  # What is not ours goes through, and nothing is linked where the arguments say so.
  "$prefix/bin/tombolo" fc --show -c x.f90 |
    grep -q "^gfortran -fcoarray=lib -c x.f90 -I$prefix/lib/"
  "$prefix/bin/tombolo" fc --show x.f90 -o 'a b' | grep -q -- "-o 'a b' .*-lcaf_tombolo$"
  "$prefix/bin/tombolo" fc --compiler=no-such-compiler x.f90 2>said && exit 1
  grep -q "no-such-compiler.*not found" said
}

# PRIF: each compiler with its module, by pkg-config.
by_prif() {
  local compiler said module found=0
  cat >hello.f90 <<'END'
use, intrinsic :: iso_c_binding
use prif
integer(c_int) :: stat, sum, images
call prif_init(stat)
call prif_this_image_no_coarray(this_image=sum)
call prif_num_images(images)
call prif_co_sum(sum)
if (sum == images*(images + 1)/2) print '(a)', 'prif client: ok'
call prif_stop(.true._c_bool)
end
END
  for module in "$prefix"/lib/tombolo/fortran/*/prif.mod; do
    [ -e "$module" ] || continue
    compiler=$(basename "$(dirname "$module")")
    case $compiler in flang*) ;; *) compiler=gfortran-$compiler ;; esac
    command -v "$compiler" >/dev/null || continue
    # shellcheck disable=SC2046
    "$compiler" hello.f90 -o hello \
      $(pkg-config --cflags --libs "prif_tombolo-${compiler#gfortran-}")
    said=$("$prefix/bin/tombolo" run -n 3 ./hello)
    [ "$(grep -c "prif client: ok" <<<"$said")" = 3 ] || { echo "$compiler: $said"; exit 1; }
    FC=$compiler "$prefix/bin/tombolo" fc --prif hello.f90 -o by_fc
    said=$("$prefix/bin/tombolo" run -n 3 ./by_fc)
    [ "$(grep -c "prif client: ok" <<<"$said")" = 3 ] || { echo "fc $compiler: $said"; exit 1; }
    case $compiler in flang*) by_hand "$compiler" ;; esac
    found=1
  done
  [ "$found" = 1 ] || { echo "skipped: no compiler with a module prif"; exit 77; }
}

# A program of flang, linked as docs/PRIF.md says for a compiler that Tombolo does not know: STOP
# with a code ends one image, and what is written before ERROR STOP is kept.
by_hand() { # COMPILER
  local sources=$prefix/lib/tombolo/fortran/prif
  cat >ends.f90 <<'END'
print '(a)', 'written'
if (this_image() == 2) stop 3
if (this_image() == 1) call execute_command_line('sleep 0.2')
if (this_image() == 1) error stop 5
end
END
  "$1" -c -I "$sources" "$sources/tombolo_prif.F90"
  "$1" -c -I "$sources" "$sources/prif.f90"
  "$1" -fcoarray ends.f90 tombolo_prif.o prif.o "$sources/program.o" "@$sources/flang.link" \
    -o ends -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lprif_tombolo 2>/dev/null
  said=$("$prefix/bin/tombolo" run -n 2 ./ends 2>ended) && code=0 || code=$?
  if [ "$code" != 5 ] || [ "$(grep -c written <<<"$said")" != 2 ]; then
    echo "$1 by hand: exit code $code: $said"
    cat ended
    exit 1
  fi
}

# The prefix then holds what was there before, and what others have put there.
by_uninstall() {
  [ -s "$prefix/lib/tombolo/install_manifest.txt" ]
  # Every file that the installation wrote is on its list.
  (cd "$prefix" && find . -not -type d | sed 's,^./,,' | LC_ALL=C sort) >there
  LC_ALL=C sort "$prefix/lib/tombolo/install_manifest.txt" >listed
  diff there listed || { echo "FAILED: the list of installed files"; exit 1; }
  [ -z "$(find "$prefix" -type d -empty)" ] || { echo "FAILED: an empty folder"; exit 1; }
  # Twice: the list has each file once. Other users can use it, also where the umask is 077.
  rm -rf "$prefix/bin" "$prefix/lib/tombolo/upc"
  (umask 077 &&
    make -C "$here/../.." -o installed install BUILD="$build" PREFIX="$prefix" >again.log)
  hidden=$(find "$prefix" -mindepth 1 ! -type l \( ! -perm -444 -o -type d ! -perm -555 \))
  [ -z "$hidden" ] || { echo "FAILED: not for other users: $hidden"; exit 1; }
  LC_ALL=C sort "$prefix/lib/tombolo/install_manifest.txt" | diff - listed
  echo mine >"$prefix/lib/tombolo/foreign.so"
  echo mine >"$prefix/bin/foreign"
  make -s -C "$here/../.." uninstall PREFIX="$prefix" >said
  grep -q "removed $(wc -l <listed) files" said || { cat said; exit 1; }
  (cd "$prefix" && find . -not -type d | LC_ALL=C sort) >left
  printf './bin/foreign\n./lib/tombolo/foreign.so\n' | diff - left
  # In a prefix of our own no empty folder is left; below /usr those that others share.
  [ -z "$(find "$prefix" -mindepth 1 -type d -empty)" ] ||
    { find "$prefix" -type d -empty; echo "FAILED: an empty folder is left"; exit 1; }
  # Without a list, and with one that names files elsewhere, nothing is removed.
  make -s -C "$here/../.." uninstall PREFIX="$prefix" >said 2>&1 && exit 1
  grep -q "give the.PREFIX of the" <(tr '\n' ' ' <said | tr -s ' ') || { cat said; exit 1; }
  # With another folder of libraries, below DESTDIR.
  mkdir -p stage/usr/lib/x86_64-linux-gnu/tombolo
  echo "lib/x86_64-linux-gnu/tombolo/install_manifest.txt" \
    >stage/usr/lib/x86_64-linux-gnu/tombolo/install_manifest.txt
  make -s -C "$here/../.." uninstall PREFIX=/usr DESTDIR="$PWD/stage" >said
  [ -z "$(find stage -type f)" ] && [ ! -e stage/usr/lib/x86_64-linux-gnu/tombolo ]
  [ -d stage/usr/lib/x86_64-linux-gnu ]
  # A prefix of our own that is then empty goes, too.
  mkdir -p stage/opt/own/lib/tombolo
  echo "lib/tombolo/install_manifest.txt" >stage/opt/own/lib/tombolo/install_manifest.txt
  make -s -C "$here/../.." uninstall PREFIX=/opt/own DESTDIR="$PWD/stage" >said
  [ ! -e stage/opt/own ] && [ -d stage/opt ] || { echo "FAILED: the empty prefix stays"; exit 1; }
  # The folder of libraries is the default one, also when the prefix becomes Debian's own, or the
  # one that is asked for.
  for given in PREFIX=/opt/t PREFIX=/usr LIBDIR=lib64; do
    cmake -S "$here/../.." -B tree -G Ninja "-DCMAKE_INSTALL_$given" -DTMB_TESTS=OFF \
      -DTMB_BENCH=OFF -DTMB_FORTRAN=OFF -DTMB_UPC=OFF -DTMB_PYTHON=OFF >tree.log 2>&1
    wanted=lib
    [ "$given" != LIBDIR=lib64 ] || wanted=lib64
    grep -qx "CMAKE_INSTALL_LIBDIR:STRING=$wanted" tree/CMakeCache.txt ||
      { grep LIBDIR tree/CMakeCache.txt; echo "FAILED: LIBDIR with $given"; exit 1; }
  done
  echo keep >outside
  echo "../outside" >"$prefix/lib/tombolo/install_manifest.txt"
  make -s -C "$here/../.." uninstall PREFIX="$prefix" >said 2>&1 && exit 1
  [ -e outside ] && [ -e "$prefix/bin/foreign" ]
}

# OpenSHMEM by its own commands, by pkg-config and by CMake, shared and static.
by_shmem() {
  local program=$here/../../examples/shmem/hello.c
  "$prefix/bin/oshcc" -O1 -Wall "$program" -o by_command
  # shellcheck disable=SC2046
  cc "$program" -o by_package $(pkg-config --cflags --libs shmem_tombolo)
  mkdir src
  cp "$program" src/
  cat >src/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES C)
find_package(tombolo 0.1 REQUIRED COMPONENTS SHMEM)
find_package(tombolo 0.1 REQUIRED COMPONENTS shmem)
foreach(kind shmem shmem_static)
  add_executable(client_${kind} hello.c)
  target_link_libraries(client_${kind} PRIVATE tombolo::${kind})
endforeach()
END
  cmake -S src -B out -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; exit 1; }
  cmake --build out >build.log || { cat build.log; exit 1; }
  for program in by_command by_package out/client_shmem out/client_shmem_static; do
    [ "$("$prefix/bin/oshrun" -np 2 "./$program" | grep -c "wrote to me")" -eq 2 ] ||
      { echo "FAILED: $program"; exit 1; }
  done
}

# Packages hold what an installation does, each file once, and serve a client from a scratch root.
# UPC++ itself, unmodified: its configure takes the include folder as a build of GASNet. Needs a
# folder with its sources, in TMB_UPCXX_SOURCE.
by_upcxx() {
  if [ ! -x "${TMB_UPCXX_SOURCE:-}/configure" ]; then
    echo "skipped: TMB_UPCXX_SOURCE names no folder with the sources of UPC++"
    exit 77
  fi
  cp -r "$TMB_UPCXX_SOURCE" source
  mkdir upcxx
  cd upcxx
  ../source/configure --prefix="$work/installed" --enable-single=opt \
    --with-gasnet="$prefix/include" --with-default-network=smp
  make -j2 all
  make check NETWORKS="smp udp"
}

# The field Installed-Size of a package is that of its files, to 5 % and a KiB for each of them.
true_size() {
  local field bytes files
  rm -rf alone
  dpkg-deb -x "$1" alone
  field=$(dpkg-deb -f "$1" Installed-Size)
  bytes=$(find alone -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  files=$(find alone | wc -l)
  if [ "$((field * 1024))" -lt "$bytes" ] ||
    [ "$((field * 20))" -gt "$((bytes / 1024 * 21 + files * 20))" ]; then
    echo "FAILED: Installed-Size of $1 is $field KiB for $bytes bytes, $files files"
    exit 1
  fi
}

# A package says of each library that programs link with that it is its own.
own_libraries() {
  dpkg-deb -c "$1" | sed -nE 's,.* \./usr/lib/(lib[^/ ]*)\.so\.([0-9]+)( ->.*)?$,\1 \2,p' |
    LC_ALL=C sort >there
  { dpkg-deb -I "$1" shlibs 2>no.txt || true; } | cut -d ' ' -f 1,2 | LC_ALL=C sort |
    diff there - || { echo "FAILED: shlibs of $1"; exit 1; }
}

by_packages() {
  for package in cpack dpkg-deb; do
    command -v "$package" >/dev/null || { echo "there is no $package"; exit 77; }
  done
  local root=$work/root package
  (cd "$build" && cpack -G DEB -B "$work/packages") >cpack.log 2>&1 || { cat cpack.log; exit 1; }
  for package in "$work"/packages/tombolo-*.deb; do
    dpkg-deb -x "$package" root
    true_size "$package"
    own_libraries "$package"
    dpkg-deb -c "$package" | awk '$1 !~ /^d/ { print $6 }' |
      sed 's,^./usr/,,; /^share\/man\//s/\.gz$//; /^bin\/osh/s/\.tombolo$//' >>packed
  done
  [ -z "$(sort packed | uniq -d)" ] || { echo "FAILED: in two packages"; exit 1; }
  # The list itself is in none; the Python package is in one of its own, for Debian's folder.
  grep -v "install_manifest.txt$\|^lib/python" "$prefix/lib/tombolo/install_manifest.txt" |
    LC_ALL=C sort >wanted
  # Packages have a copyright, a changelog and lintian's overrides, and a page for each launcher.
  grep -v "^share/doc/tombolo-[a-z]*/\(copyright\|changelog.gz\)$" packed |
    grep -v "^share/lintian/" |
    grep -v "^share/man/man1/gasnetrun_\(aries\|ibv\|mpi\|ofi\|smp\|ucx\).1$" |
    grep -v "^share/man/man1/osh[a-z+]*.tombolo.1$" |
    LC_ALL=C sort | diff wanted - ||
    { echo "FAILED: files of packages"; exit 1; }
  if command -v lintian >/dev/null; then
    lintian --no-cfg --fail-on error,warning "$work"/packages/*.deb >lintian.txt 2>&1 ||
      { cat lintian.txt; echo "FAILED: lintian"; exit 1; }
  fi
  dpkg-deb -f "$work"/packages/tombolo-dev_*.deb Depends | grep -q "tombolo-lib (= "
  cp "$here/../../examples/neighbour.c" .
  export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/pkgconfig
  # shellcheck disable=SC2046
  cc -DGASNET_PAR=1 neighbour.c -o neighbour $(pkg-config --cflags --libs tombolo)
  LD_LIBRARY_PATH=$root/usr/lib "$root/usr/bin/tombolo" run -n 3 ./neighbour >said
  grep -qx "rank 0 of 3 got 2 from its left neighbour" said
  python_package
}

# The package of Python runs beside the others. Without NumPy there was nothing to pack.
python_package() {
  [ -e "$(echo "$work"/packages/python3-tombolo_*.deb)" ] || return 0
  dpkg-deb -x "$work"/packages/python3-tombolo_*.deb root
  dpkg-deb -f "$work"/packages/python3-tombolo_*.deb Depends | grep -q "python3-numpy"
  LD_LIBRARY_PATH=$root/usr/lib PYTHONPATH=$root/usr/lib/python3/dist-packages \
    /usr/bin/python3 -m tombolo run -n 2 -c \
    "import os, tombolo; j = tombolo.init()
os.write(1, f'{j.allreduce(1)} {tombolo.__file__}\n'.encode())" >said # in one piece
  [ "$(grep -c "^2 $root/usr/lib/python3/dist-packages/tombolo/__init__.py" said)" = 2 ]
}

# completed WORDS: what bash offers for the last of these words, on one line
completed() {
  bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tombolo; echo "${COMPREPLY[*]}"' \
    "$prefix/share/bash-completion/completions/tombolo" "$@"
}

# offered "WANTED" WORDS
offered() {
  local wanted=$1 got
  shift
  got=$(completed "$@")
  [ "$got" = "$wanted" ] || { echo "FAILED: '$*' offers '$got', not '$wanted'"; exit 1; }
}

by_completion() {
  local zsh=$prefix/share/zsh/site-functions/_tombolo
  local fish=$prefix/share/fish/vendor_completions.d/tombolo.fish
  offered "doctor" tombolo do
  offered "--hostfile= --hosts=" tombolo run --host
  offered "--quick" tombolo bench --q
  offered "--label" tombolo run -n 4 --hosts = a,b --la
  offered "" tombolo run -n 4 ./prog --la # an option of the program
  offered "startup" tombolo bench st
  offered "stencil start" tombolo sim st
  offered "fat-tree" tombolo sim barrier --machine fa
  offered "fat-tree" tombolo sim barrier --machine = fa
  offered "" tombolo sim barrier --way s # no experiment
  offered "ps" tombolo help p
  PATH="$prefix/bin:$PATH" offered "TMB-0404" tombolo explain TMB-0404
  grep -q -- "--hosts=" "$zsh"
  grep -q -- "-l 'hosts' -x" "$fish"
  mkdir files
  touch files/prog.c files/pear
  for shell in zsh fish; do
    if command -v "$shell" >/dev/null; then
      line_offers "$shell" "doctor" "tombolo do"
      line_offers "$shell" "--hostfile --hosts" "tombolo run --ho"
      line_offers "$shell" "--label" "tombolo run -n 4 --la"
      line_offers "$shell" "" "tombolo run -n 4 ./prog --la" # an option of the program
      line_offers "$shell" "pear prog.c" "tombolo run -n 4 p"
      line_offers "$shell" "--list" "tombolo explain --l"
      line_offers "$shell" "pear prog.c" "tombolo fc p"
      line_offers "$shell" "ps" "tombolo help p"
    else
      echo "there is no $shell: its completion is not tried"
    fi
  done
}

# line_offers SHELL "WANTED" LINE: what a shell offers behind a line, in a folder with two files
line_offers() {
  local got
  case $1 in
    zsh) got=$(cd files && timeout 60 zsh -f "$here/complete.zsh" "${zsh%/*}" "$3") ;;
    fish)
      got=$(cd files && HOME=$work timeout 60 fish --no-config -c \
        "source $fish; complete -C '$3'" | cut -f 1 | sort | tr '\n' ' ') ;;
  esac
  [ "${got% }" = "$2" ] || { echo "FAILED: $1: '$3' offers '${got% }', not '$2'"; exit 1; }
}

run_fortran() { "$@" | grep -x "fortran client: 3 images ok"; }

case $method in
  fortran) by_fortran ;;
  prif) by_prif ;;
  mak) by_mak ;;
  pkg-config) by_pkg_config ;;
  blanks) by_blanks ;;
  udp) by_udp ;;
  ofi) by_ofi ;;
  mpi) by_mpi ;;
  cmake) by_cmake ;;
  shmem) by_shmem ;;
  names) bash "$here/names.sh" "$prefix" ;;
  idioms) bash "$here/idioms.sh" "$prefix" ;;
  completion) by_completion ;;
  packages) by_packages ;;
  manual) by_manual ;;
  uninstall) by_uninstall ;;
  upcxx) by_upcxx ;;
  compilers) bash "$here/compilers.sh" "$build" ;;
  *)
    echo "check.sh: unknown method $method"
    exit 2
    ;;
esac
echo "install through $method: ok"
