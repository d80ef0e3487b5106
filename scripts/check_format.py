#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks (or with --fix applies) .clang-format on every C and C++ source of the tree.

Usage: check_format.py [--fix] [--build DIR] [PATH...]. Exits 1 naming each file that differs, 77
without clang-format 14 (clang-format-14 or clang-format): other versions write other lines. With
--build a file that passed is checked again only when it, .clang-format or clang-format itself has
changed: DIR/format-passed.json has what passed.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "plugins", "coarray", "prif", "upc", "shmem", "check", "replay",
           "bindings", "tools", "bench", "study", "examples", "tests")
ENDINGS = (".c", ".h", ".hpp", ".cc")


def sources(starts):
    """All C and C++ files under the given files and folders, sorted."""
    found = set()
    for start in starts:
        if start.is_file():
            found.add(start)
        for folder, _, names in os.walk(start):
            found.update(Path(folder) / name for name in names)
    return sorted(path for path in found if path.suffix in ENDINGS)


@functools.cache
def clang_format():
    """The program of the version whose lines the tree has; None: there is none."""
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
            if re.search(r"version 14\.", said.stdout):
                return name
    return None


def differing(files):
    """The files that clang-format would change."""
    command = [clang_format(), "--style=file", "--dry-run", "--ferror-limit=0", *files]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit("check_format: clang-format failed:\n" + done.stderr.decode())
    names = re.findall(r"^(.+?):\d+:\d+: warning: ", done.stderr.decode(errors="replace"), re.M)
    return sorted({Path(name) for name in names})


def digest(path):
    """A hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differing_of_new(files, kept):
    """As `differing`, of the files that the file `kept` does not know to have passed."""
    version = subprocess.run([clang_format(), "--version"], capture_output=True, check=True).stdout
    common = digest(ROOT / ".clang-format") + version.decode()
    try:
        known = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    passed = known.get("passed", {}) if known.get("common") == common else {}
    hashes = {str(path): digest(path) for path in files}
    todo = [path for path in files if passed.get(str(path)) != hashes[str(path)]]
    bad = differing(todo) if todo else []
    passed = {name: value for name, value in hashes.items() if Path(name) not in bad}
    kept.write_text(json.dumps({"common": common, "passed": passed}), encoding="utf-8")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="build tree that remembers the files that passed")
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; default: all")
    options = parser.parse_args()
    if not clang_format():
        print("check_format: skipped: clang-format 14 is not installed")
        return 77
    files = sources([p.resolve() for p in options.paths] or [ROOT / name for name in FOLDERS])
    if not files:
        print("check_format: no file to check")
        return 1
    if options.build:
        bad = differing_of_new(files, options.build / "format-passed.json")
    else:
        bad = differing(files)
    for path in bad:
        print(f"{path.relative_to(ROOT)}: {'formatted' if options.fix else 'run make format'}")
    if options.fix and bad:
        subprocess.run([clang_format(), "--style=file", "-i", *bad], check=True)
    verb = "rewritten" if options.fix else "differ"
    print(f"check_format: {len(files)} files, {len(bad)} {verb}")
    return 1 if bad and not options.fix else 0


if __name__ == "__main__":
    sys.exit(main())
