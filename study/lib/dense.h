/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rate of a dense computation without communication: that of dgemm.
 *
 * Owns nothing. Called by study/apps/matmul and cholesky, which link with OpenBLAS. Calls: app.h,
 * links.h, CBLAS. Invariant: the rate is one of processor time, so that ranks that share a
 * processor, and other programs, do not change it.
 */
#ifndef TMB_BENCH_DENSE_H
#define TMB_BENCH_DENSE_H

#include "lib/app.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DENSE_SIDE = 768, DENSE_TIMES = 4 };

static inline double dense_processor_time(void) {
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Flop/s of dgemm on all processors that the ranks have: of each rank its best of some products,
 * and of ranks that share the processors of a host their part. Collective. */
static inline double dense_rate(struct job *job) {
  const int n = DENSE_SIDE;
  double *const x = calloc((size_t)3 * n * n, sizeof(double));
  if (!x) job_refuse(job, "out of memory for the calibration (%d x %d)", n, n);
  double best = 0;
  for (int i = 0; i < DENSE_TIMES; i++) {
    job_barrier(job);
    const double begin = dense_processor_time();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, x, n, x + n * n, n, 1.0,
                x + 2 * n * n, n);
    const double rate = 2.0 * n * n * n / (dense_processor_time() - begin);
    if (rate > best) best = rate;
  }
  free(x);
  const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN), ranks = job_neighbours();
  return job_sum(job, ranks > processors ? best * processors / ranks : best);
}

/* Say on rank 0 which kernel of OpenBLAS computes, and its rate, where people read. */
static inline void dense_say(const struct job *job, const struct app_options *o, double rate) {
  if (job->rank || o->json) return;
  printf("OpenBLAS, kernel %s: dgemm alone %.1f GFlop/s\n", openblas_get_corename(), 1e-9 * rate);
}

#endif
