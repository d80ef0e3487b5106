#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the libraries that Tombolo needs (cmocka, jansson) for another processor or C library.
#
# Usage: cross_deps.sh aarch64|riscv64|musl
# Sources come from Debian by apt-get, once; they and what is compiled of them stay in
# $XDG_CACHE_HOME/tombolo (~/.cache/tombolo), where cmake/toolchains/ looks. No root is needed.
# Does nothing when the libraries are there. Exit code 77, with the reason, when a compiler is
# missing or the sources cannot be fetched.
set -euo pipefail

target=${1:?usage: cross_deps.sh aarch64|riscv64|musl}
cache=${XDG_CACHE_HOME:-~/.cache}/tombolo
root=$cache/cross/$target
sources=$cache/sources
flags=()
case $target in
  aarch64 | riscv64)
    compiler=$target-linux-gnu-gcc
    flags+=(-DCMAKE_SYSTEM_PROCESSOR="$target")
    ;;
  musl) compiler=musl-gcc ;;
  *) echo "cross_deps: no target $target; there are aarch64, riscv64 and musl" >&2; exit 2 ;;
esac

skip() {
  echo "cross_deps: $*"
  exit 77
}

# apt-get with source lists of our own: those of the system, asked for sources.
fetch() {
  local lists=$sources/apt part
  mkdir -p "$lists/parts" "$lists/state/partial"
  for part in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    /etc/apt/sources.list.d/*.sources; do
    [ -f "$part" ] || continue
    sed -e 's/^Types:.*/Types: deb-src/' -e 's/^deb /deb-src /' "$part" \
      >"$lists/parts/$(basename "$part")"
  done
  local options=(-q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$lists/parts"
    -o Dir::State::Lists="$lists/state" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Retries=2 -o Acquire::http::Timeout=20)
  (cd "$sources" && apt-get "${options[@]}" update && apt-get "${options[@]}" source "$@") \
    >"$sources/fetch.log" 2>&1 ||
    skip "Debian's sources of $* cannot be fetched; see $sources/fetch.log"
}

# build NAME OPTION...: compiles and installs the sources of one library.
build() {
  local name=$1 from
  shift
  from=$(find "$sources" -maxdepth 1 -type d -name "$name-*" | head -n 1)
  cmake -S "$from" -B "$root/build/$name" -G Ninja "${flags[@]}" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$root" \
    -DCMAKE_INSTALL_LIBDIR=lib "$@" &&
    cmake --build "$root/build/$name" --target install
}

# musl has no headers of the kernel: links to those of the system.
if [ "$target" = musl ] && [ ! -e "$root/kernel/linux" ]; then
  mkdir -p "$root/kernel"
  ln -sf /usr/include/linux /usr/include/asm-generic "/usr/include/$(uname -m)-linux-gnu/asm" \
    "$root/kernel/"
fi
[ -e "$root/complete" ] && exit 0
command -v "$compiler" >/dev/null || skip "no compiler $compiler"
command -v pkg-config >/dev/null || skip "no pkg-config"
mkdir -p "$root" "$sources"
exec 9>"$sources/lock"
flock 9
[ -e "$root/complete" ] && exit 0
for name in cmocka jansson; do
  compgen -G "$sources/$name-*/CMakeLists.txt" >/dev/null || fetch "$name"
done
{
  build cmocka -DUNIT_TESTING=OFF -DWITH_EXAMPLES=OFF &&
    build jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
} >"$root/build.log" 2>&1 || { tail -n 20 "$root/build.log"; exit 1; }
rm -rf "$root/build"
touch "$root/complete"
echo "cross_deps: cmocka and jansson for $target are in $root"
