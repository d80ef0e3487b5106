#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# apps.py: the applications that are written on links (study/lib/links.h), on Tombolo and on MPI.
#
# The same source is compiled for Tombolo (by the build tree) and, with links_mpi.c in place of
# links.c, by mpicc.openmpi and mpicc.mpich. All are run in alternation; for each application and
# problem the table shows the median rate of each way, its spread, and the best way of ours over the
# best of the peers'. matmul and cholesky run in UPC, too: side "upc", which is also ours. A side
# that is not installed or built is named and left out. Ranks of every side are bound alike, if
# there are enough processors. MPICH runs its two-sided variant only: with Debian's MPICH 4.0.2 the
# one-sided one hangs, because a rank never sees the flag that it polls. Open MPI runs `hash`, `bfs`
# and `tree` with its component `osc sm`: the default one of Debian's 4.1.4 ends by a segmentation
# fault in compare-and-swap. matmul, cholesky, stencil, pipeline and hydro also measure computing
# alone. 0.95 of that rate, over the best peer, replaces a higher target, but never one below the
# peer. blas.py chooses the kernel of OpenBLAS for all sides.
#   study/compare/apps.py [--build build] [--ranks 2] [--rounds 5] [--timeout S] [--json FILE]
#                         [--quick] [--problem NAME]... [APP...]
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import blas
import budget as budgets
from compare import HERE, PEERS, ROOT

# {application: [(problem, arguments, target of the ratio)]}; --quick leaves out those that take
# longest. The two with the slowest peers come last and have no target.
PROBLEMS = {
    "pipeline": [("small", ["--rows", "400", "--columns", "400", "-i", "40"], 1.2),
                 ("large", ["--rows", "2000", "--columns", "2000", "-i", "10"], 1.2)],
    "stencil": [("small", ["--points", "64", "-i", "400"], 1.2),
                ("middle", ["--points", "400", "-i", "100"], 1.0),
                ("large", ["--points", "2000", "-i", "10"], 1.0)],
    "matmul": [("1000", ["--size", "1000", "-i", "3"], 1.0),
               ("2000", ["--size", "2000", "-i", "2"], 1.0),
               ("4000", ["--size", "4000", "-i", "1"], 1.0),
               ("8000", ["--size", "8000", "-i", "1"], 1.0)],
    "hydro": [("small", ["--cells-x", "96", "--cells-y", "96", "-i", "100"], 1.0),
              ("large", ["--cells-x", "960", "--cells-y", "960", "-i", "3"], 1.0)],
    "hash": [("20000", ["--inserts", "20000", "-i", "5"], 5.0)],
    "cholesky": [("1000", ["--size", "1000", "-i", "3"], 1.0),
                 ("2000", ["--size", "2000", "-i", "2"], 1.0),
                 ("4000", ["--size", "4000", "-i", "1"], 1.0),
                 ("8000", ["--size", "8000", "-i", "1"], 1.0)],
    "bfs": [("2^15", ["--scale", "15", "-i", "2"], 1.0)],
    "tree": [("root 4000", ["--root", "4000", "-i", "3"], 1.0)],
}
NOT_QUICK = ("4000", "8000")
# {long problem: number of rounds}; it runs behind the others in the first rounds.
FEW_ROUNDS = {"4000": 2, "8000": 1}
# Problems of 8000 take ten seconds an iteration: of ours only the fastest variant of 4000 runs.
ONE_WAY = {("matmul", "8000"): "direct", ("cholesky", "8000"): "signal"}
SHARE = 1 / 5  # of the budget, for one run: the largest problems take half a minute
CROWDED_S = 15  # at most for one-sided calls on them: with MPICH they may not end in a minute
SPINS = 8  # a peer whose ranks share processors does this part of the iterations: it spins
BOUND = budgets.BOUND
NEAR_BOUND = 0.95  # of it is the target where that is less than the target beside the peers
CROWDED = 1.3  # target of matmul and cholesky where ranks outnumber processors, and between hosts

# Applications on words of MPI's one-sided calls; Open MPI's default component for these cannot
# compare and swap.
IRREGULAR = ("bfs", "tree")
ONE_SIDED = ("hash", *IRREGULAR)

# Sides that are ours: what is in C, and what is in UPC.
OURS = ("tombolo", "upc")

# Applications that ScaLAPACK has a routine for, and the routine.
ROUTINES = {"matmul": "pdgemm", "cholesky": "pdpotrf"}
SCALAPACK = {"openmpi": "-lscalapack-openmpi", "mpich": "-lscalapack-mpich"}


