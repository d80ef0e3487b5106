#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# scaling.py: applications by number of ranks, on Tombolo in C, UPC and Fortran, MPI, OpenCoarrays.
#
# One figure of the study a call: pipeline, events, stencil, hydro, matmul or cholesky. Each
# problem runs on each number of ranks and on each side, in rounds that alternate. Only runs that
# verify their result count. A side that times out is named, and not run again with as many or more
# ranks. Peers come from apps.py and caf_apps.py; an absent one is named, too. With
# --hosts ranks are spread over hosts (ssh; the programs at the same path).
# JSON: records {panel, line, ranks, values: [seconds of one iteration], work: flops of one}.
#   study/compare/scaling.py FIGURE [--build build] [--ranks 1,2,4,8] [--rounds 5] [--quick]
#                            [--hosts a,b] [--timeout S] [--budget S] [--json FILE]
import argparse
import itertools
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import apps
import caf_apps
from budget import Budget, add_options
from compare import ROOT

PEER_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
CROWDED = 8  # where ranks outnumber processors a peer that spins gets this part of the iterations


def fixed(*words):
    """Arguments that do not depend on the ranks."""
    return lambda ranks: list(words)


def weak(points):
    """A grid with points x points for each rank."""
    return lambda ranks: ["--points", str(round(points * math.sqrt(ranks)))]


def grid(n):
    return fixed("--rows", n, "--columns", n)


# figure: [(panel, application, arguments(ranks), iterations, iterations with --quick)]
FIGURES = {
    "pipeline": [("400 x 400", "pipeline", grid("400"), 60, 20),
                 ("2000 x 2000", "pipeline", grid("2000"), 6, 2),
                 ("8000 x 8000", "pipeline", grid("8000"), 2, 0),
                 ("16384 x 16384", "pipeline", grid("16384"), 1, 0),
                 ("32768 x 32768", "pipeline", grid("32768"), 1, 0)],
    "events": [("400 x 400", "pipeline", grid("400"), 60, 20)],
    "stencil": [("strong: 1000 x 1000", "stencil", fixed("--points", "1000"), 40, 10),
                ("weak: 400 x 400 a rank", "stencil", weak(400), 60, 15)],
    "hydro": [("96 x 96 cells", "hydro", fixed("96", "96"), 100, 30),
              ("960 x 960 cells", "hydro", fixed("960", "960"), 3, 0)],
    "matmul": [("n = 1000", "matmul", fixed("--size", "1000"), 3, 1),
               ("n = 2400", "matmul", fixed("--size", "2400"), 1, 0)],
    "cholesky": [("n = 1000", "cholesky", fixed("--size", "1000"), 3, 1),
                 ("n = 2400", "cholesky", fixed("--size", "2400"), 1, 0)],
}


class Large:
    """Needs of a large problem: memory in bytes of all ranks together, numbers of ranks that it is
    measured on (None: all), and whether Fortran runs it, too."""

    def __init__(self, memory, ranks=None, fortran=True):
        self.memory, self.ranks, self.fortran = memory, ranks, fortran


# {panel: needs}
LARGE = {"16384 x 16384": Large(8 * 16384**2, (2,)),
         "32768 x 32768": Large(8 * 32768**2, (2,), fortran=False)}
ALL = Large(0)
MEMORY_MARGIN = 1.15  # of what a problem needs, beside the library and the launchers
# Figures with another name than their application.
APPLICATION = {"events": "pipeline"}
# Events of coarray Fortran: {value of TOMBOLO_TEST_CAF_EVENTS: label}.
EVENT_WAYS = {"signal": "put with signal", "flag": "put + flag", "atomic": "put + atomic",
              "queue": "message + queue"}
# {figure: {variant of C that is drawn: label}}; None: all, by their names.
WAYS = {"stencil": {"signal": "signal", "flag": "put + flag", "pairwise": "message",
                    "mpi": "MPI"},
        "hydro": {"barrier": "barrier", "flag": "put + flag", "signal": "signal",
                  "mpi": "MPI"}}
