#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks types and forms of the API's names in each language, thread mode and compiler.

Usage: check_prototypes.py --include DIR --prototypes FILE [--lib FILE...]
FILE (tests/data/prototypes.txt explains its rows) becomes one source: every function is called with
arguments of the reference's types and must be an expression of the reference's type; constants are
used in static initialisers, as case labels and in #if. It must compile with the warnings below as
errors. Programs are also linked with each LIB, so every name has a definition.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-deprecated-declarations"]
LANGUAGES = [
    ("gcc", "c", "c99"),
    ("gcc", "c", "gnu17"),
    ("clang", "c", "c17"),
    ("g++", "c++", "c++11"),
    ("g++", "c++", "gnu++17"),
    ("clang++", "c++", "c++20"),
]
MODES = ["GASNET_SEQ", "GASNET_PARSYNC", "GASNET_PAR"]
HEADERS = ["gasnet.h", "gasnet_vis.h", "gasnet_coll.h", "gasnet_ratomic.h", "gasnet_mk.h"]
MAX_ARGS = 16
PROTOTYPE = re.compile(r"(.*?)([\w{},]+(?:\[M\]\w*)?)\((.*)\)$")
HEAD = """
#ifdef __cplusplus
#include <type_traits>
#define SAME(T, e, text) static_assert(std::is_same<decltype(e), T>::value, text)
#define SAME_TYPE(T, U, text) static_assert(std::is_same<U, T>::value, text)
#define BEGIN extern "C" {
#define END }
#else
#define TRUE_OF(cond, text) __extension__ _Static_assert(cond, text)
#define SAME(T, e, text) TRUE_OF(__builtin_types_compatible_p(__typeof__(e), T), text)
#define SAME_TYPE(T, U, text) TRUE_OF(__builtin_types_compatible_p(U, T), text)
#define BEGIN
#define END
#endif
BEGIN
"""


def expand(text):
    """All texts that {a,b} alternatives stand for."""
    match = re.search(r"\{([^}]*)\}", text)
    if not match:
        return [text]
    head, tail = text[: match.start()], text[match.end() :]
    return [one for choice in match.group(1).split(",") for one in expand(head + choice + tail)]


def parameter(text, number):
    """(declaration, name) of a parameter whose own name, if any, is replaced."""
    name = f"a{number}"
    array = re.match(r"(.*?)(\w+)?\s*\[\]$", text)
    if array:
        return f"{array.group(1)} {name}[]", name
    words = re.match(r"(.*[\s*])(\w+)$", text)
    keep = ("int", "unsigned") + tuple(w for w in [text.split()[-1]] if w.endswith("_t"))
    kind = words.group(1) if words and words.group(2) not in keep else text
    return f"{kind} {name}", name


def call(number, ret, name, declared, passed):
    """Lines of C that call `name` and check the type of the call."""
    args = ", ".join(passed)
    params = ", ".join(declared) or "void"
    use = f"{name}({args});" if ret == "void" else f"{ret} r_ = {name}({args}); (void)r_;"
    yield f"void use_{number}({params});"
    yield f"void use_{number}({params}) {{ SAME({ret}, {name}({args}), \"{name}\"); {use} }}"


def function_lines(ret, name, args, first):
    """Lines for one prototype, with all its counts of message arguments."""
    texts = [] if args in ("", "void") else [a.strip() for a in args.split(",")]
    pairs = [parameter(text, i) for i, text in enumerate(texts)]
    declared, passed = [p[0] for p in pairs], [p[1] for p in pairs]
    if "[M]" not in name:
        yield from call(f"{first}", ret, name, declared, passed)
        return
    legacy = name.startswith("gasnet_")
    for count in range(MAX_ARGS + 1):
        more = [f"m{i}" for i in range(count)]
        wide = declared + [f"gex_AM_Arg_t {m}" for m in more]
        numbered = name.replace("[M]", str(count))
        yield from call(f"{first}_{count}", ret, numbered, wide, passed + more)
        counted = passed + ([str(count)] if legacy else []) + more
        yield from call(f"{first}_v{count}", ret, name.replace("[M]", ""), wide, counted)


