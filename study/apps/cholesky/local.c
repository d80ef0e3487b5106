/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation of one rank of Cholesky, see local.h.
 *
 * Owns nothing. Called by cholesky.c and cholesky.upc. Calls: problem.h, CBLAS. On a grid with as
 * many rows as columns, all that multiplies this rank's block columns lies side by side, so that
 * one dgemm serves several of them: OpenBLAS packs the panel once for each dgemm. A solution by
 * parts of few columns is faster than one call.
 */
#include "apps/cholesky/local.h"

#include "lib/blocks.h"

#include <cblas.h>

enum { GROUP = 4 /* block columns */, PART = 32 /* columns */, TURN = 8 /* numbers of a line */ };

static long least(long a, long b) {
  return a < b ? a : b;
}

long cholesky_first_row(const struct cholesky_part *t, long i) {
  return blocks_local(i, 1, t->row, t->p) * t->nb;
}

/* Local rows that lie in the matrix. */
static long cholesky_rows(const struct cholesky_part *t) {
  return blocks_local(t->n, t->nb, t->row, t->p);
}

void cholesky_transpose(long nb, const double *from, long ld, double *to) {
  for (long c = 0; c < nb; c += TURN)
    for (long r = 0; r < nb; r += TURN)
      for (long i = r; i < least(r + TURN, nb); i++)
        for (long j = c; j < least(c + TURN, nb); j++) to[i * nb + j] = from[j * ld + i];
}

void cholesky_solve(const struct cholesky_part *t, long k, const double *diagonal) {
  const long first = cholesky_first_row(t, k + 1), count = cholesky_rows(t) - first;
  double *const x = cholesky_column(t, k) + first;
  for (long c = 0; c < t->nb && count > 0; c += PART) {
    const int width = (int)least(PART, t->nb - c);
    if (c)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)count, width, (int)c, -1.0, x,
                  (int)t->rows, diagonal + c, (int)t->nb, 1.0, x + c * t->rows, (int)t->rows);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)count, width,
                1.0, diagonal + c * t->nb + c, (int)t->nb, x + c * t->rows, (int)t->rows);
  }
}

/* Columns of block columns `j` to `end` - 1 that are here and lie in the matrix. */
static long width_of(const struct cholesky_part *t, long j, long end) {
  return blocks_local(least(end * t->nb, t->n), t->nb, t->col, t->q) -
         blocks_local(j * t->nb, t->nb, t->col, t->q);
}

/* Local rows `low` to `high` - 1 of this rank's block columns j to `end` - 1; j is one of them. */
static void subtract(const struct cholesky_part *t, const struct cholesky_panel *panel, long j,
                     long end, long low, long high) {
  const bool own = j % t->p == t->row;
  const double *const right = own ? panel->rows + (cholesky_first_row(t, j) - panel->first)
                                  : panel->tiles + j / t->q * t->nb * t->nb;
  if (high <= low) return;
  cblas_dgemm(CblasColMajor, CblasNoTrans, own ? CblasTrans : CblasNoTrans, (int)(high - low),
              (int)width_of(t, j, end), (int)t->nb, -1.0, panel->rows + (low - panel->first),
              (int)panel->ld, right, (int)(own ? panel->ld : t->nb), 1.0,
              cholesky_column(t, j) + low, (int)t->rows);
}

/* The diagonal block of block column j, where it is this rank's. */
static void subtract_diagonal(const struct cholesky_part *t, const struct cholesky_panel *panel,
                              long j) {
  const long first = cholesky_first_row(t, j);
  if (j % t->p != t->row) return;
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)least(t->nb, t->n - j * t->nb),
              (int)t->nb, -1.0, panel->rows + (first - panel->first), (int)panel->ld, 1.0,
              cholesky_column(t, j) + first, (int)t->rows);
}

void cholesky_update(const struct cholesky_part *t, const struct cholesky_panel *panel, long from,
                     long to) {
  const long group = (t->p == t->q ? GROUP : 1) * t->q, rows = cholesky_rows(t);
  long j = from + (t->col - from % t->q + t->q) % t->q; /* the first one that is here */
  for (long end; j < to; j += group) {
    end = least(j + group, to);
    const long last = j + (end - 1 - j) / t->q * t->q;
    const long below = least(cholesky_first_row(t, last + 1), rows);
    for (long one = j; one < end; one += t->q) {
      subtract_diagonal(t, panel, one);
      subtract(t, panel, one, one + 1, cholesky_first_row(t, one + 1), below);
    }
    subtract(t, panel, j, end, below, rows);
  }
}
