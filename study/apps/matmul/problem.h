/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The problem of matmul: shape, values, verification, and the rate without communication.
 *
 * Owns: struct matmul_shape. Called by matmul.c and matmul.upc, which differ in how panels travel.
 * Calls: bench/lib, CBLAS. C = A B, C of m x n, A of m x k, block-cyclic as in lib/blocks.h; A and
 * B have the values of blocks_value with the seeds MATMUL_A and MATMUL_B. Invariant: every rank has
 * the same m, n, k, nb and grid.
 */
#ifndef TMB_BENCH_MATMUL_PROBLEM_H
#define TMB_BENCH_MATMUL_PROBLEM_H

#include "lib/links.h"

enum { MATMUL_A = 1, MATMUL_B = 2 };

struct matmul_shape {
  long m, n, k, nb;
  int p, q, row, col; /* grid of ranks, and this rank in it */
  long mp, nq;        /* local rows of A and C, local columns of B and C */
  long kp, kq;        /* local rows of B, local columns of A */
};

/* The shape on this rank. in numbers: [4] m, block, n, k as the options have them; 0: as m. */
void matmul_shape(struct matmul_shape *s, const struct job *job, const long *numbers);

/* Blocks of k, and how many of k a block has: columns of a panel of A, rows of one of B. */
long matmul_blocks(const struct matmul_shape *s);
long matmul_width(const struct matmul_shape *s, long block);

/* Largest deviation of some elements of C from their sums, over k. in c: [nq][mp]. */
double matmul_deviation(const struct matmul_shape *s, const double *c);

/* Flop/s of a product without communication, on the processors that the ranks have (lib/dense.h).
 * Collective. */
double matmul_calibrate(struct job *job);

#endif
