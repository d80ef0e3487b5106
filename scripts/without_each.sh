#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests as on machines that each lack one optional tool: its files are hidden below /usr
# in a mount namespace, and the tests that look for the tool are run. The tree build/ is completed
# first; with --only, only its programs. For each tool this tree has an overlay that is thrown away:
# it is configured anew, and only what the tool's absence changes is compiled. Needs root and
# overlayfs.
#
# Usage: without_each.sh [--only NAME]...
# NAME: of the table below.
set -euo pipefail

# A name, the files that are hidden, below /usr; then what the names of the tests begin with.
TABLE='
addr2line    bin/*addr2line
  unit[.]boot[.]ex|multi[.](trace|first)|fault[.](crashes|why)|fortran[.]w|shmem[.]faults|upc[.]why
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
  unit[.]os|fault[.]why|multi[.](first_outputs|replay_(only|stepped))
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
numpy        lib/python3*/dist-packages/numpy*
  python[.]|lint[.]book
openblas     lib/*/openblas* lib/*/libopenblas* lib/*/pkgconfig/*openblas*
  study[.](linear|matmul|cholesky)
openmpi      bin/*.openmpi lib/*/openmpi lib/*/libmpi.so*
  net[.]launch|install[.](mpi|names)|upc[.]interop|shmem[.]launch|fault[.]far|lint[.]calls
pmix         lib/*/pmix*/include lib/*/libpmix.so include/pmix* lib/*/pkgconfig/pmix*
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

only=""
while [ $# -gt 0 ]; do
  case "$1" in
    --only) only+=" $2 "; shift ;;
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "without_each: no option $1; see --help" >&2; exit 2 ;;
  esac
  shift
done
for name in $only; do
  grep -q "^$name " <<<"$TABLE" || { echo "without_each: no $name in the table" >&2; exit 2; }
done

top=$(cd "$(dirname "$0")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "${work:?}"' EXIT
cd "$top"

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

# without FOLDER COMMAND...: runs it where FOLDER/usr hides files, and what is written into this
# tree goes into FOLDER.
without() {
  mkdir -p "$1/usr" "$1/changed" "$1/work"
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount bash -c 'mount -t overlay hidden -o lowerdir="$0/usr:/usr" /usr &&
    mount -t overlay tree -o lowerdir="$1",upperdir="$0/changed",workdir="$0/work" "$1" &&
    cd "$1" && shift && exec "$@"' "$1" "$top" "${@:2}"
}

# The targets of the tests whose names match $TESTS, as CONTRIBUTING.md names them; those of study/
# are named as the program behind the label.
targets_of_tests() {
  ninja -C build -t targets all | sed -n 's/: phony$//p' | sort -u >"$WORK/targets"
  ctest --test-dir build -N -R "^($TESTS)" -LE '^nightly$' |
    sed -nE 's/.*Test +#[0-9]+: //; T; p; s/[.]n[0-9]+$//; s/^[a-z]+[.]//; p; s/[.].*//; p' |
    sort -u | comm -12 - "$WORK/targets" | grep -vx all
}

# The programs find ccache in $WORK/bin where that is the tool that is hidden from the tests.
build_and_test() {
  local targets
  rm -f build/CMakeCache.txt
  PATH=$WORK/bin:$PATH cmake --preset dev -DTMB_WERROR=ON || return
  ninja -C build -t cleandead || return # programs that are not built without the tool
  targets=$(targets_of_tests)
  # shellcheck disable=SC2086 # one target a word
  PATH=$WORK/bin:$PATH cmake --build build -j "$(nproc)" --target programs $targets || return
  ctest --test-dir build -j "$(nproc)" -R "^($TESTS)" -LE '^nightly$' --output-on-failure
}

if [ "$(id -u)" -ne 0 ] || ! without "$work/try" true 2>/dev/null; then
  echo "skipped: root cannot mount an overlay here"
  exit 77
fi
mkdir "$work/bin"
if command -v ccache >/dev/null; then
  cp "$(command -v ccache)" "$work/bin"
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
if [ -n "$only" ]; then # each of these builds what its tests need
  cmake --preset dev -DTMB_WERROR=ON >/dev/null
  prif=$(ninja -C build -t targets all | sed -n 's/^prif_tests: phony$/prif_tests/p')
  # shellcheck disable=SC2086 # none, where there is no Fortran compiler
  cmake --build build -j "$(nproc)" --target programs $prif
else
  python3 scripts/run_tests.py --only build
fi

export -f build_and_test targets_of_tests
export WORK=$work
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
  SECONDS=0
  if TESTS=$tests without "$layer" bash -c build_and_test >"$work/said" 2>&1 </dev/null; then
    end=$(grep -E 'tests passed|No tests' "$work/said" || tail -1 "$work/said")
    echo "without_each: $name: $end, $SECONDS s"
  else
    failed+=" $name"
    tail -40 "$work/said"
    echo "without_each: $name: FAILED, $SECONDS s"
  fi
  rm -rf "${layer:?}"
done < <(sed '/^$/d' <<<"$TABLE")
[ -z "$failed" ] || { echo "without_each: failed without:$failed"; exit 1; }
