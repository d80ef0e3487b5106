#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a public header alone in every language standard, thread mode and compiler.

Usage: compile_headers.py --include DIR [--cc CC --cxx CXX | --every] HEADER | --all | --clients
HEADER is included twice; `--all` includes every public header, in both orders. `--clients` compiles
tests and examples of C++ and examples of C, each in one standard with each compiler. `--every`:
each gcc 11 to 16 and clang 14 to 22 that is installed. The source then
tests the guards that clients test: each belongs to one header, and a client that finds that of
gasnet.h uses names of GASNet-1. What is combined: compiler (those named, else gcc
and clang, where installed), standard (C99 to C23, C++98 to C++23; of a .hpp C++17 to C++23), mode
(SEQ, PARSYNC, PAR) and debug (on, off). `--all` tries each combination in one order; for the other
one and for a header alone each pair is enough. All must pass with the warnings below as errors,
and, but for a .hpp, once more in a client that has macros of common names. `--all` also looks
whether several atomic operations in one function are all inlined, and how a put calls memcpy.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
WARNINGS += ["-Wundef", "-Wshadow", "-Wwrite-strings", "-Wcast-align", "-Wconversion"]
C_WARNINGS = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition"]
CXX_WARNINGS = ["-Wold-style-cast"]
GXX_WARNINGS = ["-Wuseless-cast"]  # clang does not know it
C_STANDARDS = ["c99", "c11", "c17", "c2x"]  # the last one is C23
CXX_STANDARDS = ["c++98", "c++11", "c++17", "c++20", "c++2b"]
# What C++98 lacks and its compilers know: clients that choose it allow this.
OLD_CXX = ["-Wno-long-long", "-Wno-variadic-macros"]
OLD_CLANG = ["-Wno-c++11-long-long", "-Wno-c++11-extensions"]
HPP_STANDARDS = ["c++17", "c++20", "c++2b"]  # the last one is C++23, also for older compilers
COMPILERS = [("gcc", "g++"), ("clang", "clang++")]
VERSIONS = [f"gcc-{n}" for n in range(11, 17)] + [f"clang-{n}" for n in range(14, 23)]
CLIENTS = ("tests/conformance/cxx/*.cc", "examples/*_cxx.cc")
C_CLIENTS = "examples/*.c"
C_CLIENT_WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
MODES = ["GASNET_SEQ", "GASNET_PARSYNC", "GASNET_PAR"]
# These also stand without a thread mode.
MODELESS = {"gasnet_config.h", "gasnet_fwd.h", "gasnet_portable_platform.h", "gasnet_tools.h"}
# The guards that clients test, and the headers that define each by including its owner.
GUARDS = {
    "_INCLUDED_GASNET_H": {"gasnet.h"},
    "_INCLUDED_GASNET_TOOLS_H": {"gasnet.h", "gasnet_tools.h"},
}
CONDUIT = "gasnet gasnetex gasnetex_ext gasnet_coll gasnet_mk gasnet_ratomic gasnet_vis".split()
GUARDS["_INCLUDED_GASNETEX_H"] = {f"{name}.h" for name in CONDUIT}
OF_HPP = {"gasnetex.h"}  # what a .hpp includes
# What a client does with the names of the header that it has found.
CLIENT = """
int probe(void);
int probe(void) {
#if defined(GEXX_PLATFORM_H) && _PORTABLE_PLATFORM_H < PLATFORM_HEADER_VERSION
# error "mpi.h of Open MPI 5 compares _PORTABLE_PLATFORM_H with a version"
#endif
#ifdef _INCLUDED_GASNETEX_H
  enum { NAMELESS = 3 };
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AM_RequestShort(tm, 0, 200, 0, NAMELESS);
  gex_AM_RequestShort(tm, 0, 200, 0, GASNETI_HIWORD(&tm), GASNETI_LOWORD(&tm));
  gex_Event_Wait(gex_RMA_PutNB(tm, 0, &tm, &tm, sizeof tm, GEX_EVENT_DEFER, 0));
  if (GASNETI_MAKEWORD(1, 2) != 0x100000002u) return 2;
  gex_AM_RequestMedium2(tm, 0, 200, &tm, sizeof tm, GEX_EVENT_NOW, 0, NAMELESS, NAMELESS);
#endif
#ifdef _INCLUDED_GASNET_TOOLS_H
  gasnett_tick_t now = gasnett_ticks_now();
  (void)now;
  gasnett_atomic_t count = gasnett_atomic_init(1);
  gasnett_atomic_increment(&count, 0);
  if (now == GASNETT_TICK_MIN) return 3;
#endif
#ifdef _INCLUDED_GASNET_H
  gasnet_node_t mine = gasneti_mynode, all = gasneti_nodes;
  return mine == gasnet_mynode() && all == gasnet_nodes();
#else
  return 0;
#endif
}
"""
# Atomic operations in one function, and a put of any size. An atomic operation that is not inlined
# does not know its opcode.
INLINED = """
#include <gasnet_ratomic.h>
int put(gex_TM_t tm, void *to, const void *from, size_t bytes);
int put(gex_TM_t tm, void *to, const void *from, size_t bytes) {
  return gex_RMA_PutBlocking(tm, 0, to, from, bytes, 0);
}
int64_t probe(gex_AD_t ad, gex_Rank_t rank, void *word);
int64_t probe(gex_AD_t ad, gex_Rank_t rank, void *word) {
  int64_t old[5];
  gex_Event_Wait(gex_AD_OpNB_I64(ad, old, rank, word, GEX_OP_FADD, 1, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_I64(ad, old + 1, rank, word, GEX_OP_FMAX, 1, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_I64(ad, old + 2, rank, word, GEX_OP_FCAS, 1, 2, 0));
  gex_AD_OpNBI_I64(ad, old + 3, rank, word, GEX_OP_FMULT, 3, 0, 0);
  gex_AD_OpNBI_I64(ad, old + 4, rank, word, GEX_OP_GET, 0, 0, 0);
  gex_AD_OpNBI_I64(ad, 0, rank, word, GEX_OP_SET, 3, 0, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return old[0] + old[1] + old[2] + old[3] + old[4];
}
"""
# Functions that are not inlined, and a copy that gcc calls through the linkage table.
OUTLINED = re.compile(r"^(?:gex_AD_OpNBI?|gexx_ad_(?:near|do))_\w+(?:\.\w+)*:", re.M)
LINKED = re.compile(r"\b(?:call|jmp)\s+memcpy(?:@PLT)?$", re.M)
# Names that clients define as macros of their own before they include the headers.
CLIENT_MACROS = "unused used noreturn visibility pure cold hot format weak may_alias".split()
CLIENT_MACROS += "likely unlikely always_inline noinline warn_unused_result min max".split()
CLIENT_MACROS += "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z".split()


