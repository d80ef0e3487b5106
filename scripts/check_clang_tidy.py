#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the C++ interface, its tests and examples by clang-tidy, as .clang-tidy says.

Usage: check_clang_tidy.py [FILE...]
Without files it reads the tests and examples that use tombolo.hpp, and with them its headers. The
newest clang-tidy that is installed is used. A second run over a file with a mistake in it shows
that the check can fail. Exits 1 when something is found, 77 without clang-tidy.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("tests/conformance/cxx/*.cc", "examples/*_cxx.cc")
NAMES = [f"clang-tidy-{n}" for n in range(22, 13, -1)] + ["clang-tidy"]
MISTAKE = """#include <string>
#include <tombolo.hpp>
std::string twice(std::string text) { return text + text; }
"""


def run(tool, path):
    """What clang-tidy finds in a file and the headers of C++, or an empty text."""
    text = Path(path).read_text(encoding="utf-8")
    standard = "c++20" if "co_await" in text else "c++17"
    command = [tool, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(path), "--"]
    command += [f"-std={standard}", "-DGASNET_PAR=1", f"-I{ROOT / 'include'}"]
    command += ["-isystem", str(ROOT / "tests/lib"), "-isystem", str(ROOT / "tests")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def finds_a_mistake(tool):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mistake.cc"
        path.write_text(MISTAKE, encoding="utf-8")
        return "performance-unnecessary-value-param" in run(tool, path)


def main():
    tool = next((name for name in NAMES if shutil.which(name)), None)
    if not tool:
        print("skipped: no clang-tidy (Debian: the package clang-tidy)")
        return 77
    paths = sys.argv[1:] or sorted(p for pattern in SOURCES for p in ROOT.glob(pattern)
                                   if "tombolo.hpp" in p.read_text(encoding="utf-8"))
    if not finds_a_mistake(tool):
        print(f"check_clang_tidy: {tool} overlooks a mistake; the check is broken")
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda path: run(tool, path), paths))
    found = {line for text in texts for line in text.splitlines()
             if re.search(r": (error|warning): ", line)}
    print("\n".join(sorted(found)) if found else "".join(texts))
    print(f"check_clang_tidy: {tool}, {len(paths)} sources, {len(found)} findings")
    return 1 if any(texts) else 0


if __name__ == "__main__":
    sys.exit(main())
