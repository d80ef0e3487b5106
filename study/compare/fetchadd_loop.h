/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many fetch-and-adds all ranks do in a second: the loop of every side of fetchadd.py.
 *
 * Owns: time and output. Included by fetchadd_gex.c and fetchadd_mpi.c, which define fadd_one.
 * Words are 64 bits and start at 0. "hot": all ranks add to the word of rank 0; "spread": each adds
 * to the word of its right neighbour. A line "KIND TOTAL SECONDS": the seconds go from before the
 * barrier at the begin to after that at the end, so that no rank adds outside them. Invariant: the
 * word that a rank has added to alone is its own count, which is checked; the hot one is the sum.
 */
#ifndef TMB_COMPARE_FETCHADD_LOOP_H
#define TMB_COMPARE_FETCHADD_LOOP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FADD_SECONDS 0.15
#define FADD_BATCH   16

static double fadd_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t fadd_one(int rank); /* one fetch-and-add of 1 on the word of this rank */

/* Adds for a while. Returns how often. */
static uint64_t fadd_run(int target) {
  const double begin = fadd_now();
  uint64_t n = 0, last = 0;
  do {
    for (int i = 0; i < FADD_BATCH; i++) {
      const uint64_t old = fadd_one(target);
      if (n + (uint64_t)i > 0 && old <= last) exit(1); /* it has grown since */
      last = old;
    }
    n += FADD_BATCH;
  } while (fadd_now() - begin < FADD_SECONDS);
  return n;
}

#endif
