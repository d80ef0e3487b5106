#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of several ranks and threads are recorded, and each replay shows the same.

Usage: crew.py TOMBOLO PROGRAM [--first SEED] [--count N] [--replays N] [--random]
PROGRAM is tests/replay/crew.c. A seed chooses ranks, threads and steps. Every second program is
recorded under --chaos, and every third one with small rings and a network that refuses and
reorders. The last replay is one with --only.
"""

import os
import subprocess
import sys
import tempfile

import seeds


SMALL = {"TOMBOLO_TEST_RING_SLOTS": "64",
         "TOMBOLO_TEST_NET_HOOK": "fault:again=20,reorder=30,us=200"}


def run(options, small, *words):
    """Runs a program. Returns its code, what the ranks print, and errors."""
    done = subprocess.run([options.tombolo, "run", "--timeout", "60", *words],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **(SMALL if small else {})})
    return done.returncode, sorted(done.stdout.split("\n")), done.stderr


def difference(seen, again):
    """The first line that differs."""
    for one, other in zip(seen, again):
        if one != other:
            at = next((i for i, (a, b) in enumerate(zip(one.split(), other.split())) if a != b), -1)
            return f"from word {at} on\n  recorded {one}\n  replayed {other}"
    return f"{len(again)} lines, not {len(seen)}"


def fault_of(options, seed):
    """What is wrong with a seed, or None."""
    ranks, threads, steps = 2 + seed % 4, 1 + seed // 4 % 4, (20, 60, 150)[seed % 3]
    words = [options.program, str(seed), str(threads), str(steps)]
    chaos, small = ["--chaos", str(seed)] if seed % 2 else [], seed % 3 == 1
    with tempfile.TemporaryDirectory() as order:
        code, seen, err = run(options, small, "-n", str(ranks), "--record", order, *chaos, *words)
        if code:
            return f"seed {seed}: code {code} while it is recorded: {err}"
        for number in range(1, options.replays + 1):
            code, again, err = run(options, small, "--replay", order, *words)
            if code or again != seen or "tombolo" in err:
                return (f"seed {seed}, replay {number}: code {code}: "
                        f"{difference(seen, again)}\n{err}")
        only = str(seed % ranks)
        code, again, err = run(options, small, "--replay", order, "--only", only, *words)
        mine = [line for line in seen if line.startswith(f"rank {only}")]
        again = [line for line in again if line]
        if code or again != mine or "tombolo" in err:
            return f"seed {seed}, --only {only}: code {code}: {difference(mine, again)}\n{err}"
    return None


if __name__ == "__main__":
    sys.exit(seeds.main(__doc__, fault_of, replays=2))
