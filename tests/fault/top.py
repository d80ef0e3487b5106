#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""`tombolo top` and `tombolo run --live`: plain frames, a terminal of their own with keys and
changes of size, and tmux."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from asks import end  # noqa: E402
from jobs import TOMBOLO, Failure, Job, check, run_cases, wait_for  # noqa: E402

HANGS = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault/hangs")
BOUND = 30


def hanging():
    job = Job(3, [HANGS, "signal"])
    job.ready()
    return job


def plain():
    """Into a pipe go frames without controls, as many as asked for."""
    job = hanging()
    command = [TOMBOLO, "top", "--interval", "0.3", "--count", "2", str(job.process.pid)]

    def shown():
        done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND)
        check(done.returncode == 0 and "\x1b" not in done.stdout, done)
        check(done.stdout.count("RANK HOST") == 2, done.stdout)
        return re.search(r"\n +2 +\S+ +hangs .* s: the signal at 0x\w+ to be == 9", done.stdout)

    try:
        wait_for("the rank that hangs to be shown", shown)
    finally:
        end(job)


def ends_with_job():
    job = hanging()
    command = [TOMBOLO, "top", "--interval", "0.1", str(job.process.pid)]
    top = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    top.stdout.readline()
    end(job)
    out, _ = top.communicate(timeout=BOUND)
    check(top.returncode == 0 and out.endswith("the job has ended\n"), top.returncode, out[-300:])


class Terminal:
    """`tombolo top` in a terminal of rows times columns."""

    def __init__(self, job, rows, columns, command=None):
        self.master, self.slave = pty.openpty()
        self.size(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.text = self.all = ""
        command = command or [TOMBOLO, "top", "--interval", "0.2", str(job.process.pid)]
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=self.take)

    def take(self):
        """The child's controlling terminal, so that it hears of changes of size."""
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def size(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0.05)[0]:
            got = os.read(self.master, 65536).decode()
            self.text += got
            self.all += got

    def frames(self):
        """The whole frames so far, each a list of lines."""
        self.read()
        return [[line.replace("\x1b[K", "") for line in re.split("\r+\n", frame)]
                for frame in re.findall(r"\x1b\[H(.*?)\x1b\[J", self.text, re.S)]

    def until(self, what, holds):
        limit = time.monotonic() + BOUND
        while not any(holds(frame) for frame in self.frames()):
            if time.monotonic() > limit:
                raise Failure(f"no frame with {what}: {self.frames()[-1:]}")
        self.text = ""

    def ended(self, expected=0):
        code = self.process.wait(BOUND)
        self.read()
        after = termios.tcgetattr(self.slave)
        check(code == expected, "exit code", code, self.text[-300:])
        check("\x1b[?25h\x1b[?1049l" in self.all, "the screen is not given back:", self.text[-80:])
        check(after == self.before, "modes of the terminal:", self.before, after)
        os.close(self.master)
        os.close(self.slave)


def terminal():
    """Frames fit the screen, also after it has changed; keys; the terminal is as it was."""
    job = hanging()
    try:
        t = Terminal(job, 24, 100)
        t.until("all ranks", lambda frame: len(frame) == 6 and re.match(r" +2 .* hangs ", frame[5]))
        t.size(5, 40)
        t.until("five lines", lambda frame: len(frame) == 5 and max(map(len, frame)) == 40)
        for frame in t.frames():
            check(len(frame) <= 5 and max(map(len, frame)) <= 40, frame)
        os.write(t.master, b"\x1b[6~")
        t.until("the next page", lambda frame: re.match(r" +2 ", frame[4]))
        os.write(t.master, b"s")
        t.until("another order", lambda frame: frame[1].startswith("by processor time"))
        os.write(t.master, b"q")
        t.ended()
        t = Terminal(job, 24, 100)
        t.until("a frame", lambda frame: len(frame) == 6)
        check("\x1b[2J" not in t.all, "the screen is erased before it is written")
        t.process.send_signal(signal.SIGTERM)
        t.ended()
    finally:
        end(job)


def live():
    """`tombolo run --live` shows the ranks, gives the terminal back, and then prints the output."""
    t = Terminal(None, 24, 100, [TOMBOLO, "run", "--live", "-n", "3", HANGS, "signal"])
    t.until("all ranks", lambda frame: len(frame) == 6 and re.match(r" +2 .* hangs ", frame[5]))
    t.process.send_signal(signal.SIGTERM)
    t.ended(143)
    shown, _, after = t.all.rpartition("\x1b[?1049l")
    check("ready 0" not in shown and re.search(r"ready 0 \d+", after), after)
    done = subprocess.run([TOMBOLO, "run", "--live", "-n", "1", HANGS], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=BOUND)
    check(done.returncode == 0 and "is not a terminal" in done.stderr, done)


def tmux():
    """In a terminal that people use."""
    if not shutil.which("tmux"):
        return "tmux is not installed"
    job = hanging()
    server = ["tmux", "-L", f"tombolo-{uuid.uuid4().hex[:8]}", "-f", "/dev/null"]

    def pane():
        return subprocess.run([*server, "capture-pane", "-p"], capture_output=True,
                              text=True).stdout

    try:
        subprocess.run([*server, "new-session", "-d", "-x", "100", "-y", "12",
                        f"'{TOMBOLO}' top -i 0.2 {job.process.pid}"], check=True)
        wait_for("a frame", lambda: re.search(r"\n +2 +\S+ +hangs ", pane()))
        subprocess.run([*server, "resize-window", "-x", "60", "-y", "4"], check=True)
        wait_for("a small frame", lambda: len(pane().splitlines()) == 4 and
                 re.match(r" +0 ", pane().splitlines()[3]))
        subprocess.run([*server, "send-keys", "q"], check=True)
        wait_for("the end", lambda: subprocess.run([*server, "ls"], capture_output=True).returncode)
    finally:
        subprocess.run([*server, "kill-server"], capture_output=True)
        end(job)
    return None


def refused():
    for words, wanted in ((["--interval", "x"], "--interval x: not a time"),
                          (["--count", "0"], "--count 0: give a number"),
                          (["a", "b"], "Usage"), (["1x"], None)):
        done = subprocess.run([TOMBOLO, "top", *words], capture_output=True, text=True)
        check(done.returncode == (2 if wanted else 1), words, done)
        check(not wanted or wanted in done.stderr, words, done)


if __name__ == "__main__":
    run_cases([plain, ends_with_job, terminal, live, tmux, refused])
