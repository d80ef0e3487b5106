#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# growth.py: time of each step of a job by number of ranks: start, attach, split ... end.
#
# Ranks of this machine; with --hosts (root) also ranks on hosts of a lab (tests/net/lab.py), all on
# this machine's processors. growth_gex.c has the steps. For each step: the median over the rounds
# of its time by the clock, from when the last rank had done the step before, and of its processor
# time, the mean over ranks. On a machine with other work the latter is the one to compare. `slope`
# is the exponent between two numbers of ranks: 1 is in proportion to the ranks, 0 not at all.
# Memory is the private memory of a rank's process. JSON: records
# {hosts, ranks, step, wall_s, cpu_s}.
#   study/compare/growth.py [--build build] [--ranks 64,256,1024] [--hosts 8:256] [--rounds 5]
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from budget import compile_ours
from compare import HERE, ROOT
from start import Lab, confine

STEPS = ("start", "initialise", "attach", "first barrier", "split", "barrier", "all-reduce", "poll",
         "end")
TIMES = 10  # of the barrier and of the all-reduce
POLLS = 10000
REPEATED = {"barrier": TIMES, "all-reduce": TIMES, "poll": POLLS}
LINE = re.compile(r"^at (\d+)((?: \d+){16}) (\d+)$", re.M)
END = re.compile(r"^end (\d+)$", re.M)


def compile_program(folder, build):
    program = compile_ours(build, HERE / "growth_gex.c", folder / "growth", "-DGASNET_SEQ")
    return [build / "bin/tombolo", "run"], [program, TIMES]


def run(words, env, lab):
    """One job. Returns the figures of its steps and memory."""
    command = [str(word) for word in words]
    if lab:
        command = lab.hosts[0].command(words, folder="/")
    begin = time.monotonic_ns()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, env=env) as job:
        text, errors = job.communicate(timeout=120)
    done = time.monotonic_ns()
    found = LINE.findall(text)
    if job.returncode or not found:
        sys.exit(f"{' '.join(command)}: exit code {job.returncode}: {errors[-1000:]}")
    ranks = [list(map(int, stamps.split())) for _, stamps, _ in found]
    wall, cpu, before = {}, {}, begin
    for index, step in enumerate(STEPS[:-1]):
        end = max(r[2 * index] for r in ranks)
        wall[step] = (end - before) / 1e9
        cpu[step] = statistics.mean(
            r[2 * index + 1] - (r[2 * index - 1] if index else 0) for r in ranks) / 1e9
        before = end
    wall["end"] = (done - max(map(int, END.findall(text)))) / 1e9
    wall["all, but for poll"] = (done - begin) / 1e9 - wall["poll"]
    return wall, cpu, statistics.mean(int(memory) for *_, memory in found)


def measure(words, env, rounds, lab=None):
    """Medians over the rounds: {step: (wall, cpu or None)}, bytes."""
    runs = [run(words, env, lab) for _ in range(rounds)]
    steps = {}
    for step in runs[0][0]:
        times = REPEATED.get(step, 1)
        wall = statistics.median(r[0][step] for r in runs) / times
        cpu = statistics.median(r[1][step] for r in runs) / times if step in runs[0][1] else None
        steps[step] = (wall, cpu)
    return steps, statistics.median(r[2] for r in runs)


def text_of(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"
    return ""


def slope(few, many, ratio):
    return f"{math.log(many / few) / math.log(ratio):.2f}" if few and many else "-"


def show(title, table):
    """Prints one table: a column of wall and processor time for each number of ranks."""
    counts = sorted(table)
    print(f"\n{title}\n\n| step | " + " | ".join(f"{n} ranks" for n in counts)
          + " | slope of both |\n|---" * 1 + "|---" * (len(counts) + 1) + "|")
    for step in table[counts[0]][0]:
        cells = [table[n][0][step] for n in counts]
        ratio = counts[-1] / counts[0]
        ends = [slope(cells[0][i], cells[-1][i], ratio) if ratio > 1 else "-" for i in (0, 1)]
        print(f"| {step} | " + " | ".join(f"{text_of(w)}; {text_of(c)}" for w, c in cells)
              + f" | {'; '.join(ends)} |")
    print("| memory of a rank | " + " | ".join(f"{table[n][1] / 1024:.0f} KiB" for n in counts)
          + " | |", flush=True)


def records(hosts, table):
    for ranks, (steps, memory) in table.items():
        yield {"hosts": hosts, "ranks": ranks, "step": "memory", "bytes": memory}
        for step, (wall, cpu) in steps.items():
            yield {"hosts": hosts, "ranks": ranks, "step": step, "wall_s": wall, "cpu_s": cpu}


def main():
    parser = argparse.ArgumentParser(description="Time and memory of a job by number of ranks.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--ranks", default="64,256,1024",
                        help="numbers of ranks on this machine; empty: none")
    parser.add_argument("--hosts",
                        help="jobs on hosts of a lab (root): HOSTS:RANKS[,RANKS...], as 8:64,256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    kept = []
    if options.hosts:
        confine()
    with tempfile.TemporaryDirectory() as folder:
        launch, program = compile_program(Path(folder), options.build.resolve())
        counts = [int(n) for n in options.ranks.split(",") if n]
        if counts:
            table = {n: measure([*launch, "-n", n, *program], env, options.rounds) for n in counts}
            show("One host: time by the clock; processor time of a rank", table)
            kept += records(1, table)
        if options.hosts:
            hosts, counts = options.hosts.split(":")
            with Lab(hosts=int(hosts), sshd=True) as lab:
                env["HOME"] = str(lab.ssh.accounts["root"][1])
                table = {}
                for n in map(int, counts.split(",")):
                    each = [n // lab.size + (h < n % lab.size) for h in range(lab.size)]
                    words = [*launch, "--hosts", lab.host_list(each), *program]
                    table[n] = measure(words, env, options.rounds, lab)
                show(f"{hosts} hosts: time by the clock; processor time of a rank", table)
                kept += records(int(hosts), table)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
