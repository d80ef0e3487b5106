#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# ofi.py: the conduit ofi beside libfabric itself, on one provider.
#
# Two processes of this machine, which the conduit takes for two hosts. A short request and its
# reply beside a ping-pong of messages of the same length (target: at most 1.15 of its time); puts
# of 1 MiB beside fi_write (target: at least 0.95 of its rate). Both sides in alternation, medians
# over the rounds. libfabric's side is net_ofi.c; needs libfabric-dev.
#   study/compare/ofi.py [--build build] [--provider "tcp;ofi_rxm"] [--rounds 5] [--timeout S]
#                        [--json FILE]
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import compile_ours
from compare import HERE, ROOT

ROW = re.compile(r"^([a-z_]+) (\d+) ([\d.]+)$", re.M)
MOST_TIME, LEAST_RATE = 1.15, 0.95
SIDES = ("tombolo", "libfabric")


def compile_sides(folder, build, provider):
    """{side: command}"""
    ours, theirs = folder / "net-gex", folder / "net-ofi"
    compile_ours(build, HERE / "net_gex.c", ours)
    subprocess.run(["cc", "-O2", HERE / "net_ofi.c", "-o", theirs, "-lfabric"], check=True)
    return {"tombolo": [build / "bin" / "tombolo", "run", "-n", "2", ours, "puts"],
            "libfabric": [theirs, provider]}


def one_run(side, command, options):
    """Runs one side once. Returns {(name, bytes): us}, also of a run that timed out."""
    environment = {**os.environ, "TOMBOLO_CONDUIT": "ofi", "TOMBOLO_PLACES": "2",
                   "TOMBOLO_OFI_PROVIDER": options.provider}
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, text=True, env=environment,
                             start_new_session=True)
    try:
        text, _ = child.communicate(timeout=options.timeout)
        if child.returncode:
            print(f"{side}: exit code {child.returncode}", file=sys.stderr)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 15)
        text, _ = child.communicate()
        print(f"{side}: not done after {options.timeout} s", file=sys.stderr)
    return {(name, int(size)): float(us) for name, size, us in ROW.findall(text)}


def judge(name, size, ours, theirs):
    """A line of the table and whether the target is met."""
    if name == "put":
        met = theirs / ours >= LEAST_RATE
        return (f"{name:<11}{size:>8}{size / ours:>14.1f}{size / theirs:>14.1f} MB/s"
                f"{theirs / ours:>8.2f}  >= {LEAST_RATE} {'ok' if met else 'UNDER'}"), met
    met = ours / theirs <= MOST_TIME
    return (f"{name:<11}{size:>8}{ours:>14.2f}{theirs:>14.2f} us  "
            f"{ours / theirs:>8.2f}  <= {MOST_TIME} {'ok' if met else 'OVER'}"), met


def main():
    parser = argparse.ArgumentParser(description="The conduit ofi beside libfabric itself.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--provider", default="tcp;ofi_rxm")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="write all samples to this file")
    options = parser.parse_args()
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        commands = compile_sides(Path(folder), options.build.resolve(), options.provider)
        for _ in range(options.rounds):
            for side, command in commands.items():
                for key, us in one_run(side, command, options).items():
                    samples.setdefault(key, {}).setdefault(side, []).append(us)
    good = len(samples) == 2
    print(f"{options.provider:<11}{'bytes':>8}{'tombolo':>14}{'libfabric':>14}          ratio")
    for (name, size), by_side in samples.items():
        if set(by_side) != set(SIDES):
            good = False
            print(f"{name}: only {', '.join(by_side)}")
            continue
        line, met = judge(name, size, *(statistics.median(by_side[side]) for side in SIDES))
        good = good and met
        print(line)
    if options.json:
        options.json.write_text(json.dumps(
            [{"name": name, "bytes": size, "provider": options.provider, "us": by_side}
             for (name, size), by_side in samples.items()], indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
