#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of the library's short paths with callgrind, and compares them with bars.

Usage: count_paths.py [--build DIR] [--check | --record | --markdown | --dump FOLDER]
Runs build/bench/tombolo-bench-count (SEQ), -count-par (PAR) and -count-fortran, if gfortran is
there, as two ranks under valgrind; each path is a function path_* that rank 0 calls a known number
of times (bench/lib/paths.h). bench/count_python.py is one rank; its paths are the extension's
functions behind a[rank, i]. That of udp is a unit test: two engines over a wire in memory.
Prints a line a path; --markdown prints the tables of study/RESULTS.md instead. --check exits 1 when
a path takes more than a tenth above what bench/path_counts.json records, and 77, with the reason,
where no record applies: without valgrind, with another compiler, other flags or a sanitizer.
--record writes the record of this compiler anew. --dump keeps callgrind's files, for
callgrind_annotate.
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
MODES = {
    "SEQ": "tombolo-bench-count",
    "PAR": "tombolo-bench-count-par",
    "gfortran": "tombolo-bench-count-fortran",
    "Python": "count_python.py",
    "udp": "unit.net.udp.udp_count",
}
PYTHON = "/usr/bin/python3"  # that which the package is built for
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


def key_facts(build):
    """Facts of a build that its counts depend on; of the compiler, the version before the dot."""
    facts = build_facts(build)
    kept = {key: facts[key] for key in ("compiler", "flags", "sanitizers", "system")}
    kept["compiler"] = kept["compiler"].split(".")[0]
    return kept


def why_not():
    """Why counts cannot be taken here, or None."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed (scripts/install_deps.sh)"
    if len(os.sched_getaffinity(0)) < 2:
        return "two processors are needed: with fewer, ranks that wait take other paths"
    return None


def record_of(records, facts):
    """The paths of the record of such a build, or None."""
    return next((r["paths"] for r in records if r["build"] == facts), None)


def dump_total(path):
    """Instructions in one of callgrind's files."""
    match = re.search(r"^summary: (\d+)", path.read_text(encoding="utf-8"), re.M)
    return int(match.group(1)) if match else 0


def job_of(build, mode):
    """(ranks, where counting begins and ends, what has the counts written, program) of a mode."""
    if mode == "udp":
        return 1, ("path_*",), "paths_end*", [build / "tests" / "unit" / MODES[mode]]
    if mode == "Python":
        program = [PYTHON, ROOT / "bench" / MODES[mode]]
        return 1, ("get_item", "set_item"), "tmbpy_future_quiet", program
    return 2, ("path_*",), "paths_end*", [build / "bench" / MODES[mode]]


def count(build, mode, folder):
    """(mode, {path: instructions of one operation}) of a client of this mode. Those of Fortran and
    Python have the version of the language."""
    ranks, paths, end, program = job_of(build, mode)
    done = subprocess.run(
        [
            build / "bin" / "tombolo",
            "run",
            "-n",
            str(ranks),
            "--timeout",
            "100",
            "--",
            "valgrind",
            "--tool=callgrind",
            *(f"--toggle-collect={path}" for path in paths),
            f"--dump-before={end}",
            f"--callgrind-out-file={folder}/{mode}.%p",
            *program,
        ],
        env=environment() | {"PYTHONPATH": str(build / "python")},
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
    version = re.search(r"^compiler (?:GCC version (\d+)|Python (\S+))", done.stdout, re.M)
    return (f"{mode} {version[1] or version[2]}" if version else mode), counts


def count_all(build, dump):
    """{mode: {path: instructions}}"""
    there = {
        "gfortran": build / "bench" / MODES["gfortran"],
        "Python": build / "python" / "tombolo" / "_core.abi3.so",
        "udp": build / "tests" / "unit" / MODES["udp"],
    }
    modes = [m for m in MODES if m not in there or there[m].exists()]
    if dump:
        dump.mkdir(parents=True, exist_ok=True)
        return dict(count(build, mode, dump) for mode in modes)
    with tempfile.TemporaryDirectory() as folder:
        return dict(count(build, mode, folder) for mode in modes)


def limit(recorded):
    return max(int(recorded * SLACK), recorded + SLACK_LEAST)


def least(build, counts):
    """The counts, and of each path that is counted again the less: a statement for which the other
    rank has come late waits, on a busy machine."""
    again = count_all(build, None)
    return {m: {p: min(n, again[m].get(p, n)) for p, n in counts[m].items()} for m in counts}


def over(counts, record):
    """The paths that are over their bars: (mode, name)."""
    for mode, paths in counts.items():
        known = record.get(mode, {})
        for name in paths.keys() & known.keys():
            if paths[name] > limit(known[name]):
                yield mode, name


def check(counts, record):
    """Prints what is over its bar. Returns the exit code."""
    failed = 0
    for mode, paths in counts.items():
        if mode not in record:
            print(f"no record for {mode}")
            continue
        known = record[mode]
        for name in sorted(set(paths) ^ set(known)):
            where = "record" if name in known else "program"
            print(f"FAILED: {mode}: '{name}' is only in the {where}")
            failed += 1
    for mode, name in over(counts, record):
        print(
            f"FAILED: {mode}: {name} takes {counts[mode][name]} instructions, recorded are"
            f" {record[mode][name]}. Make it shorter, or say in the commit why it must be longer"
            " and run scripts/count_paths.py --record."
        )
        failed += 1
    return 1 if failed else 0


def print_table(counts, markdown):
    """Prints one table for each set of paths."""
    tables = [[m for m in counts if m in ("SEQ", "PAR")]]
    tables += [[m for m in counts if language in m] for language in ("gfortran", "Python", "udp")]
    for modes in filter(None, tables):
        if markdown:
            print(f"| path | {' | '.join(modes)} |\n|---{'|---' * len(modes)}|")
        for name in counts[modes[0]]:
            cells = [counts[m][name] for m in modes]
            if markdown:
                print(f"| {name} | {' | '.join(map(str, cells))} |")
            else:
                print(f"{name:49}" + "".join(f" {n:6}" for n in cells))


def write_record(records, facts, counts):
    """Replaces the record of such a build, or adds one."""
    kept = [r for r in records if r["build"] != facts] + [{"build": facts, "paths": counts}]
    kept.sort(key=lambda r: r["build"]["compiler"])
    RECORD.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree")
    parser.add_argument("--check", action="store_true", help="compare with the record")
    parser.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument("--markdown", action="store_true", help="print tables for the docs")
    parser.add_argument("--dump", type=Path, help="folder that keeps callgrind's files")
    options = parser.parse_args()
    options.build = options.build.resolve()
    records = json.loads(RECORD.read_text(encoding="utf-8"))
    reason = why_not()
    facts = None if reason else key_facts(options.build)
    record = record_of(records, facts)
    if options.check and not reason and record is None:
        reason = f"there is no record for a build by {facts}"
    if reason:
        print(f"skipped: {reason}")
        return 77
    counts = count_all(options.build, options.dump)
    if options.record or (options.check and any(over(counts, record))):
        counts = least(options.build, counts)
    print_table(counts, options.markdown)
    if options.record:
        write_record(records, facts, counts)
    return check(counts, record) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
