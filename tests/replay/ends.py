#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose ranks end in their midst: each replay ends alike, or says where the recording does.

Usage: ends.py TOMBOLO PROGRAM SOURCE REPLAYS [CASE...]
The cases are those of SOURCE, tests/replay/ends.c, and `outside`: a rank, or the launcher, is
killed or ended from outside.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TRIES = 100  # runs until a case shows
CODES = {"ends_segv": 139, "ends_abort": 134, "ends_exit": 3, "ends_exec": 3, "ends_killed": 137,
         "ends_early": 139}


def run(tombolo, *words, limit="50"):
    done = subprocess.run([tombolo, "run", "--timeout", limit, *words], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def fault_of(tombolo, program, case, replays):
    """What is wrong with a case, or None."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TRIES):
            code, out, err = run(tombolo, "-n", "3", "--record", folder, program, case)
            if code:
                break
        if code != CODES[case]:
            return f"code {code} while it is recorded, not {CODES[case]}: {err}"
        for number in range(replays):
            again, seen, err = run(tombolo, "--replay", folder, program, case)
            if (again, seen) != (code, out) or "breaks off" in err:
                return f"replay {number}: code {again}, not {code}: {seen}, not {out}: {err}"
    return None


def ranks_of(launcher):
    """Processes of a job, in the order in which they have begun."""
    with open(f"/proc/{launcher}/task/{launcher}/children", encoding="utf-8") as text:
        return [int(pid) for pid in text.read().split()]


def events_of(folder, rank):
    """How many events the file of a rank has."""
    try:
        with open(os.path.join(folder, f"rank.{rank}"), "rb") as file:
            head = file.read(4096)
    except OSError:
        return 0
    return max(int.from_bytes(head[at:at + 8], "little") for at in (40, 56))


def outside(tombolo, program, _case, _replays):
    """Killed from outside, in the midst of events: the replay goes on, and says from where."""
    for who, number in (("rank", signal.SIGKILL), ("launcher", signal.SIGKILL),
                        ("launcher", signal.SIGTERM)):
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([tombolo, "run", "-n", "3", "--timeout", "50", "--record",
                                   folder, program, "goes_round"],
                                  stderr=subprocess.DEVNULL) as job:
                while events_of(folder, 0) < 300 and job.poll() is None:
                    time.sleep(0.002)
                ranks = ranks_of(job.pid)
                os.kill(ranks[1] if who == "rank" else job.pid, number)
            while any(os.path.exists(f"/proc/{pid}") for pid in ranks):
                time.sleep(0.01)
            counts = [events_of(folder, rank) for rank in range(3)]
            code, _, err = run(tombolo, "--replay", folder, program, "goes_round", limit="8")
        wanted = r"rank \d breaks off behind event (\d+); .*\n  last call: \w+ .*\(.*ends\.c:\d+\)"
        found = [int(events) for events in re.findall(wanted, err)]
        if code != 124 or found != counts:
            return f"{who}, signal {number}: code {code}, events {counts}, found {found}: {err}"
    return None


def main():
    tombolo, program, source, replays = sys.argv[1:5]
    with open(source, encoding="utf-8") as text:
        cases = sys.argv[5:] or [*re.findall(r"^CASE\((\w+)\)", text.read(), re.M), "outside"]
    checks = {case: outside if case == "outside" else fault_of for case in cases}
    faults = [f"{case}: {fault}" for case, check in checks.items()
              if (fault := check(tombolo, program, case, int(replays)))]
    print("\n".join([*faults, f"{len(cases)} cases were replayed, {len(faults)} faults"]))
    return 1 if faults or not cases else 0


sys.exit(main())
