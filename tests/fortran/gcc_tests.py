#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# gcc's own run tests of coarrays, from the package gcc-16-source (Debian), with gfortran 15 and 16.
# nightly: yes
# timeout: 3600
"""Unpacks gcc/testsuite/gfortran.dg of an installed package and runs its programs with coarrays.

Usage: gcc_tests.py [--compiler COMMAND] [--library NAME] [--runs IMAGES/HOSTS,...] [NAME...]

Nothing of gcc is in this repository. Each program is compiled once, as its comments say
(`dg-options`, `dg-additional-sources`), and runs on 1, 2, 4 and 8 images of one host, and on 2 and
4 images of two pretended hosts, over udp. A table says how many passed. The test fails when a
program fails that KNOWN does not name, or when one passes that it names. `--library caf_shmem`
counts the same programs with that library of gcc, on one host.
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
INSIDE = "*/gcc/testsuite/gfortran.dg"
RUNS = ((1, 1), (2, 1), (4, 1), (8, 1), (2, 2), (4, 2))  # images and hosts
SECONDS = 60
FAR_SECONDS = 240  # one program makes tens of thousands of accesses, each a message and an answer
SKIP = 77
# Programs that cannot pass, on which images with each version, and the reason.
KNOWN = {
    "coarray/deallocate_sync.f90": ({15: (2, 4), 16: (2, 4)}, "is for 1 or 8 images"),
    "coarray/dummy_3.f90": ({15: (1, 2, 4, 8), 16: (1,)}, "accesses image 2; 15 finds no cobounds"),
    "coarray/lock_3.f90": ({15: (2, 4, 8)}, "c[1] = c[1] + 1 takes the image's own value"),
}
CHANCE = {"team_form_3.f90": "gives FORM TEAM variables without a value"}
SUFFIX = re.compile(r"\.[fF](90|95|03|08|18|23)$")
DIRECTIVE = re.compile(r"\{\s*dg-([a-z-]+)\s+(.*?)\s*\}\s*(?:\n|\*/|$)")
# Options that choose another library, or write files that only gcc's own scripts read.
OTHERS = re.compile(r"-fcoarray=|-lcaf_|-fdump-")


def version_of(compiler):
    """The version of a compiler, as 16."""
    command = [compiler, "-dumpversion"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return int(said.split(".")[0])


def compilers_and_archive(asked):
    """The compilers to try, and the archive of the newest source package: programs of gcc 15 are
    for one image."""
    names = [asked] if asked else [f"gfortran-{n}" for n in range(15, 30)]
    archives = [a for n in range(16, 30) for a in sorted(Path("/").glob(SOURCES.format(n)[1:]))]
    return list(filter(shutil.which, names)), archives[-1] if archives else None


class Program:
    """A test of gcc: what its comments ask for."""

    def __init__(self, source):
        self.source = source
        self.name = "/".join(source.parts[source.parts.index("gfortran.dg") + 1 :])
        self.runs = self.fails = False  # no program; expected to end with an error
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

    def takes(self, images):
        """Whether it is for a number of images. Those that are not in the folder of coarrays, but
        ask for a library, get one of a single image from gcc."""
        if self.source.parent.name == "coarray":
            return True
        return images == 1 and "-fcoarray=lib" in self.options

    def compile(self, folder, compiler, library):
        """Returns the program's path, or None and what the compiler said."""
        place = folder / self.name
        place.mkdir(parents=True)
        program = place / "program"
        if library:
            command = [compiler, "-fcoarray=lib"]
        else:
            command = [os.environ["TOMBOLO"], "fc", f"--compiler={compiler}"]
        command += ["-g", "-O1", "-w", *(o for o in self.options if not OTHERS.match(o))]
        command += [str(self.source), *self.files, "-o", str(program)]
        if library:
            command.append(f"-l{library}")
        code, text = run(command, place, 5 * SECONDS)
        return (None, text) if code else (program, "")

    def wrong(self, program, images, hosts, library):
        """Runs the program. Returns "" or what is wrong."""
        if library:
            command = ["env", f"GFORTRAN_NUM_IMAGES={images}", "timeout", "-k", "5", str(SECONDS)]
        else:
            limit = SECONDS if hosts == 1 else FAR_SECONDS
            command = [os.environ["TOMBOLO"], "run", "-n", str(images), "--timeout", str(limit)]
        if hosts > 1:
            command = ["env", "TOMBOLO_CONDUIT=udp", f"TOMBOLO_PLACES={hosts}", *command]
        code, text = run([*command, str(program)], program.parent, 5 * SECONDS)
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
    sources = [*folder.glob(INSIDE + "/*"), *folder.glob(INSIDE + "/coarray/*")]
    programs = map(Program, sorted(s for s in sources if SUFFIX.match(s.suffix)))
    return [p for p in programs if p.runs and p.takes(1) and p.name not in CHANCE]


