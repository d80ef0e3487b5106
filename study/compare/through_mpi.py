#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# through_mpi.py: the conduit mpi beside MPI itself, in one process.
#
# Compiles through_mpi.c with each of mpicc.openmpi and mpicc.mpich and runs it on two ranks of two
# pretended hosts. Prints the medians and the ratios: a short request and its reply beside a
# ping-pong of 16 bytes (target: at most 1.5), a put of 1 MiB beside a synchronous send.
#   study/compare/through_mpi.py [--build build] [--rounds 3] [--timeout S]
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import series
from budget import Budget, parser_for
from compare import PEERS, ROOT

PAIRS = (("am_rtt", "mpi_rtt", 16, 1.5), ("put", "mpi_send", 1 << 20, None))


def compile_with(compiler, folder, build):
    """Returns the program."""
    program = folder / compiler
    subprocess.run([compiler, "-O2", "-DGASNET_SEQ", Path(__file__).parent / "through_mpi.c", "-o",
                    program, f"-I{ROOT}/include", f"-L{build}/lib", f"-Wl,-rpath,{build}/lib",
                    "-ltombolo"], check=True)
    return program


def show(name, rows):
    """Prints the rows of one MPI. Returns whether the targets are met."""
    met = True
    for ours, peer, size, most in PAIRS:
        us, base = rows[ours, size][0], rows[peer, size][0]
        verdict = "" if most is None else f"  <= {most} {'ok' if us <= most * base else 'OVER'}"
        met = met and (most is None or us <= most * base)
        print(f"{name:<9}{ours:<8}{size:>8}{us:>11.3f} us{base:>11.3f} us {peer:<9}"
              f"{us / base:>6.2f}{verdict}", flush=True)
    return met


def main():
    parser = parser_for("The conduit mpi beside MPI.", 60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    budget = Budget(options)
    environment = {"TOMBOLO_CONDUIT": "mpi", "TOMBOLO_PLACES": "2"}
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name, (compiler, launcher) in PEERS.items():
            if not shutil.which(compiler) or not shutil.which(launcher[0]):
                print(f"{name}: not installed, left out", file=sys.stderr)
                continue
            program = compile_with(compiler, Path(folder), options.build.resolve())
            gathered = {}
            for _ in range(options.rounds):
                rows = series.run(name, [*launcher, "-n", 2, program], budget, environment)
                series.merge(gathered, name, rows)
            records = series.records(gathered, [name])
            budget.save({"rounds": options.rounds, "records": records})
            met = show(name, {(r["name"], r["bytes"]): r["sides"][name] for r in records}) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
