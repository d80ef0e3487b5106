#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a new user does first, on a minimal Debian that is made for it: from a clone to an own program
# by four commands, then the installation, help, mistakes, crashes, a trace, Python, the Debian
# packages. Prints the time of each step beside the targets. Other work on the machine makes steps
# longer, but hardly their time of processors: the script fails when two idle cores could not reach a
# target with it. ccache is not used. Needs root, mmdebstrap, and archives of Debian and of Python
# packages.
#
# Usage: first_hour.sh [--debian NAME] [--dir DIR]     NAME: bookworm (default) or trixie.
#        DIR: the system is made there, and kept; default: in a temporary folder
set -euo pipefail

TARGET_S=240   # from the clone to the own program, on two idle cores
PACKAGES_S=120 # make packages, in a new clone
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

# judge NAME TARGET: the sum of the steps in $HOME/counted beside the target in seconds; fails when
# idle cores could not reach that.
judge() {
  awk -v name="$1" -v target="$2" -v cores="$CORES" -v load="$(cut -d ' ' -f 1-3 /proc/loadavg)" '
    { wall += $1; busy += $2 + $3 }
    END {
      printf "%-40s %6.1f s, processors %6.1f s; target %d s on %d idle cores%s (load %s)\n",
        name, wall, busy, target, cores,
        wall <= target ? "" : ": MISSED beside other work", load
      exit busy / cores > target
    }' "$HOME/counted" || { echo "FAILED: $CORES idle cores need longer"; exit 1; }
  rm "$HOME/counted"
}

# refuses NAME PATTERN COMMAND...: a step whose command must fail, and print the pattern
refuses() {
  local name=$1 pattern=$2
  shift 2
  # shellcheck disable=SC2016
  step "$name" bash -c '! "$@"' bash "$@"
  says "$pattern"
}

four_commands() {
  counted "1 git clone" git clone -q "$origin" source
  cd source
  counted "2 make demo" make demo
  says "VERIFIED"
  PATH=$PWD/build/bin:$PATH
  counted "3 tombolo cc" tombolo cc examples/neighbour.c -o "$HOME/own"
  cd "$HOME"
  counted "4 tombolo run" tombolo run -np 4 ./own
  says "rank 3 of 4 got 2"
  judge "clone to own program" "$TARGET_S"
}

install_it() {
  step "make install" make -C source install "PREFIX=$HOME/tombolo"
  PATH=$HOME/tombolo/bin:$PATH
  step "clean tree after the build" git -C source status --short
  [ ! -s said ] || { cat said; echo "FAILED: generated files dirty the tree"; exit 1; }
  step "tombolo doctor" tombolo doctor
  says "0 with an error"
  step "packages: man (not counted)" apt-get -qq install --no-install-recommends man-db
  step "man page" env MANPAGER=cat man -M "$HOME/tombolo/share/man" tombolo-run
  says "hosts=LIST"
}

# Help, and mistakes of the command line. No ssh is here, and none is needed for this host's name.
command_line() {
  step "help of a command" tombolo help run
  says "--hosts=LIST"
  step "tombolo cc --show" tombolo cc --seq --debug --show own.c
  says "-DGASNET_SEQ=1 -DGASNET_DEBUG=1 own.c .*-ltombolo"
  refuses "a mistyped command" "did you mean 'run'" tombolo rum
  refuses "a mistyped option" "did you mean --label" tombolo run --lable ./own
  refuses "a bad TOMBOLO_HOSTS" "TOMBOLO_HOSTS" env TOMBOLO_HOSTS=a:b tombolo run ./own
  ! grep -- --hosts said || { echo "FAILED: it is the setting that is wrong"; exit 1; }
  step "this host by its name" tombolo run --hosts "$(uname -n)" -n 2 ./own
  says "rank 1 of 2 got 0"
}

# A program that ends in each manner; the lines of a crash are there without a debugger.
ends() {
  cat >ends.c <<'C'
#include <gasnetex.h>
int main(int argc, char **argv) {
  gex_Client_t client; gex_EP_t ep; gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "ENDS", &argc, &argv, 0);
  volatile int *nowhere = 0;
  if (argc > 1) return *nowhere;
  if (gex_TM_QueryRank(team) == 0) return 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}
C
  step "tombolo cc -g" tombolo cc -g ends.c -o ends
  refuses "a crash" "^tombolo: ranks? .*failed in" tombolo run -n 3 ./ends crash
  says "main \(ends.c:6\)"
  step "an early end" tombolo run -n 3 ./ends
  says "rank 0 ended before barrier .*, in which ranks 1-2 wait"
}

traces() {
  step "a trace" tombolo run -n 2 --trace one.json ./own
  cp one.json kept.json
  refuses "a program that is not there" "not found" tombolo run -n 2 --trace one.json ./nosuch
  cmp one.json kept.json
  step "a second trace" tombolo run -n 2 --trace two.json ./own
  step "tombolo view --summary" tombolo view --summary one.json
  step "tombolo view --compare" tombolo view --compare one.json two.json
  step "tombolo view" tombolo view one.json
  [ -s one.html ]
}

in_python() {
  step "Python: packages" apt-get -qq install --no-install-recommends python3-venv python3-dev
  step "Python: pip install" \
    bash -c 'python3 -m venv v && v/bin/pip install -q ./source/bindings/python'
  echo "import tombolo; print('sum', tombolo.init().allreduce(1))" >sum.py
  step "Python: four ranks" v/bin/tombolo run -n 4 sum.py
  says "^sum 4"
}

# Packages of a new clone, with what is installed by now; then the start by them alone.
as_packages() {
  git clone -q "$origin" again
  counted "make packages" make -C again packages
  judge "Debian packages" "$PACKAGES_S"
  step "apt-get install" bash -c 'apt-get -qq install ./again/build/packages/*.deb'
  rm own
  step "packages: tombolo cc" /usr/bin/tombolo cc again/examples/neighbour.c -o own
  step "packages: tombolo run" env "PATH=/usr/bin:/bin" tombolo run -n 2 ./own
  says "rank 1 of 2 got 0"
}

origin=$PWD
cd "$HOME"
rm -rf source again tombolo v counted
step "packages: lists, git (not counted)" bash -c 'apt-get -qq update
  apt-get -qq install --no-install-recommends git
  git config --global --add safe.directory "*"'
four_commands
install_it
command_line
ends
traces
echo 'int main() { return 0; }' >plain.cc
step "tombolo c++" bash -c 'tombolo c++ plain.cc -o plain && ./plain'
in_python
as_packages
[ -z "$(ls /dev/shm)" ] || { ls /dev/shm; echo "FAILED: /dev/shm is not empty"; exit 1; }
