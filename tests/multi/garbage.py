#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Wrong values of every setting and of every option of each command: they are refused with code 2
and a message that names setting or option and value, or, where any text will do, taken.
What there is comes from `tombolo info --json` and from each command's --help."""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import TOMBOLO, check, named, run_cases  # noqa: E402

BUILD = os.path.abspath(os.environ.get("TMB_BUILD", "build"))
COMMAND = os.path.abspath(TOMBOLO)
PROGRAM = os.path.join(BUILD, "tests/fault/hangs")
GARBAGE = "garbage,!"

# Settings of type text whose readers know a syntax: any wrong text is refused.
STRICT = {"TOMBOLO_COLL_ALG", "TOMBOLO_COLL_TABLE", "GASNET_NO_CATCH_SIGNAL",
          "GASNET_FREEZE_SIGNAL", "GASNET_BACKTRACE_SIGNAL", "GASNET_MAX_SEGSIZE",
          "GASNET_BACKTRACE_NODES"}
# In this process these say how the test itself runs, or stop it.
LEFT_OUT = {"GASNET_FREEZE"}
# A job on pretended hosts opens the conduit, which reads its own settings of type text.
FAR = {"TOMBOLO_TEST_UDP_FAULT": "udp"}

folder = tempfile.TemporaryDirectory()  # a setting may name a file to write


def run(command, **more):
    """(code, what was printed); no setting of the caller's."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    done = subprocess.run(command, env={**env, **more}, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          cwd=folder.name)
    return done.returncode, done.stdout.decode(errors="replace")


def settings():
    code, text = run([COMMAND, "info", "--json"])
    check(code == 0, text)
    return [s for s in json.loads(text)["settings"] if s["effect"]]


def refused(name, value, code, text):
    """Whether a process says so and ends with code 2."""
    return code == 2 and name in text and value in text and "FATAL" not in text


def one_setting(setting):
    """What is wrong with the answer to a wrong value, or None."""
    name = setting["name"] or setting["alias"]
    far = {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": FAR[name], "GASNET_PSHM_NODES": "2"} \
        if name in FAR else {}
    code, text = run([PROGRAM, "reduction", "9"], **far, **{name: GARBAGE})
    must = setting["type"] != "text" or name in STRICT or name in FAR
    if refused(name, GARBAGE, code, text) or (not must and code in (0, 1, 2)):
        return None
    return f"{name}: code {code}: {text[:300]}"


def every_setting():
    rows = [s for s in settings() if (s["name"] or s["alias"]) not in LEFT_OUT]
    check(len(rows) > 100, "settings:", len(rows))
    with ThreadPoolExecutor(4) as pool:
        wrong = [text for text in pool.map(one_setting, rows) if text]
    check(not wrong, len(wrong), "of", len(rows), "settings:", *wrong)


def launcher_setting():
    """Those that `tombolo run` itself reads."""
    for name in ("GASNET_SPAWNFN", "TOMBOLO_WATCHDOG", "TOMBOLO_PEER_TIMEOUT"):
        code, text = run([COMMAND, "run", "-n", "2", PROGRAM], **{name: GARBAGE})
        check(refused(name, GARBAGE, code, text), name, code, text)


def unused_choice():
    """A wrong choice of algorithms is refused in a program that calls no collective of its own."""
    for name in ("TOMBOLO_COLL_ALG", "TOMBOLO_COLL_TABLE"):
        code, text = run([COMMAND, "run", "-n", "2", PROGRAM, "slow", "1"], **{name: GARBAGE})
        check(refused(name, GARBAGE, code, text), name, code, text)
    code, text = run([COMMAND, "run", "-n", "2", PROGRAM, "slow", "1"],
                     TOMBOLO_COLL_ALG="broadcast=knomial:8")
    check(code == 0, code, text)
    # Files of the other implementation have another form: environments that name one still work.
    code, text = run([COMMAND, "run", "-n", "2", PROGRAM, "slow", "1"],
                     GASNET_COLL_TUNING_FILE="/nowhere/tuning.xml")
    check(code == 0, code, text)


def commands():
    _, text = run([COMMAND, "--help"])
    return re.findall(r"^  (\w+)  +", text, re.M)


def options(command):
    """(option, whether it takes a value) of a command, by its help."""
    _, text = run([COMMAND, command, "--help"])
    found = re.findall(r"^ +(?:-\w, +)?(--[a-z][-a-z]*)(\[?=\S+)?", text, re.M)
    return {name: bool(value) for name, value in found if name not in ("--help", "--usage")}


# Options of type text: any value will do, and the command then goes on to do its work.
TEXTS = {"--cwd", "--env", "--env-only", "--json", "--output", "--out", "--hosts", "--save",
         "--compare"}


# These pass options that are not theirs on to a compiler, which has codes of its own.
COMPILERS = ("cc", "c++", "fc", "upcc")


def every_option():
    wrong, count = [], 0
    for command in commands():
        tries = [["--bogus"], *([f"{name}={GARBAGE}"] for name in options(command)
                                if name not in TEXTS)]
        for words in tries if command not in ("watch",) else []:
            count += 1
            code, text = run([COMMAND, command, *words])
            good = code == 2 or (command in COMPILERS and code in (1, 4, 127))
            if not good or not text:
                wrong.append(f"{command} {words}: code {code}: {text[:200]}\n")
    check(count > 30, "options:", count)
    check(not wrong, len(wrong), "of", count, "options:", *wrong)


def applications():
    """Programs of the study refuse what they do not know."""
    for name in ("ft", "ft-upc"):
        path = os.path.join(BUILD, "bench", name)
        if not os.path.exists(path):
            continue
        for words in (["--bogus"], ["--class", "Z"], ["--runs", "x"], ["--class"]):
            code, text = run([path, *words])
            check(code == 2 and text, name, words, code, text)


if __name__ == "__main__":
    run_cases([every_setting, launcher_setting, unused_choice, every_option, applications])
