# SPDX-License-Identifier: BSD-3-Clause
"""Asks `tombolo why` about a running job, for tests/fault/why*.py, tests/fortran/why.py and
tests/upc/why.py. Every wait is bounded."""

import re
import signal
import subprocess
import time

from jobs import TOMBOLO, Failure

PROGRESS, HANG, BUSY = 0, 3, 4


def why(job, *options):
    """Runs `tombolo why` on a job. Returns exit code and output."""
    command = [TOMBOLO, "why", *options, str(job.process.pid)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def settled(job, wanted, *patterns, options=("--no-stacks",)):
    """Asks until the answer is the wanted one: ranks take a moment to get where they hang."""
    until = time.monotonic() + 30
    while True:
        code, text = why(job, *options)
        if code == wanted and all(re.search(pattern, text) for pattern in patterns):
            return text
        if time.monotonic() > until:
            raise Failure(f"exit code {code}, expected {wanted} with {patterns}: {text}")


def end(job):
    """Ends a job by its launcher."""
    job.process.send_signal(signal.SIGTERM)
    job.end()
    job.nothing_left()


def hangs(job, *patterns):
    """Waits until `why` says of a job that it hangs, with the patterns; ends the job."""
    job.ready()
    try:
        settled(job, HANG, *patterns)
    finally:
        end(job)


def line_numbers(source, comment):
    """{name: number} of the lines of a program that end with a comment `line NAME`."""
    mark = re.compile(rf".*{comment} line (.*)")
    found = ((mark.match(text), number) for number, text in enumerate(source.splitlines(), 1))
    return {match[1]: number for match, number in found if match}
