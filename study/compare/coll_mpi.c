/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an MPI library, for study/compare/compare.py.
 *
 * Owns nothing. Compiled by compare.py with the mpicc of each MPI that is installed; not part of
 * the build. Calls: MPI, coll_loop.h. Broadcast and all-reduce move `bytes` bytes (doubles),
 * all-gather and exchange blocks of it.
 */
#define _GNU_SOURCE
#include "coll_loop.h"

#include <mpi.h>

static void run(int kind, void *dst, void *src, size_t bytes) {
  const int n = (int)bytes;
  switch (kind) {
  case BROADCAST: MPI_Bcast(dst, n, MPI_BYTE, 0, MPI_COMM_WORLD); break;
  case ALLREDUCE: MPI_Allreduce(src, dst, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
  case ALLGATHER: MPI_Allgather(src, n, MPI_BYTE, dst, n, MPI_BYTE, MPI_COMM_WORLD); break;
  default: MPI_Alltoall(src, n, MPI_BYTE, dst, n, MPI_BYTE, MPI_COMM_WORLD);
  }
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  struct side s = {run, barrier, 0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  const int rc = loop_main(&s, argc, argv);
  MPI_Finalize();
  return rc;
}
