#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks with clang that what a lock guards is touched under that lock (-Wthread-safety).

Usage: check_locks.py --build DIR [PATH...]
Every source of src/ (or the given files) that has to do with locks is read, not compiled: it or a
header that it includes, directly or not, takes a lock or names one in an attribute of
src/base/compiler.h. In another one clang has nothing to check. Exits 1 when clang finds something,
77 without clang. A second run over a file with a mistake in it shows that the check can fail. A
source that passed is read again only when it, a header or this script has changed:
DIR/locks-passed.json has what passed.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
LOCKS = re.compile(
    r"\bTMB_(GUARDED_BY|REQUIRES|ACQUIRE|TRY_ACQUIRE|RELEASE|EXCLUDES)\b|\btmb_lock_\w+\("
)
DECLARED = ("os/sync/lock.h", "base/compiler.h")  # what locks and attributes are
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


def finds_a_mistake(base, build):
    """Whether the check looks at a source with a mistake, and finds it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mistake.c"
        path.write_text(MISTAKE, encoding="utf-8")
        return Included(build).of_locks(path) and "requires holding lock 'lock'" in run(base, path)


class Included:
    """Which sources have to do with locks."""

    def __init__(self, build):
        self.folders = (ROOT / "src", ROOT / "include", build / "generated")
        self.declared = {ROOT / "src" / name for name in DECLARED}
        self.known = {}  # path -> (the files that it includes, whether it names a lock)

    def look(self, path):
        """What a file includes, and whether it names a lock itself."""
        if path not in self.known:
            text = path.read_text(encoding="utf-8")
            found = set()
            for name in INCLUDE.findall(text):
                places = (folder / name for folder in (path.parent, *self.folders))
                found |= {next((p.resolve() for p in places if p.is_file()), path)}
            names = path not in self.declared and bool(LOCKS.search(text))
            self.known[path] = (found, names)
        return self.known[path]

    def of_locks(self, source):
        """Whether the source, or what it includes, names a lock."""
        seen, todo = set(), [source.resolve()]
        while todo:
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            found, names = self.look(path)
            if names:
                return True
            todo += found
        return False


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
    if not finds_a_mistake(base, options.build):
        print("check_locks: clang does not find a mistake that is there")
        return 1
    sources = options.paths or [
        path for path in sorted((ROOT / "src").rglob("*.c"))
        if "net/mpi/" not in str(path)]  # needs the headers of an MPI
    included = Included(options.build)
    concerned = [path for path in sources if included.of_locks(path)]
    reports = check(base, concerned, options.build)
    print("".join(reports), end="")
    print(f"check_locks: {len(sources)} files, {len(concerned)} with locks, "
          f"{len(reports)} with mistakes")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
