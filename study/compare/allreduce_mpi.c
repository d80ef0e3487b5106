/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce of doubles between two ranks, for study/compare/fortran.py, beside CO_SUM.
 *
 * Prints figures under the names of tombolo-bench-fortran: co_sum, of 8 bytes and of 8 MiB. Each
 * sample is the mean of enough operations to last about 100 us, as there. Calls: MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1048576 };

static double mean_ns(double *data, int count, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; i++)
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 1e9 * (MPI_Wtime() - start) / times;
}

static void figure(double *data, int count, int runs, int rank) {
  double estimate = mean_ns(data, count, 4);
  MPI_Bcast(&estimate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int times = estimate < 1e5 ? (int)(1e5 / estimate) + 1 : 1;
  if (rank == 0) printf("figure fortran co_sum bytes=%d unit=ns better=less\nx", 8 * count);
  for (int r = 0; r < runs; r++) {
    const double ns = mean_ns(data, count, times);
    if (rank == 0) printf(" %.6e", ns);
  }
  if (rank == 0) printf("\n");
}

int main(int argc, char **argv) {
  int rank, runs = 21;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], "--runs") == 0) runs = atoi(argv[i + 1]);
  double *data = calloc(LARGE, sizeof *data);
  if (!data) return 1;
  figure(data, 1, runs, rank);
  figure(data, LARGE, runs, rank);
  free(data);
  MPI_Finalize();
  return 0;
}
