#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# hosts.py: applications on two to eight hosts, one rank each, beside MPI over TCP.
#
# Pipeline in C and in coarray Fortran, events in their four ways, stencil and hydro, as scaling.py
# runs them, but on hosts of a lab (tests/net/lab.py; needs root) whose links have a rate. All hosts
# share this machine's processors. Only runs that verify their result count. A side that times out
# is named, and not run on more hosts.
# JSON: as of scaling.py, ranks are hosts.
#   study/compare/hosts.py [--build build] [--ranks 2,4,8] [--rate 1gbit] [--rounds 2] [--json FILE]
import functools
import itertools
import sys
import tempfile
from pathlib import Path

import apps
import net
import scaling
from budget import Budget, parser_for
from compare import ROOT
from scaling import fixed, grid

sys.path.insert(0, str(ROOT / "tests" / "net"))
from lab import Lab, confine  # noqa: E402

SMALL = grid("400")
# {language: [(panel, application, arguments(ranks), iterations, iterations with --quick)]}
C = [("pipeline 400 x 400", "pipeline", SMALL, 3, 2),
     ("stencil 1000 x 1000", "stencil", fixed("--points", "1000"), 20, 5),
     ("hydro 96 x 96 cells", "hydro", fixed("96", "96"), 20, 5)]
FORTRAN = [("pipeline 400 x 400, Fortran", *C[0][1:]), ("hydro 96 x 96 cells, Fortran", *C[2][1:])]
EVENTS = [("events 400 x 400", *C[0][1:])]


class FarStudy(scaling.Study):
    """Runs everything from host 0 of a lab."""

    def __init__(self, lab, options, budget):
        super().__init__("hosts", options, budget)
        self.lab = lab

    def run(self, panel, name, ranks, command, settings=None):
        command = self.lab.hosts[0].command([str(word) for word in command])
        home = {"HOME": str(self.lab.ssh.accounts["root"][1]), "TOMBOLO_CONDUIT": "udp"}
        return super().run(panel, name, ranks, command, {**home, **(settings or {})})


def launchers(build, ranks):
    """Those of net.py; one-sided calls of Open MPI over TCP need its component pt2pt."""
    starts = net.launchers([f"host{h}" for h in range(ranks)], ranks, build)
    *words, option, count = starts["openmpi"]
    return {**starts, "openmpi": [*words, "--mca", "osc", "pt2pt", option, count]}


def programs_of(folder, build):
    """Sides of the programs in C, and of those in Fortran: ours; {} without gfortran."""
    names = [problem[1] for problem in C]
    fortran = {app: build / "bench" / scaling.caf_apps.PROGRAMS[app][0]
               for app in dict.fromkeys(p[1] for p in FORTRAN) if scaling.has_fortran(build, app)}
    if not fortran:
        print("gfortran: not installed, coarray Fortran left out", file=sys.stderr)
    return apps.compile_all(folder, build, names), {"tombolo": (None, fortran)} if fortran else {}


def one_round(study, ranks, sides, fortran):
    for problem in C:
        study.figure = problem[1]
        scaling.run_c(study, problem, ranks, sides)
        study.save()
    for problem in FORTRAN if fortran else ():
        scaling.run_fortran(study, problem, ranks, fortran)
    for problem in EVENTS if fortran else ():
        scaling.run_events(study, problem, ranks, fortran["tombolo"][1]["pipeline"])
    study.save()


def main():
    parser = parser_for("Applications on two to eight hosts.", 30)
    parser.add_argument("--ranks", default="2,4,8", help="numbers of hosts, one rank each")
    parser.add_argument("--rate", default="1gbit", help="rate of the links, as tc writes it")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--quick", action="store_true", help="few iterations")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    if min(options.ranks) < 2:
        parser.error("--ranks: expected numbers of hosts from 2, as 2,4,8")
    confine()
    options.launchers = functools.partial(launchers, options.build)
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as name:
        sides, fortran = programs_of(Path(name), options.build)
        with Lab(max(options.ranks), rate=options.rate, sshd=True) as lab:
            budget.after_miss = functools.partial(net.sweep, lab)
            study = FarStudy(lab, options, budget)
            runs = sum(len(sides) * (2 if p[1] == "stencil" else 1) for p in C)
            runs += 4 * len(FORTRAN) + 8 * len(EVENTS) if fortran else 0
            study.all = runs * options.rounds * len(options.ranks)
            for ranks, _ in itertools.product(options.ranks, range(options.rounds)):
                one_round(study, ranks, sides, fortran)
    for (panel, line, ranks), values in sorted(study.found.items()):
        print(f"{panel:<46}{line:<32}{ranks:>3}{1e3 * sorted(values)[len(values) // 2]:>12.4f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
