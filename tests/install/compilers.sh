#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# compilers.sh BUILD_DIR: the compilers that an installation names for its clients are chosen at
# install time: GASNET_CC and GASNET_CXX for `cmake --install`, CC and CXX for `make install`. Works
# in the current folder.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "FAILED: $1"; exit 1; }

# expect_names PREFIX CC CXX: fragments of PREFIX name these compilers, links included.
expect_names() {
  local value
  value=$(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --variable=GASNET_LD gasnet-smp-seq)
  [ "$value" = "$2" ] || fail "$1: GASNET_LD is $value, not $2"
  local mak=$1/include/smp-conduit/smp-par.mak
  grep -qx "GASNET_CC = $2" "$mak" || fail "$mak: GASNET_CC"
  grep -qx "GASNET_CXX = $3" "$mak" || fail "$mak: GASNET_CXX"
  grep -qx "GASNETTOOLS_CC=$2" "$1/lib/pkgconfig/gasnet_tools-par.pc" || fail "$1: GASNETTOOLS_CC"
}

# The two that are not the default must exist; any two commands do, for nothing is compiled.
GASNET_CC="env cc -m64" GASNET_CXX=env cmake --install "$build" --prefix "$PWD/one" >install.log
expect_names "$PWD/one" "env cc -m64" env
if GASNET_CC=no-such-compiler cmake --install "$build" --prefix "$PWD/two" >two.log 2>&1; then
  fail "a compiler that does not exist is recorded"
fi
grep -q "GASNET_CC=no-such-compiler: there is no command" two.log ||
  { cat two.log; fail "message"; }

# The Makefile hands CC and CXX on; what it runs is looked at, not run again.
make -n -C "$root" BUILD="$build" PREFIX=/p CC=clang CXX=clang++ install >plan
grep -q 'GASNET_CC="clang" GASNET_CXX="clang++"' plan || { cat plan; fail "make install CC=clang"; }
env -u CC -u CXX make -n -C "$root" BUILD="$build" PREFIX=/p install >plan
grep -q 'GASNET_CC="" GASNET_CXX=""' plan || { cat plan; fail "make install without CC"; }
CC=tcc make -n -C "$root" BUILD="$build" PREFIX=/p install >plan
grep -q 'GASNET_CC="tcc"' plan || { cat plan; fail "CC=tcc make install"; }
