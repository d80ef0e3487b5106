# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands for tests/fortran/*.py, and C++ programs for tests/conformance/cxx/*.py.

$TOMBOLO is the command, $TMB_BUILD the build tree. Every wait is bounded.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(command, folder=None, seconds=60):
    """Runs a command in a folder; returns its exit code and all of its output."""
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=seconds, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def cxx_on_ranks(text, ranks, *options):
    """Compiles a program of tombolo.hpp and runs it, mapped and by messages. Returns the code."""
    compiler = os.environ.get("TMB_CXX") or os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        print(f"skipped: no {compiler}")
        return 77
    lib = Path(os.environ["TMB_BUILD"], "lib").resolve()
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "program.cc"), Path(folder, "program")
        source.write_text(text, encoding="utf-8")
        subprocess.run([compiler, *options, "-Wall", "-Wextra", "-Werror", "-DGASNET_PAR=1", "-I",
                        ROOT / "include", source, "-o", program, "-L", lib, f"-Wl,-rpath,{lib}",
                        "-ltombolo", "-pthread"], check=True)
        for settings in ({}, {"TOMBOLO_CONDUIT": "loop", "TOMBOLO_PLACES": "cyclic:2"}):
            command = [os.environ["TOMBOLO"], "run", "-n", str(ranks), "--timeout", "20", "--",
                       program]
            code = subprocess.run(command, env={**os.environ, **settings}, check=False).returncode
            if code:
                print(f"exit code {code} with {settings}")
                return code
    return 0
