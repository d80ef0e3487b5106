#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# fetchadd.py: fetch-and-adds a second of all processes together, by their number, beside MPI.
#
# On one hot word, and spread: each on the word of its right neighbour (fetchadd_loop.h). Ranks of
# this machine, in shared memory, and as pretended hosts of one rank each, over loopback, where the
# owner's processor adds. All sides run in alternation. A number of processes at which a side times
# out is named, and larger ones are left out for it. In shared memory Open MPI uses its
# component `osc sm`, because its default has no compare-and-swap here (Debian's 4.1.4).
# JSON: records {panel, line, ranks, unit, values: [operations a second]}.
#   study/compare/fetchadd.py [--build build] [--ranks 1,2,4,...] [--rounds 5] [--json FILE]
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import Budget, compile_ours, parser_for
from compare import HERE, PEERS, installed_peers

ROW = re.compile(r"^(hot|spread) (\d+) ([\d.]+)$", re.M)
PANELS = {"hot": "one hot word", "spread": "spread over all"}
LINES = {"tombolo": "Tombolo", "openmpi": "Open MPI", "mpich": "MPICH"}
TCP = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"]
FAR = ", udp, loopback"  # behind the name of a panel


def compile_all(folder, build):
    """{side: command before -n}, {side: program}"""
    programs = {"tombolo": folder / "fetchadd"}
    starts = {"tombolo": [build / "bin" / "tombolo", "run"]}
    compile_ours(build, HERE / "fetchadd_gex.c", programs["tombolo"])
    for name, compiler, launcher in installed_peers():
        programs[name] = folder / f"fetchadd-{name}"
        subprocess.run([compiler, "-O2", HERE / "fetchadd_mpi.c", "-o", programs[name]], check=True)
        starts[name] = [*launcher, *(["--mca", "osc", "sm"] if name == "openmpi" else [])]
    return starts, programs


def far_sides(starts, programs):
    """{side: (command before -n, program)} of those that can do without shared memory; MPICH on one
    host cannot (net.py)."""
    return {side: ([*PEERS[side][1], *TCP] if side in PEERS else starts[side], program)
            for side, program in programs.items() if side != "mpich"}


class Measured:
    """Results of all sides: {(panel, line, ranks): [operations a second]}; saved after each number
    of ranks."""

    def __init__(self, options, budget):
        self.options, self.budget, self.found, self.failed = options, budget, {}, {}

    def run(self, side, ranks, command, far):
        """One run of a side; one that has failed is not run on more ranks."""
        if self.failed.get((side, far), ranks + 1) <= ranks:
            return
        settings = {"TOMBOLO_PLACES": str(ranks), "TOMBOLO_CONDUIT": "udp"} if far else {}
        who = f"{LINES[side]}, {ranks} processes{FAR if far else ''}"
        settings["OMPI_MCA_mpi_yield_when_idle"] = "1"
        text, code = self.budget.run(who, command, settings)
        if code != 0 and not self.budget.cut:
            self.failed[side, far] = ranks
        for kind, count, seconds in ROW.findall(text):
            key = (PANELS[kind] + (FAR if far else ""), LINES[side], ranks)
            self.found.setdefault(key, []).append(int(count) / float(seconds))

    def save(self):
        self.budget.save({"rounds": self.options.rounds, "records": [
            {"panel": p, "line": line, "ranks": n, "unit": "/s", "values": values}
            for (p, line, n), values in self.found.items()]})


def main():
    parser = parser_for("Fetch-and-adds by number of processes.", 20)
    parser.add_argument("--ranks", default="1,2,4,8,16,32", help="numbers of processes")
    parser.add_argument("--quick", action="store_true", help="up to 4 processes")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    options = parser.parse_args()
    every = [int(n) for n in options.ranks.split(",") if not options.quick or int(n) <= 4]
    measured = Measured(options, Budget(options))
    with tempfile.TemporaryDirectory() as folder:
        starts, programs = compile_all(Path(folder), options.build.resolve())
        far = far_sides(starts, programs)
        for _ in range(options.rounds):
            for ranks in every:
                for side, program in programs.items():
                    measured.run(side, ranks, [*starts[side], "-n", ranks, program], False)
                for side, (start, program) in far.items() if ranks > 1 else ():
                    measured.run(side, ranks, [*start, "-n", ranks, program], True)
                measured.save()
    for (panel, line, ranks), values in measured.found.items():
        print(f"{panel:<34}{line:<12}{ranks:>6}{sorted(values)[len(values) // 2] / 1e6:>12.3f} M/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
