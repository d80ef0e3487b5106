#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
"""`tombolo ps`, `tombolo why` and `--watchdog` for jobs on several hosts, which are agents on this
machine, started by a remote shell that stays here, or are pretended. tests/net/why_test.py does it
between network namespaces."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, Job, check, marked_processes, named, run_cases, wait_for  # noqa: E402
from asks import BUSY, HANG, end, settled  # noqa: E402
from why import HANGS  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
REMOTE = os.path.join(FOLDER.name, "rsh")

# How, exit code of why, what it must say; ranks 0 and 1 on host a, 2 on b, 3 on c.
CASES = [
    ("barrier", HANG, r"ranks 0-2 wait in barrier \d+ of all ranks, which rank 3 has not called; "
                      r"rank 3 on c waits .* signal at 0x\w+ to be >= 4 \(it is 0\)"),
    ("reduction", BUSY, r"ranks 0-2 wait in all-reduce .*, which rank 3 has not called; rank 3 on "
                        r"c sleeps in a system call"),
    ("circle", HANG, r"in a circle: rank 0 waits for rank 1, which waits for rank 2, which waits "
                     r"for rank 3, which waits for rank 0"),
    ("fill", BUSY, r"rank 0 on a waits for room for a Medium message to rank 3 on c: no credit is "
                   r"left, as that rank has not handled earlier ones"),
    ("stop", HANG, r"which rank 3 has not called; rank 3 on c is stopped by a signal"),
    ("loop", BUSY, r"which rank 3 has not called; rank 3 on c runs its own code.*\(\d+ %"),
]


def started(how, options=("--hosts", "a:2,b,c"), env=None):
    """A job of four ranks on three hosts."""
    return Job(4, [HANGS, how], options=list(options), env={"TOMBOLO_SSH": REMOTE, **(env or {})})


def hang(how, code, pattern):
    job = started(how)
    job.ready()
    try:
        text = settled(job, code, pattern)
        for line in (r"rank 0 +a: ", r"rank 2 +b: ", r"rank 3 +c: "):
            check(re.search(line, text), f"no /{line}/ in", text)
    finally:
        end(job)


def pretended():
    """Hosts that are pretended have this machine's name and a number."""
    job = started("barrier", (), {"TOMBOLO_PLACES": "0,0,1,2"})
    job.ready()
    try:
        settled(job, HANG, r"which rank 3 has not called; rank 3 on \S+/2 waits")
    finally:
        end(job)


ATTEMPTS = 5


def anywhere():
    """Each agent, and each rank's process, stands for the job."""
    job = started("barrier")
    pids = job.ready()
    agents = [p for p in marked_processes(job.mark) if is_agent(p)]
    check(len(agents) == 3, "agents:", agents)
    try:
        settled(job, HANG, r"which rank 3 has not called")
        for pid in [*agents, *pids.values()]:
            command = [TOMBOLO, "why", "--no-stacks", str(pid)]
            for _ in range(ATTEMPTS):  # a rank may be between two looks at what it waits for
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode == HANG:
                    break
            check(done.returncode == HANG, pid, done.stdout, done.stderr)
            check("which rank 3 has not called" in done.stdout, pid, done.stdout)
    finally:
        end(job)


def is_agent(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(b"\0")[1:3] == [b"run", b"--agent"]


def ps():
    """The job is listed once, with its ranks on all hosts."""
    job = started("barrier")
    job.ready()
    rows = [rf"^{job.process.pid} +4 +3 .*0 run, 4 wait .* a,b,c$"]
    rows += [rf"^  {r} +{h} +\d+ .* wait$" for r, h in enumerate("aabc")]

    def listed():
        done = subprocess.run([TOMBOLO, "ps", "--ranks"], capture_output=True, text=True)
        return all(len(re.findall(row, done.stdout, re.M)) == 1 for row in rows)

    try:
        wait_for("the job to be listed", listed)
    finally:
        end(job)


def watchdog(how, pattern):
    """The launcher's watchdog sees the ranks of all hosts, and ends the job. Questions whether
    a peer lives, after a quarter of TOMBOLO_PEER_TIMEOUT, are nothing that has happened."""
    job = started(how, ("--hosts", "a:2,b,c", "--watchdog", "4"), {"TOMBOLO_PEER_TIMEOUT": "12"})
    job.expect(125, r"watchdog: nothing has happened in the job for \d", pattern)
    check(job.seconds < 30, "took", job.seconds)


def watchdog_is_quiet(how):
    started(how, ("--hosts", "a:2,b,c", "--watchdog", "2")).expect(0)


def idle():
    """A rank that waits for another host sleeps: it takes no processor."""
    job = started("barrier")
    pids = job.ready()
    try:
        settled(job, HANG, r"which rank 3 has not called")
        before = {r: ticks(p) for r, p in pids.items()}
        settled(job, HANG, r"which rank 3 has not called")
        settled(job, HANG, r"which rank 3 has not called")
        used = {r: ticks(p) - before[r] for r, p in pids.items()}
        check(max(used.values()) <= 15, "ticks of 10 ms in a second, asleep:", used)
    finally:
        end(job)


def ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def main():
    with open(REMOTE, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nexec sh -c "$2"\n')
    os.chmod(REMOTE, 0o755)
    cases = [named(f"{how}", hang, how, code, pattern) for how, code, pattern in CASES]
    cases += [named("pretended", pretended), named("anywhere", anywhere), named("ps", ps)]
    cases += [
        named("watchdog barrier", watchdog, "barrier", r"which rank 3 has not called; rank 3 on c"),
        named("watchdog stop", watchdog, "stop", r"rank 3 on c is stopped"),
        named("watchdog quiet slow", watchdog_is_quiet, "slow"),
        named("idle", idle),
    ]
    run_cases(cases)


if __name__ == "__main__":
    main()
