#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""matmul and Cholesky in UPC (study/apps): every way is verified, near and over udp.

What is wrong is refused with code 2 and the reason. The study takes the programs as line UPC."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "study/compare"))
import budget as budgets  # noqa: E402
import scaling  # noqa: E402

TOMBOLO, BUILD = os.environ["TOMBOLO"], Path(os.environ["TMB_BUILD"])
FAR = {"TOMBOLO_CONDUIT": "udp", "TOMBOLO_PLACES": "cyclic:4"}  # each thread on its own host
# application: (problem with blocks that are not whole, ways near, ways far)
APPS = {
    "matmul": ("--size 83 --columns 50 --inner 71 --block 8",
               ["team", "signal", "get", "direct"], ["team", "signal", "get"]),
    "cholesky": ("--size 83 --block 8", ["team", "signal"], ["team", "signal"]),
}
REFUSED = {"--way=x": "--way 'x': expected team", "--size=0": "--size '0': expected a whole number",
           "--size=2000000": "this problem needs", "--bogus": "--bogus"}


def run(app, threads, words, settings=None):
    command = [TOMBOLO, "run", "-n", str(threads), "--timeout", "30", "--",
               BUILD / "bench" / f"{app}-upc", *words.split()]
    return subprocess.run(command, text=True, capture_output=True, check=False,
                          env={**os.environ, **(settings or {})})


def verified(app, threads, words, ways, settings=None):
    done = run(app, threads, f"{words} -i 2 --json", settings)
    assert done.returncode == 0, (app, threads, settings, done.stdout, done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["way"] for row in rows] == ways, (app, threads, rows)
    for row in rows:
        assert row["verified"] and row["ranks"] == threads and row["seconds"] > 0, row


def in_study(app):
    """scaling.py has a line UPC of the program."""
    options = argparse.Namespace(build=BUILD, hosts=None, quick=False, ranks=[2], rounds=1,
                                 timeout=30, budget=None, json=None)
    study = scaling.Study(app, options, budgets.Budget(options))
    scaling.run_upc(study, ("n = 64", app, scaling.fixed("--size", "64"), 2, 1), 2)
    (seconds,) = study.found["n = 64", "UPC", 2]
    assert seconds > 0 and list(study.work) == [("n = 64", "UPC", 2)], (study.found, study.work)


def main():
    for app, (words, near, far) in APPS.items():
        if not (BUILD / "bench" / f"{app}-upc").exists():
            print(f"skipped: bench/{app}-upc is not built (libopenblas-dev missing?)")
            return 77
        for threads in (1, 2, 4):
            verified(app, threads, words, near)
        verified(app, 4, words, far, FAR)
        done = run(app, 2, "--size 64 --inject-error")
        assert done.returncode == 1 and "FAILED" in done.stdout, (app, done)
        for word, reason in REFUSED.items():
            done = run(app, 2, word)
            assert done.returncode == 2 and not done.stdout, (app, word, done)
            assert reason in done.stderr, (app, word, done.stderr)
        in_study(app)
        print(f"{app}: near, far, refusals, line of the study", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
