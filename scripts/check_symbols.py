#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the library and its headers provide every name of the API, and export nothing else.

Usage: check_symbols.py --lib libtombolo.so --include DIR --symbols FILE --optional FILE
FILE has rows `name<TAB>kind<TAB>header<TAB>section`. A function or variable must be exported by the
library or be a macro; every other name must be a macro, or compile as an expression, type or field.
`--optional` lists names that may be undefined, one on a line, a reason after `#`.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

PREFIXES = ("gex_", "gexx_", "gasnet_", "gasnett_")
# Names that programs look for in the library.
ALSO = {"gasnetc_AMPoll", "gasneti_gethostname", "gasneti_mynode", "gasneti_nodes"}
CALLABLE = {"function", "legacy-function", "variable"}
TYPES = {"type", "legacy-type"}
OUTSIDE = {"env", "make-var", "client-macro"}  # not declared by headers
VERSION_NODE = re.compile(r"TOMBOLO_\d+$")
DEFINES = ["-DGASNET_DEBUGMALLOC=1"]  # some names exist only with it
FIRST = ["gasnetex.h", "gasnet_tools.h", "gasnet.h"]


def read_rows(path):
    """The rows of the symbol list as (name, kind, header)."""
    rows = [line.split("\t") for line in path.read_text().split("\n") if line.strip()]
    return [tuple(row[:3]) for row in rows if row[1] not in OUTSIDE]


def exported(lib):
    """Names that the shared library defines for others."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(lib)], stdout=subprocess.PIPE, check=True
    )
    names = {line.split()[-1].split("@")[0] for line in done.stdout.decode().split("\n") if line}
    return {name for name in names if not VERSION_NODE.match(name)}


def includes(folder):
    """#include lines for every public header."""
    names = FIRST + sorted(p.name for p in folder.glob("*.h") if p.name not in FIRST)
    return "".join(f"#include <{name}>\n" for name in names) + "#include <stddef.h>\n"


def gcc(include, mode, source, *options):
    """Runs the C compiler on a source text; returns the completed process."""
    command = ["cc", "-std=gnu17", "-w", f"-I{include}", f"-D{mode}=1", *DEFINES, *options]
    return subprocess.run(
        command + ["-x", "c", "-"], input=source.encode(), capture_output=True, check=False
    )


def macros(include, mode):
    """Names of all macros after including every header."""
    done = gcc(include, mode, includes(include), "-dM", "-E")
    if done.returncode:
        raise SystemExit("check_symbols: the headers do not preprocess:\n" + done.stderr.decode())
    return set(re.findall(r"^#define (\w+)", done.stdout.decode(), re.M))


def probe_line(number, name, kind):
    """One line of C that compiles only when the name is declared as its kind."""
    if kind in TYPES:
        return f"enum {{ probe_{number} = sizeof({name}) }};"
    if kind == "field":
        return f"enum {{ probe_{number} = offsetof({name.replace('.', ', ', 1)}) }};"
    if kind in CALLABLE:
        return f"static const void *const probe_{number} = (const void *)&{name};"
    return f"static void probe_{number}(void) {{ (void)({name}); }}"


def undeclared(include, mode, rows):
    """The rows whose probe does not compile."""
    head = includes(include)
    first = head.count("\n") + 1
    lines = [probe_line(i, name, kind) for i, (name, kind, _) in enumerate(rows)]
    done = gcc(include, mode, head + "\n".join(lines) + "\n", "-fsyntax-only", "-fmax-errors=0")
    bad = {
        int(n) - first for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr.decode(), re.M)
    }
    if done.returncode and not any(0 <= i < len(rows) for i in bad):
        raise SystemExit("check_symbols: the headers do not compile:\n" + done.stderr.decode())
    return [rows[i] for i in sorted(bad) if 0 <= i < len(rows)]


def find_missing(include, symbols, optional, exports):
    """(name, what is wrong) for every row that a threaded or a plain client does not get."""
    missing = {}
    for mode in ("GASNET_SEQ", "GASNET_PAR"):
        defined = macros(include, mode)
        probes = []
        for name, kind, header in symbols:
            if kind == "header":
                if not (include / name).is_file():
                    missing[name] = "is not installed"
            elif name in defined or name in optional:
                continue
            elif kind in CALLABLE and name not in exports:
                missing[name] = f"({kind}, {header}) is neither exported nor a macro"
            else:
                probes.append((name, kind, header))
        for name, kind, header in undeclared(include, mode, probes):
            missing.setdefault(name, f"({kind}) is not declared by the headers with {mode}")
    return sorted(missing.items())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lib", required=True, type=Path)
    parser.add_argument("--include", required=True, type=Path)
    parser.add_argument("--symbols", required=True, type=Path)
    parser.add_argument("--optional", required=True, type=Path)
    options = parser.parse_args(argv)
    symbols = read_rows(options.symbols)
    lines = options.optional.read_text().split("\n")
    optional = {line.split("#")[0].strip() for line in lines} - {""}
    exports = exported(options.lib)
    missing = find_missing(options.include, symbols, optional, exports)
    for name, what in missing:
        print(f"missing: {name} {what}")
    foreign = sorted(name for name in exports if not name.startswith(PREFIXES) and name not in ALSO)
    for name in foreign:
        print(f"foreign: {name} is exported, but only {', '.join(PREFIXES)} may be")
    print(
        f"check_symbols: {len(symbols)} names, {len(exports)} exported symbols, "
        f"{len(missing)} missing, {len(foreign)} foreign"
    )
    return 1 if missing or foreign or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
