#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of abi_baseline.py: it finds each way to break an interface, and lets additions pass."""

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import abi_baseline

HEADER = """#define GEX_FLAG_A 4
#define GEX_TEXT_B "text"
struct gex_inner { int first; long second; };
struct gex_pair { int first; struct gex_inner *inner; unsigned low : 3, high : 5; };
struct gex_hidden;
typedef unsigned gex_size;
enum gex_color { GEX_RED, GEX_GREEN };
int gex_take(struct gex_pair *pair, struct gex_hidden *hidden);
int gex_paint(enum gex_color color);
gex_size gex_count(int n, int (*each)(int));
extern int gex_level;
"""
SOURCE = """#include <gex.h>
struct gex_hidden { int inside; };
int gex_level;
int gex_take(struct gex_pair *pair, struct gex_hidden *h) { return pair->first + h->inside; }
int gex_paint(enum gex_color color) { return color == GEX_GREEN; }
"""
COUNT = "gex_size gex_count(int n, int (*each)(int)) { return (gex_size)each(n); }\n"
PLUGIN = """#define TMB_ABI 3
struct tmb_up { int (*call)(int n); };
struct tmb_ops { int abi; const struct tmb_up *up; };
"""
PLUGINS = (("net", "net.h", "TMB_ABI", ("struct tmb_ops",)),)
# (what is done, words, what stands there instead, words of a finding, words of an addition)
CASES = (
    ("nothing", "", "", "", ""),
    ("a new function", "int gex_paint", "int gex_more(int n);\nint gex_paint", "", "gex_more"),
    ("a new constant", "#define GEX_FLAG_A", "#define GEX_FLAG_B 8\n#define GEX_FLAG_A", "",
     "constant GEX_FLAG_B"),
    ("an enumerator behind", "GEX_GREEN }", "GEX_GREEN, GEX_BLUE }", "", "enum gex_color"),
    ("a private struct", "{ int inside; }", "{ int more, inside; }", "", ""),
    ("another text", '"text"', '"other"', "", ""),
    ("a function less", "gex_size gex_count(int n, int (*each)(int));\n", "",
     "function gex_count is missing", ""),
    ("a wider parameter", "gex_count(int n", "gex_count(long n", "function gex_count changed", ""),
    ("a parameter of a function's parameter", "(*each)(int)", "(*each)(long)",
     "function gex_count changed", ""),
    ("another type by name", "typedef unsigned gex_size", "typedef unsigned long gex_size",
     "typedef gex_size changed", ""),
    ("a struct grows in the middle", "{ int first; struct", "{ int zero, first; struct",
     "struct gex_pair changed", ""),
    ("a struct grows at its end", "high : 5; }", "high : 5; long last; }",
     "struct gex_pair changed", ""),
    ("a bit field moves", "low : 3", "low : 4", "struct gex_pair changed", ""),
    ("an inner struct", "long second", "int second", "struct gex_inner changed", ""),
    ("an enumerator in the middle", "GEX_RED, GEX_GREEN", "GEX_RED, GEX_BLUE, GEX_GREEN",
     "enum gex_color changed", ""),
    ("another value", "GEX_FLAG_A 4", "GEX_FLAG_A 8", "constant GEX_FLAG_A changed", ""),
    ("a constant less", "#define GEX_FLAG_A 4\n", "", "constant GEX_FLAG_A is missing", ""),
    ("another type of a variable", "int gex_level", "long gex_level", "variable gex_level", ""),
    ("a plug-in's call", "(*call)(int n)", "(*call)(long n)", "raise TMB_ABI", ""),
    ("a plug-in's call, with a new version", "TMB_ABI 3\nstruct tmb_up { int (*call)(int",
     "TMB_ABI 4\nstruct tmb_up { int (*call)(long", "record it by --write", ""),
    ("a new version of a plug-in", "TMB_ABI 3", "TMB_ABI 4", "record it by --write", ""),
)


def entries(folder, words, instead):
    """The entries of a small tree in which some words are replaced."""
    include, src, lib = folder / "include", folder / "src", folder / "lib.so"
    include.mkdir(parents=True)
    src.mkdir()
    header = HEADER.replace(words, instead)
    source = (SOURCE + (COUNT if "gex_count" in header else "")).replace(words, instead)
    if "gex_more" in header:
        source += "int gex_more(int n) { return n; }\n"
    if words and (HEADER + SOURCE + PLUGIN).count(words) == 0:
        raise SystemExit(f"abi_baseline_test.py: there is no {words!r}")
    (include / "gex.h").write_text(header)
    (src / "net.h").write_text(PLUGIN.replace(words, instead))
    (folder / "a.c").write_text(source)
    command = ["gcc", "-g", "-shared", "-fPIC", f"-I{include}", folder / "a.c", "-o", lib]
    subprocess.run(command, check=True)
    return abi_baseline.current(lib, folder, "gcc")


def reported(old, new):
    """Exit code and text of report(), with the old entries written to a file's text and read."""
    text = abi_baseline.HEAD + "".join("\n".join(lines) + "\n" for lines in old.values())
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = abi_baseline.report(abi_baseline.read(text), new)
    return code, said.getvalue()


def main():
    """All cases."""
    if not shutil.which("abidw") or not shutil.which("gcc"):
        print("abi_baseline_test.py: skipped: there is no abidw (package abigail-tools) or no gcc")
        return abi_baseline.SKIP
    abi_baseline.PLUGINS = PLUGINS
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        try:
            old = entries(Path(name) / "old", "", "")
        except abi_baseline.Skip as why:
            print(f"abi_baseline_test.py: skipped: {why}")
            return abi_baseline.SKIP
        for number, (what, words, instead, finding, addition) in enumerate(CASES):
            code, text = reported(old, entries(Path(name) / str(number), words, instead))
            new = "added, which" in text
            if bool(code) != bool(finding) or finding not in text or addition not in text or (
                    not finding and new != bool(addition)):
                failed += 1
                print(f"FAILED: {what}: exit code {code}\n{text}")
    print(f"abi_baseline_test.py: {len(CASES)} cases, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
