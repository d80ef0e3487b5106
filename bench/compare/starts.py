#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# starts.py: from the launcher's begin to its end, by number of ranks, beside MPI's launchers.
#
# Ranks of this machine that join, pass a barrier and end (start_gex.c, start_mpi.c); as floor as
# many empty programs, started one after the other and waited for (start_floor.c). In alternation; a
# side that has not done a number of ranks in its time is named and not asked for more. start.py is
# the same between hosts. JSON: records {panel, line, ranks, unit, values: [seconds]}.
#   bench/compare/starts.py [--build build] [--ranks 1,2,4,...,1024] [--rounds 3] [--json FILE]
import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from budget import Budget, add_options
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
        subprocess.run([compiler, "-O2", HERE / "start_mpi.c", "-o", theirs], check=True)
        sides[NAMES[name]] = lambda n, words=words, theirs=theirs: [*words, "-n", n, theirs]
    return sides


def main():
    parser = argparse.ArgumentParser(description="Time of a whole job by number of ranks.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64,128,256,512,1024",
                        help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    add_options(parser, 20)
    options = parser.parse_args()
    budget, found, failed = Budget(options), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        sides = sides_of(Path(folder), options.build.resolve())
        for _ in range(options.rounds):
            for ranks in map(int, options.ranks.split(",")):
                for line, command in sides.items():
                    if failed.get(line, ranks + 1) <= ranks:
                        continue
                    begin = time.monotonic()
                    _, code = budget.run(f"{line}, {ranks} ranks", command(ranks),
                                         errors=subprocess.DEVNULL)
                    if code == 0:
                        found.setdefault((line, ranks), []).append(time.monotonic() - begin)
                    elif not budget.cut:
                        failed[line] = ranks
                budget.save({"rounds": options.rounds, "records": [
                    {"panel": "start", "line": line, "ranks": n, "unit": "s", "values": values}
                    for (line, n), values in found.items()]})
    for (line, ranks), values in found.items():
        print(f"{line:<18}{ranks:>6}{sorted(values)[len(values) // 2]:>10.4f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
