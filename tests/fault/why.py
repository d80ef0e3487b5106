#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
# cases: 1of2 2of2
"""`tombolo ps`, `tombolo why` and `--watchdog`: jobs that hang for known reasons are named as what
they are, jobs that are slow are not called hangs, and no rank is disturbed by being looked at."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from asks import BUSY, HANG, PROGRESS, end, settled, why  # noqa: E402
from jobs import LAUNCHES, TOMBOLO, Job, check, named, run_cases, wait_for  # noqa: E402

HANGS = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault/hangs")

# How, ranks, exit code of why, what it must say, environment.
CASES = [
    ("barrier", 4, HANG, r"ranks 0-2 wait in barrier \d+ of all ranks, which rank 3 has not "
                         r"called; rank 3 waits .* signal at 0x\w+ to be >= 4 \(it is 0\)", {}),
    ("named", 3, BUSY, r"ranks 0-1 wait in gasnet_barrier 1 of all ranks, which rank 2 has not "
                       r"called; rank 2 sleeps in a system call", {}),
    ("reduction", 3, BUSY, r"ranks 0-1 wait in all-reduce .*, which rank 2 has not called", {}),
    ("late-reduction", 3, BUSY, r"ranks 0-1 wait in all-reduce 1 of all ranks, which rank 2 has "
                                r"not called", {}),
    ("big-reduction", 3, BUSY, r"ranks 0-1 wait in all-reduce 1 of all ranks, which rank 2 has not "
                               r"called", {}),
    ("reduction", 3, BUSY, r"wait in all-reduce 1 of all ranks, which rank 2 has not called",
     {"TOMBOLO_TEST_SHM": "0"}),
    ("barrier", 3, HANG, r"ranks 0-1 wait in barrier \d+ of all ranks, which rank 2 has not",
     {"TOMBOLO_TEST_SHM": "0"}),
    ("team", 4, HANG, r"ranks 1-2 wait in barrier 1 of the team of ranks 0-2, which rank 0 has "
                      r"not called", {}),
    ("twin", 4, HANG, r"in barrier 1 of the team of ranks 0-2 \(the 2nd made from all ranks\), "
                      r"which rank 0 has not called", {}),
    ("named-twin", 4, HANG, r"in barrier 1 of the team 'rows' of ranks 0-2 \(the 3rd made from all",
     {}),
    ("circle", 3, HANG, r"in a circle: rank 0 waits for rank 1, which waits for rank 2, which "
                        r"waits for rank 0", {}),
    ("store", 3, HANG, r"rank 0 waits for the signal at 0x\w+ to be >= 1 \(it is 1\): it holds "
                       r"already", {}),
    ("loop", 3, BUSY, r"which rank 2 has not called; rank 2 runs its own code.*\(\d+ %", {}),
    ("polls", 3, BUSY, r"which rank 2 has not called; rank 2 polls in a loop of its own, "
                     r"and has found nothing for [^$]* no other rank is left to send anything:",
     {}),
    ("all-poll", 3, BUSY, r"ranks 0-2 poll in loops of their own, nothing is in flight", {}),
    ("layer", 3, HANG, r"worker 10 waits in take 5 of the table on worker 10, held by worker 12; "
                       r"worker 12 waits .* for barrier \d+ of all workers", {}),
    ("fill", 3, BUSY, r"rank 0 waits for room for a Medium message to rank 2: the ring of that "
                      r"rank is full; rank 2 sleeps in a system call", {}),
    ("fill-large", 3, BUSY, r"message to rank 2: all message buffers of this rank are in use",
     {}),
    ("fill-prepared", 3, BUSY, r"to rank 2: all message buffers of this rank are in use", {}),
    ("stop", 3, HANG, r"which rank 2 has not called; rank 2 is stopped by a signal", {}),
    ("signal", 3, HANG, r"rank 2 waits for the signal at 0x\w+ to be == 9 \(it is 0\), which no "
                        r"other rank can bring about", {}),
    ("get", 3, BUSY, r"rank 0 waits for a get with rank 2 .*; rank 2 sleeps in a system call",
     {"TOMBOLO_TEST_SHM_MAP": "0"}),
    ("lock", 3, HANG, r"rank 2 waits for the lock at 0x", {}),
    ("blocked", 3, HANG, r"rank 2 waits for a condition of the program, which no other rank", {}),
]


def hang(launch, how, ranks, code, pattern, env):
    job = Job(ranks, [HANGS, how], launch, env=env)
    job.ready()
    try:
        settled(job, code, pattern)
    finally:
        end(job)


def no_debugger():
    """Why no tool can read stacks here, or None."""
    if not (shutil.which("eu-stack") or shutil.which("gdb")):
        return "neither eu-stack nor gdb is installed"
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            forbidden = file.read().strip() != "0" and os.geteuid() != 0
    except OSError:
        forbidden = False
    return "this system forbids to trace processes" if forbidden else None


def stacks(how, options, code, *patterns, env=None):
    """Where in the program ranks are: in a hang without asking for it, else with --stacks. Threads
    of the library are not shown."""
    if no_debugger():
        return no_debugger()
    job = Job(3, [HANGS, how], env=env)
    job.ready()
    try:
        text = settled(job, code, *patterns, options=options)
        check("progress_thread" not in text, text)
        _, text = why(job, "--no-stacks")
        check(" is in " not in text, "stacks that were not wanted:", text)
    finally:
        end(job)
    return None


def handled():
    """Messages that have been handled are not unread."""
    job = Job(3, [HANGS, "handled"])
    job.ready()
    try:
        text = settled(job, HANG, r"which rank 2 has not called")
        check("unread" not in text, text)
    finally:
        end(job)


def not_started():
    """One process of the job never initialises the library."""
    job = Job(3, [HANGS, "absent"])
    settled(job, BUSY, r"rank 0 +has not initialised the library yet")
    settled(job, BUSY, r"rank 1 .*waits for others to start")
    end(job)


def slow(launch, how):
    """A slow job goes on, however often it is asked, and ends well."""
    job = Job(3, [HANGS, how], launch)
    job.ready()
    for _ in range(5):
        code, text = why(job)
        if job.process.poll() is not None:
            break
        check(code != HANG, "a slow job is called a hang:", text)
    job.expect(0)


def ps(launch):
    job = Job(3, [HANGS, "barrier"], launch)
    job.ready()
    line = re.compile(rf"^{job.process.pid} +3 +1 .* hangs$", re.M)
    wait_for(
        "the job to be listed",
        lambda: line.search(subprocess.run([TOMBOLO, "ps"], capture_output=True, text=True).stdout),
    )
    end(job)
    out = subprocess.run([TOMBOLO, "ps"], capture_output=True, text=True).stdout
    check(not line.search(out), "a job that has ended is listed:", out)


def by_rank():
    """A job is known by the process of any of its ranks, too; another number is not a job."""
    job = Job(2, [HANGS, "barrier"])
    pids = job.ready()
    done = subprocess.run([TOMBOLO, "why", str(pids[1])], capture_output=True, text=True)
    check(done.returncode in (PROGRESS, HANG), done.returncode, done.stdout, done.stderr)
    done = subprocess.run([TOMBOLO, "why", str(os.getpid())], capture_output=True, text=True)
    check(done.returncode == 1 and "is not a job" in done.stderr, done.returncode, done.stderr)
    end(job)


WATCHDOG = "4"  # seconds; at a load of 70 a start stands still for two


def watchdog(how, pattern):
    """The watchdog names the cause and ends the job with its own code."""
    job = Job(3, [HANGS, how], options=["--watchdog", WATCHDOG])
    job.expect(125, r"watchdog: nothing has happened in the job for \d", pattern)
    check(job.seconds < 30, "took", job.seconds)


def watchdog_slow_tools():
    """Tools that read stacks for ever do not keep the watchdog from ending the job."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in ("eu-stack", "gdb"):
            path = os.path.join(folder, tool)
            with open(path, "w") as file:
                file.write("#!/bin/sh\nexec sleep 90\n")
            os.chmod(path, 0o755)
        path = f"{folder}:{os.environ['PATH']}"
        job = Job(3, [HANGS, "loop"], options=["--watchdog", WATCHDOG], env={"PATH": path})
        job.expect(125, r"which rank 2 has not called; rank 2 runs")


