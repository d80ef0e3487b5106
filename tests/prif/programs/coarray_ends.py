#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""How programs of flang end: exit code, messages, output of all images, no hang.

Usage: coarray_ends.py [PROGRAM]; without it, exit code 77.
"""

import os
import subprocess
import sys

IMAGES = 3
# argument: exit code of the job, images that write, text on standard error
CASES = {
    "end": (0, 3, ""),
    "stop": (0, 3, ""),
    "stop5": (5, 3, "5"),
    "text": (0, 3, "all is well"),
    "quiet": (0, 3, ""),
    "error7": (7, 3, "7"),
    "errortext": (1, 1, "it went wrong"),
    "stopped": (0, 3, ""),
    "failed": (0, 3, ""),
}


def run(program, case):
    """What is wrong with one case, or None."""
    code, writers, text = CASES[case]
    command = [os.environ["TOMBOLO"], "run", "-n", str(IMAGES), "--timeout", "40", "--", program]
    done = subprocess.run(command + [case], capture_output=True, text=True, check=False)
    if done.returncode != code:
        return f"{case}: exit code {done.returncode}, not {code}: {done.stderr}"
    if done.stdout.count("written") < writers:
        return f"{case}: {done.stdout.count('written')} images have written, not {writers}"
    if text not in done.stderr:
        return f"{case}: no {text!r} in {done.stderr!r}"
    if "not shown" in done.stderr + done.stdout:
        return f"{case}: a quiet stop code is shown"
    return None


def main():
    """Runs all cases."""
    if len(sys.argv) < 2 or not os.path.exists(sys.argv[1]):
        print("no program of flang")
        return 77
    wrong = [message for message in (run(sys.argv[1], case) for case in CASES) if message]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
