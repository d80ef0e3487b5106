#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of the test suite under `--check races,leaks,misuse`: no false finding.

Usage: suite.py BUILD [--tombolo PATH] [--only REGEX] [--jobs N]
What is run is what ctest of the tree BUILD runs by `tombolo run`: each program of conformance,
examples, study, fortran, prif, upc, shmem and multi once with each of its arguments, at 3 ranks or
a count near that, without settings. `known.txt` beside this file names the findings that a program
has on purpose, each with a reason. Any other finding, a row that no finding needs, and a program
that ends with another code than without a check fail the test.
"""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

LABELS = {"conformance", "examples", "study", "fortran", "prif", "upc", "shmem", "multi"}
RANKS = (3, 2, 4, 5, 7, 8, 1, 16)  # counts, best first
SLOWER = 8  # times as long as without a check, at most
SKIPPED, FOUND, FAILED = 77, 66, 1
KINDS = ("race", "leak", "misuse", "code", "program")  # code: of the end; program: is not run
NETWORK = "over a network, "
OURS = ("TOMBOLO=", "TMB_BUILD=", "TMB_CC=", "TMB_CXX=", "TOMBOLO_UPC_CC=")
# What a check of arguments prints; a call that returns an error says so without checks, too.
MISUSE = re.compile(r"(?:FATAL ERROR[^:]*|warning): ((?:gex|gexx|gasnet|gasnett)_\w+: .*)$", re.M)


@dataclass
class Run:
    """One run: its test, program with arguments, ranks, environment and exit code."""

    test: str
    words: list
    ranks: int
    limit: int
    environment: list
    code: str

    @property
    def program(self):
        """The name in known.txt."""
        return Path(self.words[0]).name


@dataclass
class Row:
    """A row of known.txt: findings that a program has on purpose."""

    program: str
    kind: str
    text: str
    network: bool = False  # is found over a network only
    used: bool = False
    ran: bool = False

    def matches(self, program, kind, text):
        """Whether a finding is one of these."""
        return (kind == self.kind and fnmatch.fnmatch(program, self.program)
                and fnmatch.fnmatch(text, self.text))


def read_known(path):
    """The rows `PROGRAM | KIND | TEXT | REASON`; `*` in the first and third stands for anything.
    Those whose reason begins with NETWORK are found over a network only."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 4 or not parts[3] or parts[1] not in KINDS:
            sys.exit(f"{path}:{number}: expected PROGRAM | KIND | TEXT | REASON; kinds: {KINDS}")
        rows.append(Row(*parts[:3], parts[3].startswith(NETWORK)))
    return rows


def run_of(test):
    """The run that a test of ctest makes, or None."""
    words = test.get("command") or []
    have = {p["name"]: p["value"] for p in test["properties"]}
    at = next((i for i, word in enumerate(words) if word.endswith("bin/tombolo")), None)
    if at is None or words[at + 1:at + 2] != ["run"] or not LABELS & set(have.get("LABELS", [])):
        return None
    code = next((w.split("=", 1)[1] for w in words[:at] if w.startswith("--code=")), "0")
    options, rest = {}, words[at + 2:]
    while rest and rest[0].startswith("-") and rest[0] != "--":
        options[rest[0]], rest = rest[1], rest[2:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if set(options) - {"-n", "--timeout"} or not rest:
        return None
    environment = [e for e in have.get("ENVIRONMENT", []) if e and not e.startswith(OURS)]
    return Run(test["name"], rest, int(options.get("-n", 1)), int(options.get("--timeout", 120)),
               environment, code)


def choose(build, only):
    """Of the runs of each program with the same arguments the plainest."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                           capture_output=True, text=True, check=True)
    best = {}
    for run in filter(None, map(run_of, json.loads(shown.stdout)["tests"])):
        rank = RANKS.index(run.ranks) if run.ranks in RANKS else len(RANKS)
        order = (len(run.environment), rank)
        key = tuple(run.words)
        if re.search(only, run.test) and (key not in best or order < best[key][0]):
            best[key] = (order, run)
    return [run for _, run in best.values()]


def describe(finding):
    """A finding as kind and text of known.txt, and its place."""
    if finding["kind"] == "leak":
        place = f"{os.path.basename(finding['file'])}:{finding['line']}"
        return "leak", finding["what"], place
    both = finding["accesses"]
    places = [f"{os.path.basename(a['file'])}:{a['line']}" for a in both]
    return "race", " ".join(sorted(a["call"] for a in both)), " ".join(places)


def execute(run, tombolo, checks):
    """Runs the program under checks. Returns (findings, exit code, standard error)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "found.json")
        command = [tombolo, "run", "-n", str(run.ranks), "--timeout", str(SLOWER * run.limit),
                   "--check", checks, "--check-json", out, "--", *run.words]
        environment = {**os.environ, **dict(e.split("=", 1) for e in run.environment)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment,
                              errors="replace", cwd=folder, stdin=subprocess.DEVNULL)
        found = json.loads(Path(out).read_text(encoding="utf-8")) if os.path.exists(out) else []
    return found, done.returncode, done.stderr


def faults_of(run, tombolo, rows):
    """All that is wrong in a run, as lines of text; None: it was skipped."""
    def known(kind, text):
        found = [row for row in rows if row.matches(run.program, kind, text)]
        for row in found:
            row.used = True
        return bool(found)

    if known("program", run.test) or not os.path.exists(run.words[0]):  # built for `nightly` only
        return None
    found, code, err = execute(run, tombolo, "races,leaks,misuse")
    found = [f for f in found if f["kind"] != "memory"]  # it is no fault
    if code == SKIPPED or "nothing was checked" in err:
        return None
    all_of = [describe(f) for f in found] + [("misuse", t, "") for t in MISUSE.findall(err)]
    wanted = int(run.code) if run.code.isdigit() else code
    if code not in (wanted, FOUND if found else wanted):
        all_of.append(("code", str(code), " / ".join(err.strip().split("\n")[-3:])))
    return [f"{run.test}: {kind} | {text} | {place}"
            for kind, text, place in dict.fromkeys(all_of) if not known(kind, text)]


def main():
    """Runs all, prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("--tombolo")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tombolo = os.path.abspath(options.tombolo or os.path.join(options.build, "bin", "tombolo"))
    rows = read_known(Path(__file__).with_name("known.txt"))
    runs = choose(options.build, options.only)
    wrong, unchecked = [], 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for run, faults in zip(runs, pool.map(lambda r: faults_of(r, tombolo, rows), runs)):
            unchecked += faults is None
            for row in rows:
                row.ran = row.ran or (faults is not None
                                      and fnmatch.fnmatch(run.program, row.program))
            for fault in faults or []:
                print(fault, flush=True)
                wrong.append(fault)
    for row in rows:
        due = "TOMBOLO_PLACES" in os.environ if row.network else not options.only
        if row.ran and not row.used and due:
            wrong.append(row)
            print(f"known.txt: no finding needs {row.program} | {row.kind} | {row.text}")
    print(f"{len(runs) - unchecked} programs were checked, {unchecked} were skipped, "
          f"{len(wrong)} faults")
    return FAILED if wrong or unchecked == len(runs) else 0


if __name__ == "__main__":
    sys.exit(main())
