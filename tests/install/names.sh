#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# names.sh PREFIX: what programs and scripts look for in an installation of PREFIX: names in headers
# (names.c, names_tools.c), plain lines in gasnet_config.h, identification strings in executables,
# flags of the build fragments, and which compilers those name. Works in the current folder.
set -euo pipefail
prefix=$1
here=$(cd "$(dirname "$0")" && pwd)
warnings="-Wall -Wextra -Werror -pedantic"
fail() { # TEXT [FILE]: the file says more
  [ $# -lt 2 ] || cat "$2"
  echo "FAILED: $1"
  exit 1
}

# The compilers that are there, as C and C++ twins.
compilers=()
for pair in "gcc c" "g++ c++" "clang c" "clang++ c++"; do
  if command -v "${pair% *}" >/dev/null; then compilers+=("$pair"); fi
done

run_ok() { # the program says that it found all names
  GASNET_PSHM_NODES=2 timeout 60 "$@" >out 2>err || { cat out err; fail "$* does not run"; }
  grep -qx "names: ok" out || { cat out err; fail "$* found a name missing"; }
}

# expect_ident PROGRAM KEY VALUE: the program's own file holds `$GASNetKEY: VALUE $`, and the key
# with no other value.
expect_ident() {
  { strings -a "$1" | grep -F "\$GASNet$2: " || true; } | sort -u >ident
  [ "$(cat ident)" = "\$GASNet$2: $3 \$" ] || fail "$1: \$GASNet$2: $3 \$ expected" ident
}

# link_both COMPILER OBJECT: `shared` and `static` from one object, without unused sections.
link_both() {
  "$1" "$2" -o shared -Wl,--gc-sections -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" \
    -lgasnet-smp-par
  "$1" "$2" -o static -Wl,--gc-sections "$prefix/lib/libgasnet-smp-par.a" -lpthread
}

# Each pair of a compiler, a mode and a set of options is met. `make test-all` tries each
# combination.
left_out() { # NUMBER...: indexes of a combination
  [ -z "${TMB_TEST_WHOLE:-}" ] && [ $((($1 + $2 + $3) % 2)) = 1 ]
}

check_job_clients() {
  local mode extra compiler language program m=0 e c
  for mode in SEQ PARSYNC PAR; do
    m=$((m + 1)) e=0
    for extra in -O2 "-DGASNET_DEBUG=1 -DGASNET_DEBUGMALLOC=1 -DFIRST_TOOLS"; do
      e=$((e + 1)) c=0
      for pair in "${compilers[@]}"; do
        c=$((c + 1))
        if left_out $m $e $c; then continue; fi
        read -r compiler language <<<"$pair"
        # shellcheck disable=SC2086
        "$compiler" -x "$language" $warnings $extra "-DGASNET_$mode" -I"$prefix/include" \
          -I"$prefix/include/smp-conduit" -ffunction-sections -fdata-sections -c \
          "$here/names.c" -o job.o || fail "$pair $mode $extra names.c"
        link_both "$compiler" job.o
        for program in ./shared ./static; do
          run_ok "$program"
          expect_ident "$program" ThreadModel "GASNET_$mode"
        done
      done
    done
  done
  for program in ./shared ./static; do # of the last mode, PAR
    expect_ident "$program" ConduitName SMP
    expect_ident "$program" Segment GASNET_SEGMENT_FAST
    expect_ident "$program" ReleaseVersion 2025.8.0
    expect_ident "$program" EXAPIVersion 0.19
    expect_ident "$program" APIVersion 1
    expect_ident "$program" CoreLibraryName SMP
    expect_ident "$program" ExtendedLibraryName SMP
    strings -a "$program" >all
    grep -q '^\$GASNetConfig: (libgasnet.a) RELEASE=2025.8.0,SPEC=0.19,' all ||
      fail "$program lacks \$GASNetConfig"
    grep -q '^\$GASNetCoreLibraryVersion: [0-9.]* \$$' all ||
      fail "$program lacks \$GASNetCoreLibraryVersion"
  done
}

check_tools_clients() {
  local define extra pair compiler language d=0 e c
  for define in "" -DGASNETT_THREAD_SAFE=1 -DGASNETT_THREAD_SINGLE=1 -DGASNETT_LITE_MODE=1; do
    d=$((d + 1)) e=0
    for extra in -O2 "-DGASNET_DEBUG=1 -DGASNET_DEBUGMALLOC=1"; do
      e=$((e + 1)) c=0
      for pair in "${compilers[@]}"; do
        c=$((c + 1))
        if left_out $d $e $c; then continue; fi
        read -r compiler language <<<"$pair"
        # shellcheck disable=SC2086
        "$compiler" -x "$language" $warnings $extra $define -I"$prefix/include" -c \
          "$here/names_tools.c" -o tools.o || fail "$pair $define $extra names_tools.c"
        link_both "$compiler" tools.o
        run_ok ./shared
        run_ok ./static
      done
    done
  done
  expect_ident ./shared ToolsThreadModel LITE # of the last mode
  expect_ident ./static ToolsThreadModel LITE
}

check_config_lines() { # as scripts read them
  local config=$prefix/include/gasnet_config.h name
  for name in MAJOR=2025 MINOR=8 PATCH=0; do
    [ "$(awk -v n="GASNET_RELEASE_VERSION_${name%=*}" '$1 == "#define" && $2 == n { print $3 }' \
      "$config")" = "${name#*=}" ] || fail "no plain line for $name in $config"
  done
  grep -qx '#define GASNETI_RELEASE_VERSION 2025.8.0' "$config" || fail "release in $config"
  # A configure script of UPC++ takes the folder of this file as a build of GASNet: it reads the
  # specification's version here, and includes the fragments of the conduits from below it.
  for name in MAJOR=0 MINOR=19; do
    [ "$(sed -n "s/^#define .*EX_SPEC_VERSION_${name%=*} *//p" "$config")" = "${name#*=}" ] ||
      fail "no plain line for the specification's $name in $config"
  done
  for name in smp udp; do
    [ -r "$(dirname "$config")/$name-conduit/$name-par.mak" ] || fail "no fragment of $name"
  done
  grep -q '^#define GASNETI_BUILD_ID "tombolo [0-9]' "$config" || fail "build id in $config"
  grep -q '^#define GASNETI_CONFIGURE_ARGS ".*-DCMAKE_INSTALL_PREFIX=' "$config" ||
    fail "configure arguments in $config"
}

# C++98: the headers say nothing, however strict the compiler; calls of active messages included.
check_old_cxx() {
  local header compiler
  for header in gasnetex.h gasnet.h gasnet_tools.h gasnet_coll.h gasnet_ratomic.h gasnet_vis.h; do
    for compiler in g++ clang++; do
      command -v "$compiler" >/dev/null || continue
      printf '#include <%s>\n' "$header" >old.cc
      cat >>old.cc <<'END'
#ifdef GASNETEX_H
int f(gex_TM_t t) {
  gex_AM_RequestShort(t, 0, 200, 0, 1, 2);
  gex_AM_RequestShort1(t, 0, 200, 0, 1);
  return (int)gex_TM_QueryRank(t);
}
#endif
END
      "$compiler" -std=c++98 -Wall -Wextra -pedantic-errors -Werror -DGASNET_SEQ \
        -I"$prefix/include" -fsyntax-only old.cc 2>old.err ||
        fail "$compiler -std=c++98 refuses $header" old.err
    done
  done
}

mak_value() { # FRAGMENT NAME [make arguments]: value of a variable
  printf 'include %s\nshow:\n\t@echo "$(%s)"\n' "$1" "$2" >Makefile.show
  make -s -f Makefile.show "${@:3}" show
}

check_fragments() {
  local mode package mak name
  for mode in seq par parsync; do
    package=gasnet-smp-$mode mak=$prefix/include/smp-conduit/smp-$mode.mak
    [[ $(pkg-config --cflags "$package") == *-D_GNU_SOURCE=1* ]] || fail "$package: _GNU_SOURCE"
    [[ $(pkg-config --libs "$package") == *-rdynamic* ]] || fail "$package: -rdynamic"
    for name in GASNET_CPPFLAGS GASNET_CXXCPPFLAGS; do
      [[ $(mak_value "$mak" "$name") == *-D_GNU_SOURCE=1* ]] || fail "$mak: $name: _GNU_SOURCE"
    done
    [[ $(mak_value "$mak" GASNET_LDFLAGS) == *-rdynamic* ]] || fail "$mak: -rdynamic"
    [ "$(mak_value "$mak" GASNET_LD GASNET_CC=other)" = other ] || fail "$mak: make GASNET_CC="
    [ "$(GASNET_CC=other mak_value "$mak" GASNET_LD)" = other ] || fail "$mak: GASNET_CC in env"
    [ "$(GASNET_CXX=other mak_value "$mak" GASNET_CXX)" = other ] || fail "$mak: GASNET_CXX in env"
    [ "$(pkg-config --define-variable=GASNET_CC=other --variable=GASNET_LD "$package")" = other ] ||
      fail "$package: GASNET_CC by --define-variable"
  done
  for package in tombolo gasnet-smp-par gasnet_tools-seq; do # moved: no folder of the installation
    [[ $(pkg-config --define-variable=prefix=/moved --cflags --libs "$package") != *"$prefix"* ]] ||
      fail "$package: $prefix also with another prefix"
  done
  [[ $(pkg-config --libs tombolo) == *-rdynamic* ]] || fail "tombolo.pc: -rdynamic"
  for mode in seq par; do
    mak=$prefix/include/gasnet_tools-$mode.mak
    [[ $(mak_value "$mak" GASNETTOOLS_CPPFLAGS) == *-D_GNU_SOURCE=1* ]] || fail "$mak: _GNU_SOURCE"
    [[ $(mak_value "$mak" GASNETTOOLS_LDFLAGS) == *-rdynamic* ]] || fail "$mak: -rdynamic"
    [ "$(GASNETTOOLS_CC=other mak_value "$mak" GASNETTOOLS_LD)" = other ] || fail "$mak: CC in env"
  done
}

check_config_lines
check_old_cxx
check_fragments
check_tools_clients
check_job_clients
