/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NAS FT by FFTW's own transform over MPI: a peer of study/apps/ft.
 *
 * Owns nothing. Compiled by study/compare/net.py with problem.c and layout.c of study/apps/ft and
 * the mpicc of the MPI that Debian's libfftw3-mpi uses (Open MPI). Planes of z on each rank, the
 * spectrum left transposed. Usage: ft_fftw_mpi CLASS; rank 0 prints one line: seconds, and VERIFIED
 * or FAILED. As in ft the plans are not timed, and a transform before the timed part warms up.
 */
#include "apps/ft/layout.h"
#include "apps/ft/problem.h"

#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE       1e-12
#define CHECKSUM_POINTS 1024

struct ft {
  const struct ft_class *class;
  struct ft_layout layout;
  ptrdiff_t ny, y0; /* of the transposed spectrum [ny][nz][nx] */
  struct cplx *spectrum, *work;
  double *decay[3];
  fftw_plan forward, inverse;
};

static _Noreturn void refuse(const char *problem) {
  fprintf(stderr, "ft_fftw_mpi: %s\n", problem);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static fftw_complex *as_fftw(struct cplx *p) {
  return (fftw_complex *)(void *)p;
}

static void set_up(struct ft *t) {
  const int *const n = t->layout.n;
  ptrdiff_t nz, z0;
  const ptrdiff_t room =
      fftw_mpi_local_size_3d_transposed(n[2], n[1], n[0], MPI_COMM_WORLD, &nz, &z0, &t->ny, &t->y0);
  if (nz != t->layout.nz || z0 != t->layout.z0) refuse("the number of ranks does not divide z");
  t->spectrum = fftw_malloc((size_t)room * sizeof *t->spectrum);
  t->work = fftw_malloc((size_t)room * sizeof *t->work);
  if (!t->spectrum || !t->work) refuse("out of memory");
  for (int d = 0; d < 3; d++) {
    double *const table = malloc((size_t)n[d] * sizeof *table);
    if (!table) refuse("out of memory");
    t->decay[d] = table;
  }
  t->forward =
      fftw_mpi_plan_dft_3d(n[2], n[1], n[0], as_fftw(t->spectrum), as_fftw(t->spectrum),
                           MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
  t->inverse =
      fftw_mpi_plan_dft_3d(n[2], n[1], n[0], as_fftw(t->work), as_fftw(t->work), MPI_COMM_WORLD,
                           FFTW_BACKWARD, FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
  if (!t->forward || !t->inverse) refuse("FFTW makes no plan");
}

/* The spectrum at time `time` into `work`. */
static void evolve(struct ft *t, int time) {
  const int *const n = t->layout.n;
  ft_decay_table(t->decay[0], 0, n[0], n[0], time, 1.0);
  ft_decay_table(t->decay[1], (int)t->y0, (int)t->ny, n[1], time, 1.0);
  ft_decay_table(t->decay[2], 0, n[2], n[2], time, 1.0 / ft_class_points(t->class));
  for (ptrdiff_t y = 0; y < t->ny; y++)
    for (int z = 0; z < n[2]; z++) {
      const double factor = t->decay[1][y] * t->decay[2][z];
      const size_t line = ((size_t)y * (size_t)n[2] + (size_t)z) * (size_t)n[0];
      for (int x = 0; x < n[0]; x++) {
        const double f = factor * t->decay[0][x];
        t->work[line + (size_t)x].re = t->spectrum[line + (size_t)x].re * f;
        t->work[line + (size_t)x].im = t->spectrum[line + (size_t)x].im * f;
      }
    }
}

static struct cplx checksum(const struct ft *t) {
  const int *const n = t->layout.n;
  struct cplx mine = {0, 0}, sum;
  for (int j = 1; j <= CHECKSUM_POINTS; j++) {
    const int x = j % n[0], y = 3 * j % n[1], z = 5 * j % n[2] - t->layout.z0;
    if (z < 0 || z >= t->layout.nz) continue;
    const struct cplx *const u =
        t->work + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + x;
    mine.re += u->re;
    mine.im += u->im;
  }
  MPI_Allreduce(&mine, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* All iterations. Returns whether the checksums are right. */
static int iterate(struct ft *t) {
  int good = 1;
  ft_initial_data(t->spectrum, &t->layout);
  fftw_execute(t->forward);
  for (int i = 1; i <= t->class->iterations; i++) {
    evolve(t, i);
    fftw_execute(t->inverse);
    const struct cplx sum = checksum(t);
    if (i > t->class->references) continue;
    const struct cplx right = t->class->sums[i - 1];
    if (!(fabs(sum.re - right.re) <= TOLERANCE * fabs(right.re))) good = 0;
    if (!(fabs(sum.im - right.im) <= TOLERANCE * fabs(right.im))) good = 0;
  }
  return good;
}

int main(int argc, char **argv) {
  static struct ft t;
  char reason[256];
  int rank, size;
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  t.class = argc == 2 ? ft_class_find(argv[1][0]) : NULL;
  if (!t.class) refuse("usage: ft_fftw_mpi CLASS");
  if (!ft_layout_possible(t.class, 1, size, size, reason, sizeof reason)) refuse(reason);
  ft_layout_init(&t.layout, t.class, 1, size, rank);
  set_up(&t);
  fftw_execute(t.forward); /* of whatever lies there: memory and connections are ready then */
  fftw_execute(t.inverse);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const int good = iterate(&t);
  const double seconds = MPI_Wtime() - start;
  if (rank == 0) printf("%.6f %s\n", seconds, good ? "VERIFIED" : "FAILED");
  MPI_Finalize();
  return good ? 0 : 1;
}
