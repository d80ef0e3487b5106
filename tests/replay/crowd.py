#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bugs of many ranks on few processors, each recorded when it shows, show in each replay.

Usage: crowd.py TOMBOLO PROGRAM SOURCE [--ranks N] [--replays N] [--busy N] [--only] [CASE...]
The cases are those of SOURCE, tests/replay/crowd.c. With --busy, processes that only compute take
processor time away. With --only, each second replay gives one rank the terminal.
"""

import argparse
import re
import subprocess
import sys
import tempfile

TRIES = 100  # runs until the bug shows; a fourth of the orders show it
BUG = 3      # exit code


def run(tombolo, *words):
    done = subprocess.run([tombolo, "run", "--timeout", "100", *words], capture_output=True,
                          text=True, check=False)
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr


def fault_of(options, case):
    """What is wrong with a case, or None."""
    program = [options.program, case]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TRIES):
            code, out, err = run(options.tombolo, "-n", str(options.ranks), "--record", folder,
                                 *program)
            if code:
                break
        if code != BUG:
            return f"code {code} while it is recorded: {err}"
        for number in range(options.replays):
            rank = number * 7 % options.ranks
            alone = ["--only", str(rank)] if options.only and number % 2 else []
            again, seen, err = run(options.tombolo, "--replay", folder, *alone, *program)
            wanted = [line for line in out if not alone or line.startswith(f"rank {rank}:")]
            if (again, seen) != (code, wanted):
                return f"replay {number} {alone}: code {again}: {seen}, not {wanted}: {err}"
            if "replay:" in err:
                print(f"{case}: replay {number}: {err}", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("tombolo", "program", "source"):
        parser.add_argument(name)
    parser.add_argument("case", nargs="*")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--replays", type=int, default=20)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--only", action="store_true")
    options = parser.parse_args()
    with open(options.source, encoding="utf-8") as text:
        cases = options.case or re.findall(r"^CASE\((\w+)\)", text.read(), re.M)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.busy)]
    try:
        faults = {case: fault_of(options, case) for case in cases}
    finally:
        for process in busy:
            process.kill()
            process.wait()
    wrong = {case: fault for case, fault in faults.items() if fault}
    for case, fault in wrong.items():
        print(f"{case}: {fault}")
    print(f"{len(cases) - len(wrong)} of {len(cases)} cases are right in {options.replays} replays")
    return 1 if wrong or not cases else 0


sys.exit(main())
