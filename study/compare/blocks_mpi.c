/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long exchanges of MPI by processor time, for study/compare/cells.py.
 *
 * Owns nothing. Compiled by cells.py for each MPI; not part of the build. Calls: MPI,
 * blocks_loop.h. The blocks lie in memory of malloc, which all transports of an MPI take as it is;
 * the processor time of waiting ranks counts, as that of ours does.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <mpi.h>

#include "blocks_loop.h"

static void exchange(char *dst, const char *src, size_t bytes) {
  MPI_Alltoall(src, (int)bytes, MPI_BYTE, dst, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static double sum(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  struct side s = {exchange, barrier, sum, 0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  char *const dst = malloc((size_t)s.size * BLOCK_MAX), *const src =
                                                            malloc((size_t)s.size * BLOCK_MAX);
  if (!dst || !src) MPI_Abort(MPI_COMM_WORLD, 1);
  blocks(&s, dst, src);
  free(dst);
  free(src);
  MPI_Finalize();
  return 0;
}
