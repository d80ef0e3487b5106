#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Clients that have called setlocale: with a decimal comma and with a dotless i jobs start,
settings mean the same, and what others read back has points. `make test-all` takes de_DE and tr_TR,
and a Python program."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from jobs import LAUNCHES, TOMBOLO, WHOLE, Job, check, named, run_cases, skip  # noqa: E402

BUILD = os.environ.get("TMB_BUILD", "build")
PLAY = os.path.join(BUILD, "tests/multi/in_locale_play")
FOLDER = tempfile.TemporaryDirectory()
NAMES = ("de_DE.UTF-8", "tr_TR.UTF-8") if WHOLE else ("comma",)

# A locale with the comma of de_DE and the letters of tr_TR, where I and i are no pair. It is made
# at once; localedef works for seconds on each of those two.
PAIRS = ";".join(f"(<U00{c:02X}>,<U00{c - 32:02X}>)" for c in range(0x61, 0x7B) if c != 0x69)
COMMA = f"""LC_CTYPE
upper <U0041>..<U005A>
lower <U0061>..<U007A>
space <U0009>..<U000D>;<U0020>
toupper {PAIRS}
END LC_CTYPE
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""
COMMA += "".join(f'{name}\ncopy "POSIX"\nEND {name}\n'
                 for name in ("LC_COLLATE", "LC_MONETARY", "LC_TIME", "LC_MESSAGES", "LC_PAPER",
                              "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT",
                              "LC_IDENTIFICATION"))


def make_locales():
    """Makes the locales in a folder of our own; skips where they cannot be made."""
    if not shutil.which("localedef"):
        skip("no localedef")
    with open(f"{FOLDER.name}/source", "w", encoding="ascii") as file:
        file.write(COMMA)
    for name in NAMES:
        charmap = "UTF-8" if WHOLE else "ANSI_X3.4-1968"
        source = name.partition(".")[0] if WHOLE else file.name
        made = subprocess.run(
            ["localedef", "-c", "-i", source, "-f", charmap, f"{FOLDER.name}/{name}"],
            capture_output=True, text=True, check=False)
        if not os.path.isfile(f"{FOLDER.name}/{name}/LC_NUMERIC"):
            skip(f"localedef makes no {name} (package locales?): {made.stderr.strip()}")


def place(name, **more):
    """The environment of a user of the locale."""
    return {"LOCPATH": FOLDER.name, "LC_ALL": name, "LOCALE_POINT": ",", **more}


def starts(name, launch):
    job = Job(2, [PLAY], launch, env=place(name, GASNET_VERBOSEENV="1")).expect(0)
    check("LOCALE_SHOWN = 0.25" in job.err, job.err)


def settings(name):
    """Reals, sizes and words of settings, over udp that loses packets between two places."""
    env = place(name, TOMBOLO_PLACES="2", TOMBOLO_CONDUIT="UDP", TOMBOLO_PEER_TIMEOUT="20.5",
                TOMBOLO_TEST_UDP_FAULT="loss=0.5", GASNET_TSC_RATE="WALLTIME",
                GASNET_MAX_SEGSIZE="0.25/H", GASNET_FREEZE_SIGNAL="SIGWINCH",
                GASNET_BACKTRACE_TYPE="EXECINFO")
    Job(2, [PLAY], options=["--timeout", "90.5"], env=env).expect(0)


def trace(name):
    """A launcher that is the client itself writes JSON."""
    path = os.path.join(FOLDER.name, "trace.json")
    Job(2, [PLAY], "self", env=place(name, TOMBOLO_PLACES="2", TOMBOLO_TRACE=path)).expect(0)
    with open(path, encoding="utf-8") as file:
        found = json.load(file)["otherData"]
    check(len(found["clock_error_us"]) == 2, found)


def tools(name):
    env = {**os.environ, **place(name)}
    for words in (["info", "--json"], ["doctor", "--json"], ["info", "--config"]):
        done = subprocess.run([TOMBOLO, *words], env=env, capture_output=True, text=True,
                              check=False)
        check(done.returncode in (0, 1), done)
        if words[-1] == "--json":
            json.loads(done.stdout)


def python(name):
    """Python hands its locale to the library, too."""
    code = ("import locale; locale.setlocale(locale.LC_ALL, '')\n"
            "import tombolo; tombolo.init().barrier()")
    env = place(name, PYTHONPATH=os.path.join(BUILD, "python"))
    for interpreter in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run([interpreter, "-c", "import tombolo"], env={**os.environ, **env},
                               capture_output=True, check=False)
        if tried.returncode == 0:
            Job(2, [interpreter, "-c", code], env=env).expect(0)
            return None
    return "no interpreter has the package tombolo and NumPy"


if __name__ == "__main__":
    make_locales()
    run_cases([named(f"{case.__name__}-{name}", case, name)
               for name in NAMES
               for case in ([settings, trace, tools] + [python] * WHOLE)]
              + [named(f"starts-{name}-{launch}", starts, name, launch)
                 for name in NAMES for launch in LAUNCHES])
