#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command and passes when its exit code and its output are the expected ones.

Usage: expect.py [--code N|any|fail] [--match REGEX] -- COMMAND [ARGS...]
Called by ctest for tests whose source says `expect:` or `match:`. A command that skips (77) skips
here too.
"""

import argparse
import re
import subprocess
import sys


def code_is_expected(code, want):
    if want == "any":
        return True
    if want == "fail":
        return code != 0
    return code == int(want)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", default="0", help="exit code wanted, `any`, or `fail` (non-zero)")
    parser.add_argument(
        "--match", default="", help="regular expression that the output must contain"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode(errors="replace")
    sys.stdout.write(text)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    if code == 77 and options.code != "77":
        return 77
    failures = []
    if not code_is_expected(code, options.code):
        failures.append(f"exit code {code}, expected {options.code}")
    if options.match and not re.search(options.match, text):
        failures.append(f"output does not match /{options.match}/")
    for failure in failures:
        print(f"expect.py: FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
