#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Code and global variables lie at the same addresses in all ranks; programs they start do not."""

import ctypes
import os
import platform
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, VICTIM, Job, check, named, run_cases  # noqa: E402

RANKS = 4
OFF = {"TOMBOLO_SAME_ADDRESSES": "0"}


def is_randomised():
    """Whether programs that we start get random addresses."""
    places = {
        subprocess.run(["grep", "libc", "/proc/self/maps"], capture_output=True, check=True).stdout
        for _ in range(3)
    }
    return len(places) > 1


def addresses(launch, env=None, **popen):
    """The different places of code, variables and library, over the ranks; the children's state."""
    job = Job(RANKS, [VICTIM, "addresses"], launch, env=env, **popen).expect(0)
    lines = job.out.split("\n")
    places = [line for line in lines if line.startswith("addresses ")]
    children = [line.split()[1] for line in lines if line.startswith("child ")]
    check(len(places) == RANKS and len(children) == RANKS, job.out)
    return set(places), set(children)


def same(launch):
    with open("/proc/self/personality", encoding="ascii") as file:
        ours = file.read().strip()
    places, children = addresses(launch)
    check(len(places) == 1, "addresses differ:", places)
    check(children == {ours}, "programs started by ranks run with", children, "not", ours)


def behind_a_shell():
    job = Job(RANKS, ["sh", "-c", f"{VICTIM} addresses; exit $?"]).expect(0)
    places = {line for line in job.out.split("\n") if line.startswith("addresses ")}
    check(len(places) == 1, "addresses differ:", places)


def switched_off():
    if not is_randomised():
        return "nothing is randomised here"
    check(len(addresses("run", OFF)[0]) > 1, "addresses are the same in spite of", OFF)
    check("TOMBOLO_SAME_ADDRESSES=0" in info(OFF), info(OFF))
    return None


def info(env=None, **popen):
    variables = {**os.environ, **(env or {})}
    done = subprocess.run(
        [TOMBOLO, "info"], env=variables, capture_output=True, check=True, **popen
    )
    return [line for line in done.stdout.decode().split("\n") if "of launched ranks" in line][0]


def refuse_personality():
    """A seccomp filter, as of a container: personality() fails with EPERM."""
    numbers = {"x86_64": 135, "aarch64": 92}
    load, equal, answer = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050001
    rules = (
        (load, 0, 0, 0),
        (equal, 0, 1, numbers[platform.machine()]),
        (answer, 0, 0, refuse),
        (answer, 0, 0, allow),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    head = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
    program = ctypes.create_string_buffer(head)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def refused():
    """Where the system refuses it, the job runs as well."""
    if platform.machine() not in ("x86_64", "aarch64"):
        return "no seccomp filter for this processor"
    if not is_randomised():
        return "nothing is randomised here"
    addresses("run", preexec_fn=refuse_personality)
    text = info(preexec_fn=refuse_personality)
    check("refused" in text, text)
    return None


def shown():
    check("the same in all ranks" in info(), info())


CASES = [named(f"same/{launch}", same, launch) for launch in LAUNCHES]
CASES += [behind_a_shell, switched_off, refused, shown]

if __name__ == "__main__":
    run_cases(CASES)
