# SPDX-License-Identifier: BSD-3-Clause
# zsh -f complete.zsh FOLDER LINE: what zsh offers when Tab is pressed behind the line, sorted, on one line.
# FOLDER has the function _tombolo. A zsh with compinit runs in a pseudo-terminal; its builtin compadd is
# wrapped, so that what it offers is printed rather than shown in columns.
emulate zsh -o extended_glob
zmodload zsh/zpty
zpty -b shell 'zsh -f -i'
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D
compadd() {
  local -a got
  builtin compadd -O got \"\$@\"
  (( \$#got )) && print -rl -- \"<\"\${^got}\">\"
  builtin compadd \"\$@\"
}
offer() { _main_complete; print '<E''ND>'; }
zle -C offer complete-word offer
bindkey '^I' offer
print '<RE''ADY>'"
zpty -r -m shell out '*<READY>*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell out '*<END>*'
zpty -d shell
local -a offered
while [[ $out == (#b)[^\<]#\<([^\>]#)\>(*) ]]; do
  [[ $match[1] == END ]] || offered+=$match[1]
  out=$match[2]
done
print -r -- ${(ou)offered}
