#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of the library's short paths with callgrind, and compares them with bars.

Usage: count_paths.py [--build DIR] [--check | --record | --markdown | --dump FOLDER]
Runs build/bench/tombolo-bench-count (SEQ) and -count-par (PAR) as two ranks under valgrind; each
path is a function path_* that rank 0 calls a known number of times (bench/lib/paths.h). Prints a
line a path; --markdown prints the table of study/RESULTS.md instead. --check exits 1 when a path
takes more than a tenth above what bench/path_counts.json records, and 77, with the reason, where
the record does not apply: without valgrind, with another compiler, other flags or a sanitizer.
--record writes the record anew. --dump keeps callgrind's files, for callgrind_annotate.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench" / "path_counts.json"
MODES = {"SEQ": "tombolo-bench-count", "PAR": "tombolo-bench-count-par"}
SLACK = 1.10
SLACK_LEAST = 4  # instructions, for paths of a few


def environment():
    """The caller's, without settings that choose other paths."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    return kept | {"TOMBOLO_WAIT": "spin"}


def build_facts(build):
    """What `tombolo info` says of the build."""
    text = subprocess.run(
        [build / "bin" / "tombolo", "info", "--json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return json.loads(text)["build"]


def why_not(build, record):
    """Why counts cannot be taken or compared here, or None. record: None when none is compared."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed (scripts/install_deps.sh)"
    if len(os.sched_getaffinity(0)) < 2:
        return "two processors are needed: with fewer, ranks that wait take other paths"
    if record is None:
        return None
    facts = build_facts(build)
    for key in ("compiler", "flags", "sanitizers", "system"):
        want, got = record["build"][key], facts[key]
        if key == "compiler":
            want, got = want.split(".")[0], got.split(".")[0]
        if want != got:
            return f"the record is for {key} '{want}', this build has '{got}'"
    return None


def dump_total(path):
    """Instructions in one of callgrind's files."""
    match = re.search(r"^summary: (\d+)", path.read_text(encoding="utf-8"), re.M)
    return int(match.group(1)) if match else 0


def count(build, mode, folder):
    """{path: instructions of one operation} of a client of this mode."""
    done = subprocess.run(
        [
            build / "bin" / "tombolo",
            "run",
            "-n",
            "2",
            "--timeout",
            "100",
            "--",
            "valgrind",
            "--tool=callgrind",
            "--toggle-collect=path_*",
            "--dump-before=paths_end",
            f"--callgrind-out-file={folder}/{mode}.%p",
            build / "bench" / MODES[mode],
        ],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = re.findall(r"^path (\d+) (.*)$", done.stdout, re.M)
    if done.returncode or not lines:
        sys.exit(f"count_paths: the counting job failed\n{done.stdout}{done.stderr}")
    # Two files a path, the first of its warming rounds; the other rank's files count nothing.
    counts = {}
    for i, (rounds, name) in enumerate(lines):
        files = Path(folder).glob(f"{mode}.*.{2 * i + 2}")
        counts[name] = round(max(map(dump_total, files)) / int(rounds))
    return counts


def count_all(build, dump):
    """{mode: {path: instructions}}"""
    if dump:
        dump.mkdir(parents=True, exist_ok=True)
        return {mode: count(build, mode, dump) for mode in MODES}
    with tempfile.TemporaryDirectory() as folder:
        return {mode: count(build, mode, folder) for mode in MODES}


def limit(recorded):
    return max(int(recorded * SLACK), recorded + SLACK_LEAST)


def check(counts, record):
    """Prints what is over its bar. Returns the exit code."""
    failed = 0
    for mode, paths in counts.items():
        known = record["paths"][mode]
        for name in sorted(set(paths) ^ set(known)):
            where = "record" if name in known else "program"
            print(f"FAILED: {mode}: '{name}' is only in the {where}")
            failed += 1
        for name in paths.keys() & known.keys():
            if paths[name] > limit(known[name]):
                print(
                    f"FAILED: {mode}: {name} takes {paths[name]} instructions, recorded are"
                    f" {known[name]}. Make it shorter, or say in the commit why it must be longer"
                    " and run scripts/count_paths.py --record."
                )
                failed += 1
    return 1 if failed else 0


def print_table(counts, markdown):
    if markdown:
        print("| path | SEQ | PAR |\n|---|---|---|")
    for name in counts["SEQ"]:
        seq, par = counts["SEQ"][name], counts["PAR"][name]
        print(f"| {name} | {seq} | {par} |" if markdown else f"{name:45} {seq:6} {par:6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree")
    parser.add_argument("--check", action="store_true", help="compare with the record")
    parser.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument("--markdown", action="store_true", help="print a table for the docs")
    parser.add_argument("--dump", type=Path, help="folder that keeps callgrind's files")
    options = parser.parse_args()
    record = json.loads(RECORD.read_text(encoding="utf-8")) if options.check else None
    reason = why_not(options.build, record)
    if reason:
        print(f"skipped: {reason}")
        return 77
    counts = count_all(options.build, options.dump)
    print_table(counts, options.markdown)
    if options.record:
        facts = build_facts(options.build)
        kept = {key: facts[key] for key in ("compiler", "flags", "sanitizers", "system")}
        text = json.dumps({"build": kept, "paths": counts}, indent=2)
        RECORD.write_text(text + "\n", encoding="utf-8")
    return check(counts, record) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
