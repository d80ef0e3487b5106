#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the CUDA plug-in's declarations of the driver with NVIDIA's cuda.h.

Usage: check_cuda_abi.py [--include DIR] [--cc COMPILER] [--work DIR]
Without --include, and where the environment says CI, the header is taken from NVIDIA's package on
PyPI and kept under --work; it is used for this comparison only. Exits 77 when there is no header.
Also makes sure that a wrong number and a wrong type are found out.
"""

import argparse
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugins" / "cuda"
PACKAGE = "nvidia-cuda-runtime-cu12==12.9.79"
HEADER = "nvidia/cuda_runtime/include/cuda.h"
MUTANTS = (
    ("abi_check.c", "SAME(CUDA_IPC_LAZY_PEER, ", "SAME(3u + CUDA_IPC_LAZY_PEER, "),
    ("cuda_functions.def", "size_t bytes, cuda_stream", "unsigned bytes, cuda_stream"),
    ("cuda_functions.def", "cuMemAlloc_v2", "cuMemAlloc_v9"),
)


def fetch(work):
    """The folder of cuda.h from the package, or None when it cannot be had."""
    target = work / HEADER
    if not target.is_file():
        work.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
        command += ["--dest", str(work), PACKAGE]
        try:
            done = subprocess.run(command, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        wheels = sorted(work.glob("*.whl"))
        if done.returncode or not wheels:
            return None
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extract(HEADER, work)
    return target.parent


def compiles(compiler, include, folder):
    """Whether abi_check.c of a folder compiles, and what the compiler says."""
    command = [compiler, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    command += ["-isystem", str(include), str(folder / "abi_check.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def mutant(work, number, name, old, new):
    """A copy of the plug-in's declarations in which one text is another."""
    folder = work / f"mutant{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for source in ("abi_check.c", "cuda_abi.h", "cuda_functions.def"):
        text = (PLUGIN / source).read_text(encoding="utf-8")
        if source == name:
            if old not in text:
                raise SystemExit(f"check_cuda_abi: {name} no longer holds {old!r}")
            text = text.replace(old, new, 1)
        (folder / source).write_text(text, encoding="utf-8")
    return folder


def main():
    """Parse, compare, try the mutants."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--include", default="", help="folder of cuda.h")
    parser.add_argument("--cc", default="cc", help="compiler")
    parser.add_argument("--work", type=Path, default=Path("cuda-abi"), help="folder for files")
    options = parser.parse_args()
    include = Path(options.include) if options.include else None
    if include is None and os.environ.get("CI"):
        include = fetch(options.work)
    if include is None or not (include / "cuda.h").is_file():
        print("skipped: no cuda.h; name its folder in TMB_CUDA_INCLUDE, or set CI to fetch it")
        return 77
    good, text = compiles(options.cc, include, PLUGIN)
    if not good:
        print(f"{PLUGIN} differs from {include}/cuda.h:\n{text}")
        return 1
    for number, change in enumerate(MUTANTS):
        good, _ = compiles(options.cc, include, mutant(options.work, number, *change))
        if good:
            print(f"a change of {change[0]} ({change[1]!r} to {change[2]!r}) is not found out")
            return 1
    print(f"plugins/cuda agrees with {include}/cuda.h; {len(MUTANTS)} changes are found out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
