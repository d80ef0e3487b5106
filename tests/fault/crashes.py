#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks have crashed: functions and lines, ranks at one place together."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import Job, check, named, run_cases, skip  # noqa: E402

PROGRAM = os.path.join(os.environ.get("TMB_BUILD", "build"), "tests/fault/crashes")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crashes.c")
with open(SOURCE, encoding="utf-8") as file:
    LINES = {match[1]: number for number, text in enumerate(file, 1)
             if (match := re.search(r"/\* line of (\w+) \*/", text))}
# With sanitizers the null pointer of a call, and what is inlined, look different.
SANITIZED = "san" in os.path.basename(os.path.realpath(os.environ.get("TMB_BUILD", "build")))


def at(function, line):
    """The words for a place of the program."""
    return rf"\n  {function} \(\S*crashes\.c:{LINES[line]}\)"


def failed(who, *frames):
    """The message about a group of ranks."""
    return f"^tombolo: {who} failed in{''.join(frames)}"


# how, mask of ranks, exit code, suffix of the program, message
CRASHES = [
    ("null", 0b1111, 139, "", failed("ranks 0-3", at("descend", "null"), r"(?:\n  descend \(.*)?",
                                     at("crash", "crash"))),
    ("null", 0b0010, 139, "", failed("rank 1", at("descend", "null"))),
    ("abort", 0b1111, 134, "", failed("ranks 0-3", at("crash", "abort"), r"\n  main \(")),
    ("check", 0b0100, 134, "_debug", failed("rank 2", r"\n  gex_RMA_PutBlocking",
                                            at("crash", "check"))),
    ("call", 0b0001, 139, "", failed("rank 0", r"\n  address 0x0, where no code is",
                                     at("call", "call"))),
    ("handler", 0b0001, 139, "", failed("rank 0", at("descend", "null"), r"(?:.*\n)+",
                                        r"  main \(")),
]


def crash(how, mask, code, suffix, message):
    # Where all ranks crash, each has the time for it.
    env = {"GASNET_EXITTIMEOUT": "30"} if mask == 0b1111 else None
    job = Job(4, [PROGRAM + suffix, how, str(mask)], env=env)
    job.expect(code)
    check(re.search(message, job.err, re.M), f"stderr lacks /{message}/:", job.err)


def alone():
    """A process without a launcher finds its lines by itself, and frames where it has no tool."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    raw = r"\n  crashes\+0x[0-9a-f]+.*\n(?:.*\n)*  \(install addr2line"
    for path, wanted in ((env["PATH"], at("descend", "null")), ("/nowhere", raw)):
        done = subprocess.run([PROGRAM, "null", "1"], env=env | {"PATH": path}, check=False,
                              capture_output=True, text=True, timeout=60)
        check(done.returncode == -11, done.returncode, done.stderr)
        check(re.search("failed in" + wanted, done.stderr), f"no /{wanted}/:", done.stderr)


def two_hosts():
    """The supervisor of each host finds lines; ranks of both at one place are named together."""
    job = Job(4, [PROGRAM, "null", "15"], "agents", env={"GASNET_EXITTIMEOUT": "30"})
    job.expect(139)
    wanted = failed("ranks 0-3", at("descend", "null"))
    check(re.search(wanted, job.err, re.M), f"stderr lacks /{wanted}/:", job.err)
    check(job.err.count("failed in") == 1, "named twice", job.err)


def slow_tool():
    """A host whose tool does not answer in time names its ranks itself, and the job ends."""
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, "addr2line")
        with open(tool, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nsleep 4.5\nexec {shutil.which("addr2line")} "$@"\n')
        os.chmod(tool, 0o755)
        env = {"PATH": f"{folder}:{os.environ['PATH']}", "GASNET_EXITTIMEOUT": "30"}
        job = Job(2, [PROGRAM, "null", "1"], "agents", env=env)
        job.expect(139, failed("rank 0", at("descend", "null")).removeprefix("^"))


def not_of_the_system():
    """No file is read of which no frame is shown: that of the C library alone takes longer."""
    with tempfile.TemporaryDirectory() as folder:
        tool, asked = os.path.join(folder, "addr2line"), os.path.join(folder, "asked")
        with open(tool, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >>{asked}\nexec {shutil.which("addr2line")} "$@"\n')
        os.chmod(tool, 0o755)
        job = Job(2, [PROGRAM, "null", "3"], env={"PATH": f"{folder}:{os.environ['PATH']}"})
        job.expect(139, "failed in" + at("descend", "null"))
        with open(asked, encoding="utf-8") as file:
            files = re.findall(r" -e \S*/(\S+)", file.read())
        check("crashes" in files and not any(name.startswith("libc") for name in files), files)


def without_lines():
    """Without debug information there are names, and the remedy."""
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "bare")
        subprocess.run(["objcopy", "-g", PROGRAM, bare], check=True, timeout=60)
        job = Job(2, [bare, "null", "3"])
        job.expect(139, r"failed in\n  descend \(bare\+0x[0-9a-f]+\)",
                   r"\n  \(compile with -g to see all lines\)")


def backtraces_whole():
    """The lines of a backtrace are not mixed with those of other ranks."""
    job = Job(8, [PROGRAM, "null", "255"], env={"GASNET_BACKTRACE": "1"})
    job.end()
    blocks = re.findall(r"^tombolo: rank \d+: backtrace .*\n((?:\S+\(.*\n)+)", job.err, re.M)
    check(blocks, "no backtrace", job.err)
    for block in blocks:
        check(re.search(r"/crashes\(", block), "a backtrace in pieces", job.err)


if not shutil.which("addr2line"):
    skip("no addr2line here")
CASES = [named(f"{how}_{mask}", crash, how, mask, code, suffix, message)
         for how, mask, code, suffix, message in CRASHES if how != "call" or not SANITIZED]
WHOLE = "TMB_TEST_WHOLE" in os.environ
run_cases(CASES + [alone, two_hosts, not_of_the_system, backtraces_whole] + [slow_tool] * WHOLE +
          [without_lines] * bool(shutil.which("objcopy")))
