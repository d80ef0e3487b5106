#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the binary interface of libtombolo.so with that of the last release tag.

Usage: abi.py --lib build/lib/libtombolo.so [--against REF]

Builds the library of the tag (or of REF) in a temporary folder, and lets abidiff (package
abigail-tools) compare both, for what the public headers declare. New symbols are no finding, nor
are new enumerators behind others. A missing symbol is one, and so is each other change that
abidiff reports: of a parameter, a struct or the value of an enumerator. Where such a change is
meant, and programs that were compiled before still run, tests/data/abi.suppr names it.
Exit code: 0 compatible, 1 not, 77 where there is no tag, no abidiff or no git.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPRESS = ROOT / "tests/data/abi.suppr"
# Bits of abidiff's exit code: it failed; it found changes that somebody must judge, such as another
# size of a struct; it found some that cannot be compatible, such as a missing symbol.
FAILED, CHANGED, INCOMPATIBLE = 3, 4, 8
USAGE = 2


def git(*words):
    """What git prints, or None if it fails."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def build(ref, folder):
    """The library of another commit, built below a folder; its sources are folder/source."""
    source, tree = folder / "source", folder / "build"
    source.mkdir()
    archive = subprocess.Popen(["git", "-C", str(ROOT), "archive", ref], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(source)], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        raise SystemExit(f"abi.py: git archive {ref} failed")
    log = folder / "log"
    with log.open("w") as out:
        steps = (
            [
                "cmake",
                "-S",
                str(source),
                "-B",
                str(tree),
                "-G",
                "Ninja",
                "-DTMB_TESTS=OFF",
                "-DTMB_WERROR=OFF",
                "-DTMB_INSTALL=OFF",
                "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
            ],
            ["cmake", "--build", str(tree), "--target", "tombolo_shared"],
        )
        for step in steps:
            if subprocess.run(step, stdout=out, stderr=out, check=False).returncode != 0:
                print(log.read_text()[-3000:])
                raise SystemExit(f"abi.py: {ref} cannot be built")
    return next(tree.rglob("libtombolo.so"))


def compare(old, new, ref):
    """Compares two libraries, each with the folder of its headers. Returns the exit code."""
    words = ["abidiff", "--no-added-syms", "--hd1", old[0], "--hd2", new[0]]
    if SUPPRESS.exists():
        words += ["--suppressions", SUPPRESS]
    done = subprocess.run(
        [str(word) for word in (*words, old[1], new[1])],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout.strip())
    if done.returncode & FAILED:
        print("abi.py: abidiff failed")
        return USAGE
    bad = bool(done.returncode & (CHANGED | INCOMPATIBLE))
    print(f"abi.py: {'NOT compatible' if bad else 'compatible'} with {ref}")
    return 1 if bad else 0


def main():
    """Compares."""
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parse.add_argument("--lib", type=Path, required=True)
    parse.add_argument("--against")
    options = parse.parse_args()
    if not shutil.which("abidiff"):
        print("abi.py: skipped: there is no abidiff (package abigail-tools)")
        return 77
    ref = options.against or git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    if not ref:
        print("abi.py: skipped: there is no release tag to compare with")
        return 77
    with tempfile.TemporaryDirectory(prefix="tombolo-abi-") as name:
        folder = Path(name)
        old = build(ref, folder)
        return compare(
            (folder / "source/include", os.path.realpath(old)),
            (ROOT / "include", os.path.realpath(options.lib)),
            ref,
        )


if __name__ == "__main__":
    sys.exit(main())
