# SPDX-License-Identifier: BSD-3-Clause
"""Asks `tombolo why` about a running job, for tests/fault/why*.py, and why.py of tests/fortran,
tests/shmem and tests/upc. Every wait is bounded."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from jobs import TOMBOLO, Failure, check

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
        time.sleep(0.05)  # what is asked about needs the processor, too


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


class Source:
    """A program as text, `hangs.ENDING` in a folder of its own. Lines that a test names end with a
    comment `line NAME`."""

    def __init__(self, text, ending, comment):
        self.text, self.ending = text, ending
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "hangs")
        mark = re.compile(rf".*{comment} line (.*)")
        found = ((mark.match(line), number) for number, line in enumerate(text.splitlines(), 1))
        self.lines = {match[1]: number for match, number in found if match}

    def at(self, line, function=""):
        """What `why` says of a line, and of the function that it is in: without addr2line, an
        address."""
        if not shutil.which("addr2line"):
            return r"at hangs\+0x[0-9a-f]+"
        place = rf" \(in {function}\)" if function else ""
        return rf"at hangs\.{self.ending}:{self.lines[line]}{place}"

    def compile(self, *command):
        """Runs `tombolo COMMAND`, or a command with its path, on it."""
        name = f"{self.program}.{self.ending}"
        with open(name, "w") as file:
            file.write(self.text)
        tool = [] if os.path.isabs(command[0]) else [TOMBOLO]
        done = subprocess.run([*tool, *command, name, "-o", self.program], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check(done.returncode == 0, done.stdout)
