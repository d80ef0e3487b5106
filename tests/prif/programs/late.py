#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""A C++ main that starts PRIF late, and stop callbacks registered by the name of flang's calls.

Usage: late.py COMPILER: the Fortran compiler; the program is compiled by it and by c++.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOMBOLO = os.environ["TOMBOLO"]
IMAGES = 3
LINES = ("sum 1000 of 1", "second 01 6 none", "first 01 6 none")  # of each image, in this order


def run(folder, *command):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stdout + done.stderr


def main():
    if not shutil.which("c++"):
        print("skipped: no C++ compiler")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for command in (("c++", "-O1", "-c", HERE / "late.cc"),
                        (TOMBOLO, "fc", f"--compiler={sys.argv[1]}", "--prif", HERE / "late.f90",
                         "late.o", "-lstdc++", "-o", "late")):
            code, _, text = run(folder, *command)
            if code:
                print(text)
                return 1
        code, said, text = run(folder, TOMBOLO, "run", "-n", IMAGES, "./late")
    lines = said.splitlines()
    good = code == 6 and sorted(lines) == sorted(LINES * IMAGES)
    if not good:
        print(f"FAILED: exit {code}, not 6, or other lines than {LINES} of each image:\n{text}")
    return 0 if good else 1


sys.exit(main())
