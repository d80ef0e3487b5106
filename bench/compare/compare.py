#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# compare.py: Tombolo's collectives beside those of the MPI libraries that are installed.
#
# Compiles coll_gex.c against a build tree and coll_mpi.c with each of mpicc.openmpi and
# mpicc.mpich, runs them in alternation, and prints for each collective and size the median over
# the rounds and the ratio of ours to the better peer. A peer that is not installed is named and
# left out.
#   bench/compare/compare.py [--build build] [--ranks 2] [--rounds 5] [--json FILE]
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = {"openmpi": ("mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]),
         "mpich": ("mpicc.mpich", ["mpirun.mpich"])}


def compile_all(folder, build):
    """Compiles every side. Returns {name: command prefix that takes -n N is not included}."""
    ours = folder / "gex"
    subprocess.run(["cc", "-O2", HERE / "coll_gex.c", "-o", ours, f"-I{ROOT}/include",
                    f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-ltombolo"], check=True)
    sides = {"tombolo": [build / "bin" / "tombolo", "run"]}
    programs = {"tombolo": ours}
    for name, (compiler, launcher) in PEERS.items():
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{name}: not installed, left out ({compiler}, {launcher[0]})", file=sys.stderr)
            continue
        programs[name] = folder / name
        subprocess.run([compiler, "-O2", HERE / "coll_mpi.c", "-o", programs[name]], check=True)
        sides[name] = launcher
    return sides, programs


def one_run(command):
    """Runs one side once. Returns {(kind, bytes): microseconds}."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600,
                          check=True, stdin=subprocess.DEVNULL)
    rows = (line.split() for line in done.stdout.splitlines())
    return {(kind, int(size)): float(us) for kind, size, us in rows}


def table(results, names):
    """Prints medians and ratios. Returns them as records."""
    records = []
    heads = "".join(f"{n + ' us':>13}" for n in names)
    print(f"{'collective':<11}{'bytes':>9}{heads}   ratio")
    for key in results["tombolo"][0]:
        medians = {n: statistics.median(run[key] for run in results[n]) for n in names}
        peers = [medians[n] for n in names if n != "tombolo"]
        ratio = medians["tombolo"] / min(peers) if peers else None
        records.append({"collective": key[0], "bytes": key[1], "us": medians, "ratio": ratio})
        print(f"{key[0]:<11}{key[1]:>9}" + "".join(f"{medians[n]:>13.2f}" for n in names) +
              (f"{ratio:>8.2f}" if ratio else "       -"))
    return records


def main():
    parser = argparse.ArgumentParser(description="Tombolo's collectives beside MPI's.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides, programs = compile_all(Path(folder), options.build.resolve())
        results = {name: [] for name in sides}
        for _ in range(options.rounds):
            for name, launcher in sides.items():
                results[name].append(one_run([*launcher, "-n", options.ranks, programs[name]]))
        records = table(results, list(sides))
    if options.json:
        options.json.write_text(json.dumps({"ranks": options.ranks, "rounds": options.rounds,
                                            "records": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
