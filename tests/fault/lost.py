#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""Jobs that go on when a rank ends (GEXX_FAILURE_REPORT): every kind of end, who ends, what the
supervisor says, the job's exit code, suspended ranks, the return to GEXX_FAILURE_ABORT."""

import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import (BOUND, LAUNCHES, TREES, Failure, Job, check, named, run_cases,  # noqa: E402
                  wait_for)

FOLDER = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault")
P2P, COLL, PLAY, SHRINK = (
    os.path.join(FOLDER, name) for name in ("lost_p2p", "lost_coll", "lost_play", "lost_shrink")
)

# How a rank ends, the job's code, what the supervisor says.
ENDS = [
    ("kill", 137, r"rank 3 .*killed by signal 9 \(SIGKILL\) after .*; the other 3 ranks go on"),
    ("abort", 134, r"rank 3 .*killed by signal 6 \(SIGABRT\).*the other 3 ranks go on"),
    ("segv", 139, r"rank 3 .*killed by signal 11 \(SIGSEGV\).*the other 3 ranks go on"),
    ("exit3", 3, r"rank 3 .*exited with code 3 .*the other 3 ranks go on"),
    ("uexit", 0, r"rank 3 .*exited with code 0 .*the other 3 ranks go on"),
    ("end", 0, None),
]


def survivors(job, count):
    check(job.out.count("survived") == count, "survivors:", job.out, job.err)
    check("FAILED" not in job.err, job.err)


def ends(launch, scenario, how, code, message):
    job = Job(4, [P2P, scenario, how], launch).expect(code, *([message] if message else []))
    survivors(job, 3)
    if not message:
        check(job.err == "", "an end in good order is not quiet:", job.err)


def middle(launch, program, scenario, env):
    """SIGKILL in the middle of traffic."""
    for seed in range(3):
        variables = {**env, "TMB_TEST_SEED": str(seed)}
        survivors(Job(4, [program, scenario, "kill"], launch, env=variables).expect(137), 3)


def shrink(launch, scenario, ranks, dead, env):
    """Killed in the middle of an agreement on who is left."""
    for _ in range(3):
        survivors(Job(ranks, [SHRINK, scenario, "kill"], launch, env=env).expect(137), ranks - dead)


def rank_0(launch, scenario):
    survivors(Job(4, [P2P, scenario, "kill", "0"], launch).expect(137, r"rank 0 .*signal 9"), 3)


def one_by_one(launch):
    """Killed from outside, until one is left; that one ends by itself."""
    job = Job(4, [PLAY, "watch"], launch)
    pids = job.ready()
    for rank in (2, 0, 3):
        os.kill(pids[rank], signal.SIGKILL)
        wait_line(job, rf"rank 1 sees {rank} state 2")
        check(job.process.poll() is None, "the job ended with the loss of rank", rank)
    os.kill(pids[1], signal.SIGUSR1)
    job.expect(137, r"rank 2 .*; the other 3 ranks go on", r"rank 3 .*; the other rank goes on")


def all_killed(launch):
    job = Job(3, [PLAY, "watch"], launch)
    for pid in job.ready().values():
        os.kill(pid, signal.SIGKILL)
    job.expect(137, r"killed by signal 9")


def wait_line(job, pattern, bound=20.0):
    """Reads standard output until a line matches."""
    until = time.monotonic() + bound
    seen = []
    while True:
        line = job.process.stdout.readline().decode()
        seen.append(line)
        if re.search(pattern, line):
            return
        check(line and time.monotonic() < until, f"no line /{pattern}/ in", seen)


def suspended(launch):
    """A rank that is stopped by a signal is seen as such, and is not lost."""
    job = Job(3, [PLAY, "watch"], launch)
    pids = job.ready()
    os.kill(pids[1], signal.SIGSTOP)
    wait_line(job, r"rank 0 sees 1 suspended")
    os.kill(pids[1], signal.SIGCONT)
    wait_line(job, r"rank 0 sees 1 alive")
    os.kill(pids[1], signal.SIGKILL)
    wait_line(job, r"rank 0 sees 1 state 2")
    for rank in (0, 2):
        os.kill(pids[rank], signal.SIGUSR1)
    job.expect(137)


