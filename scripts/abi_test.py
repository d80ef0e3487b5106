#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of abi.py: it finds each way to break a binary interface, and nothing else."""

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import abi

HEADER = """struct pair { int first; long second; };
enum color { RED, GREEN };
int take(struct pair *pair);
int paint(enum color color);
int count(int n);
"""
SOURCE = """#include "a.h"
int take(struct pair *pair) { return (int)pair->second; }
int paint(enum color color) { return color == GREEN; }
"""
COUNT = "int count(int n) { return n; }\n"
CASES = (  # (what is done, words of the header, what stands there instead, COUNT, exit code)
    ("nothing", "", "", COUNT, 0),
    ("a new function", "int count", "int more(void);\nint count", COUNT + "int more(void) "
     "{ return 1; }\n", 0),
    ("a function less", "int count(int n);\n", "", "", 1),
    ("a parameter is wider", "count(int n)", "count(long n)", COUNT.replace("int n", "long n"), 1),
    ("a struct grows in the middle", "long second", "long between, second", COUNT, 1),
    ("an enumerator in the middle", "RED, GREEN", "RED, BLUE, GREEN", COUNT, 1),
)


def library(folder, header, count):
    """Compiles a library. Returns its headers' folder and its path."""
    folder.mkdir()
    (folder / "a.h").write_text(header)
    (folder / "a.c").write_text(SOURCE + count)
    out = folder / "liba.so"
    command = ["cc", "-g", "-shared", "-fPIC", f"-I{folder}", folder / "a.c", "-o", out]
    subprocess.run(command, check=True)
    return folder, out


def main():
    """All cases."""
    if not shutil.which("abidiff") or not shutil.which("cc"):
        print("abi_test.py: skipped: there is no abidiff (package abigail-tools) or no cc")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        old = library(Path(name) / "old", HEADER, COUNT)
        for i, (what, words, instead, count, wanted) in enumerate(CASES):
            new = library(Path(name) / str(i), HEADER.replace(words, instead, 1), count)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                got = abi.compare(old, new, "old")
            if got != wanted:
                failed += 1
                print(f"FAILED: {what}: exit code {got}, not {wanted}\n{said.getvalue()}")
    print(f"abi_test.py: {len(CASES)} cases, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
