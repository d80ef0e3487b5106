#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# caf_apps.py: applications in coarray Fortran on Tombolo beside OpenCoarrays.
#
# Compiles bench/apps/hydro/hydro.F90 with the OpenCoarrays packages that are installed (-DPEER:
# without attached events), runs all sides in alternation, and prints for each problem the median
# rate of each form of synchronisation, and ours over the best form of the peers. A peer that is not
# installed, or not done within --timeout, is named and left out.
#   bench/compare/caf_apps.py [--build build] [--ranks 2] [--rounds 5] [--timeout S] [--json FILE]
import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import PEERS, ROOT

SOURCE = ROOT / "bench" / "apps" / "hydro" / "hydro.F90"
ROW = re.compile(r"^\s+(\w+)\s+([\d.]+) ms a step.*(VERIFIED|FAILED)", re.M)
# problem: (arguments, ratio of times that is meant to be reached)
PROBLEMS = {"hydro 96^2": (["96", "96", "200"], 0.8), "hydro 960^2": (["960", "960", "5"], 0.8)}


def compile_all(folder, build):
    """Compiles the peers. Returns {side: (launcher, program)}."""
    ours = [build / "bin" / "tombolo", "run", "--bind"]
    sides = {"tombolo": (ours, build / "bench" / "hydro-caf")}
    for name, (_, launcher) in PEERS.items():
        library = next(Path("/usr/lib").glob(f"*/libcaf_{name}.so*"), None)
        program = folder / f"hydro-{name}"
        command = [f"mpifort.{name}", "-fcoarray=lib", "-O3", "-DPEER", "-J", folder, SOURCE,
                   library, "-o", program]
        try:
            subprocess.run(list(map(str, command)), check=True)
        except (OSError, subprocess.CalledProcessError) as reason:
            print(f"{name}: left out: {reason}", file=sys.stderr)
            continue
        sides[name] = (launcher, program)
    return sides


def one_run(side, command, timeout):
    """Runs one side once. Returns {form: ms a step}; what is not verified does not count."""
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        print(f"{side}: not done after {timeout} s", file=sys.stderr)
        return {}
    rows = ROW.findall(done.stdout)
    if done.returncode or not rows:
        print(f"{side}: exit code {done.returncode}: {command}", file=sys.stderr)
    return {form: float(ms) for form, ms, verdict in rows if verdict == "VERIFIED"}


def measure(sides, arguments, options):
    """Returns {(side, form): [ms]}."""
    times = {}
    for _ in range(options.rounds):
        for side, (launcher, program) in sides.items():
            command = [*launcher, "-n", options.ranks, program, *arguments]
            for form, ms in one_run(side, command, options.timeout).items():
                times.setdefault((side, form), []).append(ms)
    return times


def report(problem, times, wanted):
    """Prints one problem. Returns its record."""
    medians = {key: statistics.median(values) for key, values in times.items()}
    print(f"\n{problem}")
    for (side, form), ms in sorted(medians.items(), key=lambda item: item[1]):
        values = times[side, form]
        print(f"  {side:<9}{form:<10}{ms:>10.3f} ms   {min(values):.3f}..{max(values):.3f}")
    peers = [ms for (side, _), ms in medians.items() if side != "tombolo"]
    ours = medians.get(("tombolo", "attached"))
    ratio = ours / min(peers) if ours and peers else None
    if ratio:
        print(f"  attached events over the peers' best: {ratio:.2f}, target {wanted}: "
              f"{'ok' if ratio <= wanted else 'MISSED'}")
    return {"problem": problem, "ratio": ratio, "target": wanted,
            "ms": {f"{side} {form}": values for (side, form), values in times.items()}}


def main():
    parser = argparse.ArgumentParser(description="Coarray applications beside OpenCoarrays.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = compile_all(Path(folder), options.build.resolve())
        records = [report(name, measure(sides, arguments, options), wanted)
                   for name, (arguments, wanted) in PROBLEMS.items()]
    if options.json:
        options.json.write_text(json.dumps({"rounds": options.rounds, "records": records},
                                           indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
