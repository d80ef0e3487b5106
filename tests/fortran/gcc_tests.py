#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# gcc's own run tests of coarrays, from the package gcc-N-source (Debian), with gfortran N.
# nightly: yes
# timeout: 1800
"""Unpacks gcc/testsuite/gfortran.dg/coarray of an installed package and runs it.

Usage: gcc_tests.py [--compiler COMMAND] [NAME...]

Nothing of gcc is in this repository. Each program is compiled as its comments say (`dg-options`,
`dg-additional-sources`) and runs on 1, 2, 4 and 8 images. A table says how many passed. The test
fails when a program fails that KNOWN does not name, or when one passes that it names.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from command import run

SOURCES = "/usr/src/gcc-{0}/gcc-{0}.*.tar.xz"
INSIDE = "*/gcc/testsuite/gfortran.dg/coarray"
IMAGES = (1, 2, 4, 8)
SECONDS = 60
SKIP = 77
# Programs that cannot pass: name and image counts (none: all), and the reason.
KNOWN = {
    "dummy_3.f90": ((1,), "accesses image 2"),
    "deallocate_sync.f90": ((2, 4), "ends with an error unless it has 1 or 8 images"),
}
SUFFIX = re.compile(r"\.[fF](90|95|03|08|18|23)$")
DIRECTIVE = re.compile(r"\{\s*dg-([a-z-]+)\s+(.*?)\s*\}\s*(?:\n|\*/|$)")


def compiler_and_archive(asked):
    """The compiler whose version has a source package, and that package's archive, or a reason."""
    names = [asked] if asked else [f"gfortran-{n}" for n in range(30, 14, -1)]
    for name in filter(shutil.which, names):
        version = subprocess.run(
            [name, "-dumpversion"], stdout=subprocess.PIPE, check=True, text=True
        ).stdout.split(".")[0]
        archives = sorted(Path("/").glob(SOURCES.format(version.strip())[1:]))
        if archives:
            return name, archives[-1]
    return None, "no gfortran of version 15 or newer beside the package gcc-N-source"


class Program:
    """A test of gcc: what its comments ask for."""

    def __init__(self, source):
        self.source = source
        self.runs = self.fails = False
        self.options, self.files, self.output = [], [], None
        for kind, rest in DIRECTIVE.findall(source.read_text(errors="replace")):
            quoted = re.match(r'"((?:[^"\\]|\\.)*)"', rest)
            words = quoted.group(1) if quoted else rest
            if kind == "do":
                self.runs = words.split()[0] == "run"
            elif kind in ("options", "additional-options"):
                self.options += words.split()
            elif kind == "additional-sources":
                self.files += [str(source.parent / word) for word in words.split()]
            elif kind == "shouldfail":
                self.fails = True
            elif kind == "output":
                self.output = words.replace("\\n", "\n").replace("\\\\", "\\")

    def compile(self, compiler, folder):
        """Returns the program's path, or None and what the compiler said."""
        place = folder / self.source.name
        place.mkdir()
        program = place / "program"
        command = [os.environ["TOMBOLO"], "fc", f"--compiler={compiler}", "-g", "-O1", "-w"]
        command += [*self.options, str(self.source), *self.files, "-o", str(program)]
        code, text = run(command, place, 5 * SECONDS)
        return (None, text) if code else (program, "")

    def wrong(self, program, images):
        """Runs the program. Returns "" or what is wrong."""
        command = [os.environ["TOMBOLO"], "run", "-n", str(images)]
        command += ["--timeout", str(SECONDS), str(program)]
        code, text = run(command, program.parent, 5 * SECONDS)
        if (code != 0) != self.fails:
            return f"exit code {code}\n{text[-600:]}"
        if self.output and not re.search(self.output, text):
            return f"no output {self.output!r}\n{text[-600:]}"
        return ""


def unpack(archive, folder):
    """The programs that run, of the archive."""
    subprocess.run(
        ["tar", "-xJf", str(archive), "-C", str(folder), "--wildcards", INSIDE + "/*"], check=True
    )
    sources = sorted(s for s in folder.glob(INSIDE + "/*") if SUFFIX.match(s.suffix))
    return [program for program in map(Program, sources) if program.runs]


def try_all(programs, compiler, folder):
    """Results by name: what is wrong on each number of images; compiling is number 0."""
    place = folder / "built"
    place.mkdir()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda p: p.compile(compiler, place), programs))
    results = {}
    for test, (program, text) in zip(programs, built):
        wrong = results[test.source.name] = {}
        if not program:
            wrong[0] = text[-600:]
            continue
        for images in IMAGES:
            wrong[images] = test.wrong(program, images)
            if wrong[images]:
                print(f"{test.source.name} on {images} images: {wrong[images]}", flush=True)
    return results


def is_known(name, images):
    """Whether a program is expected to fail on a number of images."""
    return name in KNOWN and (not KNOWN[name][0] or images in KNOWN[name][0])


def judge(results):
    """Prints the table; returns how many results were not expected."""
    unexpected = 0
    for name, wrong in results.items():
        if 0 in wrong:
            print(f"{name} is not compiled: {wrong[0]}")
        for images, text in wrong.items():
            known = is_known(name, images)
            if bool(text) != known:
                unexpected += 1
                print(f"UNEXPECTED: {name} on {images} images: {'passes' if known else 'fails'}")
    print("images  programs  passed")
    for images in IMAGES:
        passed = sum(wrong.get(images, "not compiled") == "" for wrong in results.values())
        print(f"{images:6}  {len(results):8}  {passed:6}")
    return unexpected


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--compiler", help="default: the newest that has a source package")
    parser.add_argument("names", nargs="*", help="parts of the programs' names; default: all")
    args = parser.parse_args()
    compiler, archive = compiler_and_archive(args.compiler)
    if not compiler:
        print("skipped:", archive)
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        programs = unpack(archive, Path(name))
        if args.names:
            programs = [p for p in programs if any(n in p.source.name for n in args.names)]
        if not programs:
            print(f"{archive} has no run tests of coarrays")
            return 1
        print(f"{len(programs)} programs of {archive.name} with {compiler}", flush=True)
        return 1 if judge(try_all(programs, compiler, Path(name))) else 0


if __name__ == "__main__":
    sys.exit(main())
