#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank that executes a program costs the page faults of that program, and none for the launcher.

The launcher's memory is not copied for a rank. The faults of a rank are those of larger jobs beyond
those of smaller ones; Python starts the same program without a copy, too.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, check, named, run_cases  # noqa: E402

FEW, MANY = 16, 80
PROGRAM = "/bin/true"
SLACK = 10  # pages; a copy of the launcher's memory costs 34


def faults(*words):
    """Page faults of a command and of all that it has waited for: the least of three runs."""
    found = []
    for _ in range(3):
        with open(os.devnull, "wb") as nowhere:
            child = subprocess.Popen(words, stdout=nowhere)  # pylint: disable=consider-using-with
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        check(child.returncode == 0, words, child.returncode)
        found.append(usage.ru_minflt)
    return min(found)


def of_a_rank(*options):
    if "-fsanitize" in subprocess.run([TOMBOLO, "info"], capture_output=True, check=True,
                                      text=True).stdout:
        return "sanitizers copy the memory"
    alone = faults(PROGRAM)
    few, many = (faults(TOMBOLO, "run", *options, "-n", str(n), PROGRAM) for n in (FEW, MANY))
    rank = (many - few) / (MANY - FEW)
    print(f"{rank:.1f} page faults a rank, {alone} of the program alone")
    check(rank <= alone + SLACK, f"{rank:.1f} page faults a rank, {alone} of the program alone")
    return None


CASES = [named("here", of_a_rank), named("on_hosts", of_a_rank, "--hosts", "localhost")]

if __name__ == "__main__":
    run_cases(CASES)
