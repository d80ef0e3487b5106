#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a new user does first, on a minimal Debian that is made for it: from a clone to an own program
# by four commands, then the installation, help, a mistyped command, a crash, Python. Prints the time
# of each step beside the target. Other work on the machine makes steps longer, but hardly their time
# of processors: the script fails when two idle cores could not reach the target with it. ccache is
# not used. Needs root, mmdebstrap, and archives of Debian and of Python packages.
#
# Usage: first_hour.sh [--debian NAME] [--dir DIR]     NAME: bookworm (default) or trixie.
#        DIR: the system is made there, and kept; default: in a temporary folder
set -euo pipefail

TARGET_S=240 # from the clone to the own program, on two idle cores
CORES=2

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1-}" != --inside ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "${dir:?}"' EXIT
  "$here/../scripts/chroot_test.sh" --dir "$dir" "$@" bash packaging/first_hour.sh --inside
  exit
fi

# ---- in the fresh system, in a clone
export DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt CCACHE_DISABLE=1
TIMEFORMAT='%R %U %S'

# step NAME COMMAND...: runs it; its output is shown only when it fails
step() {
  local name=$1 code=0
  shift
  { time "$@" >"$HOME/said" 2>&1 || code=$?; } 2>"$HOME/took"
  if [ "$code" -ne 0 ]; then
    cat "$HOME/said"
    echo "FAILED: $name: $*"
    exit 1
  fi
  awk -v name="$name" '{ printf "%-40s %6.1f s, processors %6.1f s\n", name, $1, $2 + $3 }' \
    "$HOME/took"
}

# counted NAME COMMAND...: the same, for a step from the clone to the own program
counted() {
  step "$@"
  cat "$HOME/took" >>"$HOME/counted"
}

# says PATTERN: the last step has printed it
says() {
  grep -Eq -- "$1" "$HOME/said" || { cat "$HOME/said"; echo "FAILED: no /$1/"; exit 1; }
}

# The sum of the counted steps beside the target; fails when idle cores could not reach that.
judge() {
  awk -v target="$TARGET_S" -v cores="$CORES" -v load="$(cut -d ' ' -f 1-3 /proc/loadavg)" '
    { wall += $1; busy += $2 + $3 }
    END {
      printf "%-40s %6.1f s, processors %6.1f s; target %d s on %d idle cores%s (load %s)\n",
        "clone to own program", wall, busy, target, cores,
        wall <= target ? "" : ": MISSED beside other work", load
      exit busy / cores > target
    }' "$HOME/counted" || { echo "FAILED: $CORES idle cores need longer"; exit 1; }
}

origin=$PWD
cd "$HOME"
rm -rf source tombolo v counted
step "packages: lists, git (not counted)" bash -c 'apt-get -qq update
  apt-get -qq install --no-install-recommends git
  git config --global --add safe.directory "*"'

# The four commands.
counted "1 git clone" git clone -q "$origin" source
cd source
counted "2 make demo" make demo
says "VERIFIED"
PATH=$PWD/build/bin:$PATH
counted "3 tombolo cc" tombolo cc examples/neighbour.c -o "$HOME/own"
cd "$HOME"
counted "4 tombolo run" tombolo run -np 4 ./own
says "rank 3 of 4 got 2"
judge

# What follows in the first hour.
step "make install" make -C source install "PREFIX=$HOME/tombolo"
PATH=$HOME/tombolo/bin:$PATH
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
