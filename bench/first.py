#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# first.py: round trips of the first milliseconds of a job, beside the same job later.
#
# Runs tombolo-bench-first again and again, by turns with free ranks and with ranks bound to a
# processor each (what an ideal placement gives). Prints for both the median and the 90th
# percentile, over the runs, of the mean round trip of chunk after chunk of 1000, and of the steady
# state.
#   bench/first.py [--build build] [--runs 20]
import argparse
import statistics
import subprocess
from pathlib import Path

CHUNKS = (0, 1, 2, 4, 9, 19, -1)  # -1: steady


def run(build, bound):
    """Figures in ns of one job: 20 chunks and the steady state."""
    command = [build / "bin" / "tombolo", "run", *(["--bind"] if bound else []), "-n", "2", "--",
               build / "bench" / "tombolo-bench-first"]
    out = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    words = next(line for line in out.splitlines() if line.startswith("first")).split()
    return [float(word) for word in words[1:] if word != "steady"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path(__file__).parents[1] / "build")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    figures = {False: [], True: []}
    for _ in range(options.runs):
        for bound, list_of in figures.items():
            list_of.append(run(options.build, bound))
    names = ["steady" if c < 0 else f"chunk {c + 1}" for c in CHUNKS]
    print(f"{options.runs} runs each; median / 90th percentile of a round trip, ns")
    print(f"{'ranks':8}" + "".join(f"{name:>20}" for name in names))
    for bound, runs in figures.items():
        row = f"{'bound' if bound else 'free':8}"
        for chunk in CHUNKS:
            values = sorted(r[chunk] for r in runs)
            p90 = values[min(len(values) - 1, int(0.9 * len(values)))]
            row += f"{f'{statistics.median(values):.0f} / {p90:.0f}':>20}"
        print(row)


if __name__ == "__main__":
    main()
