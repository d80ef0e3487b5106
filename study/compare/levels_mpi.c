/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an MPI library, beside those of levels_gex.c, for cells.py.
 *
 * Owns: nothing. Compiled by cells.py with the mpicc of Open MPI; not part of the build. Calls:
 * MPI, levels_loop.h.
 */
#include "levels_loop.h"

#include <mpi.h>

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void run(int kind, char *out, char *in, size_t bytes) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int b = (int)bytes, n = b / 8;
  MPI_Comm half;
  int rank;
  switch (kind) {
  case BARRIER: return;
  case BROADCAST: MPI_Bcast(out, b, MPI_BYTE, 0, all); return;
  case REDUCE: MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, all); return;
  case ALLREDUCE: MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, all); return;
  case GATHER: MPI_Gather(in, b, MPI_BYTE, out, b, MPI_BYTE, 0, all); return;
  case ALLGATHER: MPI_Allgather(in, b, MPI_BYTE, out, b, MPI_BYTE, all); return;
  case EXCHANGE: MPI_Alltoall(in, b, MPI_BYTE, out, b, MPI_BYTE, all); return;
  case SCAN: MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, all); return;
  default:
    MPI_Comm_rank(all, &rank);
    MPI_Comm_split(all, rank % 2, rank, &half);
    MPI_Comm_free(&half);
  }
}

int main(int argc, char **argv) {
  struct levels l = {run, barrier, 0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &l.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &l.size);
  const int rc = levels_main(&l);
  MPI_Finalize();
  return rc;
}