def program(headers):
    """A source that includes the headers, then tests which ones it has."""
    includes = set(headers) | (OF_HPP if headers[0].endswith(".hpp") else set())
    lines = [f"#include <{header}>" for header in headers]
    for guard, owners in GUARDS.items():
        expected = bool(owners & includes)
        lines.append(f"#if {'!' if expected else ''}defined({guard})")
        lines.append(f'# error "{guard} must {"" if expected else "not "}be defined"')
        lines.append("#endif")
    return "\n".join(lines) + CLIENT


def variants(headers, number):
    """The macro sets to compile with, as lists of -D options. number: of the standard; for a header
    alone, or all in the reverse order, it says which modes are combined with debug: two of the six
    pairs, of a .hpp one. With two compilers a standard meets each mode (of a .hpp two), and all
    standards together each pair. Every second one meets the macros of a client."""
    alone = headers != sorted(set(headers)) and "TMB_TEST_WHOLE" not in os.environ
    is_hpp = headers[0].endswith(".hpp")
    pairs = [(mode, debug) for debug in ([], ["-DGASNET_DEBUG=1"]) for mode in MODES]
    if alone and is_hpp:
        pairs = [pairs[number % len(pairs)]]
    elif alone:
        pairs = [pairs[i + 3 * d] for i in range(3) for d in range(2)
                 if (i + d + number + number // 3) % 3 == 0]
    sets = [[f"-D{mode}=1", *debug] for mode, debug in pairs]
    # names of template parameters are those of the client
    if not is_hpp and not (alone and number % 2):
        sets.append(["-DGASNET_PAR=1"] + [f"-D{name}=client_macro" for name in CLIENT_MACROS])
    if all(header in MODELESS for header in headers):
        sets.append([])
    return sets


def compilers(pairs, is_hpp):
    """(command, language, standard) for each installed compiler of `pairs`, each of C and C++.
    is_hpp: a header of C++ only."""
    for c_compiler, cxx_compiler in pairs:
        if shutil.which(c_compiler) and not is_hpp:
            yield from ((c_compiler, "c", standard) for standard in C_STANDARDS)
        if shutil.which(cxx_compiler):
            standards = HPP_STANDARDS if is_hpp else CXX_STANDARDS
            yield from ((cxx_compiler, "c++", standard) for standard in standards)


def every():
    """Pairs of compilers of all versions that are installed, or those without a version."""
    pairs = [(n, n.replace("gcc", "g++").replace("clang", "clang++")) for n in VERSIONS]
    return [pair for pair in pairs if shutil.which(pair[1])] or COMPILERS


def run(command, what, text=b""):
    """Whether a compiler accepts a source; it prints what it says otherwise."""
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode:
        print(f"FAILED: {' '.join(command)} with {what}")
        print("\n".join(done.stdout.decode(errors="replace").split("\n")[:12]))
    return done.returncode == 0


def cxx_warnings(compiler):
    return CXX_WARNINGS + ([] if "clang" in compiler else GXX_WARNINGS)


def check_clients(include, pairs):
    """Compiles tests and examples of C++, whose templates a header alone does not use, and examples
    of C; returns (runs, failures). Neighbours in both lists meet other standards."""
    root = include.resolve().parent
    sources = sorted(path for pattern in CLIENTS for path in root.glob(pattern))
    runs = failures = 0
    for first, (compiler, _) in enumerate(pairs):
        for number, source in enumerate(sorted(root.glob(C_CLIENTS))):
            if shutil.which(compiler):
                standard = C_STANDARDS[(first + number) % len(C_STANDARDS)]
                command = [compiler, f"-std={standard}", *C_CLIENT_WARNINGS]
                runs += 1
                failures += not run([*command, "-DGASNET_PAR=1", f"-I{include}", str(source)],
                                    source.name)
    for first, (_, compiler) in enumerate(pairs):
        if not shutil.which(compiler):
            continue
        for number, source in enumerate(sources):
            coroutines = "co_await" in source.read_text(encoding="utf-8")
            standards = HPP_STANDARDS[1 if coroutines else 0:]
            command = [compiler, f"-std={standards[(first + number) % len(standards)]}", *WARNINGS]
            command += [*cxx_warnings(compiler), "-DGASNET_PAR=1", f"-I{include}"]
            command += ["-isystem", str(root / "tests/lib"), "-isystem", str(root / "tests")]
            runs += 1
            failures += not run([*command, str(source)], source.name)
    return runs, failures


def check_inlined(include, pairs):
    """Compiles INLINED at each level of optimisation; returns (runs, failures)."""
    runs = failures = 0
    for compiler, _ in pairs:
        for level in ("-O1", "-O2", "-O3") if shutil.which(compiler) else ():
            command = [compiler, level, "-DGASNET_PAR=1", f"-I{include}"]
            command += ["-S", "-o", "-", "-x", "c"]
            runs += 1
            done = subprocess.run([*command, "-"], input=INLINED, stdout=subprocess.PIPE, text=True,
                                  check=False)
            found = OUTLINED.findall(done.stdout)
            found += LINKED.findall(done.stdout) if "gcc" in compiler else []
            if done.returncode or found:
                print(f"FAILED: {' '.join(command)}: not inlined: {' '.join(found)}")
                failures += 1
    return runs, failures


def check(include, pairs, headers):
    """Compiles the headers in every combination; returns (runs, failures)."""
    runs = failures = 0
    is_hpp = headers[0].endswith(".hpp")
    for number, (compiler, language, standard) in enumerate(compilers(pairs, is_hpp)):
        for defines in variants(headers, number):
            command = [compiler, f"-std={standard}", *WARNINGS, f"-I{include}", *defines]
            command += C_WARNINGS if language == "c" else cxx_warnings(compiler)
            if standard == "c++98":
                command += OLD_CLANG if "clang" in compiler else OLD_CXX
            command += ["-x", language, "-"]
            runs += 1
            failures += not run(command, ", ".join(headers), program(headers).encode())
    return runs, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True, type=Path, help="folder of the public headers")
    parser.add_argument("--cc", help="the C compiler (default: gcc and clang)")
    parser.add_argument("--cxx", help="the C++ compiler, with --cc")
    parser.add_argument("--every", action="store_true", help="all versions that are installed")
    parser.add_argument("--all", action="store_true", help="all public headers in one source")
    parser.add_argument("--clients", action="store_true", help="tests and examples")
    parser.add_argument("header", nargs="?", help="one public header")
    options = parser.parse_args()
    groups = []
    if options.all:
        names = sorted(path.name for path in options.include.glob("*.h"))
        groups = [names, names[::-1]]
    elif options.header:
        groups = [[options.header, options.header]]
    elif not options.clients:
        parser.error("name a header, or use --all or --clients")
    runs = failures = 0
    pairs = [(options.cc, options.cxx)] if options.cc and options.cxx else COMPILERS
    if options.every:
        pairs = every()
    if options.clients:
        runs, failures = check_clients(options.include, pairs)
    if options.all:
        runs, failures = check_inlined(options.include, pairs)
    for group in groups:
        done, failed = check(options.include, pairs, group)
        runs += done
        failures += failed
    print(f"compile_headers: {runs} compilations, {failures} failed")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
