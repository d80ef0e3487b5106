#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the checks as on machines that each lack one optional tool: its files are hidden below /usr
# in a mount namespace, the tree is configured anew, built and checked. Needs root and overlayfs.
# Works in a clone of HEAD in DIR, or in a temporary folder that is removed in the end. The build
# tree stays from tool to tool, so each costs its tests and what its absence changes.
#
# Usage: without_each.sh [--at DIR] [--only NAME]... [COMMAND...]
# NAME: of the table below. COMMAND: default: python3 scripts/run_tests.py --check
set -euo pipefail

# A name, and the files that are hidden, below /usr.
TABLE='
addr2line    bin/*addr2line
ccache       bin/ccache lib/ccache
clang        bin/clang* lib/llvm-*/bin/clang*
cmocka       include/cmocka* lib/*/libcmocka* lib/*/pkgconfig/cmocka.pc lib/*/cmake/cmocka
fftw         include/fftw3* lib/*/libfftw3* lib/*/pkgconfig/fftw3*
flang        bin/flang* lib/llvm-*/bin/flang*
fortran      bin/*gfortran* bin/f95 bin/f77
gdb          bin/gdb bin/gcore
git          bin/git
gnuplot      bin/gnuplot*
groff        bin/groff bin/nroff bin/man
ip           bin/ip sbin/ip sbin/tc bin/tc
libfabric    include/rdma lib/*/libfabric*
locales      bin/localedef lib/locale
mpich        bin/*.mpich bin/mpiexec.hydra lib/*/libmpich* lib/*/mpich
numpy        lib/python3/dist-packages/numpy*
openblas     lib/*/openblas* lib/*/libopenblas* lib/*/pkgconfig/*openblas*
openmpi      bin/*.openmpi lib/*/openmpi lib/*/libmpi.so*
pmix         lib/*/pmix* lib/*/libpmix* include/pmix* lib/*/pkgconfig/pmix*
png          include/png* include/libpng* lib/*/libpng*.a lib/*/libpng*.so lib/*/pkgconfig/libpng*
pytest       lib/python3/dist-packages/pytest bin/pytest* bin/py.test*
python_dev   include/python3*
simgrid      include/simgrid* lib/*/libsimgrid*
slurm        bin/srun bin/sbatch sbin/slurm*
sodium       include/sodium* lib/*/libsodium* lib/*/pkgconfig/libsodium.pc
ssh          bin/ssh sbin/sshd
unshare      bin/unshare
valgrind     bin/valgrind* include/valgrind
venv         lib/python3*/ensurepip lib/python3*/venv
'

only="" dir=""
while [ $# -gt 0 ]; do
  case "$1" in
    --at) dir=$2; shift ;;
    --only) only+=" $2 "; shift ;;
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --) shift; break ;;
    -*) echo "without_each: no option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || set -- python3 scripts/run_tests.py --check
for name in $only; do
  grep -q "^$name " <<<"$TABLE" || { echo "without_each: no $name in the table" >&2; exit 2; }
done

top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'rm -rf "${work:?}"' EXIT
dir=${dir:-$work/clone}

# hide FOLDER PATTERNS...: whiteouts, for what is there, in a layer above /usr. Prints their number.
hide() {
  local layer=$1 pattern path
  shift
  for pattern in "$@"; do
    for path in /usr/$pattern; do
      [ -e "$path" ] || continue
      mkdir -p "$layer$(dirname "$path")"
      mknod "$layer$path" c 0 0
    done
  done
  find "$layer" -type c | wc -l
}

# In a namespace of its own with that layer.
without() {
  local layer=$1
  shift
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount bash -c 'mount -t overlay hidden -o lowerdir="$0/usr:/usr" /usr && exec "$@"' \
    "$layer" "$@"
}

mkdir -p "$work/try/usr/bin"
if [ "$(id -u)" -ne 0 ] || ! without "$work/try" true 2>/dev/null; then
  echo "skipped: root cannot mount an overlay here"
  exit 77
fi
[ -d "$dir" ] || git clone -q --no-hardlinks "$top" "$dir"
cd "$dir"

failed=""
while read -r name patterns; do
  if [ -z "$name" ] || { [ -n "$only" ] && [[ "$only" != *" $name "* ]]; }; then continue; fi
  layer=$work/$name
  mkdir -p "$layer/usr"
  read -ra words <<<"$patterns"
  count=$(hide "$layer" "${words[@]}")
  if [ "$count" -eq 0 ]; then
    echo "without_each: $name is not installed"
    continue
  fi
  rm -f build/CMakeCache.txt
  if without "$layer" "$@" >"$work/said" 2>&1 </dev/null; then
    echo "without_each: $name: $(tail -1 "$work/said")"
  else
    failed+=" $name"
    tail -40 "$work/said"
    echo "without_each: $name: FAILED"
  fi
done <<<"$TABLE"
[ -z "$failed" ] || { echo "without_each: failed without:$failed"; exit 1; }
