#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each benchmark prints its usage for --help, without a job and without measuring anything, and
refuses an option that it does not know."""

import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(os.environ.get("TMB_BUILD", "build"), "bench")
# Those of UPC, Fortran and OpenSHMEM have launchers of their own, and take no options.
PROGRAMS = [p for p in sorted(BENCH.glob("tombolo-bench-*"))
            if os.access(p, os.X_OK) and p.suffix == ""
            and not p.name.endswith(("-upc", "-fortran", "-shmem"))]


def run(program, word):
    return subprocess.run([program, word], capture_output=True, text=True, timeout=20, check=False)


def main():
    failures = [] if PROGRAMS else [f"no benchmark is built in {BENCH}"]
    for program in PROGRAMS:
        shown, refused = run(program, "--help"), run(program, "--no-such-option")
        if shown.returncode or not shown.stdout.startswith("Usage: "):
            failures.append(f"{program.name} --help: {shown}")
        if refused.returncode == 0 or "no-such-option" not in refused.stderr:
            failures.append(f"{program.name} --no-such-option: {refused}")
    print("\n".join(failures) or f"{len(PROGRAMS)} benchmarks have help")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
