#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# caf_apps.py: applications in coarray Fortran on Tombolo beside OpenCoarrays.
#
# Compiles hydro, pipeline and stencil (study/apps/*/*.F90) with the OpenCoarrays packages that are
# installed (-DPEER: without attached events and notified puts), runs all sides in alternation, and
# prints for each problem the median time of each form of synchronisation, its spread, and our best
# form over the best form of the peers. A peer that is not installed, or not done within --timeout,
# is named and left out. The programs also measure the time of computing alone. That time / 0.95,
# over the best peer, replaces a lower target, but never one above the peer.
#   study/compare/caf_apps.py [--build build] [--ranks 2] [--rounds 5] [--timeout S] [--json FILE]
#                             [--peer NAME]... [APP...]
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import BOUND, Budget, Series, in_rounds, parse_apps, parser_for, print_verdict
from compare import PEERS, ROOT, processors

APPS = ROOT / "study" / "apps"
LIBRARIES = Path("/usr/lib")
SHARED = ROOT / "study" / "lib" / "app_caf.F90"
ROW = re.compile(r"^\s+(\w+)\s+([\d.]+) ms an? (?:step|iteration).*(VERIFIED|FAILED)", re.M)
# application: (program in the build tree, sources of the peers)
PROGRAMS = {"hydro": ("hydro-caf", [SHARED, APPS / "hydro" / "hydro.F90"]),
            "pipeline": ("fortran/pipeline", [SHARED, APPS / "pipeline" / "pipeline.F90"]),
            "stencil": ("fortran/stencil", [SHARED, APPS / "stencil" / "stencil.F90"])}
# application: forms; the first three are those of the peers too
FORMS = {app: ["sync_all", "sync_images", "events", "attached", "notified"] for app in PROGRAMS}
FORMS["hydro"] = ["all", "images", "events", "attached"]
PEER_FORMS = 3
# (application, problem, arguments, iterations, iterations of the peers, target of the ratio of
# times). The peers' pipeline takes up to a second an iteration: they get fewer.
PROBLEMS = [("hydro", "96^2", ["96", "96"], 200, 200, 0.8),
            ("hydro", "960^2", ["960", "960"], 5, 5, 0.8),
            ("pipeline", "1000 x 32", ["--rows", "1000", "--columns", "32"], 40, 4, 1 / 3),
            ("pipeline", "400^2", ["--rows", "400", "--columns", "400"], 40, 4, 1 / 3),
            ("pipeline", "2000^2", ["--rows", "2000", "--columns", "2000"], 5, 1, 1 / 3),
            ("stencil", "64^2", ["--points", "64"], 400, 400, 1 / 1.2),
            ("stencil", "400^2", ["--points", "400"], 50, 50, 1.0),
            ("stencil", "2000^2", ["--points", "2000"], 5, 5, 1.0)]
ALONE = re.compile(r"^\s+computing alone\s+([\d.]+) ms", re.M)
NEAR_BOUND = 0.95  # of our time is that at the target, where the target beside the peers is less


def library_of(peer):
    """The library of OpenCoarrays for this MPI, or None."""
    return next(iter(sorted(LIBRARIES.glob(f"*/libcaf_{peer}.so*"))), None)


def compile_peer(folder, name, library, apps):
    """Compiles the applications for a peer. Returns {application: program}; failures are named."""
    programs = {}
    for app in apps:
        modules = folder / f"{app}-{name}-modules"
        modules.mkdir()
        command = [f"mpifort.{name}", "-fcoarray=lib", "-O3", "-DPEER", "-J", modules,
                   *PROGRAMS[app][1], library, "-o", folder / f"{app}-{name}"]
        done = subprocess.run(list(map(str, command)), stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"{name}: {app} not compiled, left out: {last}", file=sys.stderr)
        else:
            programs[app] = folder / f"{app}-{name}"
    return programs


def compile_all(folder, build, apps, peers):
    """Compiles the peers that are installed; one that is not is named. Returns {side: (launcher,
    {application: program})}."""
    ours = [build / "bin" / "tombolo", "run"]
    programs = {app: build / "bench" / PROGRAMS[app][0] for app in apps}
    for program in programs.values():
        if not program.exists():
            sys.exit(f"caf_apps: no {program}: make build, with gfortran")
    sides = {"tombolo": (ours, programs)}
    for name in peers:
        launcher, library = PEERS[name][1], library_of(name)
        missing = f"libcaf_{name}.so" if not library else next(
            (program for program in (f"mpifort.{name}", launcher[0]) if not shutil.which(program)),
            None)
        if missing:
            print(f"OpenCoarrays on {name}: not installed, left out ({missing}: make deps STUDY=1)",
                  file=sys.stderr)
            continue
        # without the launcher's --bind-to none
        sides[name] = (launcher[:-2], compile_peer(folder, name, library, apps))
    return sides


