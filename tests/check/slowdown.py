#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slow-down of loops that are compiled with `--check`, under `--check races`.

Usage: slowdown.py TOMBOLO PLAIN CHECKED [--time]
PLAIN and CHECKED are loops.c, compiled with -O2 without and with `--check`. Instructions of an
element are counted with callgrind; the test fails where a loop with the check takes more than BARS
says. --time prints a table of processor times instead, with clang's program and ThreadSanitizer
beside it; alternates the programs, and takes the least of 6 runs each.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SMALL = ("8192", "4", "2")  # words, sweeps, rounds: for callgrind
LARGE = ("131072", "10", "3")
RUNS = 6
# Instructions of an element with the check, at most: a tenth more than gcc 12's.
BARS = {"daxpy": 40, "sum": 17, "stencil": 131, "gather": 67, "chase": 34, "count": 52,
        "product": 37, "put": 345, "get": 372, "add": 592, "message": 700, "threads": 91}
# Of an operation by a program that is compiled without it.
BARS_AS_IT_IS = {"put": 255, "get": 286, "add": 440, "message": 502}
LINE = re.compile(r"^loop (\w+) (\d+) ([\d.]+)$", re.M)


def run(command):
    """The loops that a run prints: {name: (elements, nanoseconds)}."""
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    found = {name: (int(count), float(ns)) for name, count, ns in LINE.findall(done.stdout)}
    if done.returncode or not found:
        sys.exit(f"slowdown: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return found


def job(tombolo, checks):
    """The command of a job of one rank."""
    checked = ["--check", "races"] if checks else []
    return [tombolo, "run", "-n", "1", "--timeout", "100", *checked]


def count(tombolo, program, checks):
    """{loop: instructions of an element}"""
    with tempfile.TemporaryDirectory() as folder:
        found = run([*job(tombolo, checks), "valgrind", "--tool=callgrind",
                     "--toggle-collect=loop_*", "--dump-before=loops_end",
                     f"--callgrind-out-file={folder}/out", program, *SMALL])
        counts = {}
        for i, (name, (elements, _)) in enumerate(found.items()):
            # Two files a loop, the first of its round without a shadow.
            text = Path(folder, f"out.{2 * i + 2}").read_text(encoding="utf-8")
            counts[name] = int(re.search(r"^summary: (\d+)", text, re.M).group(1)) / elements
        return counts


def check(tombolo, plain, checked):
    """Compares instructions with their bars. Returns the exit code."""
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed (scripts/install_deps.sh)")
        return SKIPPED
    without, with_check = count(tombolo, plain, False), count(tombolo, checked, True)
    counts = {name: (n, without[name], BARS.get(name)) for name, n in with_check.items()}
    for name, n in count(tombolo, plain, True).items():
        if name in BARS_AS_IT_IS:
            counts[f"{name}, as it is"] = n, without[name], BARS_AS_IT_IS[name]
    failed = sorted(set(BARS) ^ set(with_check))
    for name, (checked_count, plain_count, bar) in counts.items():
        times = checked_count / plain_count
        print(f"{name:18} {plain_count:6.1f} {checked_count:7.1f} {times:6.1f} times")
        if checked_count > (bar or checked_count):
            failed.append(name)
    for name in failed:
        print(f"FAILED: {name}: the bar is {counts.get(name, [None])[-1]}. Make it shorter, or say"
              " in the commit why it must be longer")
    return 1 if failed else 0


def measure(tombolo, plain, checked):
    """Prints the table of times."""
    source = Path(__file__).with_name("loops.c")
    with tempfile.TemporaryDirectory() as folder:
        tsan = f"{folder}/tsan"
        subprocess.run([tombolo, "cc", "-O2", "-fsanitize=thread", source, "-o", tsan],
                       check=True)
        clang = f"{folder}/clang"
        subprocess.run([tombolo, "cc", "-O2", "--check", "--compiler=clang", source, "-o", clang],
                       check=True)
        alone = job(tombolo, False)
        commands = {"plain": [*alone, plain], "no run": [*alone, checked],
                    "check": [*job(tombolo, True), checked],
                    "clang": [*job(tombolo, True), clang],
                    "tsan": [*alone, "setarch", "-R", tsan]}
        least = {kind: {} for kind in commands}
        for _ in range(RUNS):
            for kind, command in commands.items():
                for name, (_, ns) in run([*command, *LARGE]).items():
                    least[kind][name] = min(ns, least[kind].get(name, ns))
    print("| loop | -O2, ns | compiled with `--check` | under `--check races` "
          "| by clang | ThreadSanitizer |")
    print("|---|---|---|---|---|---|")
    for name, ns in least["plain"].items():
        times = [f"{least[kind][name] / ns:.1f}" for kind in ("no run", "check", "clang", "tsan")]
        print(f"| {name} | {ns:.2f} | {' | '.join(times)} |")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tombolo")
    parser.add_argument("plain")
    parser.add_argument("checked")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    what = measure if options.time else check
    return what(options.tombolo, options.plain, options.checked)


if __name__ == "__main__":
    sys.exit(main())
