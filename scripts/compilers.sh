#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds libraries, plug-ins and tools by each compiler that is installed, with warnings as errors,
# compiles the public headers in all standards and the clients in C++, runs a choice of tests, and
# prints a table of it.
#
# Usage: compilers.sh [--types] [COMPILER...]
# COMPILER: as gcc-14 or clang-19; default: all gcc 11 to 16 and clang 14 to 22 in PATH. --types:
# the build types Debug, Release, RelWithDebInfo and MinSizeRel instead of RelWithDebInfo alone;
# default: by gcc-12, gcc-14 and gcc-16. The trees are build-compilers/COMPILER-TYPE, or below
# TMB_COMPILERS. Exit code: 1 when something failed, 77 when there is none of the compilers.
set -uo pipefail
cd "$(dirname "$0")/.."

types=(RelWithDebInfo) names=()
for version in 11 12 13 14 15 16; do names+=("gcc-$version"); done
for version in 14 15 16 17 18 19 20 21 22; do names+=("clang-$version"); done
if [ "${1:-}" = --types ]; then
  types=(Debug Release RelWithDebInfo MinSizeRel) names=(gcc-12 gcc-14 gcc-16)
  shift
fi
if [ $# -gt 0 ]; then names=("$@"); fi
trees=${TMB_COMPILERS:-build-compilers}
jobs=${JOBS:-$(nproc)}
tests='^(unit\.(base|core|os|near|vis)\..*|'
tests+='conformance\.(job|coll_random|vis_random|notify_random)\.n4)$'

# The C++ compiler of a C compiler; where that is not installed, the default one of its family.
cxx_of() {
  local name=${1/gcc/g++}
  name=${name/clang/clang++}
  command -v "$name" >/dev/null || name=${name%-*}
  printf '%s\n' "$name"
}

# Runs a step with its output in the tree's log. Prints ok, or FAILED, and to stderr its errors.
step() {
  local log=$1
  shift
  if "$@" >>"$log" 2>&1; then
    printf ok
  else
    grep -E -m 5 'error|Failed|FAILED' "$log" >&2 || tail -5 "$log" >&2
    printf FAILED
  fi
}

configure() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" \
    -DCMAKE_BUILD_TYPE="$4" -DTMB_WERROR=ON -DTMB_TEST_FOLDERS="unit;conformance" \
    -DTMB_PYTHON=OFF -DTMB_UPC=OFF -DTMB_FUZZ=OFF -DTMB_BENCH=OFF \
    -DTMB_SIMGRID_LIBRARY=OFF # compiled by a newer libstdc++ than some of them have
}

# The programs of the chosen tests have the tests' names, or those of their files.
build() {
  local targets
  targets=$(ctest --test-dir "$1" -N -R "$tests" | sed -nE \
    's/.*Test *#[0-9]+: (conformance\.(.*)\.n[0-9]+|(unit\..*))$/\2\3/p' | sort -u)
  [ -n "$targets" ] || return 1
  # shellcheck disable=SC2086 # one target a word
  cmake --build "$1" -j "$jobs" --target programs $targets
}

tried=0 failed=0
printf '%-34s %-15s %-8s %-8s %s\n' compiler type build headers tests
for name in "${names[@]}"; do
  cxx=$(cxx_of "$name")
  command -v "$name" >/dev/null && command -v "$cxx" >/dev/null || continue
  for type in "${types[@]}"; do
    tree=$trees/$name-$type log=$trees/$name-$type.log
    mkdir -p "$trees"
    : >"$log"
    tried=$((tried + 1)) headers=- ran=-
    built=$(step "$log" configure "$tree" "$name" "$cxx" "$type")
    if [ "$built" = ok ]; then built=$(step "$log" build "$tree"); fi
    if [ "$type" = RelWithDebInfo ]; then
      headers=$(step "$log" python3 scripts/compile_headers.py --include include \
        --cc "$name" --cxx "$cxx" --all)
      if [ "$headers" = ok ]; then
        headers=$(step "$log" python3 scripts/compile_headers.py --include include \
          --cc "$name" --cxx "$cxx" --clients tombolo.hpp)
      fi
    fi
    if [ "$built" = ok ]; then
      ran=$(step "$log" ctest --test-dir "$tree" -R "$tests" -j "$jobs" --output-on-failure)
    fi
    version=$("$name" --version | sed -nE '1s/.* ([0-9]+\.[0-9.]+).*/\1/p')
    printf '%-34s %-15s %-8s %-8s %s\n' "$name $version" "$type" "$built" "$headers" "$ran"
    case "$built $headers $ran" in *FAILED*) failed=1 ;; esac
  done
done
if [ "$tried" -eq 0 ]; then
  echo "compilers: skipped: none of ${names[*]} is installed with its C++ compiler"
  exit 77
fi
exit "$failed"
