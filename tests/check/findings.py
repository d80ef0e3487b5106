#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Seeded faults: each is found, with the lines that the program names; correct cases have none.
#   tests/check/findings.py TOMBOLO SOURCE PROGRAM   (the program is compiled already, with -g, or
#   is a Python that runs the source)
# A line of a race ends with "race: CASE...", that of a leak with "leak: CASE"; but in leaks.c, such
# a case has "leak" in its name. A case whose name begins with ok has none. A line "memory: CASE"
# allocates memory that is never freed, as one block of each rank.
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def expected(source):
    """Lines of each case."""
    lines = {}
    for number, text in enumerate(open(source, encoding="utf-8"), 1):
        found = re.search(r"(?:race|leak|memory): ([\w ]+)", text)
        for case in found.group(1).split() if found else []:
            lines.setdefault(case, []).append(number)
    return lines


def cases_of(source):
    text = open(source, encoding="utf-8").read()
    return re.findall(r"(?:CASE(?:_OK)?|FIRST)\((?!name\))(\w+)\)", text)


def run(tombolo, program, source, case, want):
    name = os.path.basename(source)
    kind = "leaks" if name == "leaks.c" or re.search("leak|memory", case) else "races"
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        done = subprocess.run(
            [tombolo, "run", "-n", "3", "--timeout", "60", "--check", kind,
             "--check-json", out, program, *([source] if name.endswith(".py") else []), case],
            capture_output=True, text=True, check=False)
        found = json.load(open(out, encoding="utf-8")) if os.path.exists(out) else None
    if found is None:
        return f"{case}: no result (code {done.returncode}): {done.stderr}"
    if case.startswith("memory"):
        right = (done.returncode == 0 and [f["kind"] for f in found] == ["memory"]
                 and [found[0]["line"]] == want and found[0]["call"].endswith("alloc")
                 and found[0]["ranks"] == {"0": 1, "1": 1, "2": 1})
        return None if right else f"{case}: wants line {want}, found {found}: {done.stderr}"
    lines = [sorted(a["line"] for a in f.get("accesses", [f])
                    if os.path.basename(a["file"]) == name) for f in found]
    want = sorted(want * 2 if len(want) == 1 and kind == "races" else want)
    if not want:
        right = not found and done.returncode == 0
        return None if right else f"{case}: found {lines}, none is right"
    if done.returncode != 66:
        return f"{case}: exit code {done.returncode}: {done.stderr}"
    if want not in lines:
        return f"{case}: wants lines {want}, found {lines}"
    return None if len(lines) == 1 else f"{case}: also found {lines}"


def not_written(tombolo, program):
    """Findings that cannot be written are no success: known before the run, or at its end."""
    wants = [(2, "/nodir/out.json", "No such file", "not_a_case"),
             (2, "/", "Is a directory", "not_a_case"),
             (1, "/dev/full", "No space left", "ok_all")]
    wrong = []
    for code, path, text, case in wants:
        done = subprocess.run([tombolo, "run", "-n", "3", "--check", "leaks", "--check-json", path,
                               program, case], capture_output=True, text=True, check=False)
        if done.returncode != code or text not in done.stderr:
            wrong.append(f"--check-json {path}: exit code {done.returncode}: {done.stderr}")
    return wrong


def not_checked(tombolo):
    """A program that has nothing to load the checker is not called free of races."""
    done = subprocess.run([tombolo, "run", "-n", "2", "--check", "races", "true"],
                          capture_output=True, text=True, check=False)
    right = done.returncode == 1 and "nothing was checked" in done.stderr
    return [] if right else [f"not checked: exit code {done.returncode}: {done.stderr}"]


def main():
    tombolo, source, program = sys.argv[1:4]
    if not shutil.which("addr2line"):
        print("addr2line is not installed: lines cannot be compared")
        return 77
    only = sys.argv[4:]
    want = expected(source)
    cases = only or cases_of(source)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        wrong = [w for w in pool.map(
            lambda case: run(tombolo, program, source, case, want.get(case, [])), cases) if w]
    if os.path.basename(source) == "leaks.c":
        wrong += not_checked(tombolo) + not_written(tombolo, program)
    print("\n".join(wrong))
    print(f"{len(cases)} cases, {len(wrong)} faults")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
