/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Block-cyclic matrices over a P x Q grid of ranks, as dense linear algebra uses them.
 *
 * Owns nothing. Called by study/apps/matmul and its peers in study/compare. Calls nothing. A matrix
 * of rows x columns is cut into blocks of nb x nb; block (i, j) lies on rank (i mod P, j mod Q),
 * rank (p, q) of the grid being rank p * Q + q of the job (row-major). A rank keeps its blocks as
 * one column-major matrix of local rows x local columns. ScaLAPACK's layout with source rank 0.
 */
#ifndef TMB_BENCH_BLOCKS_H
#define TMB_BENCH_BLOCKS_H

#include <stdint.h>

/* Elements of `n` that coordinate `me` of `ranks` keeps, in blocks of nb. */
static inline long blocks_local(long n, long nb, int me, int ranks) {
  const long full = n / nb, mine = full / ranks + (me < full % ranks ? 1 : 0);
  return mine * nb + (me == full % ranks ? n % nb : 0);
}

/* Global index of local index `l` at coordinate `me`. */
static inline long blocks_global(long l, long nb, int me, int ranks) {
  return (l / nb * ranks + me) * nb + l % nb;
}

/* Element (i, j) of a test matrix: a value in [-1, 1) that depends on i, j and `seed` only. */
static inline double blocks_value(uint64_t i, uint64_t j, uint64_t seed) {
  uint64_t x = (i * UINT64_C(0x9e3779b97f4a7c15)) ^ (j * UINT64_C(0xc2b2ae3d27d4eb4f)) ^ seed;
  x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64's finaliser */
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)(int64_t)(x ^ (x >> 31)) * 0x1p-63;
}

/* The grid for `size` ranks that is nearest to square, P <= Q. */
static inline void blocks_grid(int size, int *p, int *q) {
  *p = 1;
  for (int d = 1; (long)d * d <= size; d++)
    if (size % d == 0) *p = d;
  *q = size / *p;
}

#endif
