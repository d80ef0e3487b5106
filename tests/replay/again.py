#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A whole program is recorded, and each of its replays ends alike and prints the same. It ends well
# under --chaos, too.
#   tests/replay/again.py TOMBOLO PROGRAM RANKS
import os
import subprocess
import sys
import tempfile

REPLAYS = 3


def run(tombolo, *words):
    done = subprocess.run([tombolo, "run", "--timeout", "50", *words], capture_output=True,
                          text=True, check=False)
    return done.returncode, sorted(done.stdout.split("\n")), done.stderr


def main():
    tombolo, program, ranks = sys.argv[1:4]
    if not os.path.exists(program):
        print(f"{program} is not built here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run(tombolo, "-n", ranks, "--record", folder, program)
        if code:
            sys.exit(f"code {code} while it is recorded: {err}")
        for number in range(1, REPLAYS + 1):
            again, seen, err = run(tombolo, "--replay", folder, program)
            if (again, seen) != (code, out):
                sys.exit(f"replay {number}: code {again}, not {code}: {seen}, not {out}: {err}")
    code, _, err = run(tombolo, "-n", ranks, "--chaos", "7", program)
    if code:
        sys.exit(f"code {code} under --chaos 7: {err}")
    return 0


sys.exit(main())
