#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# start.py: time of a job on several hosts from `tombolo run` to its end, and of its phases.
#
# Hosts of a lab (tests/net/lab.py; needs root), ssh between them. Each rank initialises, attaches
# 1 MiB, passes a barrier and ends (start_gex.c). The baseline in each round: an ssh to each host at
# once with `true`, then for each rank an empty program forked, executed and waited for
# (start_floor.c). All hosts share this machine's processors. Medians over the rounds; target:
# 256 ranks on 8 hosts in at most 2 s. One more run a round shows the phases: when the first and the
# last rank's main began, when all had initialised, attached, passed the barrier, and when the
# launcher ended. With --other, also the job of another build tree, in alternation.
#   study/compare/start.py [--build build] [--other BUILD] [--hosts 8] [--rounds 5] [RANKS...]
import argparse
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

sys.path.insert(0, str(ROOT / "tests" / "net"))
from lab import Lab, confine  # noqa: E402

STAMP = re.compile(r"^at \d+ (\d+) (\d+) (\d+) (\d+)$", re.M)
TARGET_S = {(8, 256): 2.0}
PHASES = ("first main", "all main", "initialised", "attached", "barrier", "end")


def compile_job(folder, build, name):
    program = compile_ours(build, HERE / "start_gex.c", folder / name, "-DGASNET_SEQ",
                           f"-I{ROOT}/study")
    return build / "bin/tombolo", program


def compile_floor(folder):
    program = folder / "floor"
    subprocess.run(["cc", "-O2", str(HERE / "start_floor.c"), "-o", str(program)], check=True)
    return program


def timed(lab, words):
    """Runs a command on the first host. Returns its seconds, when it began (ns), its output."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    environment["HOME"] = str(lab.ssh.accounts["root"][1])
    command = lab.hosts[0].command(words, folder="/")
    begin = time.monotonic_ns()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, env=environment)
    seconds = (time.monotonic_ns() - begin) / 1e9
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}: "
                 f"{done.stdout[-500:]}{done.stderr[-1500:]}")
    return seconds, begin, done.stdout


def run_job(lab, job, ranks, *mode):
    launcher, program = job
    each = [ranks // lab.size + (h < ranks % lab.size) for h in range(lab.size)]
    return timed(lab, [launcher, "run", "--hosts", lab.host_list(each), program, *mode])


def run_phases(lab, job, ranks):
    """Seconds from the launcher's begin to the end of each phase."""
    seconds, begin, text = run_job(lab, job, ranks, "phases")
    stamps = [tuple(map(int, found)) for found in STAMP.findall(text)]
    if len(stamps) != ranks:
        sys.exit(f"{len(stamps)} of {ranks} ranks have sent their times")
    main_at, init, attach, barrier = zip(*stamps)
    ends = (min(main_at), max(main_at), max(init), max(attach), max(barrier))
    return [*((at - begin) / 1e9 for at in ends), seconds]


def run_floor(lab, floor, ranks):
    """Seconds of ssh to every host at once, and of as many empty programs as ranks."""
    script = "".join(f"ssh -T -x -o BatchMode=yes host{h} true </dev/null & "
                     for h in range(lab.size)) + "wait"
    return timed(lab, ["sh", "-c", script])[0], timed(lab, [floor, ranks])[0]


def measure(lab, jobs, floor, ranks, rounds):
    """One number of ranks. Returns whether the target is met."""
    walls = {name: [] for name in jobs}
    phases = {name: [] for name in jobs}
    floors = []
    for _ in range(rounds):
        floors.append(run_floor(lab, floor, ranks))
        for name, job in jobs.items():
            walls[name].append(run_job(lab, job, ranks)[0])
        for name, job in jobs.items():
            phases[name].append(run_phases(lab, job, ranks))
    ssh, spawn = (statistics.median(column) for column in zip(*floors))
    target = TARGET_S.get((lab.size, ranks))
    good = True
    print(f"{ranks} ranks on {lab.size} hosts: floor {ssh + spawn:.3f} s"
          f" (ssh {ssh:.3f}, processes {spawn:.3f})")
    for name, seconds in walls.items():
        wall = statistics.median(seconds)
        good = good and (target is None or wall <= target)
        verdict = f"  <= {target} s {'ok' if wall <= target else 'OVER'}" if target else ""
        print(f"  {name}: {wall:.3f} s ({min(seconds):.3f} to {max(seconds):.3f}), "
              f"{wall / (ssh + spawn):.2f} x the floor{verdict}")
        ends = [statistics.median(column) for column in zip(*phases[name])]
        print("    " + ", ".join(f"{phase} {at:.3f}" for phase, at in zip(PHASES, ends)),
              flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description="Time from `tombolo run` to the end of a job.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--other", type=Path, help="another build tree, measured in alternation")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("ranks", type=int, nargs="*", default=[64, 256])
    options = parser.parse_args()
    confine()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        floor = compile_floor(folder)
        jobs = {"tombolo": compile_job(folder, options.build.resolve(), "start")}
        if options.other:
            jobs["other"] = compile_job(folder, options.other.resolve(), "start-other")
        with Lab(hosts=options.hosts, sshd=True) as lab:
            for ranks in options.ranks:
                good &= measure(lab, jobs, floor, ranks, options.rounds)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
