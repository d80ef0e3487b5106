#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
# nightly: yes
"""OpenSHMEM programs under mpiexec.hydra and mpirun: near, over the conduit mpi between pretended
hosts, and with MPI in the same process, begun before or after shmem_init."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "launch"))
from harness import BUILD, LAUNCHERS, MPI_OF, launch, skip  # noqa: E402

PROGRAMS = ["random", "atomics", "waits", "teams"]
MIXED = r"""
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
static long word;
int main(int argc, char **argv) {
  const int shmem_first = argc > 1 && strcmp(argv[1], "shmem") == 0;
  if (shmem_first) shmem_init();
  MPI_Init(&argc, &argv);
  if (!shmem_first) shmem_init();
  int rank, size, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int me = shmem_my_pe(), n = shmem_n_pes();
  for (int k = 1; k <= 50; k++) {
    shmem_long_p(&word, k, (me + 1) % n);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, k);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("PE %d of %d is rank %d of %d, sum %d\n", me, n, rank, size, sum);
  shmem_finalize();
  MPI_Finalize();
  return 0;
}
"""


def check_programs(launcher):
    for name in PROGRAMS:
        program = str(BUILD / "tests/shmem" / name)
        for settings in ({}, {"TOMBOLO_CONDUIT": "mpi", "TOMBOLO_PLACES": "cyclic:2"}):
            run = launch(launcher, 4, program, **settings)
            run.check(run.code == 0, f"{name} {settings}")


def check_mixed(launcher, folder):
    compiler = f"mpicc.{MPI_OF[launcher]}"
    if not shutil.which(compiler):
        return
    source, program = Path(folder) / "mixed.c", Path(folder) / f"mixed-{launcher}"
    source.write_text(MIXED)
    flags = subprocess.run([str(BUILD / "bin/oshcc"), "--show"], capture_output=True, text=True,
                           check=True).stdout.split()[1:]
    subprocess.run([compiler, "-O2", str(source), "-o", str(program), *flags], check=True)
    for first in ("mpi", "shmem"):
        run = launch(launcher, 3, str(program), first)
        said = sorted(line for line in run.out.splitlines() if line.startswith("PE "))
        want = [f"PE {k} of 3 is rank {k} of 3, sum 3" for k in range(3)]
        run.check(run.code == 0 and said == want, f"{first} first")


def main():
    found = [name for name, words in LAUNCHERS.items() if shutil.which(words[0])]
    if not found:
        skip("neither mpiexec.hydra nor mpirun.openmpi is installed")
    with tempfile.TemporaryDirectory() as folder:
        for launcher in found:
            check_programs(launcher)
            check_mixed(launcher, folder)
    print("launch: passed", *found)


main()
