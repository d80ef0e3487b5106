#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A build for 32-bit processors is refused when it is configured, with the reason.
#
# Usage: bits32.sh SOURCE_TREE
# Owns: a build tree that it removes. It needs a C compiler that knows -m32, no 32-bit library.
set -euo pipefail

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
echo 'int x;' >"$tree/x.c"
cc -m32 -c "$tree/x.c" -o "$tree/x.o" 2>/dev/null || { echo "the C compiler has no -m32"; exit 77; }
if CFLAGS=-m32 CXXFLAGS=-m32 cmake -S "$1" -B "$tree/build" -G Ninja \
  -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY >"$tree/log" 2>&1; then
  echo "a build with -m32 was configured"
  exit 1
fi
tr -s '\n ' ' ' <"$tree/log" >"$tree/text"
grep -q "pointers have 4 bytes; 8 are needed, because" "$tree/text" || { cat "$tree/log"; exit 1; }
