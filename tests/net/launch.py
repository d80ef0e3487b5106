# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that `tombolo run` starts over ssh on the hosts of a lab. Used by ssh_test.py and
faults_test.py."""

import os
import re
import subprocess
import time

from lab import build_folder

TOMBOLO = os.environ.get("TOMBOLO", str(build_folder() / "bin/tombolo"))


def arguments(lab, user, words, settings):
    """(command, keywords) of `tombolo run` with these words on host 0."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    name = user or "root"
    env.update(HOME=str(lab.ssh.accounts[name][1]), USER=name, LOGNAME=name, **settings)
    command = [TOMBOLO, "run", *map(str, words)]
    # As another user no folder of the build tree may be writable, but all are readable.
    return command, {"user": user, "env": env, "stdin": subprocess.DEVNULL, "cwd": "/"}


def run(lab, *words, user=None, **settings):
    """Runs a job to its end. Returns (code, stdout, stderr, seconds)."""
    command, keywords = arguments(lab, user, words, settings)
    began = time.monotonic()
    done = lab.hosts[0].run(command, text=True, capture_output=True, timeout=90, **keywords)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


def start(lab, *words, user=None, **settings):
    """Starts a job."""
    command, keywords = arguments(lab, user, words, settings)
    return lab.hosts[0].start(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **keywords)


def read_line(process):
    """A line of its output, and no byte behind it: communicate() leaves out what is buffered."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()


def read_ready(process, ranks):
    """Reads until every rank has said `ready RANK PID`. Returns {rank: pid on its host}."""
    pids = {}
    while len(pids) < ranks:
        line = read_line(process)
        if not line:
            raise RuntimeError(f"the job ended before it was ready: {process.stderr.read()}")
        match = re.search(r"ready (\d+) (\d+)", line)
        if match:
            pids[int(match[1])] = int(match[2])
    return pids
