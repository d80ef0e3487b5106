#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# starts.py: a job from its launcher's begin to its end, and its memory, by number of ranks.
#
# Ranks of this machine that join, pass a barrier and end (start_gex.c, start_mpi.c), beside MPI's
# launchers; as floor as many empty programs, started one after the other and waited for
# (start_floor.c). One more run in the first round asks each rank for its memory (Pss); the mean is
# kept. In alternation; a side that has not done a number of ranks in its time is named and not
# asked for more. start.py is the same between hosts.
# JSON: records {panel: "start" or "memory", line, ranks, unit, values}.
#   bench/compare/starts.py [--build build] [--ranks 1,2,4,...,1024] [--rounds 3] [--json FILE]
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from budget import Budget, parser_for
from compare import HERE, PEERS, ROOT
from start import compile_floor, compile_job

NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def sides_of(folder, build):
    """{line: function(ranks) that gives the command}"""
    launcher, program = compile_job(folder, build, "start")
    floor = compile_floor(folder)
    sides = {"Tombolo": lambda n: [launcher, "run", "-n", n, program],
             "empty processes": lambda n: [floor, n]}
    for name, (compiler, words) in PEERS.items():
        if not shutil.which(compiler) or not shutil.which(words[0]):
            print(f"{name}: not installed, left out", file=sys.stderr)
            continue
        theirs = folder / f"start-{name}"
        subprocess.run([compiler, "-O2", f"-I{ROOT}/bench", HERE / "start_mpi.c", "-o", theirs],
                       check=True)
        sides[NAMES[name]] = lambda n, words=words, theirs=theirs: [*words, "-n", n, theirs]
    return sides


MEMORY = re.compile(r"^memory (\d+)$", re.M)


def memory_of(text, ranks):
    """KiB a rank, or None if not all have said it."""
    kib = [int(found) for found in MEMORY.findall(text)]
    return statistics.mean(kib) if len(kib) == ranks and min(kib) > 0 else None


def save(budget, options, found):
    units = {"start": "s", "memory": "KiB"}
    budget.save({"rounds": options.rounds, "records": [
        {"panel": panel, "line": line, "ranks": n, "unit": units[panel], "values": values}
        for (panel, line, n), values in found.items()]})


def add_memory(found, budget, line, ranks, command):
    """One run in which the ranks say what they need."""
    text, _ = budget.run(f"memory of {line}, {ranks} ranks", [*command, "memory"],
                         errors=subprocess.DEVNULL)
    kib = memory_of(text, ranks)
    if kib:
        found["memory", line, ranks] = [kib]


def measure(sides, options, budget):
    """{(panel, line, ranks): values}; what a side has not done in time it is not asked again."""
    found, failed = {}, {}
    for turn in range(options.rounds):
        for ranks in map(int, options.ranks.split(",")):
            for line, command in sides.items():
                if failed.get(line, ranks + 1) <= ranks:
                    continue
                begin = time.monotonic()
                _, code = budget.run(f"{line}, {ranks} ranks", command(ranks),
                                     errors=subprocess.DEVNULL)
                if code == 0:
                    found.setdefault(("start", line, ranks), []).append(time.monotonic() - begin)
                elif not budget.cut:
                    failed[line] = ranks
                if turn == 0 and code == 0 and line != "empty processes":
                    add_memory(found, budget, line, ranks, command(ranks))
            save(budget, options, found)
    return found


def main():
    parser = parser_for("Time of a whole job by number of ranks.", 20)
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64,128,256,512,1024",
                        help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    options = parser.parse_args()
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(sides_of(Path(folder), options.build.resolve()), options, budget)
    for (panel, line, ranks), values in found.items():
        print(f"{panel:<8}{line:<18}{ranks:>6}{statistics.median(values):>12.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
