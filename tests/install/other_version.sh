#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# other_version.sh PREFIX BUILD: installs the build into PREFIX, and makes of each of its files one
# that ends what uses it, as root. Tests of a build tree that pass then use nothing of an
# installation. Never where the installation is wanted: `make uninstall` removes it.
set -euo pipefail
prefix=$1 build=$2
words="an installed file of another version is used"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cat >"$work/end.c" <<C
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void end(void) {
  fputs("$words\n", stderr);
  _Exit(99);
}
C
cc -c -fPIC "$work/end.c" -o "$work/end.o"

spoil() { # FILE
  local soname
  case $1 in
    *.so*)
      soname=$(objdump -p "$1" | awk '$1 == "SONAME" { print "-Wl,-soname," $2 }')
      # shellcheck disable=SC2086 # none, or one
      cc -shared -o "$1" "$work/end.o" $soname
      ;;
    *.a) rm "$1" && ar rc "$1" "$work/end.o" ;;
    *.h | *.hpp | *.def) echo "#error $words" >"$1" ;;
    *.cmake) echo "message(FATAL_ERROR \"$words\")" >"$1" ;;
    *.py) echo "raise SystemExit('$words')" >"$1" ;;
    */bin/* | */libexec/*) printf '#!/bin/sh\necho "%s" >&2\nexit 99\n' "$words" >"$1" ;;
    */install_manifest.txt) ;;
    *) echo "$words" >"$1" ;;
  esac
}

while read -r name; do
  [ -L "$prefix/$name" ] || spoil "$prefix/$name"
done <"$prefix/lib/tombolo/install_manifest.txt"
ldconfig
