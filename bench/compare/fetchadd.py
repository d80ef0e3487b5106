#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# fetchadd.py: fetch-and-adds a second of all processes together, by their number, beside MPI.
#
# On one hot word, and spread: each on the word of its right neighbour (fetchadd_loop.h). Ranks of
# this machine. All sides in alternation; a number of processes that a side has not done in its
# time is named, and larger ones are left out for it. Open MPI uses its component `osc sm`, because
# its default has no compare-and-swap here (Debian's 4.1.4).
# JSON: records {panel, line, ranks, unit, values: [operations a second]}.
#   bench/compare/fetchadd.py [--build build] [--ranks 1,2,4,...] [--rounds 5] [--json FILE]
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import Budget, parser_for
from compare import HERE, PEERS, ROOT

ROW = re.compile(r"^(hot|spread) (\d+) ([\d.]+)$", re.M)
PANELS = {"hot": "one hot word", "spread": "spread over all"}
LINES = {"tombolo": "Tombolo", "openmpi": "Open MPI", "mpich": "MPICH"}


def compile_all(folder, build):
    """{side: command before -n}, {side: program}"""
    programs = {"tombolo": folder / "fetchadd"}
    starts = {"tombolo": [build / "bin" / "tombolo", "run"]}
    subprocess.run(list(map(str, [
        "cc", "-O2", HERE / "fetchadd_gex.c", "-o", programs["tombolo"], f"-I{ROOT}/include",
        f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-ltombolo"])), check=True)
    for name, (compiler, launcher) in PEERS.items():
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{name}: not installed, left out", file=sys.stderr)
            continue
        programs[name] = folder / f"fetchadd-{name}"
        subprocess.run([compiler, "-O2", HERE / "fetchadd_mpi.c", "-o", programs[name]], check=True)
        starts[name] = [*launcher, *(["--mca", "osc", "sm"] if name == "openmpi" else [])]
    return starts, programs


def main():
    parser = parser_for("Fetch-and-adds by number of processes.", 20)
    parser.add_argument("--ranks", default="1,2,4,8,16,32", help="numbers of processes")
    parser.add_argument("--quick", action="store_true", help="up to 4 processes")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    options = parser.parse_args()
    every = [int(n) for n in options.ranks.split(",") if not options.quick or int(n) <= 4]
    budget, found, failed = Budget(options), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        starts, programs = compile_all(Path(folder), options.build.resolve())
        for _ in range(options.rounds):
            for ranks in every:
                for side, program in programs.items():
                    if failed.get(side, ranks + 1) <= ranks:
                        continue
                    text, code = budget.run(f"{LINES[side]}, {ranks} processes",
                                            [*starts[side], "-n", ranks, program])
                    if code != 0 and not budget.cut:
                        failed[side] = ranks
                    for kind, count, seconds in ROW.findall(text):
                        found.setdefault((PANELS[kind], LINES[side], ranks), []).append(
                            int(count) / float(seconds))
                budget.save({"rounds": options.rounds, "records": [
                    {"panel": p, "line": line, "ranks": n, "unit": "/s", "values": values}
                    for (p, line, n), values in found.items()]})
    for (panel, line, ranks), values in found.items():
        print(f"{panel:<18}{line:<12}{ranks:>6}{sorted(values)[len(values) // 2] / 1e6:>12.3f} M/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
