#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a new user does first, on a minimal Debian that is made for it: from a clone to an own program
# by four commands, then help, a mistyped command, a crash, Python. Prints the time of each step
# beside the target. Needs root, mmdebstrap, and archives of Debian and of Python packages.
#
# Usage: first_hour.sh [--debian NAME]     bookworm (default) or trixie
set -euo pipefail

TARGET_S=240 # from the clone to the own program, on two idle cores

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1-}" != --inside ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "${dir:?}"' EXIT
  "$here/../scripts/chroot_test.sh" --dir "$dir" "$@" bash packaging/first_hour.sh --inside
  exit
fi

# ---- in the fresh system, in a clone
export DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt
sum=0

# step NAME COMMAND...: runs it; what it prints is shown only when it fails
step() {
  local name=$1 from=$SECONDS
  shift
  "$@" >"$HOME/said" 2>&1 || { cat "$HOME/said"; echo "FAILED: $name: $*"; exit 1; }
  last=$((SECONDS - from))
  printf '%-46s %4d s\n' "$name" "$last"
}

# says PATTERN: the last step has printed it
says() {
  grep -Eq -- "$1" "$HOME/said" || { cat "$HOME/said"; echo "FAILED: no /$1/"; exit 1; }
}

# The four commands.
own_program() {
  local bin=$HOME/tombolo/bin
  "$bin/tombolo" cc -g "$HOME/source/examples/neighbour.c" -o own
  "$bin/tombolo" run -np 4 ./own
}
apt-get -qq update
step "git (not counted)" apt-get -qq install --no-install-recommends git
origin=$PWD
cd "$HOME"
git config --global --add safe.directory '*'
step "1 git clone" git clone -q "$origin" source
sum=$((sum + last))
cd source
step "2 make deps" make deps
sum=$((sum + last))
step "3 make install" make install "PREFIX=$HOME/tombolo"
sum=$((sum + last))
cd "$HOME"
step "4 tombolo cc, tombolo run" own_program
sum=$((sum + last))
printf '%-46s %4d s, target %d s%s\n' "clone to own program" "$sum" "$TARGET_S" \
  "$([ "$sum" -le "$TARGET_S" ] || echo ': MISSED')"

# What follows in the first hour.
export PATH=$HOME/tombolo/bin:$PATH
step "clean tree after the build" git -C source status --short
[ ! -s said ] || { cat said; echo "FAILED: generated files dirty the tree"; exit 1; }
step "help of a command" tombolo help run
says "--hosts=LIST"
step "tombolo doctor" tombolo doctor
says "0 with an error"
cat >crash.c <<'E2'
#include <gasnetex.h>
int main(int argc, char **argv) {
  gex_Client_t client; gex_EP_t ep; gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "CRASH", &argc, &argv, 0);
  volatile int *nowhere = 0;
  return *nowhere;
}
E2
step "a program that crashes" bash -c 'tombolo cc -g crash.c -o crash; ! tombolo run -n 2 ./crash'
says "failed in"
says "main \(crash.c:6\)"
step "a mistyped command" bash -c '! tombolo rum'
says "run"
echo 'int main() { return 0; }' >plain.cc
step "tombolo c++" bash -c 'tombolo c++ plain.cc -o plain && ./plain'
step "Python: packages" apt-get -qq install --no-install-recommends python3-venv python3-dev
step "Python: pip install" bash -c 'python3 -m venv v && v/bin/pip install -q ./source/bindings/python'
echo "import tombolo; print('sum', tombolo.init().allreduce(1))" >sum.py
step "Python: four ranks" v/bin/tombolo run -n 4 sum.py
says "^sum 4"
[ -z "$(ls /dev/shm)" ] || { ls /dev/shm; echo "FAILED: /dev/shm is not empty"; exit 1; }
