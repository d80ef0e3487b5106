#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# cloverleaf.py: CloverLeaf itself, with its own input deck clover_bm_short, on a runtime of choice.
#
# The application is not part of this tree: FOLDER is a clone that the user has fetched
# (UK-MAC/CloverLeaf_ref for MPI, UK-MAC/CloverLeaf_CAF for coarray Fortran). It is built in a copy
# with its own Makefile, run in a scratch folder, and the kinetic energy of its last step must be
# the published one. Runtimes: openmpi and mpich by their compilers and launchers; coarray by
# `tombolo fc` and `tombolo run`. Prints the time of the whole run, of each round.
# Exit code: 0 as published, 1 not, 2 the folder or the build is not as needed.
#   study/compare/cloverleaf.py FOLDER [--runtime openmpi] [--ranks 2] [--rounds 3] [--build build]
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DECK = "clover_bm_short.in"  # 960 x 960 cells, 87 steps
PUBLISHED, TOLERANCE = 1.19316898756307, 5e-5  # kinetic energy of step 87; relative
# "step: N VOLUME MASS DENSITY PRESSURE INTERNAL KINETIC TOTAL" of clover.out
STEP = re.compile(r"^\s*step:\s+(\d+)((?:\s+[\d.]+[ED][+-]?\d+){7})\s*$", re.M)


def kinetic_energy(text):
    """(step, kinetic energy) of the last summary in clover.out, or None."""
    found = STEP.findall(text)
    if not found:
        return None
    step, values = found[-1]
    return int(step), float(values.split()[5].replace("D", "E"))


def stop(message):
    print(f"cloverleaf: {message}", file=sys.stderr)
    sys.exit(2)


def tools(options):
    """(Fortran compiler, C compiler, launcher) of the runtime."""
    if options.runtime == "coarray":
        tool = options.build.resolve() / "bin" / "tombolo"
        return f"{tool} fc", "cc", [tool, "run", "-n", options.ranks]
    name = options.runtime
    more = ["--allow-run-as-root", "--oversubscribe"] if name == "openmpi" else []
    return (f"mpifort.{name}", f"mpicc.{name}", [f"mpirun.{name}", *more, "-n", options.ranks])


def prepare(options, folder):
    """Copies and builds the application. Returns (program, deck)."""
    if not (options.folder / "Makefile").exists():
        stop(f"{options.folder}: no Makefile: give a clone of CloverLeaf_ref or CloverLeaf_CAF")
    deck = next((d for d in (options.folder / "InputDecks" / DECK, options.folder / DECK)
                 if d.exists()), None)
    if not deck:
        stop(f"{options.folder}: no {DECK}, neither there nor in InputDecks")
    copy = folder / "source"
    shutil.copytree(options.folder, copy, ignore=shutil.ignore_patterns(".git"))
    fortran, c, _ = tools(options)
    # Its calls of MPI are not typed as gfortran 10 and later want them.
    command = ["make", "COMPILER=GNU", f"MPI_COMPILER={fortran}", f"C_MPI_COMPILER={c}",
               "OPTIONS=-fallow-argument-mismatch", *options.make]
    done = subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode or not (copy / "clover_leaf").exists():
        stop(f"make failed (code {done.returncode}): {done.stdout[-2000:]}\n"
             "cloverleaf: --make WORD gives words to its Makefile, as --make COMPILER=GNU")
    return copy / "clover_leaf", deck


def one_run(options, program, deck):
    """(seconds, step, kinetic energy) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(deck, Path(folder) / "clover.in")
        begin = time.monotonic()
        done = subprocess.run([str(w) for w in (*tools(options)[2], program)], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        seconds = time.monotonic() - begin
        out = Path(folder) / "clover.out"
        found = kinetic_energy(out.read_text(errors="replace")) if out.exists() else None
    if done.returncode or not found:
        stop(f"no summary of a step in clover.out, exit code {done.returncode}: "
             f"{done.stdout[-1500:]}")
    return seconds, *found


def main():
    parser = argparse.ArgumentParser(description="CloverLeaf with its deck clover_bm_short.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a clone of the application")
    parser.add_argument("--runtime", choices=("openmpi", "mpich", "coarray"), default="openmpi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--make", action="append", default=[], metavar="WORD",
                        help="further argument of its make; repeatable")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        program, deck = prepare(options, Path(name))
        for _ in range(options.rounds):
            seconds, step, energy = one_run(options, program, deck)
            off = energy / PUBLISHED - 1
            fine = step == 87 and abs(off) <= TOLERANCE
            good = good and fine
            print(f"{options.runtime}, {options.ranks} ranks: {seconds:.3f} s, step {step}, "
                  f"kinetic energy {energy:.6g} (published {PUBLISHED:.6g}, {100 * off:+.4f} %): "
                  f"{'VERIFIED' if fine else 'FAILED'}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