# The way of the programs in UPC (matmul-upc, cholesky-upc) that is drawn, as the line "UPC".
UPC_WAY = "signal"
MPI_WAYS = {"mpi": "two-sided", "mpi-rma": "one-sided"}
FORTRAN = {"pipeline": ["sync_all", "sync_images", "events", "attached"],
           "hydro": ["all", "images", "events", "attached"]}
FORTRAN_NAMES = {"sync_all": "sync all", "all": "sync all", "sync_images": "sync images",
                 "images": "sync images", "events": "event", "attached": "attached event",
                 "notified": "notified put"}


def launchers(options, ranks):
    """{side: command before the program}, bound where there are enough processors; hosts.py has
    its own."""
    if getattr(options, "launchers", None):
        return options.launchers(ranks)
    enough = not options.hosts and ranks <= len(os.sched_getaffinity(0))
    ours = [options.build / "bin" / "tombolo", "run", *(["--bind"] if enough else [])]
    core = "core" if enough else "none"
    openmpi = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", core]
    mpich = ["mpirun.mpich", "-bind-to", core]
    if options.hosts:
        ours += ["--hosts", options.hosts]
        openmpi += ["--host", ",".join(f"{h}:{ranks}" for h in options.hosts.split(","))]
        mpich += ["-hosts", options.hosts]
    return {side: [*words, "-n", ranks]
            for side, words in (("tombolo", ours), ("openmpi", openmpi), ("mpich", mpich))}


class Study:
    """Results of a figure so far."""

    def __init__(self, figure, options, budget):
        self.figure, self.options, self.budget = figure, options, budget
        self.found, self.work, self.failed, self.broken = {}, {}, {}, {}
        self.done, self.all = 0, 1

    def add(self, panel, line, ranks, seconds, work=None):
        self.found.setdefault((panel, line, ranks), []).append(seconds)
        if work:
            self.work[panel, line, ranks] = work

    def run(self, panel, name, ranks, command, settings=None):
        """Runs a side once, and a second time if it failed: launchers of peers sometimes do.
        Returns its output, also of a run that timed out; "" if it failed."""
        self.done += 1
        if self.failed.get((panel, name), ranks + 1) <= ranks or \
                self.broken.get((panel, name, ranks), 0) > 1:
            return ""
        who = f"{name}, {panel}, {ranks} rank{'s' if ranks > 1 else ''}"
        environment = {"OMPI_MCA_mpi_yield_when_idle": "1", **(settings or {})}
        self.budget.note = f" ({self.done} of {self.all})"
        text, code = self.budget.run(who, command, environment)
        if code:
            self.broken[panel, name, ranks] = self.broken.get((panel, name, ranks), 0) + 1
            text, code = self.budget.run(who, command, environment)
        if code is None and not self.budget.cut:
            self.failed[panel, name] = ranks
        return "" if code else text

    def save(self):
        records = [{"panel": panel, "line": line, "ranks": ranks, "values": values,
                    "work": self.work.get((panel, line, ranks))}
                   for (panel, line, ranks), values in self.found.items()]
        self.budget.save({"figure": self.figure, "ranks": self.options.ranks,
                          "rounds": self.options.rounds, "records": records})


def available():
    """Bytes of memory that processes can have, or no limit where nothing says so."""
    try:
        line = next(x for x in open("/proc/meminfo", encoding="utf-8") if x.startswith("MemAvail"))
    except (OSError, StopIteration):
        return float("inf")
    return int(line.split()[1]) * 1024


def is_meant(study, panel, ranks):
    """Whether a problem is measured on so many ranks. One that memory cannot hold is named."""
    large = LARGE.get(panel, ALL)
    if ranks not in (large.ranks or [ranks]):
        return False
    need = large.memory * MEMORY_MARGIN
    free = float("inf") if study.options.hosts else available()
    if need > free:
        study.budget.miss(f"{panel}, {ranks} ranks", f"needs {need / 1e9:.1f} GB of memory, "
                          f"{free / 1e9:.1f} GB are available")
    return need <= free


