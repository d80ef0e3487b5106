/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The problem of Cholesky, see problem.h.
 *
 * Owns nothing. Called by cholesky.c and cholesky.upc. Calls: bench/lib, OpenBLAS, the public API.
 * Invariant: nothing here knows how panels travel, so that all programs verify alike.
 */
#include "apps/cholesky/problem.h"

#include "lib/blocks.h"
#include "lib/dense.h"
#include "lib/links_gex.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { SEED = 3 };

static double element(long n, long i, long j) {
  if (i >= n || j >= n) return i == j ? 1 : 0;
  const double value = blocks_value((uint64_t)(i > j ? i : j), (uint64_t)(i > j ? j : i), SEED);
  return i == j ? (double)n + value : value;
}

double *cholesky_column(const struct cholesky_part *t, long j) {
  return t->a + j / t->q * t->nb * t->rows;
}

void cholesky_fill(const struct cholesky_part *t) {
  for (long j = t->col; j < t->blocks; j += t->q)
    for (long c = 0; c < t->nb; c++)
      for (long r = 0; r < t->rows; r++)
        cholesky_column(t, j)[c * t->rows + r] =
            element(t->n, blocks_global(r, t->nb, t->row, t->p), j * t->nb + c);
}

/* y += or z += this rank's part of L x or L^T x. */
static void apply(const struct cholesky_part *t, bool transposed, const double *x, double *y) {
  for (long j = t->col; j < t->blocks; j += t->q)
    for (long c = 0; c < t->nb; c++)
      for (long r = 0; r < t->rows; r++) {
        const long gi = blocks_global(r, t->nb, t->row, t->p), gj = j * t->nb + c;
        const double value = cholesky_column(t, j)[c * t->rows + r];
        if (gi >= gj) y[transposed ? gj : gi] += value * x[transposed ? gi : gj];
      }
}

/* Sum a vector over all ranks, in place. */
static void sum(double *vector, long n) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job_team(), vector, vector, GEX_DT_DBL, sizeof *vector,
                                        (size_t)n, GEX_OP_ADD, NULL, NULL, 0));
}

/* Residual of the solution. The rounding error of a sum of n terms grows by the root of n, with
 * every variant and number of ranks alike. */
static double residual(struct job *job, const struct cholesky_part *t) {
  const long n = t->blocks * t->nb;
  double *const x = calloc((size_t)(4 * n), sizeof(double));
  if (!x) job_refuse(job, "out of memory for vectors of %ld", n);
  double *const z = x + n, *const y = z + n, *const b = y + n;
  double worst = 0;
  for (long i = 0; i < n; i++) x[i] = blocks_value((uint64_t)i, 0, SEED + 1);
  apply(t, true, x, z);
  sum(z, n);
  apply(t, false, z, y);
  sum(y, n);
  for (long i = job->rank; i < n; i += job->size)
    for (long j = 0; j < n; j++) b[i] += element(t->n, i, j) * x[j];
  for (long i = job->rank; i < n; i += job->size) worst = fmax(worst, fabs(y[i] - b[i]));
  free(x);
  return job_max(job, worst) / (2.0 * (double)t->n);
}

bool cholesky_verify(struct job *job, const struct cholesky_part *t) {
  return residual(job, t) < fmax(32, sqrt((double)t->n)) * DBL_EPSILON;
}

double cholesky_calibrate(struct job *job) {
  return dense_rate(job);
}
