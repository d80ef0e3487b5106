#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# forms.py: barrier, broadcast, all-reduce and exchange in each form, by size and number of ranks.
#
# Compiles forms_gex.c and runs it with each form in alternation: the board (memory that the ranks
# share), trees and other schedules, and bare puts with signal from rank to rank, as a program
# without collectives writes them; and MPI's (forms_mpi.c). Of barriers it also measures trees and
# dissemination by hand, and barriers between two pretended hosts, whose ranks share no memory with
# the other's, with one of two levels; so it does with all-reduce and broadcast of 8 B. Each run
# checks a sum. A form that fails or exceeds --timeout is named and not run on more ranks; its
# printed rows count. When --budget is spent, larger jobs are left out.
#   study/compare/forms.py [--build build] [--ranks 2,4,8,16,32,64] [--rounds 3] [--json FILE]
import subprocess
import sys
import tempfile
from pathlib import Path

import series
from budget import Budget, compile_ours, parser_for
from compare import HERE, installed_peers

TREES = "broadcast=knomial,allreduce=doubling,exchange=pairwise"
TWO_HOSTS = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}
# form: (environment, arguments)
FORMS = {"board": ({"TOMBOLO_COLL_ALG": "all=board", "TOMBOLO_TEST_COLL_BOARD_MAX": "1MB"}, []),
         "tree": ({"TOMBOLO_COLL_ALG": TREES}, []),
         "flat": ({"TOMBOLO_COLL_ALG": "all=flat"}, []),
         "bare": ({}, ["bare"]),
         "default": ({}, []),
         **{f"barrier {way}": ({}, ["barrier", way])
            for way in ("root", "binomial", "dissemination")},
         **{f"far {way}": (TWO_HOSTS, ["barrier", way])
            for way in ("library", "root", "binomial", "dissemination", "nodes")},
         **{f"small {way}": (TWO_HOSTS, ["small", way]) for way in ("library", "nodes")}}


def compile_all(folder, build):
    """{form: function(ranks) that gives (command, environment)}"""
    program = compile_ours(build, HERE / "forms_gex.c", folder / "forms")
    run = [build / "bin" / "tombolo", "run", "-n"]
    forms = {form: lambda n, e=environment, a=arguments: ([*run, n, program, *a], e)
             for form, (environment, arguments) in FORMS.items()}
    for name, compiler, launcher in installed_peers():
        theirs = folder / f"forms-{name}"
        subprocess.run([compiler, "-O2", HERE / "forms_mpi.c", "-o", theirs], check=True)
        for form, words in ((name, []), (f"{name} all", ["all"])):
            forms[form] = lambda n, w=launcher, p=theirs, a=words: (
                [*w, "-n", n, p, *a], {"OMPI_MCA_mpi_yield_when_idle": "1"})
    return forms


def measure(forms, ranks, rounds, budget, failed):
    """Rows of all forms on so many ranks."""
    rows = {}
    for _ in range(rounds):
        for form, command in forms.items():
            who, (words, environment) = f"{form}, {ranks} ranks", command(ranks)
            if form in failed:
                continue
            series.merge(rows, form, series.run(who, words, budget, environment))
            if who in budget.unfinished and not budget.cut:
                failed.add(form)
    return series.records(rows, list(forms))


def main():
    parser = parser_for("Collectives in each form.", 20)
    parser.add_argument("--ranks", default="2,4,8,16,32,64", help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each form, in alternation")
    options = parser.parse_args()
    budget, jobs, failed = Budget(options), [], set()
    with tempfile.TemporaryDirectory() as folder:
        forms = compile_all(Path(folder), options.build.resolve())
        for ranks in map(int, options.ranks.split(",")):
            jobs.append({"ranks": ranks,
                         "records": measure(forms, ranks, options.rounds, budget, failed)})
            print(f"\n{ranks} ranks, microseconds")
            series.show(jobs[-1]["records"], list(forms))
            budget.save({"rounds": options.rounds, "jobs": jobs})
    return 0


if __name__ == "__main__":
    sys.exit(main())
