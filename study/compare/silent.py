#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# silent.py: operations whose target computes and makes no call, by conduit.
#
# Runs tombolo-bench-silent with two ranks that share no memory, through the conduits udp, ofi and
# mpi, in alternation. Measures the time of an operation, and the time that the library's threads
# take from the target's computation. A run that exceeds --timeout is named; its printed rows count.
# JSON: records {operation, conduit, us: [medians], least: [tenth percentiles], stolen: [percent]}.
#   study/compare/silent.py [--build build] [--rounds 2] [--json FILE]
import re
import statistics
import subprocess
import sys

from budget import Budget, parser_for
from compare import processors

TIME = re.compile(r"^silent (.+?) +median +([\d.]+) us, p10 +([\d.]+) us", re.M)
STOLEN = re.compile(r"^stolen (.+?) +median +([\d.]+) %$", re.M)
CONDUITS, TURNS = ("udp", "ofi", "mpi"), 1


def main():
    parser = parser_for("Operations whose target makes no call.", 60)
    parser.add_argument("--rounds", type=int, default=2, help="runs of each conduit")
    options = parser.parse_args()
    build, budget, found = options.build.resolve(), Budget(options), {}
    command = [build / "bin/tombolo", "run", *(["--bind"] if processors(2) else []), "-n", 2,
               build / "bench/tombolo-bench-silent", TURNS]
    # Each takes 0.5 s for each operation and turn, whatever they cost.
    budget.share = 1 / len(CONDUITS)
    for _ in range(options.rounds):
        for conduit in CONDUITS:
            text, _ = budget.run(f"conduit {conduit}", command, {
                "TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": conduit,
                "TOMBOLO_MPI_THREAD": "MULTIPLE"}, errors=subprocess.DEVNULL)
            for name, us, least in TIME.findall(text):
                one = found.setdefault((name, conduit), {"us": [], "least": [], "stolen": []})
                one["us"].append(float(us))
                one["least"].append(float(least))
            for name, percent in STOLEN.findall(text):
                if (name, conduit) in found:
                    found[name, conduit]["stolen"].append(float(percent))
            budget.save({"rounds": options.rounds, "records": [
                {"operation": name, "conduit": c, **values}
                for (name, c), values in found.items()]})
    for (name, conduit), one in found.items():
        print(f"{name:<18}{conduit:<6}{statistics.median(one['us']):>12.1f} us")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
