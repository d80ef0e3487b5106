/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of an MPI library, for bench/compare/forms.py.
 *
 * Owns: nothing. Compiled by forms.py with the mpicc of each MPI; not part of the build. Calls:
 * MPI. Prints "barrier 0 MEDIAN LEAST MOST" of SAMPLES samples, in microseconds; argument: barriers
 * of a sample.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 7 };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  double us[SAMPLES];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? atoi(argv[1]) : 40;
  for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);
  for (int s = 0; s < SAMPLES; s++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    us[s] = 1e6 * (MPI_Wtime() - begin) / n;
  }
  qsort(us, SAMPLES, sizeof *us, compare);
  if (rank == 0) printf("barrier 0 %.4f %.4f %.4f\n", us[SAMPLES / 2], us[0], us[SAMPLES - 1]);
  MPI_Finalize();
  return 0;
}
