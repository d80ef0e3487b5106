/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program whose start study/compare/starts.py measures with an MPI: join, barrier, end.
 *
 * Owns: nothing. Compiled by starts.py with the mpicc of each MPI; not part of the build. Calls:
 * MPI. start_gex.c is the same on Tombolo. Invariant: every rank passes the barrier before any
 * ends, so the time is that of a job whose processes have met. With the argument "memory" each rank
 * prints what it needs, "memory KIB", while all are there. Exit code: 0.
 */
#include "lib/memory.h"

#include <mpi.h>

#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "memory") == 0) {
    printf("memory %lu\n", memory_pss_kib());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