def in_turn(study, problems):
    """(problem, ranks) of all rounds: first all of those whose ranks have a processor each."""
    most = len(os.sched_getaffinity(0))
    few = [n for n in study.options.ranks if n <= most or study.options.hosts]
    for some in few, [n for n in study.options.ranks if n not in few]:
        for _ in range(study.options.rounds):
            yield from ((p, n) for p, n in itertools.product(problems, some)
                        if is_meant(study, p[0], n))


def c_words(app, words, iterations):
    """Arguments of the program in C; those of hydro are given as of the Fortran one."""
    if app == "hydro":
        words = ["-x", words[0], "-y", words[1]]
    return [*words, "-i", iterations, "--json"]


def c_rows(study, panel, side, ranks, command, suffix=""):
    text = study.run(panel, f"{PEER_NAMES.get(side, 'Tombolo, C')}{suffix}", ranks, command)
    names = WAYS.get(study.figure)
    for line in text.splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        way = row.get("way")
        if not row.get("verified") or (names and way not in names):
            continue
        if side == "tombolo":
            name = names[way] if names else way
        elif way in MPI_WAYS:
            name = f"{PEER_NAMES[side]} {MPI_WAYS[way]}"
        else:
            name = f"ScaLAPACK ({PEER_NAMES[side]})"
        study.add(panel, name + suffix, ranks, row["seconds"],
                  row["seconds"] * row["mflops"] * 1e6)


def counts_of(study, iterations, ranks):
    """Number of iterations, whether ranks share processors, launcher of each side."""
    return (iterations[1 if study.options.quick else 0], ranks > len(os.sched_getaffinity(0)),
            launchers(study.options, ranks))


def c_way(app, side):
    """The way of the program in C, or None: all in one run."""
    if side == "tombolo":
        return None
    return apps.ROUTINES.get(app, "mpi" if side == "mpich" else None)


