#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the checks as on machines that each lack one optional tool: its files are hidden below /usr
# in a mount namespace, the tree is configured anew and built, and the tests that look for the tool
# are run. Needs root and overlayfs. Works in a clone of HEAD in DIR, or in a temporary folder that
# is removed in the end. The build tree stays from tool to tool, so each costs its tests and what
# its absence changes.
#
# Usage: without_each.sh [--at DIR] [--only NAME]... [COMMAND...]
# NAME: of the table below. COMMAND: instead of the build and the tests, whose names match $TESTS.
set -euo pipefail

# A name, the files that are hidden, below /usr; then what the names of the tests begin with.
TABLE='
addr2line    bin/*addr2line
  unit[.]boot[.]explain|multi[.]trace|fault[.]crashes|fortran[.]wrong|shmem[.]faults|upc[.]why
ccache       bin/ccache lib/ccache
  multi[.]cc|install[.]names
clang        bin/clang* lib/llvm-*/bin/clang*
  lint[.](format|locks|numbered|reference)|compile[.]|install[.](compilers|names)|upc[.]c23
cmocka       include/cmocka* lib/*/libcmocka* lib/*/pkgconfig/cmocka.pc lib/*/cmake/cmocka
  lint[.]tidy$|multi[.]versions
fftw         include/fftw3* lib/*/libfftw3* lib/*/pkgconfig/fftw3*
  study[.](ft|quick|apps)
flang        bin/flang* lib/llvm-*/bin/flang*
  prif[.](fc|late|ends|interfaces)|install[.]prif
fortran      bin/*gfortran* bin/f95 bin/f77
  prif[.](fc|late|ends)|upc[.]interop|shmem[.]beside|multi[.]trace|install[.](prif|names)
gdb          bin/gdb bin/gcore
  unit[.]os|fault[.]why|multi[.]replay_(only|stepped)
git          bin/git
  lint[.](release_test|abi|seeds)|study[.](cells|report)
gnuplot      bin/gnuplot*
  study[.]ft
groff        bin/groff bin/nroff bin/man
  lint[.](man|reference|completion|book)|install[.](manual|completion)
ip           bin/ip sbin/ip sbin/tc bin/tc
  fault[.]limits|multi[.]hosts|net[.](skip|lab)|unit[.]tools
libfabric    include/rdma lib/*/libfabric*
  multi[.]conduit_missing|install[.](ofi|names)|fault[.](limits|far)|unit[.]tools
locales      bin/localedef lib/locale
  multi[.]in_locale
mpich        bin/*.mpich bin/mpiexec.hydra lib/*/libmpich* lib/*/mpich
  net[.]launch|install[.](mpi|names)|upc[.]interop|fortran[.]mixed|fault[.](ends|memory)
numpy        lib/python3/dist-packages/numpy*
  python[.]|lint[.]book
openblas     lib/*/openblas* lib/*/libopenblas* lib/*/pkgconfig/*openblas*
  study[.](linear|matmul|cholesky)
openmpi      bin/*.openmpi lib/*/openmpi lib/*/libmpi.so*
  net[.]launch|install[.](mpi|names)|upc[.]interop|shmem[.]launch|fault[.]far|lint[.]calls
pmix         lib/*/pmix* lib/*/libpmix* include/pmix* lib/*/pkgconfig/pmix*
  unit[.]boot|net[.]launch
png          include/png* include/libpng* lib/*/libpng*.a lib/*/libpng*.so lib/*/pkgconfig/libpng*
  study[.](ft|hydro)|multi[.]view
pytest       lib/python3/dist-packages/pytest bin/pytest* bin/py.test*
  python[.]
python_dev   include/python3*
  python[.]|multi[.]in_locale
simgrid      include/simgrid* lib/*/libsimgrid*
  study[.]sim|bench[.]help|unit[.]tools
slurm        bin/srun bin/sbatch sbin/slurm*
  net[.]launch|unit[.]tools|multi[.]first_outputs|lint[.]release_test
sodium       include/sodium* lib/*/libsodium* lib/*/pkgconfig/libsodium.pc
  unit[.]net[.]udp|unit[.]tools|net[.]secret|lint[.]release_test
ssh          bin/ssh sbin/sshd
  multi[.]launcher|net[.](skip|ssh|lab)|lint[.]harness_test|unit[.]tools|study[.]sweep
unshare      bin/unshare
  fault[.]limits|multi[.](trace|launcher)|net[.]skip
valgrind     bin/valgrind* include/valgrind
  multi[.]valgrind|bench[.]counts|unit[.]net[.]udp[.]guard
venv         lib/python3*/ensurepip lib/python3*/venv
  python[.]pip|lint[.]book
'

only="" dir=""
while [ $# -gt 0 ]; do
  case "$1" in
    --at) dir=$2; shift ;;
    --only) only+=" $2 "; shift ;;
    -h | --help) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --) shift; break ;;
    -*) echo "without_each: no option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
# shellcheck disable=SC2016 # for the inner shell
[ $# -gt 0 ] || set -- bash -c 'python3 scripts/run_tests.py --only build &&
  ctest --test-dir build -j "$(nproc)" -R "^($TESTS)" -LE "^nightly$" --output-on-failure'
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
while read -r name patterns && read -r tests; do
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
  if TESTS=$tests without "$layer" "$@" >"$work/said" 2>&1 </dev/null; then
    end=$(grep -E 'tests passed|No tests' "$work/said" || tail -1 "$work/said")
    echo "without_each: $name: $end"
  else
    failed+=" $name"
    tail -40 "$work/said"
    echo "without_each: $name: FAILED"
  fi
done < <(sed '/^$/d' <<<"$TABLE")
[ -z "$failed" ] || { echo "without_each: failed without:$failed"; exit 1; }
