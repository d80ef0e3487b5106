# SPDX-License-Identifier: BSD-3-Clause
"""Runs random programs that are recorded and replayed: one for each seed, several at once."""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor


def main(about, fault_of, replays=1, kept=(), work=None):
    """Runs the seeds that the command line names, and those of kept; prints what is wrong.

    work: a folder for all of them, options.work.
    fault_of(options, seed) returns what is wrong with a seed, or None. Returns an exit code.
    """
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("tombolo")
    parser.add_argument("program")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--replays", type=int, default=replays)
    parser.add_argument("--random", action="store_true", help="other seeds in each run")
    options = parser.parse_args()
    options.work = work
    if options.random:
        options.first = int(time.time()) % 1000000 * 1000
        print(f"seeds from {options.first} on", flush=True)
    seeds = [*kept, *range(options.first, options.first + options.count)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        faults = [f for f in pool.map(lambda seed: fault_of(options, seed), seeds) if f]
    print("\n".join(faults))
    print(f"{len(seeds)} programs were replayed {options.replays} times, {len(faults)} faults")
    return 1 if faults else 0
