/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The problem of matmul, see problem.h.
 *
 * Owns nothing. Called by matmul.c and matmul.upc. Calls: bench/lib, CBLAS. Invariant: nothing here
 * knows how panels travel, so that all programs verify alike.
 */
#include "apps/matmul/problem.h"

#include "lib/blocks.h"
#include "lib/dense.h"

#include <math.h>

enum { SAMPLES = 16 };

void matmul_shape(struct matmul_shape *s, const struct job *job, const long *numbers) {
  *s = (struct matmul_shape){.m = numbers[0], .n = numbers[0], .k = numbers[0], .nb = numbers[1]};
  if (numbers[2]) s->n = numbers[2];
  if (numbers[3]) s->k = numbers[3];
  const long longest = s->m > s->n ? s->m : s->n, all = longest > s->k ? longest : s->k;
  if (s->nb > all) s->nb = all; /* one block holds everything */
  blocks_grid(job->size, &s->p, &s->q);
  s->row = job->rank / s->q;
  s->col = job->rank % s->q;
  s->mp = blocks_local(s->m, s->nb, s->row, s->p);
  s->nq = blocks_local(s->n, s->nb, s->col, s->q);
  s->kp = blocks_local(s->k, s->nb, s->row, s->p);
  s->kq = blocks_local(s->k, s->nb, s->col, s->q);
}

long matmul_blocks(const struct matmul_shape *s) {
  return (s->k + s->nb - 1) / s->nb;
}

long matmul_width(const struct matmul_shape *s, long block) {
  const long left = s->k - block * s->nb;
  return left < s->nb ? left : s->nb;
}

double matmul_deviation(const struct matmul_shape *s, const double *c) {
  double worst = 0;
  for (long x = 0; x < SAMPLES && s->mp && s->nq; x++) {
    const long i = x * (s->mp - 1) / (SAMPLES - 1),
               j = (x * 7 % SAMPLES) * (s->nq - 1) / (SAMPLES - 1);
    const uint64_t gi = (uint64_t)blocks_global(i, s->nb, s->row, s->p);
    const uint64_t gj = (uint64_t)blocks_global(j, s->nb, s->col, s->q);
    double sum = 0;
    for (long l = 0; l < s->k; l++)
      sum += blocks_value(gi, (uint64_t)l, MATMUL_A) * blocks_value((uint64_t)l, gj, MATMUL_B);
    worst = fmax(worst, fabs(sum - c[j * s->mp + i]) / (double)s->k);
  }
  return worst;
}

double matmul_calibrate(struct job *job) {
  return dense_rate(job);
}
