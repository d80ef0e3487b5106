#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`hydro`: the same bits on any number of ranks and in any way, right snapshots, clear refusals.

Needs $TOMBOLO and $TMB_BUILD.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ["TOMBOLO"]
HYDRO = Path(os.environ["TMB_BUILD"]) / "bench" / "hydro"
X, Y = 41, 37


def hydro(ranks, *arguments, code=0):
    """Runs hydro; returns what it wrote."""
    done = subprocess.run(
        [TOMBOLO, "run", "-n", str(ranks), "--timeout", "60", "--", HYDRO, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        sys.exit(f"{ranks} ranks {arguments}: {done.returncode}, not {code}\n{done.stdout}")
    return done.stdout


def check_bits(problem):
    """All ranks and ways give one answer."""
    bits = set()
    for ranks in (1, 2, 5, 6):
        said = hydro(ranks, "-p", problem, "-x", str(X), "-y", str(Y), "-i", "30")
        bits |= set(re.findall(r"bits (\d+)", said))
    if len(bits) != 1:
        sys.exit(f"{problem}: answers differ with the number of ranks or the way: {sorted(bits)}")


def read_density(path):
    """Returns the numbers of the first field of a VTK file."""
    data = path.read_bytes()
    if f"DIMENSIONS {X + 1} {Y + 1} 1".encode() not in data:
        sys.exit(f"{path}: wrong dimensions")
    head = data.index(b"LOOKUP_TABLE default\n") + len(b"LOOKUP_TABLE default\n")
    if data.count(b"SCALARS ") != 3 or len(data) < head + 3 * 4 * X * Y:
        sys.exit(f"{path}: fields are missing")
    return struct.unpack(f">{X * Y}f", data[head : head + 4 * X * Y])


def check_snapshots(folder):
    """The first snapshot is the start, the last one as many ranks as one write it."""
    for ranks in (1, 4):
        prefix = folder / f"n{ranks}"
        arguments = ["-p", "corner", "-x", str(X), "-y", str(Y), "-i", "10", "-e", "5"]
        hydro(ranks, *arguments, "-w", "signal", "-o", prefix)
        for step in (0, 5, 10):
            if not (folder / f"n{ranks}.{step:06d}.vtk").exists():
                sys.exit(f"no snapshot of step {step} on {ranks} ranks")
            png = folder / f"n{ranks}.{step:06d}.png"
            if png.exists() and png.read_bytes()[:4] != b"\x89PNG":
                sys.exit(f"{png} is no picture")
    if set(read_density(folder / "n1.000000.vtk")) != {1.0, 0.125}:
        sys.exit("the first snapshot is not the start")
    if read_density(folder / "n1.000010.vtk") != read_density(folder / "n4.000010.vtk"):
        sys.exit("snapshots of 1 and 4 ranks differ")


def main():
    """Runs all checks."""
    for problem in ("blast", "corner"):
        check_bits(problem)
    with tempfile.TemporaryDirectory() as folder:
        check_snapshots(Path(folder))
    if "expected blast" not in hydro(2, "-p", "big-bang", code=2):
        sys.exit("an unknown problem is not named")
    if "take more cells" not in hydro(7, "-x", "3", "-y", "3", code=2):
        sys.exit("too few cells are not named")
    if "give another --output" not in hydro(2, "-i", "1", "-o", "/no/such/folder/x", code=2):
        sys.exit("an output that cannot be written is not named")


main()