def row_lines(row, number):
    """Lines of C for one row of the file."""
    if row.startswith("#if "):
        for i, name in enumerate(expand(row[4:])):
            yield from (f"#if ({name}) < 0", f'#error "{name}"', "#endif")
            yield f"int case_{number}_{i}(long long x);"
            yield f"int case_{number}_{i}(long long x) {{ switch (x) {{ case {name}: return 1; "
            yield "default: return 0; } }"
    elif row.startswith("typedef "):
        kind, names = row[8:].rsplit(" ", 1)
        for name in expand(names):
            yield f'SAME_TYPE({kind}, {name}, "{name}");'
    elif " = " in row:
        kind, names = row.split(" = ")
        for i, name in enumerate(expand(names)):
            yield f"extern {kind} object_{number}_{i};"
            yield f"{kind} object_{number}_{i} = {name};"
    else:
        ret, names, args = PROTOTYPE.match(row).groups()
        for i, name in enumerate(expand(names)):
            yield from function_lines(ret.strip(), name, args, f"{number}_{i}")


def source(rows):
    """The whole program."""
    lines = [f"#include <{header}>" for header in HEADERS] + [HEAD]
    for number, row in enumerate(rows):
        lines.extend(row_lines(row, number))
    return "\n".join(lines + ["END", "int main(void) { return 0; }", ""])


def run(command, text=None):
    """(exit code, what was printed)."""
    done = subprocess.run(
        command,
        input=text.encode() if text else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def check(options, text, work):
    """Compiles so that C and C++ meet each mode, in `make test-all` so that each pair of compiler
    with standard, mode and debug is met; links a C and a C++ program. Returns (runs, failures)."""
    commands = []
    for number, (compiler, language, standard) in enumerate(LANGUAGES):
        if not shutil.which(compiler):
            continue
        for i, mode in enumerate(MODES):
            if "TMB_TEST_WHOLE" not in os.environ and i != number % len(MODES):
                continue
            debug = ["-DGASNET_DEBUG=1"] if (number + i) % 2 else []
            command = [compiler, f"-std={standard}", *WARNINGS, f"-D{mode}=1", *debug]
            command += [f"-I{options.include}", "-x", language, "-"]
            commands.append(command + ["-fsyntax-only"])
    for compiler, language, defines in (("cc", "c", ["-DGASNET_SEQ"]),
                                        ("c++", "c++", ["-DGASNET_PAR", "-DGASNET_DEBUG"])):
        used = f"{work}/use-{language}.o"
        commands.append([compiler, f"-I{options.include}", *defines, "-x", language, "-", "-c",
                         "-o", used])
        commands += [[compiler, used, lib, "-lpthread", "-o", f"{work}/use"]
                     for lib in options.lib]
    failures = 0
    for command in commands:
        code, output = run(command, text)
        if code:
            failures += 1
            print(f"FAILED: {' '.join(command)}\n" + "\n".join(output.split("\n")[:20]))
    return len(commands), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True, type=Path)
    parser.add_argument("--prototypes", required=True, type=Path)
    parser.add_argument("--lib", action="append", default=[], help="library to link with")
    parser.add_argument("--show", action="store_true", help="print the source and end")
    options = parser.parse_args()
    lines = [line.strip() for line in options.prototypes.read_text().split("\n")]
    rows = [x for x in lines if x and (not x.startswith("#") or x.startswith("#if "))]
    text = source(rows)
    if options.show:
        print(text)
        return 0
    with tempfile.TemporaryDirectory() as work:
        runs, failures = check(options, text, work)
    print(f"check_prototypes: {len(rows)} rows, {runs} compilations, {failures} failed")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
