# SPDX-License-Identifier: BSD-3-Clause
"""Starts jobs for the fault and launcher tests and checks what they leave behind.

Used by tests/fault/*.py and tests/multi/*.py; needs only the Python standard library. $TOMBOLO is
the command, $TMB_BUILD the build tree (ctest sets both). Every wait is bounded: BOUND seconds, long
enough for a loaded machine with two cores. Processes of a test carry a mark in their environment,
by which those that outlive their job are found.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import uuid

import signals

BOUND = 40.0
TOMBOLO = os.environ.get("TOMBOLO", "build/bin/tombolo")
VICTIM = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault/victim")
MARK = "TMBTEST_MARK"
SANITIZER = "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0"
OUR_NAME = re.compile(r"tombolo-(ctl|arena|segment)\.")
LAUNCHES = ("run", "self")
TREES = ("agent", "agents")
WHOLE = bool(os.environ.get("TMB_TEST_WHOLE"))  # `make test-all`: nothing is left out
signals.by_default()


class Failure(Exception):
    """A check did not hold."""


def check(held, *what):
    """Fails the current case, with everything that helps to see why."""
    if not held:
        raise Failure(" ".join(str(part) for part in what))


def marked_processes(mark):
    """Processes, zombies apart, that carry the mark."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            continue
    return found


def names_left():
    """Files of ours in the places where shared memory or temporary files could have names."""
    left = []
    for place in ("/dev/shm", "/tmp", "/var/tmp"):
        try:
            left += [f"{place}/{name}" for name in os.listdir(place) if OUR_NAME.match(name)]
        except OSError:
            continue
    return left


def remote_shell():
    """A script in the place of ssh: it runs the agent of any host on this machine."""
    if not remote_shell.folder:
        remote_shell.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(remote_shell.folder.name, "rsh"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec sh -c "$2"\n')
        os.chmod(file.name, 0o755)
    return os.path.join(remote_shell.folder.name, "rsh")


remote_shell.folder = None


def host_list(launch, ranks):
    """Hosts of a job: all ranks under one agent, or each half of them under one of its own."""
    if launch == "agent":
        return f"localhost:{ranks}"
    return f"host_a:{ranks - ranks // 2},host_b:{ranks // 2}"


class Job:
    """A running job; `launch` is "run" (tombolo run), "self" (a program that starts its own ranks),
    or one of TREES: `tombolo run --hosts` with one agent, or with two."""

    def __init__(self, ranks, program, launch="run", options=(), env=None, **popen):
        self.mark = uuid.uuid4().hex
        variables = {
            k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))
        }
        for tool in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):  # these faults are ours
            given = variables.get(tool)
            variables[tool] = (given + ":" if given else "") + SANITIZER
        variables.update(env or {})
        variables[MARK] = self.mark
        command = [TOMBOLO, "run", "-n", str(ranks), *options, "--", *program]
        if launch in TREES:
            command[2:4] = ["--hosts", host_list(launch, ranks)]
            variables.setdefault("TOMBOLO_SSH", remote_shell())
        if launch == "self":
            command = list(program)
            variables["GASNET_PSHM_NODES"] = str(ranks)
        self.ranks = ranks
        self.began = time.monotonic()
        popen.setdefault("bufsize", 0)  # end() would not see what is buffered behind a line
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen(command, env=variables, **popen)
        self.out = self.err = ""

    def ready(self):
        """Waits until every rank has said `ready RANK PID`. Returns {rank: pid}."""
        pids = {}
        while len(pids) < self.ranks:
            line = self.process.stdout.readline().decode()
            if not line:
                raise Failure(
                    f"job ended before all ranks were ready: {self.process.stderr.read()!r}"
                )
            match = re.search(r"ready (\d+) (\d+)", line)
            if match:
                pids[int(match[1])] = int(match[2])
        return pids

    def end(self, bound=BOUND):
        """Waits for the end. Returns the exit code (negative: died by that signal)."""
        try:
            out, err = self.process.communicate(timeout=bound)
        except subprocess.TimeoutExpired:
            for pid in marked_processes(self.mark):
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            out, err = self.process.communicate()
            raise Failure(
                f"job did not end within {bound} s; stdout {out!r}, stderr {err!r}"
            ) from None
        self.out, self.err = (out or b"").decode(), (err or b"").decode()
        self.seconds = time.monotonic() - self.began
        return self.process.returncode

    def expect(self, code, *patterns, bound=BOUND):
        """Waits for the end; checks the exit code, text on stderr, and that nothing is left."""
        got = self.end(bound)
        check(
            got == code,
            f"exit code {got}, expected {code}; stdout {self.out!r}, stderr {self.err!r}",
        )
        for pattern in patterns:
            check(re.search(pattern, self.err), f"stderr lacks /{pattern}/: {self.err!r}")
        self.nothing_left()
        return self

    def launcher_killed(self):
        """Kills the launcher of the running job, and expects that nothing is left."""
        self.ready()
        self.process.kill()
        self.expect(-signal.SIGKILL)

    def nothing_left(self, bound=10.0):
        """Checks that no process and no name outlives the job."""
        until = time.monotonic() + bound
        while marked_processes(self.mark):
            check(time.monotonic() < until, "processes are left:", marked_processes(self.mark))
            time.sleep(0.02)
        check(not names_left(), "names are left:", names_left())