def peer_parts(app, mpi):
    """Returns (sources, libraries) of the peer of an application."""
    if app in ROUTINES:
        flags = subprocess.run(["pkg-config", "--libs", "openblas"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, check=False).stdout.split()
        return [HERE / "scalapack.c"], [SCALAPACK[mpi], *flags]
    if app == "hash":
        return [HERE / "hash_mpi.c"], []
    words = [HERE / "words_mpi.c"] if app in IRREGULAR else []
    return sorted((ROOT / "study" / "apps" / app).glob("*.c")) + words, []


def compile_one(compiler, app, name, program):
    """Compiles an application for a peer. Returns whether that went well; else it is named."""
    print(f"... compiling {app} for {name}", flush=True)
    sources, libraries = peer_parts(app, name)
    command = [compiler, "-O3", "-g", "-ffp-contract=off", f"-I{ROOT}/study", *sources,
               ROOT / "study/lib/app.c", HERE / "links_mpi.c", "-o", program, *libraries, "-lm"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        return True
    needs = f" (needs ScaLAPACK, {SCALAPACK[name]}: make deps STUDY=1)" if app in ROUTINES else ""
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    print(f"{app} for {name}: not compiled, left out{needs}: {last}", file=sys.stderr)
    return False


def compile_all(folder, build, apps):
    """Compiles the applications for each peer. Failures are named. Returns {side: (launcher,
    {application: program})}."""
    sides = {"tombolo": ([build / "bin" / "tombolo", "run"],
                         {a: build / "bench" / a for a in apps})}
    for name, (compiler, launcher) in PEERS.items():
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{name}: not installed, left out ({compiler}, {launcher[0]})", file=sys.stderr)
            continue
        programs = {app: folder / f"{app}-{name}" for app in apps}
        sides[name] = (launcher, {app: program for app, program in programs.items()
                                  if compile_one(compiler, app, name, program)})
    return sides


def add_upc(sides, build, apps):
    """Adds the side "upc" with the applications that are built in UPC; the others are named."""
    programs = {app: build / "bench" / f"{app}-upc" for app in apps if app in ROUTINES}
    built = {app: program for app, program in programs.items() if program.exists()}
    for app in programs.keys() - built:
        print(f"UPC: not built, left out ({app}-upc)", file=sys.stderr)
    if built:
        sides["upc"] = (sides["tombolo"][0], built)


def rows_of(side, command, code, text):
    """{variant: MFlop/s} from the output of a run; {} after a message if it failed."""
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if code or not rows or not all(row["verified"] for row in rows):
        print(f"{side}: exit code {code}: {' '.join(str(c) for c in command)}", file=sys.stderr)
        return {}
    return {row["way"]: row["mflops"] for row in rows}


def with_bound(rows, text):
    """The rows, with the rate that the programs found for computing alone, if they say so."""
    said = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    bounds = [row["mflops"] / row["share"] for row in said if row.get("share")]
    return {**rows, BOUND: max(bounds)} if rows and bounds else rows


def fewer(words):
    """Arguments with a part of the iterations, at least one: rates stay comparable."""
    at = words.index("-i") + 1
    return [*words[:at], str(max(1, int(words[at]) // SPINS)), *words[at + 1:]]


def run_here(budget):
    """run(side, who, command, seconds at most): one run here, as `measure` wants it."""
    def run(side, who, command, most=float("inf")):
        text, code = budget.run(who, command, most=most)
        if side in OURS and code:
            sys.exit(f"{who}: exit code {code}: {' '.join(str(c) for c in command)}")
        return {} if code is None else with_bound(rows_of(side, command, code, text), text)
    return run


def measure(sides, series, options, run):
    """One round of a problem: every side once. A side that timed out before is left out."""
    app, problem = series.about
    series.rounds += 1
    if series.rounds > FEW_ROUNDS.get(problem[0], options.rounds):
        return
    for side, (launcher, programs) in sides.items():
        if side in series.failed or app not in programs:
            continue
        words = fewer(problem[1]) if side not in OURS and options.apps_crowded and \
            app not in ROUTINES else problem[1]
        command = [*launcher, "-n", options.ranks, programs[app], *words, "--json", "--bind"]
        if side in OURS and (app, problem[0]) in ONE_WAY:
            command += ["--way", ONE_WAY[app, problem[0]]]
        if side == "openmpi" and app in ONE_SIDED:
            command[1:1] = ["--mca", "osc", "sm"]
        elif side not in OURS and app in ROUTINES:
            command += ["--way", ROUTINES[app]]
        elif side == "mpich" and app not in ONE_SIDED:
            command += ["--way", "mpi"]
        most = CROWDED_S if options.apps_crowded and side not in OURS and app in ONE_SIDED \
            else float("inf")
        rows = run(side, f"{side}, {app} {problem[0]}", command, most)
        if not rows:
            series.failed.add(side)
        for way, rate in rows.items():
            series.add((side, way), rate)


def over_peers(rate):
    """The best rate of ours over the best of the peers, or None. rate: {(side, way): MFlop/s}"""
    ours = [m for (side, way), m in rate.items() if side in OURS and way != BOUND]
    peers = [m for (side, way), m in rate.items() if side not in OURS and way != BOUND]
    return max(ours) / max(peers) if ours and peers else None


def bound_of(rate, ratio, target):
    """The bound of a problem as JSON: computing alone over the best peer, our part of that, and the
    target, which the bound limits."""
    bounds = [m for (_, way), m in rate.items() if way == BOUND]
    if not bounds or not ratio:
        return {"target": target}
    ours = max(m for (side, way), m in rate.items() if side in OURS and way != BOUND)
    possible = max(bounds) * ratio / ours
    limited = max(NEAR_BOUND * possible, 1.0)
    return {"target": min(target, round(limited, 3)), "bound": possible,
            "of_bound": ours / max(bounds)}


def record_of(series, options):
    """The record of a problem so far."""
    app, problem = series.about
    medians = {key: statistics.median(values) for key, values in series.figures.items()}
    ratio = over_peers(medians)
    target = CROWDED if options.apps_crowded and app in ROUTINES else problem[2]
    return {"application": app, "problem": problem[0], "ratio": ratio,
            "ratio_of_best": over_peers({k: max(v) for k, v in series.figures.items()}),
            **bound_of(medians, ratio, target),
            "mflops": {f"{side} {way}": values for (side, way), values in series.figures.items()
                       if way != BOUND}}


def report(series, options):
    """Prints one problem."""
    (app, problem), rates = series.about, series.figures
    record = record_of(series, options)
    ratio = record["ratio"]
    medians = {key: statistics.median(values) for key, values in rates.items()}
    print(f"\n{app}, {problem[0]} ({' '.join(problem[1])})")
    for (side, way), values in sorted(rates.items(), key=lambda item: -medians[item[0]]):
        print(f"  {side:<9}{way:<16}{medians[side, way]:>10.1f} M/s"
              f"  {min(values):.1f}..{max(values):.1f}")
    met = bool(ratio) and ratio >= record["target"]
    share = 100 * record.get("of_bound", 0)
    budgets.print_verdict(record, met, f"best of ours has {share:.0f} % of it")


def measure_all(sides, apps, options, run, budget):
    """All problems of these applications, in rounds; saves the records after each step. A problem
    without any figure has no record."""
    every = [budgets.Series(app, problem) for app in apps for problem in PROBLEMS[app]
             if (problem[0] in options.problem if options.problem
                 else not (options.quick and problem[0] in NOT_QUICK))]

    def save():
        budget.save({"ranks": options.ranks, "rounds": options.rounds, "blas": options.blas,
                     "records": [record_of(s, options) for s in every if s.figures]})
    every.sort(key=lambda s: s.about[1][0] in FEW_ROUNDS and FEW_ROUNDS[s.about[1][0]] == 1)
    budgets.in_rounds(every, options.rounds, lambda s: measure(sides, s, options, run), save)
    for series in every:
        if series.figures:
            report(series, options)


def add_options(parser):
    """Options that net.py --apps has too."""
    parser.add_argument("--quick", action="store_true", help="leave the largest problems out")
    parser.add_argument("--problem", action="append", help="measure this problem only; repeatable")


def main():
    parser = budgets.parser_for("Applications on Tombolo and on MPI.", 120)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    add_options(parser)
    options = budgets.parse_apps(parser, PROBLEMS)
    apps = options.apps
    options.apps_crowded = options.ranks > len(os.sched_getaffinity(0))
    options.blas = blas.say_kernel() if set(apps) & set(ROUTINES) else None
    budget = budgets.Budget(options)
    budget.share = SHARE
    with tempfile.TemporaryDirectory() as folder:
        sides = compile_all(Path(folder), options.build.resolve(), apps)
        add_upc(sides, options.build.resolve(), apps)
        measure_all(sides, apps, options, run_here(budget), budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
