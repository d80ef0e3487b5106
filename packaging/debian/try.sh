#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# try.sh PACKAGES SOURCE: installs all packages of a folder in a Debian that is thrown away
# afterwards (`try.py deb` calls it there by chroot), uses each, removes them, and compares the files
# of the system with those before. The registry of Debian's packages must be reached.
set -euo pipefail
packages=$1 source=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

fail() {
  echo "FAILED: $*"
  exit 1
}

apt() { apt-get -q -o Dpkg::Use-Pty=0 "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt-get $*"; }; }

# Every file but those that apt, dpkg, ldconfig, man and Python write beside packages.
files() {
  find / -xdev -path /proc -prune -o -path /sys -prune -o -path /dev -prune -o -path /tmp -prune \
    -o -path /run -prune -o -path /root -prune -o -path /var/lib/apt -prune \
    -o -path /var/lib/dpkg -prune -o -path /var/cache -prune -o -path /var/log -prune \
    -o -path "$packages" -prune -o -path "$source" -prune -o -name __pycache__ -prune -o -print |
    LC_ALL=C sort
}

# Runs a command, whose output must have a line.
shows() { # LINE COMMAND...
  local line=$1
  shift
  "$@" >/tmp/said 2>&1 || { cat /tmp/said; fail "$*: code $?"; }
  grep -qx -- "$line" /tmp/said || { cat /tmp/said; fail "$*: no line $line"; }
}

# What the packages need and recommend comes first, so that it is known what is theirs. Compilers,
# pkg-config and ssh must be among it; man and completion are the system's.
prepare() {
  local names
  apt update
  apt install -y --no-install-recommends man-db bash-completion
  names=$(apt-get -s install "$packages"/*.deb |
    awk '$1 == "Inst" && $2 !~ /^(python3-)?tombolo/ { print $2 }')
  # shellcheck disable=SC2086
  apt install -y --no-install-recommends $names
}

use_library() {
  cp -r "$source/examples" /tmp/work
  cd /tmp/work
  # shellcheck disable=SC2046
  cc -DGASNET_SEQ=1 hello.c -o hello $(pkg-config --cflags --libs tombolo)
  shows "hello from rank 1 of 2; .*" tombolo run -n 2 ./hello
  # shellcheck disable=SC2046
  cc -DGASNET_SEQ=1 neighbour.c -o neighbour $(pkg-config --cflags --libs tombolo)
  shows "rank 0 of 2 got 1 from its left neighbour" tombolo run -n 2 ./neighbour
  tombolo cc neighbour.c -o own
  shows "rank 1 of 2 got 0 from its left neighbour" tombolo run -n 2 ./own
  # shellcheck disable=SC2046
  cc -DGASNET_PAR=1 neighbour.c -o old $(pkg-config --cflags --libs gasnet-udp-par)
  shows "rank 1 of 2 got 0 from its left neighbour" gasnetrun_udp -n 2 ./old
  ldd hello | grep -q "libtombolo.so.* => /" || fail "hello does not find the library"
}

use_pages() {
  local page
  for page in gex_RMA_PutNB tombolo-run upc_memput; do
    MANPAGER=cat man "$page" >/tmp/page 2>&1 || { cat /tmp/page; fail "man $page"; }
    grep -q "$page" /tmp/page || fail "man $page has another page"
  done
  whatis gex_RMA_PutNB | grep -q gex_RMA_PutNB || fail "whatis gex_RMA_PutNB"
}

use_commands() {
  tombolo doctor | tee /tmp/doctor
  ! grep -E "^(error|warning) +(conduits|libsodium|MPI|ssh|C compiler|gfortran)" /tmp/doctor ||
    fail "packages do not bring what tombolo doctor asks for"
  shows "tombolo .*" tombolo version
  tombolo explain TMB-0107 | grep -q TMB-0107 || fail "tombolo explain"
  bash -ic '. /usr/share/bash-completion/bash_completion; _completion_loader tombolo
    COMP_WORDS=(tombolo do) COMP_CWORD=1; _tombolo; echo "${COMPREPLY[*]}"' 2>/dev/null |
    grep -qx doctor || fail "bash does not complete 'tombolo do'"
}

use_languages() {
  (cd /tmp/work/fortran && tombolo fc -O2 hello.f90 -o hello)
  shows "sum of squares: 5" tombolo run -n 2 /tmp/work/fortran/hello
  (cd /tmp/work/upc && tombolo upcc -O2 hello.upc -o hello)
  shows "Hello from thread 1 of 2; thread 0 wrote to me; .*" tombolo run -n 2 /tmp/work/upc/hello
  oshcc.tombolo -O2 /tmp/work/shmem/hello.c -o /tmp/work/pe
  oshc++.tombolo --show /tmp/work/shmem/hello.c | grep -q "c++ " || fail "oshc++.tombolo is not for C++"
  oshrun.tombolo -np 2 /tmp/work/pe >/tmp/said || fail "oshrun.tombolo"
  cat >/tmp/work/ring.py <<'PYTHON'
import os
import tombolo
job = tombolo.init()
os.write(1, f"python {job.rank} of {job.size}: {job.allreduce(1)}\n".encode())
PYTHON
  shows "python 1 of 2: 2" /usr/bin/python3 -m tombolo run -n 2 /tmp/work/ring.py
}

prepare
files >/tmp/before
apt install -y --no-install-recommends "$packages"/*.deb
dpkg --audit
dpkg -l | awk '/tombolo/ { print $1, $2, $3 }'
use_library
use_pages
use_commands
use_languages
cd /
# shellcheck disable=SC2046
apt purge -y $(dpkg-query -W -f '${Package}\n' '*tombolo*')
files >/tmp/after
diff /tmp/before /tmp/after || fail "the packages leave or take files"
echo "deb: installed, used, purged; nothing is left of $(find "$packages" -name '*.deb' | wc -l) packages"
