#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""The ten programs of docs/CPP.md that stand beside UPC++ compile and run, on three ranks.

$TOMBOLO is the command, $TMB_BUILD the build tree, whose library the program is linked with.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))

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


def main():
    compiler = os.environ.get("TMB_CXX") or os.environ.get("CXX", "g++")
    lib = os.path.join(os.environ["TMB_BUILD"], "lib")
    if not shutil.which(compiler):
        print(f"skipped: no {compiler}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "porting.cc")
        with open(source, "w", encoding="utf-8") as out:
            out.write(program())
        built = os.path.join(folder, "porting")
        command = [compiler, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-DGASNET_PAR=1"]
        command += ["-I", os.path.join(ROOT, "include"), source, "-o", built, "-L", lib]
        subprocess.run(command + [f"-Wl,-rpath,{lib}", "-ltombolo", "-pthread"], check=True)
        far = {"TOMBOLO_CONDUIT": "loop", "TOMBOLO_PLACES": "cyclic:2"}
        for settings in ({}, far):
            run = [os.environ["TOMBOLO"], "run", "-n", "3", "--timeout", "20", "--", built]
            code = subprocess.run(run, env={**os.environ, **settings}, check=False).returncode
            if code:
                print(f"exit code {code} with {settings}")
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