def try_one(test, folder, args):
    """Results of a program: what is wrong in each of the runs that it is for. None: the compiler,
    older than the programs, refuses it."""
    runs = [pair for pair in args.runs if test.takes(pair[0])]
    program, text = test.compile(folder, args.compiler, args.library)
    if not program:
        print(f"{test.name} is not compiled: {text[-600:]}", flush=True)
        return dict.fromkeys(runs, "not compiled") if args.same else None
    results = {}
    for images, hosts in runs:
        text = results[images, hosts] = test.wrong(program, images, hosts, args.library)
        if text:
            print(f"{test.name} on {images} images, {hosts} hosts: {text}", flush=True)
    return results


def judge(results, runs, version):
    """Prints the table; returns how many results were not expected."""
    unexpected = 0
    for name, wrong in results.items():
        for (images, hosts), text in wrong.items():
            known = name in KNOWN and images in KNOWN[name][0].get(version, ())
            if bool(text) != known:
                unexpected += 1
                print(f"UNEXPECTED: {name} on {images} images, {hosts} hosts: "
                      f"{'passes' if known else 'fails'}")
    print("images  hosts  programs  passed")
    for pair in runs:
        tried = [wrong[pair] for wrong in results.values() if pair in wrong]
        print(f"{pair[0]:6}  {pair[1]:5}  {len(tried):8}  {tried.count(''):6}", flush=True)
    return unexpected


def try_all(archive, args):
    """Compiles and runs the programs of an archive; returns how many results were not expected."""
    version = version_of(args.compiler)
    args.same = archive.name.startswith(f"gcc-{version}.")
    with tempfile.TemporaryDirectory() as name:
        programs = unpack(archive, Path(name))
        if args.names:
            programs = [p for p in programs if any(n in p.name for n in args.names)]
        print(f"{len(programs)} programs of {archive.name} with {args.compiler}", flush=True)
        if not programs:
            return 1
        place = Path(name, "built")
        place.mkdir()
        with ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda program: try_one(program, place, args), programs))
    named = {p.name: result for p, result in zip(programs, results) if result is not None}
    print(f"{len(named)} of them are compiled")
    return judge(named, args.runs, version)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--compiler", help="default: each of version 15 or newer")
    parser.add_argument("--library", help="a library of gcc instead of ours")
    parser.add_argument("--runs", help="as 2/1,4/2: 2 images on 1 host, 4 on 2; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("names", nargs="*", help="parts of the programs' names; default: all")
    args = parser.parse_args()
    if args.runs:
        args.runs = [tuple(map(int, pair.split("/"))) for pair in args.runs.split(",")]
    else:
        args.runs = [pair for pair in RUNS if pair[1] == 1 or not args.library]
    compilers, archive = compilers_and_archive(args.compiler)
    if not compilers or not archive:
        print("skipped: no gfortran of version 15 or newer, or no package gcc-16-source or newer")
        return SKIP
    unexpected = 0
    for args.compiler in compilers:
        unexpected += try_all(archive, args)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