def aborts(launch):
    """Any rank can end the whole job: ABORT, then gasnet_exit. Its code counts, 0 too. Rank 3 dies
    as soon as its call for REPORT has returned: every supervisor must know by then."""
    job = Job(4, [PLAY, "abort", "7"], launch)
    job.expect(7, r"rank 1 .*exited with code 7 .*; ending the other 2 ranks", r"rank 3 .*go on")
    for _ in range(5 if launch in TREES else 1):
        Job(4, [PLAY, "abort", "0"], launch).expect(0, r"rank 3 .*go on")


def not_all_want(launch):
    """While one rank wants ABORT, a failure ends the job as ever."""
    job = Job(3, [PLAY, "back"], launch)
    pids = job.ready()
    wait_line(job, "is back")
    if launch in TREES:
        time.sleep(0.3)  # GEXX_FAILURE_ABORT is in flight to the other supervisors
    os.kill(pids[0], signal.SIGKILL)
    job.expect(137, r"rank 0 .*killed by signal 9 .*; ending the other 2 ranks")


def interrupted(launch):
    """The launcher ends such a job on SIGTERM like any other."""
    job = Job(3, [PLAY, "watch"], launch)
    pids = job.ready()
    os.kill(pids[2], signal.SIGKILL)
    wait_line(job, r"rank \d sees 2 state 2")
    job.process.send_signal(signal.SIGTERM)
    job.expect(128 + signal.SIGTERM)


def supervisor_killed(launch):
    Job(3, [PLAY, "watch"], launch).launcher_killed()


def wrapped(_launch):
    """Behind a shell that goes on after its rank."""
    script = '"$0" watch; echo "after $?"; sleep 1'
    job = Job(3, ["sh", "-c", script, PLAY])
    pids = job.ready()
    os.kill(pids[2], signal.SIGKILL)
    wait_line(job, r"rank \d sees 2 state 2")
    for rank in (0, 1):
        os.kill(pids[rank], signal.SIGUSR1)
    job.end()
    job.nothing_left()


def timeout():
    """The time limit holds although ranks were lost."""
    for limit in (2, 10, 50):
        job = Job(3, [PLAY, "watch"], options=("--timeout", str(limit)))
        try:
            victim = job.ready()[1]
        except Failure:  # the job has taken as long to start
            job.end()
            continue
        in_time = time.monotonic() - job.began < limit / 2
        os.kill(victim, signal.SIGKILL)
        job.expect(124, *([r"ranks still running: 0, 2;"] if in_time else []), bound=limit + BOUND)
        if in_time:
            return
    raise Failure("the job has never started in half of its time limit")


SETTINGS = {"mapped": {}, "messages": {"TOMBOLO_TEST_SHM_MAP": "0"},
            "no_shm": {"TOMBOLO_TEST_SHM": "0"}}
CASES = [
    named(f"ends/{launch}/{end[0]}", ends, launch, "idle", *end)
    for launch in LAUNCHES
    for end in ENDS
]
CASES += [named(f"asleep/{end[0]}", ends, "run", "asleep", *end) for end in ENDS]
CASES += [
    named(f"middle/{scenario}/{name}", middle, "run", program, scenario, env)
    for program, scenario in ((P2P, "flood"), (P2P, "pending"), (COLL, "barrier"), (COLL, "coll"))
    for name, env in SETTINGS.items()
]
CASES += [
    named(f"shrink/{scenario}/{ranks}/{name}", shrink, "run", scenario, ranks, dead, env)
    for scenario, ranks, dead in (("middle", 7, 3), ("lowest", 5, 1), ("most", 5, 4), ("sub", 3, 1))
    for name, env in SETTINGS.items()
]
CASES += [named(f"rank_0/{scenario}", rank_0, "run", scenario) for scenario in ("asleep", "known")]
for case in (
    one_by_one,
    all_killed,
    suspended,
    aborts,
    not_all_want,
    interrupted,
    supervisor_killed,
):
    CASES += [named(f"{case.__name__}/{launch}", case, launch) for launch in LAUNCHES]
for case in (aborts, not_all_want, interrupted, one_by_one):
    CASES += [named(f"{case.__name__}/{launch}", case, launch) for launch in TREES]
CASES += [named("wrapped", wrapped, "run"), timeout]

if __name__ == "__main__":
    run_cases(CASES)