def one_run(who, command, budget):
    """Runs one side once. Returns {form: ms a step} and {BOUND: ms}, of verified results only."""
    text, code = budget.run(who, command)
    rows = ROW.findall(text) if code is not None else []
    if code or (code == 0 and not rows):
        print(f"{who}: exit code {code}: {command}", file=sys.stderr)
    times = {form: float(ms) for form, ms, verdict in rows if verdict == "VERIFIED"}
    alone = ALONE.search(text)
    return {**times, BOUND: float(alone[1])} if times and alone else times


def arguments_of(app, size, form, iterations):
    if app == "hydro":
        return [*size, iterations, "blast", form]
    return [*size, "--iterations", iterations, "--way", form]


def measure(sides, series, options, budget):
    """One round of a problem: each form of each side once. Forms that have failed are left out."""
    app, name, size, *iterations, _ = series.about
    for side, (launcher, programs) in sides.items():
        ours = side == "tombolo"
        forms = FORMS[app] if ours else FORMS[app][:PEER_FORMS]
        for form in forms if app in programs else []:
            if (side, form) in series.failed or (app == "pipeline" and form == "notified"):
                continue
            words = arguments_of(app, size, form, iterations[0 if ours else 1])
            command = [*launcher, *bound(side, options.ranks), "-n", options.ranks, programs[app],
                       *words]
            rows = one_run(f"{side} {form}, {app} {name}", command, budget)
            if form not in rows:
                series.failed.add((side, form))
            else:
                for key, ms in rows.items():
                    series.add((side, key), ms)


def bound(side, ranks):
    """A rank a processor on every side, or nothing where there are too few."""
    enough = processors(ranks)
    if side == "tombolo":
        return ["--bind"] if enough else []
    return ["--bind-to" if side == "openmpi" else "-bind-to", "core" if enough else "none"]


def over_peers(ms):
    """Time of our best form over that of the peers' best form, or None."""
    peers = [t for (side, form), t in ms.items() if side != "tombolo" and form != BOUND]
    ours = [t for (side, form), t in ms.items() if side == "tombolo" and form != BOUND]
    return min(ours) / min(peers) if ours and peers else None


def bound_of(ms, ratio, wanted):
    """The bound of a problem as JSON: computing alone over the best peer, its part of our time, and
    the target, which the bound limits."""
    bounds = [t for (_, form), t in ms.items() if form == BOUND]
    if not bounds or not ratio:
        return {"target": wanted}
    ours = min(t for (side, form), t in ms.items() if side == "tombolo" and form != BOUND)
    possible = min(bounds) * ratio / ours
    limited = min(possible / NEAR_BOUND, 1.0)
    return {"target": max(wanted, round(limited, 3)), "bound": possible,
            "of_bound": min(bounds) / ours}


def record_of(series):
    """The record of a problem so far."""
    app, problem, *_, wanted = series.about
    medians = {key: statistics.median(values) for key, values in series.figures.items()}
    ratio = over_peers(medians)
    return {"application": app, "problem": problem, "ratio": ratio,
            "ratio_of_best": over_peers({k: min(v) for k, v in series.figures.items()}),
            **bound_of(medians, ratio, wanted),
            "ms": {f"{side} {form}": values for (side, form), values in series.figures.items()
                   if form != BOUND}}


def report(series):
    """Prints one problem."""
    app, problem, *_ = series.about
    times, record = series.figures, record_of(series)
    ratio = record["ratio"]
    medians = {key: statistics.median(values) for key, values in times.items()}
    print(f"\n{app} {problem}")
    for (side, form), ms in sorted(medians.items(), key=lambda item: item[1]):
        values = times[side, form]
        print(f"  {side:<9}{form:<16}{ms:>10.4f} ms   {min(values):.4f}..{max(values):.4f}")
    met = bool(ratio) and ratio <= record["target"]
    share = 100 * record.get("of_bound", 0)
    print_verdict(record, met, f"it is {share:.0f} % of our best time")


def main():
    parser = parser_for("Coarray applications beside OpenCoarrays.", 60)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--peer", action="append", choices=PEERS,
                        help="compare with this peer only; repeatable")
    options = parse_apps(parser, PROGRAMS)
    apps = options.apps
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as folder:
        sides = compile_all(Path(folder), options.build.resolve(), apps,
                            options.peer or list(PEERS))
        every = [Series(*problem) for problem in PROBLEMS if problem[0] in apps]

        def save():
            budget.save({"ranks": options.ranks, "rounds": options.rounds,
                         "records": [record_of(s) for s in every if s.figures]})
        in_rounds(every, options.rounds, lambda s: measure(sides, s, options, budget), save)
        for series in every:
            if series.figures:
                report(series)
    return 0


if __name__ == "__main__":
    sys.exit(main())
