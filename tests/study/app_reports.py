#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What every application of study/apps does besides its work.

It breaks its time down, refuses what is impossible with the reason and code 2, and shows progress
on a long run. No time is judged."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO, BUILD = os.environ["TOMBOLO"], Path(os.environ["TMB_BUILD"])
LIMIT_S = 300  # the longest run takes four seconds, and minutes on a machine with a load of 30
PHASES = {"computing", "copying", "sending", "waiting"}
# application: (small problem, impossible one on two ranks, a word of the reason)
APPS = {
    "pipeline": (["-r", "100", "-c", "50"], ["-c", "3"], "--columns 4"),
    "stencil": (["-p", "50"], ["-p", "7", "-r", "4"], "--points"),
    "hydro": (["-x", "24", "-y", "24"], ["-x", "2", "-y", "2"], "cells"),
    "matmul": (["-n", "100"], ["-n", "2000000"], "MiB"),
    "cholesky": (["-n", "100"], ["-n", "2000000"], "MiB"),
    "hash": (["--inserts", "500"], ["--inserts", "2000000000"], "MiB"),
    "bfs": (["--scale", "8"], ["--scale", "31"], "--scale"),
    "tree": (["--root", "50"], ["--root", "0"], "root"),
}


def run(app, *words, ranks=2):
    command = [TOMBOLO, "run", "-n", str(ranks), "--timeout", str(LIMIT_S), "--",
               BUILD / "bench" / app]
    return subprocess.run([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def check(app, small, impossible, reason):
    done = run(app, *small, "-i", "2", "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert rows, done.stdout
    for row in rows:
        phases = row["phases"]
        assert set(phases) == PHASES, row
        assert all(0 <= mean <= 1.000001 * most for mean, most in phases.values()), row
        assert sum(mean for mean, _ in phases.values()) > 0, row
    done = run(app, *impossible)
    assert done.returncode == 2, (app, done.returncode, done.stderr)
    assert reason in done.stderr, (app, done.stderr)


def regions(program, words, way, iterations):
    """A trace shows each iteration as a region of its way, and the phases of the watched one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        command = [TOMBOLO, "run", "-n", "2", "--timeout", str(LIMIT_S), "--trace", path, "--",
                   program, *words]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        found = [(e["pid"], e["name"]) for e in json.loads(path.read_text())["traceEvents"]
                 if e.get("cat") == "region"]
    for rank in {pid for pid, _ in found}:
        names = [name for pid, name in found if pid == rank]
        assert names.count(way) == iterations, (program, names)
        assert set(names) == {way, "computing", "copying", "sending", "waiting"}, (program, names)
    assert found, program


def main():
    stencil = BUILD / "bench" / "stencil"
    # one warms up, three count, one is watched
    regions(stencil, ["-p", "50", "-i", "3", "--way", "signal"], "signal", 5)
    if (BUILD / "bench" / "hydro-caf").exists():  # one is watched behind those that count
        regions(BUILD / "bench" / "hydro-caf", ["24", "24", "3", "blast", "attached"],
                "attached", 4)
        regions(BUILD / "bench" / "fortran" / "stencil",
                ["--points", "50", "--iterations", "3", "--way", "attached"], "attached", 5)
    for app, (small, impossible, reason) in APPS.items():
        if (BUILD / "bench" / app).exists():
            check(app, small, impossible, reason)
            print(f"{app}: phases and refusal", flush=True)
    # Some four seconds, and progress is shown from two on: the iterations say how far the run is.
    # One rank: two would take as long in all, and twice the processor time.
    done = run("tree", "--root", "4000", "-k", "100", "-i", "6", "--way", "message", ranks=1)
    assert done.returncode == 0, done.stderr
    assert "of 6 iterations" in done.stderr, done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
