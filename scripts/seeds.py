#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts former bugs back, one at a time, and checks that the tests of `make test` find each.

Usage: seeds.py [--only NAME]... [--list] [--check BUILD] [--keep] [--jobs N]
Each tests/seeds/NAME.patch puts one bug back that this project once had. Lines `key: value` stand
above the patch:
  bug      what was wrong
  fixed    the commit that corrected it
  targets  what is built before the tests run: build targets, or patterns of them with `*`
  tests    regular expression of ctest: one of these tests must fail. Runs with the label "nightly"
           do not count.
  build    instead of a test the build finds the bug, and says what this regular expression means
The work happens in a copy of the sources, build-seeds/. There the tests are run first without any
seed, and all must pass. A seed whose file has moved is applied to the file of the same name. The
last line is `N found, N missed`; the exit code is 1 when one was missed.
`--check BUILD` runs nothing: each patch must fit the sources, and each regular expression name
tests of `make test` that the build tree BUILD has.
"""

import argparse
import fnmatch
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build-seeds"
TEST_S = 40  # longest time of one test: a bug that is back may let it hang


@dataclass
class Seed:
    """One former bug."""

    name: str
    bug: str
    fixed: str
    targets: list
    tests: str
    patch: str
    build: str = ""


def read_seed(path):
    """A seed's file as a Seed; fails where a key is missing."""
    head, mark, patch = path.read_text().partition("\ndiff --git ")
    keys = dict(re.findall(r"^(\w+): (.*)$", head, re.MULTILINE))
    missing = {"bug", "fixed", "targets", "tests"} - set(keys)
    if missing or not mark:
        raise SystemExit(f"seeds: {path} has no {', '.join(sorted(missing)) or 'patch'}")
    return Seed(
        path.stem,
        keys["bug"],
        keys["fixed"],
        keys["targets"].split(),
        keys["tests"],
        moved_files(mark[1:] + patch + "\n"),
        keys.get("build", ""),
    )


def today(old):
    """Where a file is today that was `old`: of the files of its name that one whose path begins
    most like the old one. Where there is none, or no such one, `old` itself."""
    if (ROOT / old).exists():
        return old
    was = Path(old).parts

    def alike(path):
        pairs = list(zip(was[:-1], path.parts[:-1]))
        return next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))

    there = (path.relative_to(ROOT) for path in (ROOT / was[0]).rglob(was[-1]))
    found = sorted(there, key=alike, reverse=True)
    if not found or (len(found) > 1 and alike(found[0]) == alike(found[1])):
        return old
    return str(found[0])


def moved_files(patch):
    """The patch with the paths of today: a file may have moved to another folder."""
    for old in set(re.findall(r"^--- a/(\S+)$", patch, re.MULTILINE)):
        patch = re.sub(rf"(?<= )(a|b)/{re.escape(old)}(?=\s)", rf"\1/{today(old)}", patch)
    return patch


def run(command, **options):
    """Runs a command in the copy. Returns its code and what it printed."""
    done = subprocess.run(
        command,
        cwd=COPY,
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        **options,
    )
    return done.returncode, done.stdout


def make_copy():
    """Copies the sources, as they are in the working tree, to build-seeds/; configures it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        target.touch()
    for old in COPY.rglob("*"):
        inside = old.relative_to(COPY)
        if old.is_file() and inside.parts[0] != "build" and str(inside) not in names:
            old.unlink()
    code, text = run(["cmake", "--preset", "dev", "-DTMB_WERROR=OFF"])
    if code:
        raise SystemExit(f"seeds: the copy {COPY} cannot be configured:\n{text}")


def names_of(targets):
    """The build targets that words of `targets:` mean."""
    if not any("*" in target for target in targets):
        return targets
    _, text = run(["ninja", "-C", "build", "-t", "targets", "all"])
    known = [line.partition(":")[0] for line in text.split("\n")]
    return [name for target in targets for name in fnmatch.filter(known, target) or [target]]


def build(targets, jobs):
    """Builds targets of the copy. Returns the empty string, or what the compiler said."""
    wanted = names_of(targets)
    code, text = run(["cmake", "--build", "build", "-j", str(jobs), "--target", *wanted])
    return text[-3000:] if code else ""


def failing(tests, jobs, *more):
    """Runs tests of the copy. Returns how many ran and the names of those that failed."""
    command = ["ctest", "--test-dir", "build", "-j", str(jobs), "-R", tests, "-LE", "^nightly$"]
    _, text = run([*command, "--timeout", str(TEST_S), *more])
    ran = re.search(r"tests? failed out of (\d+)", text)
    failed = re.findall(r"^\s*\d+ - (\S+) \((?!Not Run|Skipped)", text, re.MULTILINE)
    return int(ran[1]) if ran else 0, failed


def apply(seed, reverse):
    """Applies a seed's patch to the copy, or takes it back. Returns what patch said on failure."""
    command = ["patch", "-p1", "-s", "--no-backup-if-mismatch", *(["-R"] if reverse else [])]
    done = subprocess.run(
        command, cwd=COPY, input=seed.patch, capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr) if done.returncode else ""


