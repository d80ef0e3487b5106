/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a measuring program: a clock, the order of samples, and the processor time of a rank.
 *
 * Owns nothing. Included by the loops and programs of study/compare that measure by themselves.
 * Calls the kernel. No program here needs more than libc for it, because the compiler drivers of
 * each peer compile it, too. Invariant: the clock never goes back.
 */
#ifndef TMB_COMPARE_CLOCK_H
#define TMB_COMPARE_CLOCK_H

#include <time.h>

/* Microseconds of a monotonic clock. */
static inline double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* For qsort: doubles, the least first. */
static inline int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#endif
