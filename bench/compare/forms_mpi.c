/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of an MPI library, for bench/compare/forms.py.
 *
 * Owns: nothing. Compiled by forms.py with the mpicc of each MPI; not part of the build. Calls:
 * MPI. Prints "barrier 0 MEDIAN LEAST MOST" of SAMPLES samples, in microseconds. A sample has as
 * many barriers as fill SAMPLE_US by the first one, at most CALLS; where one takes longer than
 * SLOW_US (a peer that spins on more ranks than processors) few samples of one must do.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 7, SAMPLES_SLOW = 3, CALLS = 200 };

#define SAMPLE_US 50000.0
#define SLOW_US   50000.0

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double barrier_us(int calls) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; i++) MPI_Barrier(MPI_COMM_WORLD);
  return 1e6 * (MPI_Wtime() - begin) / calls;
}

int main(int argc, char **argv) {
  double us[SAMPLES];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)barrier_us(1);
  double seen = barrier_us(1);
  MPI_Bcast(&seen, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int samples = seen > SLOW_US ? SAMPLES_SLOW : SAMPLES;
  const int n = seen > SAMPLE_US ? 1 : seen * CALLS < SAMPLE_US ? CALLS : (int)(SAMPLE_US / seen);
  for (int s = 0; s < samples; s++) {
    if (n > 1) MPI_Barrier(MPI_COMM_WORLD);
    us[s] = barrier_us(n);
  }
  qsort(us, (size_t)samples, sizeof *us, compare);
  if (rank == 0) printf("barrier 0 %.4f %.4f %.4f\n", us[samples / 2], us[0], us[samples - 1]);
  MPI_Finalize();
  return 0;
}