def is_left_out(seed, names):
    """Whether the system cannot build the tests of a seed: a test BEGIN.none stands for them."""
    begins = [name.removesuffix(".none") for name in names if name.endswith(".none")]
    return re.sub(r"[\^\\]", "", seed.tests).startswith(tuple(begins))


def check(seeds, tree):
    """Whether every seed can be tried: its patch fits, and `make test` has its tests."""
    command = ["ctest", "--test-dir", str(tree), "-LE", "^nightly$", "--show-only=json-v1"]
    shown = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    names = [test["name"] for test in json.loads(shown)["tests"]]
    wrong = []
    for seed in seeds:
        fits = subprocess.run(["patch", "-p1", "-s", "--dry-run"], cwd=ROOT, input=seed.patch,
                              stdout=subprocess.PIPE, text=True, check=False)
        if fits.returncode:
            wrong.append(f"{seed.name}: the patch does not fit: {fits.stdout.strip()}")
        there = any(re.search(seed.tests, name) for name in names)
        if not there and not is_left_out(seed, names):
            wrong.append(f"{seed.name}: tests: {seed.tests} is no test of `make test`")
    print("\n".join(wrong) or f"seeds: {len(seeds)} can be tried")
    return 1 if wrong else 0


def try_seed(seed, jobs):
    """Puts one bug back. Returns the tests that found it, or the reason why it is missed."""
    wrong = apply(seed, False)
    if wrong:
        return [], f"the patch does not apply: {wrong.strip()}"
    try:
        wrong = build(seed.targets, jobs)
        if wrong and seed.build and re.search(seed.build, wrong):
            return ["the build"], ""
        if wrong:
            return [], f"it does not build: {wrong}"
        ran, failed = failing(seed.tests, jobs, "--stop-on-failure")
    finally:
        apply(seed, True)
    return failed, "" if failed else f"none of {ran} tests failed"


def unsound(seeds, jobs):
    """Builds what the seeds need and runs their tests without a seed. Returns what is wrong with
    the tests of each seed, by its name; where nothing is, it has no entry."""
    wrong = build(sorted({target for seed in seeds for target in seed.targets}), jobs)
    if wrong:
        raise SystemExit(f"seeds: the copy does not build without a seed:\n{wrong}")
    bad = {}
    for seed in seeds:
        ran, failed = failing(seed.tests, jobs)
        if failed or not ran:
            bad[seed.name] = f"without it, too, of {ran} tests fail: {', '.join(failed)}"
    return bad


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="try this seed only")
    parser.add_argument("--list", action="store_true", help="print the seeds and stop")
    parser.add_argument("--check", type=Path, metavar="BUILD",
                        help="check that each seed fits the sources")
    parser.add_argument("--keep", action="store_true", help="leave build-seeds/ for the next run")
    parser.add_argument("--jobs", type=int, default=2,
                        help="number of tests and compilers that run at a time")
    options = parser.parse_args()
    seeds = [read_seed(path) for path in sorted((ROOT / "tests" / "seeds").glob("*.patch"))]
    unknown = set(options.only or ()) - {seed.name for seed in seeds}
    if unknown:
        parser.error(f"no seed {', '.join(sorted(unknown))}: --list shows them")
    seeds = [seed for seed in seeds if not options.only or seed.name in options.only]
    if options.list:
        print("\n".join(f"{seed.name:24} {seed.bug}" for seed in seeds))
        return 0
    if options.check:
        return check(seeds, options.check)
    make_copy()
    bad, missed = unsound(seeds, options.jobs), 0
    for seed in seeds:
        start = time.monotonic()
        found, why = ([], bad[seed.name]) if seed.name in bad else try_seed(seed, options.jobs)
        missed += not found
        by = f"found by {', '.join(found[:3])}" if found else f"MISSED: {why}"
        print(f"{seed.name:24} {time.monotonic() - start:4.0f} s  {by}", flush=True)
    if not options.keep:
        shutil.rmtree(COPY)
    print(f"{len(seeds) - missed} found, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
