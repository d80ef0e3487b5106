#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# fortran.py: coarray statements on Tombolo beside the OpenCoarrays packages that are installed, and
# beside libcaf_shmem, which gfortran 16 and later bring. Then both sides have that compiler, and
# neither binds its images.
#
# Compiles bench/fortran/tombolo-bench-fortran.F90 for each side (for the peers with -DPEER: without
# attached events and hand-offs), runs them with two images in alternation, and prints for each
# figure the median over the rounds, in ns, and the ratio of ours to the better peer. Beside CO_SUM
# stands MPI_Allreduce of each MPI (allreduce_mpi.c). A peer that is not installed, or not done
# within --timeout, is named and left out (MPICH spins: long on a busy machine). The library is
# found as Debian installs it: libcaf_openmpi.so, libcaf_mpich.so.
#   study/compare/fortran.py [--build build] [--rounds 5] [--runs 21] [--timeout S]
import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "bench" / "fortran" / "tombolo-bench-fortran.F90"
OPTIONS = ["-O3", "-DPEER", "-ffree-line-length-none"]
FIGURE = re.compile(r"figure fortran (\S+) bytes=(\d+)")
PEERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to",
                     "none"],
         "mpich": ["mpirun.mpich", "-bind-to", "none"]}


def compile_all(folder, build):
    """Compiles every side. Returns {name: command}."""
    sides = {"tombolo": [build / "bin" / "tombolo", "run", "-n", "2", "--bind",
                         build / "bench" / "tombolo-bench-fortran"]}
    for name, launcher in PEERS.items():
        library = next(Path("/usr/lib").glob(f"*/libcaf_{name}.so*"), None)
        compiler = f"mpifort.{name}"
        if not library or not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{name}: not installed, left out (libcaf_{name}, {compiler})", file=sys.stderr)
            continue
        program = folder / name
        subprocess.run([compiler, "-fcoarray=lib", *OPTIONS, "-J", folder, SOURCE, library,
                        "-o", program], check=True)
        sides[name] = [*launcher, "-n", "2", program]
    sides.update(compile_shmem(folder, build))
    return sides


def compile_shmem(folder, build):
    """Compiles libcaf_shmem's side, and ours with the same compiler. Returns {name: command}."""
    compiler = next(filter(shutil.which, (f"gfortran-{n}" for n in range(30, 15, -1))), None)
    if not compiler:
        print("shmem: not installed, left out (gfortran-16 or later)", file=sys.stderr)
        return {}
    common = [*OPTIONS, "-J", folder, SOURCE]
    subprocess.run([compiler, "-fcoarray=lib", *common, "-lcaf_shmem", "-latomic", "-lrt", "-o",
                    folder / "shmem"], check=True)
    subprocess.run([build / "bin" / "tombolo", "fc", f"--compiler={compiler}", *common, "-o",
                    folder / "tombolo"], check=True)
    return {"tombolo": [build / "bin" / "tombolo", "run", "-n", "2", folder / "tombolo"],
            "shmem": ["env", "GFORTRAN_NUM_IMAGES=2", folder / "shmem"]}


def compile_allreduce(folder):
    """Compiles MPI_Allreduce with each MPI. Returns {name: command}."""
    sides = {}
    for name, launcher in PEERS.items():
        compiler = f"mpicc.{name}"
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            continue
        program = folder / f"allreduce-{name}"
        subprocess.run([compiler, "-O3", ROOT / "study/compare/allreduce_mpi.c", "-o", program],
                       check=True)
        sides[f"{name}-mpi"] = [*launcher, "-n", "2", program]
    return sides


def one_run(name, command, runs, timeout):
    """Runs one side once. Returns {(figure, bytes): median ns}."""
    try:
        done = subprocess.run([*map(str, command), "--runs", str(runs)], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, timeout=timeout, check=False)
        text = done.stdout
    except subprocess.TimeoutExpired as late:
        print(f"{name}: not done after {timeout} s", file=sys.stderr)
        text = (late.stdout or b"").decode()
    medians, key = {}, None
    for line in text.splitlines():
        match = FIGURE.match(line)
        if match:
            key = (match[1], int(match[2]))
        elif line.startswith("x ") and key:
            medians[key] = statistics.median(map(float, line.split()[1:]))
    return medians


def table(results):
    """Prints medians over the rounds, and ours over the better peer's."""
    names = list(results)
    print(f"{'figure':<16}{'bytes':>9}" + "".join(f"{n:>14}" for n in names) + "   ratio")
    for key in results["tombolo"][0]:
        values = {n: [run[key] for run in results[n] if key in run] for n in names}
        medians = {n: statistics.median(v) for n, v in values.items() if v}
        peers = [medians[n] for n in medians if n != "tombolo"]
        ratio = f"{medians['tombolo'] / min(peers):8.3f}" if peers else "       -"
        cells = "".join(f"{medians[n]:>14.1f}" if n in medians else f"{'-':>14}" for n in names)
        print(f"{key[0]:<16}{key[1]:>9}{cells}{ratio}")


def main():
    parser = argparse.ArgumentParser(description="Coarrays on Tombolo beside OpenCoarrays.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree of Tombolo")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--runs", type=int, default=21, help="samples of each run")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = {**compile_all(Path(folder), options.build.resolve()),
                 **compile_allreduce(Path(folder))}
        results = {name: [] for name in sides}
        for _ in range(options.rounds):
            for name, command in sides.items():
                results[name].append(one_run(name, command, options.runs, options.timeout))
        table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
