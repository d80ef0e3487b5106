#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 240
# nightly: yes
# cases: memfd pidfd membarrier close_range process_vm fallocate udp_gro udp_segment all
"""Jobs run where a feature of the kernel is absent, and where all of them are.

Argument: the feature. tests/absent/refuse.c makes it absent for the launcher and for all ranks;
udp_segment is an option of messages, which tests/absent/no_segments.c refuses in the ranks.
First it is shown that the feature is absent there; then the programs, launchers and conduits run
that use it.
"""

import os
import subprocess
import sys

TOMBOLO, BUILD = os.environ["TOMBOLO"], os.environ["TMB_BUILD"]
REFUSE = os.path.join(BUILD, "tests/absent/refuse")
FEATURES = {  # case -> names of refuse.c
    "memfd": "memfd",
    "pidfd": "pidfd,pidfd_signal,pidfd_getfd",
    "membarrier": "membarrier",
    "close_range": "close_range",
    "process_vm": "process_vm",
    "fallocate": "fallocate",
    "udp_gro": "udp_gro",
}
FEATURES["all"] = ",".join(FEATURES.values())
# What succeeds where the feature is there, and only there.
PROBES = {
    "memfd": "os.memfd_create('x')",
    "pidfd": "os.pidfd_open(os.getpid())",
    "membarrier": "call(324, 0, 0, 0)",
    "close_range": "call(436, 900, 901, 0)",
    "process_vm": "call(310, os.getpid(), 0, 0, 0, 0, 0)",
    "fallocate": "call(285, file.fileno(), 0, 0, 4096)",
    "udp_gro": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).setsockopt(17, 104, 1)",
}
PROBE = """
import ctypes, os, platform, socket, sys, tempfile
libc, file = ctypes.CDLL(None, use_errno=True), tempfile.TemporaryFile()
def call(number, *arguments):
  if platform.machine() != 'x86_64': sys.exit(77)
  if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
    raise OSError(ctypes.get_errno(), 'absent')
try:
  %s
except OSError as error:
  sys.exit(10 if error.errno in (38, 92) else 11)
"""
PROGRAMS = (
    "am_flood coll_basic event_barrier notify_sem notify_signal par_hsl par_wait "
    "rma_blocking segment_large team_split"
).split()
VICTIM = {"exit": 3, "segv": 139}  # how rank 1 ends -> code of the job
UDP = {"TOMBOLO_CONDUIT": "udp", "TOMBOLO_PLACES": "cyclic:2"}
NO_SEGMENTS = {**UDP, "LD_PRELOAD": os.path.join(BUILD, "tests/absent/no_segments.so")}


def run(*command, env=None):
    """Runs a command; returns what it printed and its code."""
    done = subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **(env or {})},
    )
    return done.stdout, done.returncode


def expect(code, *command, env=None):
    """Runs a command that must end with this code."""
    text, got = run(*command, env=env)
    if got != code:
        sys.exit(
            f"{' '.join(map(str, command))} with {env}: code {got}, not {code}\n{text[-2000:]}"
        )
    return text


def check_absent(case, refused):
    """The feature works without the filter (else there is nothing to see), and not with it."""
    for name in PROBES if case == "all" else (case,):
        probe = [sys.executable, "-c", PROBE % PROBES[name]]
        if run(*probe)[1]:
            print(f"{name} is not there even without the filter, or cannot be tried")
            continue
        expect(10, *refused, *probe)


def programs():
    """Conformance programs that wait, sleep, share memory and exchange much."""
    folder = os.path.join(BUILD, "tests/conformance")
    return [os.path.join(folder, name) for name in PROGRAMS]


def check_segments():
    """The conduit `udp` where the kernel cuts no messages, and where it does so no longer."""
    program = os.path.join(BUILD, "tests/conformance/am_flood")
    for after in ("0", "20"):
        text = expect(0, TOMBOLO, "run", "-n", "4", "--timeout", "60", "--", program,
                      env={**NO_SEGMENTS, "NO_SEGMENTS_AFTER": after})
        if "no_segments: a message is refused" not in text:
            sys.exit(f"no message was cut (after {after}), so nothing was tried")
    return 0


def main():
    case = sys.argv[1]
    if case == "udp_segment":
        return check_segments()
    refused = [REFUSE, FEATURES[case]]
    if run(*refused, "true")[1] == 77:
        print("the kernel takes no filters of system calls")
        return 77
    check_absent(case, refused)
    ranks = ("run", "-n", "4", "--timeout", "60", "--")
    for program in programs():
        expect(0, *refused, TOMBOLO, *ranks, program)
    first = programs()[0]
    expect(0, *refused, TOMBOLO, *ranks, first, env=UDP)
    expect(0, *refused, first, env={"GASNET_PSHM_NODES": "3"})
    victim = os.path.join(BUILD, "tests/fault/victim")
    for how, code in VICTIM.items():
        words = ("run", "-n", 3, "--", victim, "one", how, 1, 3)
        text = expect(code, *refused, TOMBOLO, *words)
        if "rank 1" not in text:
            sys.exit(f"{how}: the launcher does not name rank 1: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
