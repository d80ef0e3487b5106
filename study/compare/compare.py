#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# compare.py: Tombolo's collectives beside those of the MPI libraries that are installed.
#
# Compiles coll_gex.c against a build tree and coll_mpi.c with each of mpicc.openmpi and
# mpicc.mpich, runs them in alternation, and prints for each collective and size the median over
# the rounds, the ratio of ours to the better peer, and whether that is within the target: at most
# 1, and up to 4 KiB at most 1/1.5. A peer that is not installed is named and left out. Of one that
# exceeds --timeout the printed rows count (MPICH spins: with more ranks than processors it can take
# minutes). The ranks of every side are bound alike, rank r to the r-th
# processor that this script may use, if there are enough; the launchers are asked not to bind.
#   study/compare/compare.py [--build build] [--ranks 2] [--rounds 5] [--timeout S] [--json FILE]
import os
import shutil
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import Budget, compile_ours, parser_for

ROW = re.compile(r"([a-z]+) (\d+) ([\d.]+)")
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARE = 1 / 3  # of the budget, for one run: it has many rows, and there are few sides
PEERS = {"openmpi": ("mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                                      "--bind-to", "none"]),
         "mpich": ("mpicc.mpich", ["mpirun.mpich", "-bind-to", "none"])}


def installed_peers():
    """(name, compiler, launcher) of each MPI that is installed; the others are named."""
    for name, (compiler, launcher) in PEERS.items():
        if shutil.which(compiler) and shutil.which(launcher[0]):
            yield name, compiler, launcher
        else:
            print(f"{name}: not installed, left out ({compiler}, {launcher[0]})", file=sys.stderr)


def compile_all(folder, build):
    """Compiles every side. Returns {name: command}, without the number of ranks."""
    ours = compile_ours(build, HERE / "coll_gex.c", folder / "gex")
    sides = {"tombolo": [build / "bin" / "tombolo", "run"]}
    programs = {"tombolo": ours}
    for name, compiler, launcher in installed_peers():
        programs[name] = folder / name
        subprocess.run([compiler, "-O2", HERE / "coll_mpi.c", "-o", programs[name]], check=True)
        sides[name] = launcher
    return sides, programs


def one_run(name, command, budget):
    """Runs one side once. Returns {(kind, bytes): microseconds}, also if it timed out."""
    out, _ = budget.run(name, command)  # which names it if it fails
    rows = (ROW.fullmatch(line.strip()) for line in out.splitlines())
    return {(row[1], int(row[2])): float(row[3]) for row in rows if row}


def processors(ranks):
    """The processors of the ranks as text; empty if there are not enough."""
    usable = sorted(os.sched_getaffinity(0))
    return ",".join(str(cpu) for cpu in usable[:ranks]) if ranks <= len(usable) else ""


def target(size):
    """Target of the ratio: the largest that meets it."""
    return 1 / 1.5 if size <= 4096 else 1.0


def records_of(results, names):
    """Medians and ratios of the results so far."""
    records = []
    for key in dict.fromkeys(key for run in results["tombolo"] for key in run):
        times = {n: [run[key] for run in results[n] if key in run] for n in names}
        medians = {n: statistics.median(t) for n, t in times.items() if t}
        peers = [medians[n] for n in medians if n != "tombolo"]
        ratio = medians["tombolo"] / min(peers) if peers else None
        ok = ratio is not None and ratio <= target(key[1])
        records.append({"collective": key[0], "bytes": key[1], "us": medians, "samples": times,
                        "ratio": ratio, "target": target(key[1]), "ok": ok})
    return records


def table(records, names):
    """Prints them."""
    heads = "".join(f"{n + ' us':>13}" for n in names)
    print(f"{'collective':<11}{'bytes':>9}{heads}   ratio  target")
    for r in records:
        us, wanted = r["us"], r["target"]
        cells = "".join(f"{us[n]:>13.2f}" if n in us else f"{'-':>13}" for n in names)
        verdict = f"{r['ratio']:>8.2f}  <= {wanted:.2f} " if r["ratio"] else ""
        verdict += ("ok" if r["ok"] else "OVER") if r["ratio"] else ""
        print(f"{r['collective']:<11}{r['bytes']:>9}{cells}{verdict}")
    print(f"\n{sum(r['ok'] for r in records)} of {len(records)} targets met")


def main():
    parser = parser_for("Tombolo's collectives beside MPI's.", 120)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    options = parser.parse_args()
    budget = Budget(options)
    budget.share = SHARE
    with tempfile.TemporaryDirectory() as folder:
        sides, programs = compile_all(Path(folder), options.build.resolve())
        results = {name: [] for name in sides}
        cpus = processors(options.ranks)
        print(f"ranks of every side on processors {cpus}" if cpus else "no rank is bound")
        for _ in range(options.rounds):
            for name, launcher in sides.items():
                command = [*launcher, "-n", options.ranks, programs[name], cpus]
                results[name].append(one_run(name, command, budget))
                records = records_of(results, list(sides))
                budget.save({"ranks": options.ranks, "rounds": options.rounds,
                             "records": records})
        table(records, list(sides))
    return 0


if __name__ == "__main__":
    sys.exit(main())
