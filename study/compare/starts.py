#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# starts.py: a job from the start of its launcher to its end, and its memory, by number of ranks.
#
# Ranks of this machine that join, pass a barrier and end (start_gex.c, start_mpi.c), beside MPI's
# launchers. The baseline: as many empty programs, started one after the other and waited for
# (start_floor.c). One more run in the first round asks each rank for its memory (Pss); the mean is
# kept. All sides run in alternation. A job that takes long is measured once; a side that times out
# is named and not run with more ranks. start.py measures jobs on several hosts.
# JSON: records {panel: "start" or "memory", line, ranks, unit, values}.
#   study/compare/starts.py [--build build] [--ranks 1,2,4,...,1024] [--rounds 3] [--json FILE]
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from budget import Budget, parser_for
from compare import HERE, ROOT, installed_peers
from start import compile_floor, compile_job

SHARE = 1 / 4  # of the budget, for one run: the largest jobs of peers take long
ONCE_S, MEMORY_S = 5, 15  # a job that takes longer is measured once; has no run for its memory
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def sides_of(folder, build):
    """{line: function(ranks) that gives the command}"""
    launcher, program = compile_job(folder, build, "start")
    floor = compile_floor(folder)
    sides = {"Tombolo": lambda n: [launcher, "run", "-n", n, program],
             "empty processes": lambda n: [floor, n]}
    for name, compiler, words in installed_peers():
        theirs = folder / f"start-{name}"
        subprocess.run([compiler, "-O2", f"-I{ROOT}/study", HERE / "start_mpi.c", "-o", theirs],
                       check=True)
        sides[NAMES[name]] = lambda n, words=words, theirs=theirs: [*words, "-n", n, theirs]
    return sides


MEMORY = re.compile(r"^memory (\d+)$", re.M)


def memory_of(text, ranks):
    """KiB a rank, or None if a rank has not printed it."""
    kib = [int(found) for found in MEMORY.findall(text)]
    return statistics.mean(kib) if len(kib) == ranks and min(kib) > 0 else None


def save(budget, options, found):
    units = {"start": "s", "memory": "KiB"}
    budget.save({"rounds": options.rounds, "records": [
        {"panel": panel, "line": line, "ranks": n, "unit": units[panel], "values": values}
        for (panel, line, n), values in found.items()]})


def add_memory(found, budget, line, ranks, command):
    """One run in which the ranks print their memory."""
    text, _ = budget.run(f"memory of {line}, {ranks} ranks", [*command, "memory"],
                         errors=subprocess.DEVNULL)
    kib = memory_of(text, ranks)
    if kib:
        found["memory", line, ranks] = [kib]


def is_due(turn, before, ranks, budget, who):
    """Whether a job of so many ranks is started in this round. before: {ranks: its first time} of
    this side. A job that took long is measured once. A job that would time out, judged by the time
    of half as many ranks, is named and not tried."""
    if turn and before.get(ranks, 0) > ONCE_S:
        return False
    half = max((n for n in before if n < ranks), default=0)
    need = before.get(half, 0) * ranks / max(half, 1)
    if not half or need <= budget.longest():
        return True
    budget.miss(who, f"not run: {half} ranks took {before[half]:.0f} s")
    return False


def measure(sides, options, budget):
    """{(panel, line, ranks): values}; a side that timed out is not run again."""
    found, failed, first = {}, {}, {line: {} for line in sides}
    for turn in range(options.rounds):
        for ranks in map(int, options.ranks.split(",")):
            for line, command in sides.items():
                who, before = f"{line}, {ranks} rank{'s' if ranks > 1 else ''}", first[line]
                if failed.get(line, ranks + 1) <= ranks or \
                        not is_due(turn, before, ranks, budget, who):
                    continue
                begin = time.monotonic()
                _, code = budget.run(who, command(ranks), errors=subprocess.DEVNULL)
                took = time.monotonic() - begin
                if code == 0:
                    found.setdefault(("start", line, ranks), []).append(took)
                    before.setdefault(ranks, took)
                elif not budget.cut:
                    failed[line] = ranks
                if turn == 0 and code == 0 and took < MEMORY_S and line != "empty processes":
                    add_memory(found, budget, line, ranks, command(ranks))
            save(budget, options, found)
    return found


def main():
    parser = parser_for("Time of a whole job by number of ranks.", 40)
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64,128,256,512,1024",
                        help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    options = parser.parse_args()
    budget = Budget(options)
    budget.share = SHARE
    with tempfile.TemporaryDirectory() as folder:
        found = measure(sides_of(Path(folder), options.build.resolve()), options, budget)
    for (panel, line, ranks), values in found.items():
        print(f"{panel:<8}{line:<18}{ranks:>6}{statistics.median(values):>12.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