def run_c(study, problem, ranks, sides):
    """Every side of the program in C once."""
    panel, app, words, *iterations = problem
    count, crowded, start = counts_of(study, iterations, ranks)
    for side, (_, programs) in sides.items():
        if app not in programs:
            continue
        peer = side != "tombolo"
        few = max(1, count // CROWDED) if peer and crowded else count
        command = [*start[side], programs[app], *c_words(app, words(ranks), few)]
        way = c_way(app, side)
        c_rows(study, panel, side, ranks, [*command, *(["--way", way] if way else [])])
        if app == "stencil":
            more = ["--way", "mpi"] if side == "mpich" else []
            c_rows(study, panel, side, ranks, [*command, *more, "--overlap", "1"], ", overlapped")


def has_upc(build, app):
    return (build / "bench" / f"{app}-upc").exists()


def run_upc(study, problem, ranks):
    """The program in UPC once, where there is one."""
    panel, app, words, *iterations = problem
    if not has_upc(study.options.build, app):
        return
    command = [*launchers(study.options, ranks)["tombolo"],
               study.options.build / "bench" / f"{app}-upc",
               *c_words(app, words(ranks), iterations[1 if study.options.quick else 0]),
               "--way", UPC_WAY]
    for line in study.run(panel, "UPC", ranks, command).splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        if row.get("verified"):
            study.add(panel, "UPC", ranks, row["seconds"], row["seconds"] * row["mflops"] * 1e6)


def run_fortran(study, problem, ranks, sides):
    panel, app, words, *iterations = problem
    count, crowded, start = counts_of(study, iterations, ranks)
    for side, (_, programs) in sides.items():
        peer = side != "tombolo"
        if peer and ranks == 1:
            continue  # OpenCoarrays of Debian 12 ends in MPI_Win_create with one image
        forms = FORTRAN[app][:caf_apps.PEER_FORMS] if peer else FORTRAN[app]
        for form in forms if app in programs else []:
            few = max(1, count // CROWDED) if peer or (crowded and "all" in form) else count
            name = f"{'OpenCoarrays ' if peer else 'Fortran: '}{FORTRAN_NAMES[form]}"
            command = [*start[side], programs[app],
                       *caf_apps.arguments_of(app, words(ranks), form, few)]
            text = study.run(panel, name, ranks, command)
            for found, ms, verdict in caf_apps.ROW.findall(text):
                if verdict == "VERIFIED" and found == form:
                    study.add(panel, name, ranks, float(ms) / 1e3)


def run_events(study, problem, ranks, program):
    """The pipeline in coarray Fortran with events that are posted in each of the four ways."""
    panel, _, words, *iterations = problem
    count = iterations[1 if study.options.quick else 0]
    start = launchers(study.options, ranks)["tombolo"]
    for form, title in (("events", "posted behind the data"), ("attached", "attached to the data")):
        for way, name in EVENT_WAYS.items():
            command = [*start, program, *caf_apps.arguments_of("pipeline", words(ranks), form,
                                                               count)]
            text = study.run(f"{panel}, {title}", name, ranks, command,
                             {"TOMBOLO_TEST_CAF_EVENTS": way})
            for found, ms, verdict in caf_apps.ROW.findall(text):
                if verdict == "VERIFIED" and found == form:
                    study.add(f"{panel}, {title}", name, ranks, float(ms) / 1e3)


def has_fortran(build, app):
    return app in FORTRAN and (build / "bench" / caf_apps.PROGRAMS[app][0]).exists()


def measure_events(study, problems):
    options = study.options
    app = APPLICATION[study.figure]
    if not has_fortran(options.build, app):
        print("gfortran: not installed, events of coarray Fortran left out")
        sys.exit(77)
    program = options.build / "bench" / caf_apps.PROGRAMS[app][0]
    study.all = options.rounds * len(problems) * len(options.ranks) * 2 * len(EVENT_WAYS)
    for problem, ranks in in_turn(study, problems):
        run_events(study, problem, ranks, program)
        study.save()


def measure(study, folder):
    options, figure = study.options, study.figure
    problems = [p for p in FIGURES[figure] if p[4 if options.quick else 3]]
    if figure in APPLICATION:
        measure_events(study, problems)
        return
    c_sides = apps.compile_all(folder, options.build, [figure])
    fortran = {}
    if has_fortran(options.build, figure):
        (folder / "fortran").mkdir()  # programs of both have the same names
        fortran = caf_apps.compile_all(folder / "fortran", options.build, [figure], ["openmpi"])
    runs = len(c_sides) * (2 if figure == "stencil" else 1) + sum(
        (caf_apps.PEER_FORMS if s != "tombolo" else len(FORTRAN[figure])) for s in fortran)
    if has_upc(options.build, figure):
        runs += 1
    elif figure in apps.ROUTINES:
        print(f"UPC: not built, left out ({figure}-upc)", file=sys.stderr)
    study.all = options.rounds * len(problems) * len(options.ranks) * runs
    for problem, ranks in in_turn(study, problems):
        run_c(study, problem, ranks, c_sides)
        run_upc(study, problem, ranks)
        if LARGE.get(problem[0], ALL).fortran:
            run_fortran(study, problem, ranks, fortran)
        study.save()


def main():
    parser = argparse.ArgumentParser(description="Applications by number of ranks.")
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", default="1,2,4,8", help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--hosts", help="run on these hosts instead of this machine alone")
    parser.add_argument("--quick", action="store_true", help="small problems, few iterations")
    add_options(parser, 60)
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    study = Study(options.figure, options, Budget(options))
    with tempfile.TemporaryDirectory() as folder:
        measure(study, Path(folder))
    study.save()
    for (panel, line, ranks), values in sorted(study.found.items()):
        print(f"{panel:<24}{line:<32}{ranks:>6}{1e3 * sorted(values)[len(values) // 2]:>12.4f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
