/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The problem of Cholesky: the matrix and the verification of its factor.
 *
 * Owns: struct cholesky_part. Called by cholesky.c and cholesky.upc, which differ in how panels
 * travel. Calls: bench/lib, OpenBLAS, the public API. The matrix is symmetric, extended to whole
 * blocks by a unit diagonal, block-cyclic as in lib/blocks.h. Invariant: a rank keeps each of its
 * block columns as one column-major matrix of all its local rows.
 */
#ifndef TMB_BENCH_CHOLESKY_PROBLEM_H
#define TMB_BENCH_CHOLESKY_PROBLEM_H

#include "lib/links.h"

struct cholesky_part {
  long n;             /* of the matrix as given */
  long nb, blocks;    /* block size; blocks a side */
  long rows;          /* local rows, in whole blocks */
  int p, q, row, col; /* grid of ranks, and this rank in it */
  double *a;          /* [local block columns][nb][rows] */
};

/* The local block column of block column j, at its first local row. */
double *cholesky_column(const struct cholesky_part *t, long j);

/* Write this rank's part of A. */
void cholesky_fill(const struct cholesky_part *t);

/* Whether |L (L^T x) - A x| over |A| |x| is small, for a given x, L being what the part has;
 * collective. */
bool cholesky_verify(struct job *job, const struct cholesky_part *t);

/* Flop/s of dgemm alone, on the processors that the ranks have (lib/dense.h); collective. */
double cholesky_calibrate(struct job *job);

#endif
