#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`tombolo bench loggp`: all parameters of both tables are there, and are times.

Needs $TOMBOLO. Asserts nothing about time but its sign, and that starting an operation does not
take longer than ten times doing it.
"""

import json
import os
import statistics
import subprocess
import sys

TOMBOLO = os.environ["TOMBOLO"]
OPERATIONS = ("put", "get", "message", "signal")
TIMES = ("overhead", "gap", "latency")


def main():
    """Runs the suite once."""
    done = subprocess.run(
        [TOMBOLO, "bench", "loggp", "--quick", "--json", "-", "--no-bind"],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.exit(f"exit code {done.returncode}")
    figures = {}
    for f in json.loads(done.stdout)["figures"]:
        figures.setdefault((f["group"], f["name"]), []).append(statistics.median(f["samples"]))
    for group in ("loggp", "loggp_far"):
        for operation in OPERATIONS:
            for what in TIMES:
                if not all(v > 0 for v in figures.get((group, f"{operation}_{what}"), [0])):
                    sys.exit(f"{group}: {operation}_{what} is missing or no time")
            overhead = figures[group, f"{operation}_overhead"][0]
            if overhead > 10 * figures[group, f"{operation}_latency"][0]:
                sys.exit(f"{group}: {operation} takes longer to start than to do: {overhead} ns")
            sizes = figures.get((group, f"{operation}_overlap"), [])
            if operation != "message" and len(sizes) != 2:
                sys.exit(f"{group}: {operation}_overlap is missing")


main()
