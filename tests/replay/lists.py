#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs are recorded, and each replay shows the same messages and values.

Usage: lists.py TOMBOLO PROGRAM [--first SEED] [--count N] [--replays N] [--random]
PROGRAM and the lists of operations are those of tests/check/oracle.py, without the check. A rank
prints the messages in their order, and what its gets of at most 8 bytes and its atomic operations
got. In each third program a second thread of each rank polls. Left out is what an atomic operation
that changes a word got where accesses of the word race: docs/REPLAY.md does not promise it.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "check"))
import oracle  # noqa: E402 pylint: disable=wrong-import-position
import seeds  # noqa: E402 pylint: disable=wrong-import-position

# A get, behind the last event of its rank, of a word that its owner stores to at the same time; two
# messages of which the first ends a loop in whose last step both came, and which, between hosts,
# two threads deliver at the same time; a handler that replies, and runs in a call without an order.
KEPT = (910541, 910818, 77216)


def left_out(ops):
    """Atomic operations that change a word for which accesses race."""
    words = {(access.owner, at // 8) for a, b, _ in oracle.Model(ops, False).pairs()
             for access in (a, b) for at in range(access.at, access.at + access.bytes)}
    return {i for i, op in enumerate(ops)
            if op.kind == "ATOMIC" and op.what != oracle.READ and (op.peer, op.at // 8) in words}


def run(options, without, *words):
    """Runs a program. Returns its code, what the ranks print, and errors."""
    done = subprocess.run([options.tombolo, "run", "--timeout", "30", *words],
                          capture_output=True, text=True, check=False)
    lines = sorted(re.sub(r" (\d+) got \w+", lambda m: "" if int(m[1]) in without else m[0], line)
                   for line in done.stdout.split("\n"))
    return done.returncode, lines, done.stderr


def fault_of(options, seed):
    """What is wrong with a seed, or None."""
    ops = oracle.Generator(seed, 16, False).make()
    if len(ops) > oracle.MOST:
        return None
    without = left_out(ops)
    with tempfile.TemporaryDirectory() as folder:
        words = [options.program, os.path.join(folder, "ops"), "print"]
        words += ["thread"] if seed % 3 == 0 else []
        Path(words[1]).write_text("\n".join(o.line() for o in ops) + "\n", encoding="utf-8")
        order = os.path.join(folder, "order")
        code, seen, err = run(options, without, "-n", "3", "--record", order, *words)
        if code:
            return f"seed {seed}: code {code} while it is recorded: {err}"
        for number in range(1, options.replays + 1):
            code, again, err = run(options, without, "--replay", order, *words)
            if code or again != seen or "tombolo" in err:
                return (f"seed {seed}, replay {number}: code {code}\n  recorded {seen}\n"
                        f"  replayed {again}\n{err}")
        only = str(seed % oracle.RANKS)
        code, again, err = run(options, without, "--replay", order, "--only", only, *words)
        mine = [line for line in seen if not line or line.startswith(f"rank {only}:")]
        if code or again != mine or "tombolo" in err:
            return (f"seed {seed}, --only {only}: code {code}\n  recorded {mine}\n"
                    f"  replayed {again}\n{err}")
    return None


if __name__ == "__main__":
    sys.exit(seeds.main(__doc__, fault_of, replays=3, kept=KEPT))
