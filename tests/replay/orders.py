#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A program of coarrays, or of OpenSHMEM, whose output depends on the order of images is recorded,
# and each replay prints the same.
#   tests/replay/orders.py TOMBOLO PROGRAM SOURCE REPLAYS [CASE...]
# The cases are those of SOURCE, tests/replay/orders.f90 or orders_shmem.c.
import re
import subprocess
import sys
import tempfile

IMAGES = "4"
TRIES = 20  # runs until one differs from the first: the output depends on the order


def run(tombolo, *words):
    done = subprocess.run([tombolo, "run", "--timeout", "30", *words], capture_output=True,
                          text=True, check=False)
    return done.returncode, sorted(done.stdout.split("\n")), done.stderr


def fault_of(tombolo, program, case, replays):
    """What is wrong with a case, or None."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run(tombolo, "-n", IMAGES, "--record", folder, program, case)
        if code:
            return f"code {code} while it is recorded: {err}"
        others = (run(tombolo, "-n", IMAGES, program, case) for _ in range(TRIES))
        if all((code, out) == other[:2] for other in others):
            return f"{TRIES} runs print the same: {out}"
        for number in range(1, replays + 1):
            again, seen, err = run(tombolo, "--replay", folder, program, case)
            if (again, seen) != (code, out):
                return f"replay {number}: code {again}, not {code}: {seen}, not {out}: {err}"
    return None


def other_case(tombolo, program):
    """The replay of a program that does something else ends at once, with its code."""
    with tempfile.TemporaryDirectory() as folder:
        run(tombolo, "-n", IMAGES, "--record", folder, program, "locks")
        code, _, err = run(tombolo, "--replay", folder, program, "tickets")
    right = code == 67 and "has left the recorded order" in err and "time limit" not in err
    return None if right else f"code {code}, not 67: {err}"


def main():
    tombolo, program, source = sys.argv[1:4]
    replays = int(sys.argv[4])
    text = open(source, encoding="utf-8").read()
    cases = sys.argv[5:] or re.findall(r"^(?:  case \('|CASE\()(\w+)", text, re.M)
    faults = {case: fault_of(tombolo, program, case, replays) for case in cases}
    faults["another case"] = other_case(tombolo, program)
    for case, fault in faults.items():
        if fault:
            print(f"{case}: {fault}")
    wrong = len([fault for fault in faults.values() if fault])
    print(f"{len(faults) - wrong} of {len(faults)} cases are right in {replays} replays")
    return 1 if wrong or not cases else 0


sys.exit(main())
