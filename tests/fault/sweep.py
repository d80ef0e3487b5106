#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""Jobs of one rank to many times the processors, against every kind of end.

After each job no process and no name may be left. Closed and full standard streams, too.
"""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, VICTIM, Job, check, named, run_cases  # noqa: E402

SIZES = (1, 2, 5, 31, 255)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def ends_well(launch, ranks):
    job = Job(ranks, [VICTIM], launch).expect(0)
    check(job.out.count("is fine") == ranks and job.err == "", ranks, job.out, job.err)


def ended_by_signal(launch, ranks):
    for number in SIGNALS if ranks < 100 else SIGNALS[:1]:
        job = Job(ranks, [VICTIM, "hang"], launch)
        job.ready()
        job.process.send_signal(number)
        job.expect(128 + number)


def signal_while_starting(launch, ranks):
    """At any time: before, between and after the forks."""
    for delay in (0, 0.001, 0.004, 0.01, 0.03):
        job = Job(ranks, [VICTIM, "hang"], launch)
        try:
            job.process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            pass
        job.process.send_signal(signal.SIGTERM)
        code = job.end()
        check(code in (143, -signal.SIGTERM), "exit code", code, job.err)
        job.nothing_left()


def launcher_killed(launch, ranks):
    job = Job(ranks, [VICTIM, "hang"], launch)
    job.ready()
    job.process.kill()
    job.expect(-signal.SIGKILL)


def launcher_killed_while_starting(launch, ranks):
    for delay in (0.001, 0.005, 0.02):
        job = Job(ranks, [VICTIM, "hang"], launch)
        try:
            job.process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            pass
        job.process.kill()
        job.expect(-signal.SIGKILL)


def last_rank_killed(launch, ranks):
    job = Job(ranks, [VICTIM, "hang"], launch)
    os.kill(job.ready()[ranks - 1], signal.SIGKILL)
    job.expect(137, rf"rank {ranks - 1} .*killed by signal 9")
    check(job.err.count("\n") == 1, job.err)


def closed_streams():
    """A launcher that was started without some of its standard streams."""
    for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
        words = " ".join(f"{number}>&-" for number in closed)
        for options in ("", "--label"):
            line = f"exec '{TOMBOLO}' run {options} -n 3 '{VICTIM}' {words}"
            done = subprocess.run(["sh", "-c", line], capture_output=True, check=False, timeout=60)
            check(done.returncode == 0, closed, options, done)
            if 1 not in closed:
                check(done.stdout.count(b"is fine") == 3, closed, options, done)


def full_device():
    """Output that cannot be written is lost: the launcher that carries it says so."""
    with open("/dev/full", "wb") as full:
        job = Job(2, [VICTIM], options=("--label",), stdout=full)
        code = job.end()
    check(code != 0 and "No space left" in job.err, code, job.err)
    job.nothing_left()


CASES = [
    named(f"{case.__name__}/{launch}/{ranks}", case, launch, ranks)
    for case in (ends_well, ended_by_signal, launcher_killed, last_rank_killed)
    for launch in LAUNCHES
    for ranks in SIZES
    if case is ends_well or launch == "run" or ranks > 1  # a single process has no supervisor
]
CASES += [
    named(f"{case.__name__}/{launch}/{ranks}", case, launch, ranks)
    for case in (signal_while_starting, launcher_killed_while_starting)
    for launch in LAUNCHES
    for ranks in (1, 31)
]
CASES += [closed_streams, full_device]

if __name__ == "__main__":
    run_cases(CASES)
