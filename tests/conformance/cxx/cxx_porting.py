#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""The ten programs of docs/CPP.md that stand beside UPC++ compile and run, on three ranks.

$TOMBOLO is the command, $TMB_BUILD the build tree, whose library the program is linked with.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))

from command import ROOT, cxx_on_ranks

HEAD = """
#undef NDEBUG
#include <cassert>
#include <iostream>
#include <thread>
#include <tombolo.hpp>
using namespace tombolo;
"""


def program():
    """Text of one program that runs all blocks of the page, each as a function."""
    with open(os.path.join(ROOT, "docs", "CPP.md"), encoding="utf-8") as page:
        part = page.read().split("## Beside UPC++")[1].split("\n## ")[0]
    blocks = re.findall(r"```cpp\n(.*?)```", part, re.S)
    if len(blocks) != 10:
        raise SystemExit(f"cxx_porting: docs/CPP.md has {len(blocks)} programs, not 10")
    out, calls = HEAD, ""
    for number, block in enumerate(blocks):
        out += f"static void program_{number}(job &j) {{\n{block}j.barrier();\n}}\n"
        calls += f"program_{number}(j);\n"
    main = f"return tombolo::run(argc, argv, [](job &j) {{\n{calls}}});"
    return out + f"int main(int argc, char **argv) {{\n{main}\n}}\n"


if __name__ == "__main__":
    sys.exit(cxx_on_ranks(program(), 3, "-std=c++17", "-O0"))
