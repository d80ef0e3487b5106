/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank of Cholesky computes by itself: it solves for its rows of a block column, and
 * subtracts the product of a panel from its block columns.
 *
 * Owns: struct cholesky_panel. Called by cholesky.c and cholesky.upc. Calls: problem.h, CBLAS.
 * Invariants: rows and columns behind the matrix, which fill its last blocks, are not computed; of
 * a diagonal block, only the lower half is.
 */
#ifndef TMB_BENCH_CHOLESKY_LOCAL_H
#define TMB_BENCH_CHOLESKY_LOCAL_H

#include "apps/cholesky/problem.h"

/* What a rank has of a panel: its own rows, from local row `first` on, as one matrix; and the
 * blocks of other rows that its block columns need, transposed: that of block column j begins at
 * number j / q * nb * nb. */
struct cholesky_panel {
  const double *rows, *tiles;
  long first, ld; /* local row, numbers from column to column */
};

/* First local row of block i or of the next one that is here. */
long cholesky_first_row(const struct cholesky_part *t, long i);

/* Copy a block of nb x nb numbers to where it is contiguous, transposed.
 * in from: its columns are `ld` numbers apart; out to: [nb][nb]. */
void cholesky_transpose(long nb, const double *from, long ld, double *to);

/* The rows of block column k below its diagonal block, solved for the factor of that block.
 * in diagonal: [nb][nb] its lower half. */
void cholesky_solve(const struct cholesky_part *t, long k, const double *diagonal);

/* Subtract panel times panel, transposed, from this rank's block columns `from` to `to` - 1. */
void cholesky_update(const struct cholesky_part *t, const struct cholesky_panel *panel, long from,
                     long to);

#endif