def wait_for(what, condition, bound=BOUND):
    """Waits until condition() is true."""
    until = time.monotonic() + bound
    while not condition():
        check(time.monotonic() < until, "waited in vain for", what)
        time.sleep(0.02)


def skip(reason):
    """Ends the whole test as skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)


def case_name(case):
    """What a case is called on the command line."""
    return getattr(case, "name", case.__name__)


def choose(cases, words):
    """The cases whose names contain one of the words; all without words; each N-th from number K on
    where the only word is KofN. Exits 2 when no name contains a word, since a test that runs
    nothing proves nothing."""
    part = re.fullmatch(r"([1-9])of([1-9])", words[0]) if len(words) == 1 else None
    if part:
        return cases[int(part[1]) - 1::int(part[2])]
    names = [case_name(case) for case in cases]
    for word in words:
        if not any(word in name for name in names):
            print(f"no case is called {word!r}; there are: {' '.join(names)}", file=sys.stderr)
            sys.exit(2)
    return [case for case, name in zip(cases, names)
            if not words or any(word in name for word in words)]


def verdict_of(case):
    """Runs a case: "ok", "skipped (REASON)", or "FAILED" with the failure, and its time."""
    name, began = case_name(case), time.monotonic()
    try:
        reason = case()
    except unittest.SkipTest as skipped:  # of a lab that lacks something
        reason = str(skipped)
    except Failure as failure:
        return f"FAILED {name}: {failure}"
    except Exception:  # a broken test is a failed test
        return f"FAILED {name}:\n{traceback.format_exc()}"
    return f"{f'skipped ({reason})' if reason else 'ok'} {name} {time.monotonic() - began:.2f} s"


def run_cases(cases):
    """Runs the functions in `cases`. Exits 1 if one failed, 77 if all were skipped, 2 if there is
    none of a name that the command line asks for."""
    chosen = choose(cases, sys.argv[1:])
    for program in (TOMBOLO, VICTIM):
        if not os.access(program, os.X_OK):
            print(f"FAILED: {program} is missing; build the tests and set $TOMBOLO and $TMB_BUILD")
            sys.exit(1)
    verdicts = []
    for case in chosen:
        verdicts.append(verdict_of(case))
        print(verdicts[-1], flush=True)
    if any(verdict.startswith("FAILED") for verdict in verdicts):
        sys.exit(1)
    sys.exit(77 if all(verdict.startswith("skipped") for verdict in verdicts) else 0)


def named(name, function, *args, **keywords):
    """A case with a name of its own: function(*args, **keywords)."""

    def case():
        return function(*args, **keywords)

    case.name = name
    return case
