#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# forms.py: barrier, broadcast, all-reduce and exchange in each form, by size and number of ranks.
#
# Compiles forms_gex.c and runs it with each form in alternation: the board (memory that the ranks
# share), trees and other schedules, the form of two levels between two pretended hosts, and bare
# puts with signal from rank to rank, as a program without collectives writes them. Each run checks
# a sum. What is not done within --timeout is named; what it has printed counts. When --budget is
# spent, larger jobs are left out.
#   bench/compare/forms.py [--build build] [--ranks 2,4,8,16,32,64] [--rounds 3] [--json FILE]
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import series
from budget import Budget, add_options
from compare import HERE, ROOT

TREES = "broadcast=knomial,allreduce=doubling,exchange=pairwise"
# form: (environment, arguments)
FORMS = {"board": ({"TOMBOLO_COLL_ALG": "all=board", "TOMBOLO_COLL_BOARD_MAX": "1MB"}, []),
         "tree": ({"TOMBOLO_COLL_ALG": TREES, "TOMBOLO_BARRIER": "DISSEM"}, []),
         "flat": ({"TOMBOLO_COLL_ALG": "all=flat", "TOMBOLO_BARRIER": "AMCENTRAL"}, []),
         "bare": ({}, ["bare"]),
         "default": ({}, [])}


def main():
    parser = argparse.ArgumentParser(description="Collectives in each form.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", default="2,4,8,16,32,64", help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each form, in alternation")
    add_options(parser, 20)
    options = parser.parse_args()
    build = options.build.resolve()
    budget, jobs = Budget(options), []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "forms"
        subprocess.run(list(map(str, [
            "cc", "-O2", HERE / "forms_gex.c", "-o", program, f"-I{ROOT}/include",
            f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-ltombolo"])), check=True)
        for ranks in map(int, options.ranks.split(",")):
            rows = {}
            for _ in range(options.rounds):
                for form, (environment, arguments) in FORMS.items():
                    command = [build / "bin" / "tombolo", "run", "-n", ranks, program, *arguments]
                    series.merge(rows, form, series.run(f"{form}, {ranks} ranks", command,
                                                        budget, environment))
            jobs.append({"ranks": ranks, "records": series.records(rows, list(FORMS))})
            print(f"\n{ranks} ranks, microseconds")
            series.show(jobs[-1]["records"], list(FORMS))
            budget.save({"rounds": options.rounds, "jobs": jobs})
    return 0


if __name__ == "__main__":
    sys.exit(main())
