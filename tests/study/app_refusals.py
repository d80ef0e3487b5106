#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every application of study/apps says what it takes, and refuses the rest with the reason.

Numbers that are none, too small or too large, words that no option takes, problems that memory
cannot hold (sizes whose bytes would wrap round included) and more ranks than parts: exit code 2 and
the name of what is wrong. --help has each option with its default and its range, and each way. The
measuring programs of `tombolo bench` explain their options, too."""

import os
import subprocess
import sys
from pathlib import Path

TOMBOLO, BUILD = os.environ["TOMBOLO"], Path(os.environ["TMB_BUILD"])
MOST = 2**31 - 1
# application: (its numbers, problems that memory cannot hold, more ranks than parts: (ranks, words,
# a word of the reason))
APPS = {
    "pipeline": (["rows", "columns", "group"], [f"--rows={MOST} --columns={MOST}"],
                 [(3, "--columns 5", "--columns 6")]),
    "stencil": (["points", "radius"], [f"--points={MOST}"], [(6, "--points 5", "--points 6")]),
    "hydro": (["cells-x", "cells-y", "every"], [f"--cells-x={MOST} --cells-y={MOST}"],
              [(3, "-x 4 -y 4", "more cells or fewer ranks")]),
    "matmul": (["size", "block", "columns", "inner"],
               [f"--size={MOST}", f"--size={MOST} --block=1518500250", "--size=2000000"], []),
    "cholesky": (["size", "block"],
                 [f"--size={MOST}", f"--size={MOST} --block=1518500250", "--size=2000000"], []),
    "hash": (["inserts"], [f"--inserts={MOST}"], []),
    "bfs": (["scale"], ["--scale=30"], []),
    "tree": (["root", "work"], [], []),
}
LIMITED = ["--radius=10 of stencil", "--scale=31 of bfs", f"--root={MOST} of tree",
           f"--work={MOST} of tree"]
MAY_BE_ZERO = {"columns of matmul", "inner of matmul"}
FT = ["--class=0", "--class=", "--class=SS", "--grid=0", "--grid=2x", "--grid=-1x2", "--grid=1x1.5",
      "--iterations=0", "--iterations=-1", "--iterations=4x", "--iterations=99999999999",
      "--schedule=nope", "--fft-plan=nope", "--plot=x.txt", "--bogus"]


def run(app, words, ranks=2):
    command = [TOMBOLO, "run", "-n", str(ranks), "--timeout", "60", "--", BUILD / "bench" / app]
    return subprocess.run([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def refuses(app, words, *reasons, ranks=2):
    done = run(app, words, ranks)
    assert done.returncode == 2, (app, words, done.returncode, done.stderr)
    assert not done.stdout, (app, words, done.stdout)
    for reason in reasons:
        assert reason in done.stderr, (app, words, reason, done.stderr)


def numbers(app, names):
    for name in [*names, "iterations"]:
        for value in ("-3", "1.5", "4x", "", "x", str(MOST + 1), "9" * 30):
            refuses(app, [f"--{name}={value}"], f"--{name} '{value}'", "a whole number from")
        if f"{name} of {app}" not in MAY_BE_ZERO:
            refuses(app, [f"--{name}=0"], f"--{name} '0'", "a whole number from")


def options_in_help(app, names):
    """--help, --list and --usage."""
    done = run(app, ["--help"])
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"--{name}=N" in done.stdout, (app, name, done.stdout)
    defaults = len(names) + 2 + (app in ("hydro", "stencil"))
    assert done.stdout.count("(default") == defaults, done.stdout
    listed = run(app, ["--list"]).stdout.splitlines()
    assert listed, app
    for line in listed:
        way, what = line.split(None, 1)
        assert len(what) > 10, (app, line)
        assert f"  {way}" in done.stdout and what in done.stdout, (app, line, done.stdout)
        assert run(app, ["--way=nope"]).stderr.count(way), (app, way)
    assert run(app, ["--usage"]).stdout.startswith("Usage: "), app


def check(app, names, huge, crowded):
    options_in_help(app, names)
    numbers(app, names)
    refuses(app, ["--bogus"], "--bogus")
    refuses(app, ["word"], "argument 'word'")
    for words in huge:
        refuses(app, words.split(), "this problem needs", "MiB a rank", "take a smaller problem")
    for ranks, words, reason in crowded:
        refuses(app, words.split(), reason, ranks=ranks)


def measuring(name):
    """A measuring program of `tombolo bench` explains its options once, and refuses others."""
    done = run(f"tombolo-bench-{name}", ["--help"])
    assert done.returncode == 0 and done.stdout.count("Usage: ") == 1, (done.stdout, done.stderr)
    for option in ("--quick", "--runs N", "--sample-us US", "--mode MODE"):
        assert f"  {option} " in done.stdout, (option, done.stdout)
    done = run(f"tombolo-bench-{name}", ["--bogus"])
    assert done.returncode == 1 and f"tombolo-bench-{name} --help" in done.stderr, done.stderr


def main():
    for app, what in APPS.items():
        if (BUILD / "bench" / app).exists():
            check(app, *what)
            print(f"{app}: help, list and refusals", flush=True)
    for line in LIMITED:
        option, app = line.split(" of ")
        if (BUILD / "bench" / app).exists():
            refuses(app, [option], option.split("=", maxsplit=1)[0], "a whole number from 1 to ")
    if (BUILD / "bench" / "ft").exists():
        for word in FT:
            refuses("ft", ["--class=S", word], word.split("=", maxsplit=1)[0])
        refuses("ft", ["--class=S"], "cannot be divided among 3 ranks", "possible", ranks=3)
        done = run("ft", ["--list"])
        assert done.returncode == 0 and "512 x 512 x 512" in done.stdout, done.stdout
        assert run("ft", ["--usage"]).stdout.startswith("Usage: ")
    measuring("p2p")
    return 0


if __name__ == "__main__":
    sys.exit(main())
