#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks with clang that what a lock guards is touched under that lock (-Wthread-safety).

Usage: check_locks.py --build DIR [PATH...]
Every source of src/ (or the given files) is read, not compiled; fields and functions carry the
attributes of src/base/compiler.h. Exits 1 when clang finds something, 77 without clang. A second
run over a file with a mistake in it shows that the check can fail. A source that passed is read
again only when it, a header or this script has changed: DIR/locks-passed.json has what passed.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MISTAKE = """#include "os/sync/lock.h"
static struct tmb_lock lock;
static int value TMB_GUARDED_BY(lock);
int read_without_the_lock(void);
int read_without_the_lock(void) { return value; }
"""


def command(build):
    """The call of clang without the file."""
    folders = (ROOT / "src", ROOT / "include", build / "generated")
    return [
        "clang",
        "-std=gnu17",
        "-fsyntax-only",
        "-Wthread-safety",
        "-Werror=thread-safety",
        *(f"-I{folder}" for folder in folders),
    ]


def run(base, path):
    """What clang says about a file, or an empty text."""
    done = subprocess.run([*base, str(path)], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def finds_a_mistake(base):
    """Whether the check finds one that is there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mistake.c"
        path.write_text(MISTAKE, encoding="utf-8")
        return "requires holding lock 'lock'" in run(base, path)


def digest(paths):
    """One hash over the contents of files."""
    text = hashlib.sha256()
    for path in paths:
        text.update(path.read_bytes())
    return text.hexdigest()


def known_to_pass(path, common):
    """What passed before with the same headers, by source: the hash of its content."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return kept["passed"] if kept["common"] == common else {}
    except (OSError, ValueError, KeyError):
        return {}


def check(base, sources, build):
    """What clang says about those sources that it has not passed before."""
    headers = [h for folder in ("src", "include") for h in sorted((ROOT / folder).rglob("*.[hd]*"))]
    headers += sorted((build / "generated").glob("*.h")) + [Path(__file__)]
    common = digest(h for h in headers if h.is_file())
    kept = build / "locks-passed.json"
    passed = known_to_pass(kept, common)
    hashes = {str(path): digest([path]) for path in sources}
    todo = [path for path in sources if passed.get(str(path)) != hashes[str(path)]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda path: run(base, path), todo))
    for path, text in zip(todo, reports):
        if not text:
            passed[str(path)] = hashes[str(path)]
    kept.write_text(json.dumps({"common": common, "passed": passed}), encoding="utf-8")
    return [text for text in reports if text]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="the build tree")
    parser.add_argument("paths", nargs="*", type=Path, help="sources; default: all of src/")
    options = parser.parse_args()
    if not shutil.which("clang"):
        print("check_locks: skipped: clang is not installed")
        return 77
    base = command(options.build)
    if not finds_a_mistake(base):
        print("check_locks: clang does not find a mistake that is there")
        return 1
    sources = options.paths or [
        path for path in sorted((ROOT / "src").rglob("*.c"))
        if "net/mpi/" not in str(path)]  # needs the headers of an MPI
    reports = check(base, sources, options.build)
    print("".join(reports), end="")
    print(f"check_locks: {len(sources)} files, {len(reports)} with mistakes")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
