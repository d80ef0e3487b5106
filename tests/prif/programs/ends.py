#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""How programs of PRIF end: exit codes, what is printed and where, callbacks, peers that wait.

Usage: ends.py PROGRAM. The program is ends.f90 beside this, of any compiler.
"""

import os
import subprocess
import sys

# Case: images, exit code, texts of standard output, texts of standard error.
CASES = {
    "stop": (3, 5, ["output of image 3", "STOP 5"], []),
    "stop_text": (2, 0, ["STOP enough"], []),
    "quiet": (2, 0, [], []),
    "callbacks": (1, 7, ["second F F\nint 7\nfirst F F\nint 7\nSTOP 7"], []),
    "callbacks_error": (2, 1, ["first T T\nchar [why ]"], []),
    "error_stop": (3, 9, [], ["ERROR STOP 9"]),
    "error_text": (2, 1, [], ["ERROR STOP bad input"]),
    "stopped": (3, 0, ["stat 104 1 prif_sync_all: image 1 "], []),
    "failed": (3, 0, ["stat 101 1 prif_sync_all: image 1 ", "status 101"], []),
    "own_error": (3, 6, [], ["ending the other 2 ranks"]),
    "own_end": (3, 0, ["stat 0"], []),
    "memory": (2, 121, [], ["prif_allocate: out of memory for", "TMB-0001"]),
    "memory_coarray": (2, 121, [], ["out of memory for a coarray of", "TMB-0001"]),
    "null_handle": (1, 120, [], ["prif_size_bytes: the coarray handle is null", "TMB-22"]),
    "bad_handle": (1, 120, [], ["prif_size_bytes: coarray handle 0x3039 is none", "TMB-22"]),
    "bad_team": (1, 120, [], ["argument team was not formed", "TMB-22"]),
    "bad_number": (2, 120, [], ["team_number is 7", "TMB-22"]),
    "bad_level": (1, 120, [], ["prif_get_team: level is 5", "TMB-22"]),
}


def main():
    """Runs all cases."""
    wrong = 0
    for case, (images, code, out, err) in CASES.items():
        command = [os.environ["TOMBOLO"], "run", "-n", str(images), "--timeout", "40", "--"]
        done = subprocess.run([*command, sys.argv[1], case], capture_output=True, text=True,
                              check=False)
        missing = [t for t in out if t not in done.stdout]
        missing += [t for t in err if t not in done.stderr]
        noise = case == "quiet" and (done.stdout or "STOP" in done.stderr)
        noise = noise or "SIGQUIT" in done.stderr  # a backtrace of libgfortran in each other image
        if done.returncode != code or missing or noise:
            wrong += 1
            print(f"{case}: exit code {done.returncode}, expected {code}; missing: {missing}\n"
                  f"--- stdout\n{done.stdout}--- stderr\n{done.stderr}")
    print(f"{len(CASES) - wrong} of {len(CASES)} cases")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