def watchdog_setting():
    """A program that starts its own ranks has a watchdog by the setting."""
    job = Job(3, [HANGS, "signal"], "self", env={"TOMBOLO_WATCHDOG": WATCHDOG})
    job.expect(125, r"rank 2 waits")


def watchdog_is_quiet(how):
    Job(3, [HANGS, how], options=["--watchdog", "2"]).expect(0)


def main():
    cases = [
        named(f"{how} {launch} {' '.join(env)}", hang, launch, how, ranks, code, pattern, env)
        for how, ranks, code, pattern, env in CASES
        for launch in (LAUNCHES if how in ("barrier", "stop") else ("run",))
    ]
    cases += [
        named("stacks of a hang", stacks, "signal", (), HANG,
              r"rank 2 is in nobody_signals \(hangs\.c:\d+\), called by run \(hangs\.c:\d+\)"),
        named("stacks over udp", stacks, "signal", (), HANG, r"rank 2 on \S+ is in nobody_signals ",
              env={"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "udp"}),
        named("stacks of a loop", stacks, "loop", ("--stacks",), BUSY,
              r"rank 2 is in endless_loop \(hangs\.c:\d+\), called by "),
    ]
    cases += [named("not started", not_started), named("handled", handled)]
    cases += [named("by rank", by_rank)]
    pairs = [(how, launch) for how in ("slow", "busy") for launch in LAUNCHES]
    cases += [named(f"slow {how} {launch}", slow, launch, how) for how, launch in pairs]
    cases += [named(f"ps {launch}", ps, launch) for launch in LAUNCHES]
    cases += [
        named("watchdog barrier", watchdog, "barrier", r"which rank 2 has not called"),
        named("watchdog loop", watchdog, "loop", r"which rank 2 has not called; rank 2 runs"),
        named("watchdog stop", watchdog, "stop", r"rank 2 is stopped"),
        named("watchdog polls", watchdog, "all-poll",
              # lines of ranks that say the same, percentage and all, are one line
              r"(rank 2 .*polls in a loop .* \[hangs\]|\[hangs\]\n +\.\.\. and the \d after it)"
              r"\n[^$]*ranks 0-2 poll in loops of their own, "
              r"nothing is in flight in the job, and no other rank is left to send anything\n"),
        named("watchdog slow tools", watchdog_slow_tools),
        named("watchdog setting", watchdog_setting),
        named("watchdog quiet", watchdog_is_quiet, "slow"),
    ]
    run_cases(cases)


if __name__ == "__main__":
    main()
