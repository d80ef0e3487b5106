/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an MPI library, for study/compare/forms.py: its barrier, or with the argument
 * "all" broadcast, all-reduce (sum of doubles) and all-to-all (a block to each rank) by size.
 *
 * Owns: nothing. Compiled by forms.py with the mpicc of each MPI; not part of the build. Calls:
 * MPI. Prints "NAME BYTES MEDIAN LEAST MOST" of SAMPLES samples, in microseconds; sizes are those
 * of forms_gex.c. A sample has as many calls as fill SAMPLE_US by the first one, at most CALLS.
 * Where one takes longer than SLOW_US (a peer that spins on more ranks than processors) few samples
 * of one must do, and one sample where it takes longer than ONCE_US.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "written.h"

enum { SAMPLES = 7, SAMPLES_SLOW = 3, CALLS = 200, BYTES_MAX = 65536 };
enum { BARRIER, BROADCAST, ALLREDUCE, EXCHANGE, KINDS };

#define SAMPLE_US 50000.0
#define SLOW_US   50000.0
#define ONCE_US   400000.0

static char *in, *out; /* [size][BYTES_MAX] */

static void run(int kind, int bytes) {
  const MPI_Comm all = MPI_COMM_WORLD;
  if (kind == BARRIER)
    MPI_Barrier(all);
  else if (kind == BROADCAST)
    MPI_Bcast(in, bytes, MPI_BYTE, 0, all);
  else if (kind == ALLREDUCE)
    MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, all);
  else
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, all);
}

static double run_us(int kind, int bytes, int calls) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; i++) run(kind, bytes);
  return 1e6 * (MPI_Wtime() - begin) / calls;
}

static void row(int kind, int bytes, int rank) {
  static const char *const name[KINDS] = {"barrier", "broadcast", "allreduce", "exchange"};
  double us[SAMPLES];
  (void)run_us(kind, bytes, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  double seen = run_us(kind, bytes, 1);
  MPI_Bcast(&seen, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int samples = seen > ONCE_US ? 1 : seen > SLOW_US ? SAMPLES_SLOW : SAMPLES;
  const int n = seen > SAMPLE_US ? 1 : seen * CALLS < SAMPLE_US ? CALLS : (int)(SAMPLE_US / seen);
  for (int s = 0; s < samples; s++) {
    if (n > 1 || kind != BARRIER) MPI_Barrier(MPI_COMM_WORLD);
    us[s] = run_us(kind, bytes, n);
  }
  qsort(us, (size_t)samples, sizeof *us, by_value);
  if (rank) return;
  printf("%s %d %.4f %.4f %.4f\n", name[kind], bytes, us[samples / 2], us[0], us[samples - 1]);
  fflush(stdout); /* a run may be cut off */
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = written((size_t)size * BYTES_MAX);
  out = written((size_t)size * BYTES_MAX);
  if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    for (int kind = BROADCAST; kind < KINDS; kind++)
      for (int bytes = 8; bytes <= BYTES_MAX; bytes *= bytes == 8 ? 128 : 8) row(kind, bytes, rank);
  } else {
    row(BARRIER, 0, rank);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
