#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# idioms.sh PREFIX: compiles idioms.c and idioms_two.c against an installation with compilers
# and options of clients, links both files in one program, and runs it. Works in the current folder.
set -euo pipefail
prefix=$1
here=$(cd "$(dirname "$0")" && pwd)
shared="-L$prefix/lib -Wl,-rpath,$prefix/lib -lgasnet-smp-par"
static="$prefix/lib/libgasnet-smp-par.a -lpthread"
c="-Wall -Wextra -Werror -pedantic"
cxx="-x c++ -Wall -Wextra -Werror -pedantic"
count=0

fail() {
  cat log
  echo "FAILED: $1"
  exit 1
}

# build LIBRARY COMMON COMPILER OPTIONS...: COMMON options also link, OPTIONS only compile.
build() {
  local library=$1 common=$2 compiler=$3
  shift 3
  command -v "$compiler" >/dev/null || return 0
  # shellcheck disable=SC2086
  {
    "$compiler" "$@" $common -I"$prefix/include" -c "$here/idioms.c" -o one.o &&
      "$compiler" "$@" $common -I"$prefix/include" -c "$here/idioms_two.c" -o two.o &&
      "$compiler" $common one.o two.o -o idioms $library
  } >log 2>&1 || fail "$compiler $common $*"
  run_idioms "$compiler $common $*"
}

run_idioms() {
  GASNET_PSHM_NODES=2 timeout 60 ./idioms >log 2>&1 || fail "$1: does not run"
  grep -qx "names: ok" log || fail "$1: found something wrong"
  count=$((count + 1))
}

# shellcheck disable=SC2086
{
  # Languages, thread modes, checks.
  build "$shared" -O2 gcc $c -std=c99 -DGASNET_SEQ
  build "$static" -O1 gcc $c -std=gnu17 -DGASNET_PARSYNC -DGASNET_DEBUG=1 -DGASNETEX_FIRST
  build "$shared" -O0 clang $c -std=c2x -DGASNET_PAR
  build "$shared" -O2 g++ $cxx -std=c++11 -DGASNET_SEQ -DGASNET_DEBUG -DWRAPPED_IN_EXTERN_C
  build "$static" -O2 g++ $cxx -std=c++17 -DGASNET_PAR -fno-exceptions -fno-rtti -fvisibility=hidden
  build "$shared" -O3 clang++ $cxx -std=c++20 -DGASNET_PAR -DWRAPPED_IN_EXTERN_C
  build "$shared" -O2 gcc -std=gnu89 -Wall -Wextra -Werror -DGASNET_SEQ
  # Methods of optimising, linking and checking.
  build "$shared" -O0 gcc $c -DGASNET_SEQ
  build "$shared" "-O3 -flto" gcc $c -DGASNET_PAR
  build "$static" "-O3 -flto" g++ $cxx -DGASNET_SEQ
  build "$shared" "-O3 -march=native" gcc $c -DGASNET_PAR -D_FORTIFY_SOURCE=2 -fstack-protector-all
  build "$static" "-O2 -fno-pie -no-pie" gcc $c -DGASNET_PAR
  build "$shared" "-O1 -fsanitize=address,undefined" gcc $c -DGASNET_PAR
}

# One file in C, the other in C++.
{
  gcc -DGASNET_PAR -I"$prefix/include" -c "$here/idioms.c" -o one.o &&
    g++ -x c++ -DGASNET_PAR -I"$prefix/include" -c "$here/idioms_two.c" -o two.o &&
    g++ one.o two.o -o idioms $shared
} >log 2>&1 || fail "C and C++ in one program"
run_idioms "C and C++ in one program"

# Files for different thread modes do not make a program: refused at initialisation.
gcc -DGASNET_SEQ -I"$prefix/include" -c "$here/idioms.c" -o one.o
gcc -DGASNET_PARSYNC -I"$prefix/include" -c "$here/idioms_two.c" -o two.o
for library in "$shared" "$static"; do
  # shellcheck disable=SC2086
  gcc one.o two.o -o idioms $library
  if ./idioms >log 2>&1; then fail "a program of files for SEQ and PARSYNC runs"; fi
  grep -q 'compiled with GASNET_SEQ and files with GASNET_PARSYNC' log || fail "no reason is given"
done
echo "idioms: $count programs"
