#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# upc_ways.py: variants in UPC of sending data with a notification, beside MPI's messages.
#
# Compiles bench/upc/ways.upc with `tombolo upcc` and ops_mpi.c with each MPI (its two-sided
# message), and runs all in alternation: two threads in shared memory, then two that share none,
# over loopback. What is not installed or not done in its time is named.
# JSON: records {name, bytes, place, sides: {side: [median, least, most]}}.
#   study/compare/upc_ways.py [--build build] [--rounds 3] [--json FILE]
import subprocess
import sys
import tempfile
from pathlib import Path

import ops
import series
from budget import Budget, parser_for
from compare import ROOT, processors

PLACES = {"smp: shared memory": {},
          "udp: loopback": {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}}


def compile_all(folder, build, far):
    """{side: command}"""
    tool = build / "bin" / "tombolo"
    program = folder / f"ways-{far}"
    done = subprocess.run([str(w) for w in (tool, "upcc", "-O2", ROOT / "bench/upc/ways.upc", "-o",
                                            program)], stderr=subprocess.PIPE, text=True,
                          check=False)
    sides = {}
    if done.returncode:
        print(f"upc: left out: {done.stderr.strip()[-300:]}", file=sys.stderr)
    else:
        bound = ["--bind"] if processors(2) else []
        sides["upc"] = [tool, "run", *bound, "-n", "2", program, *(["few"] if far else [])]
    peers = ops.compile_all(folder, build, far)
    for name in ("openmpi", "mpich"):
        if name in peers:
            sides[name] = [w for w in peers[name] if w != "two-sided"] + ["two-sided"]
    return sides


def main():
    parser = parser_for("Ways of UPC to hand over data.", 20)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    options = parser.parse_args()
    budget, rows = Budget(options), {place: {} for place in PLACES}
    records = []
    with tempfile.TemporaryDirectory() as folder:
        sides = {place: compile_all(Path(folder), options.build.resolve(), bool(environment))
                 for place, environment in PLACES.items()}
        if "upc" not in sides[next(iter(PLACES))]:
            return 77
        for _ in range(options.rounds):
            for place, environment in PLACES.items():
                for side, command in sides[place].items():
                    new = series.run(f"{side}, {place}", command, budget, environment)
                    series.merge(rows[place], side, {k: v for k, v in new.items()
                                                     if k[0].endswith("_latency")})
            records = [{**r, "place": place} for place in PLACES
                       for r in series.records(rows[place], list(sides[place]))]
            budget.save({"rounds": options.rounds, "records": records})
    series.show(records, list(sides[next(iter(PLACES))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
