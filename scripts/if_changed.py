#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a check, which is a Python script, unless it passed and nothing it reads has changed since.

Usage: if_changed.py --build DIR NAME SCRIPT [ARGUMENT...]
The script runs in this process, and what it reads under the root of the sources is noted: files
that it opens, folders that it lists, paths whose existence it asks for, and the modules that it
imports. Of a program that it starts the program itself is noted, and each argument that names a
file or a folder of the sources: the file, all files in the folder, of a Python script all modules
beside it. When the script ends with code 0, DIR/passed/NAME.json keeps this list with a hash of
each entry. The next call compares the hashes: when none differs, it says so and ends with code 0.
A script that reads what this list cannot hold (the network, the time, files outside of the sources
but programs) must not be run by this one. scripts/harness_test.py shows that each kind of change
is noticed.
"""

import argparse
import hashlib
import json
import os
import runpy
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("build", ".git", "__pycache__")  # folders that are no part of a folder of sources


def of_file(path):
    """The hash of a file's content; empty where there is no such file."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def of_folder(path):
    """A hash of the names in a folder, without those that checks and builds make."""
    try:
        names = sorted(n for n in os.listdir(path) if not n.startswith(SKIPPED))
    except OSError:
        return ""
    return hashlib.sha256("\0".join(names).encode()).hexdigest()


def of_tree(path):
    """A hash of all files in a folder and the folders in it."""
    text = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(n for n in folders if not n.startswith(SKIPPED))
        for name in sorted(names):
            file = os.path.join(folder, name)
            text.update(f"{file}\0{of_file(file)}\0".encode())
    return text.hexdigest()


def of_modules(path):
    """A hash of the Python files in a folder."""
    try:
        names = sorted(n for n in os.listdir(path) if n.endswith(".py"))
    except OSError:
        return ""
    hashes = "".join(of_file(os.path.join(path, name)) for name in names)
    return hashlib.sha256(hashes.encode()).hexdigest()


def of_program(path):
    """What distinguishes one version of an installed program from another."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"


def of_existence(path):
    """Whether a path is a folder, is something else, or is not there."""
    return "folder" if os.path.isdir(path) else "there" if os.path.exists(path) else ""


KINDS = {
    "file": of_file,
    "folder": of_folder,
    "tree": of_tree,
    "modules": of_modules,
    "program": of_program,
    "exists": of_existence,
}


class Reads:
    """What a script reads, noted while it runs: pairs of a kind and an absolute path."""

    def __init__(self, root, build):
        self.root, self.build = f"{root}/", f"{build}/"
        self.seen = set()
        self.on = True
        self.stat = os.stat
        self.begin_ns = time.time_ns()

    def absolute(self, path):
        """The path when it lies in the sources or is a file of the build tree, else None."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        path = os.path.abspath(os.fsdecode(path))
        return path if f"{path}/".startswith((self.root, self.build)) else None

    def note(self, kind, path):
        """Notes one thing that is read."""
        path = self.absolute(path)
        if path:
            self.seen.add((kind, path))

    def opened(self, path, mode, flags):
        """Notes a file that is opened to be read; of a compiled module its source."""
        writes = mode is None and isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if writes or (mode and set("wax+") & set(mode)) or not self.absolute(path):
            return
        path = Path(os.fsdecode(path))
        if path.suffix == ".pyc":
            path = path.parent.parent / f"{path.name.split('.')[0]}.py"
        self.note("file", path)

    def started(self, program, arguments):
        """Notes a program that is started, and what its arguments name."""
        found = shutil.which(os.fsdecode(program))
        if found:
            self.seen.add(("program", os.path.realpath(found)))
        for word in map(os.fsdecode, arguments):
            path = word.removeprefix("-I").rpartition("=")[2]
            if not path.startswith("/") or not self.absolute(path):
                continue
            self.note("tree" if os.path.isdir(path) else "file", path)
            if path.endswith(".py"):
                self.note("modules", os.path.dirname(path))

    def hook(self, event, arguments):
        """An audit hook of Python."""
        if not self.on:
            return
        if event == "open":
            self.opened(*arguments)
        elif event in ("os.listdir", "os.scandir"):
            self.note("folder", "." if arguments[0] is None else arguments[0])
        elif event == "subprocess.Popen":
            self.started(arguments[0] or arguments[1][0], arguments[1])

    def watch(self):
        """Begins to note. os.stat has no event, so it is replaced."""
        def stat(path, *more, **options):
            if self.on and not isinstance(path, int):
                self.note("exists", path)
            return self.stat(path, *more, **options)

        os.stat = stat
        sys.addaudithook(self.hook)

    def kept(self):
        """What is to be kept, once the script has ended: [kind, path, hash] of each thing. None
        when a file has changed meanwhile: the script may have read it before."""
        self.on = False
        for kind, path in self.seen:
            if kind == "file" and os.path.exists(path):
                if self.stat(path).st_mtime_ns >= self.begin_ns:
                    return None
        return [[kind, path, KINDS[kind](path)] for kind, path in sorted(self.seen)]


def unchanged(path, command):
    """Whether the list in the file `path` is of this command and each entry is as it was."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return kept["command"] == command and all(
            KINDS[kind](name) == was for kind, name, was in kept["read"]
        )
    except (OSError, ValueError, KeyError):
        return False


def run(script, arguments):
    """Runs a Python script as the interpreter would. Returns its exit code."""
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True, help="the build tree")
    parser.add_argument("--root", type=Path, default=ROOT, help="the root of the sources")
    parser.add_argument("name", help="name of the check")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the script and its arguments")
    options = parser.parse_args()
    kept = options.build.resolve() / "passed" / f"{options.name}.json"
    command = [sys.version, os.getcwd(), *options.command]
    if unchanged(kept, command):
        print(f"{options.name}: passed before, and nothing that it reads has changed")
        return 0
    kept.unlink(missing_ok=True)
    reads = Reads(options.root.resolve(), options.build.resolve())
    reads.seen.update({("file", str(Path(__file__).resolve())),
                       ("file", os.path.abspath(options.command[0]))})
    reads.watch()
    code = run(options.command[0], options.command[1:])
    read = reads.kept() if code == 0 else None
    if read:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps({"command": command, "read": read}), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
