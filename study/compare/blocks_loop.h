/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long exchanges between hosts by processor time: the loop of blocks_gex.c and blocks_mpi.c.
 *
 * Owns: the samples. Included by the two, which define struct side's functions. Calls: spent.h. A
 * line "exchange BYTES MEDIAN" is the processor time of all ranks for one exchange, in
 * microseconds: where ranks outnumber processors it is what other work could have had.
 */
#ifndef TMB_COMPARE_BLOCKS_LOOP_H
#define TMB_COMPARE_BLOCKS_LOOP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "spent.h"

enum { BLOCK_MAX = 1 << 20, SAMPLES = 5, TURNS = 6 };

struct side {
  void (*exchange)(char *dst, const char *src, size_t bytes);
  void (*barrier)(void);
  double (*sum)(double mine); /* over all ranks */
  int rank, size;
};

static double sample(const struct side *s, char *dst, const char *src, size_t bytes) {
  s->barrier();
  const double begun = spent_so_far().seconds;
  for (int i = 0; i < TURNS; i++) s->exchange(dst, src, bytes);
  s->barrier();
  return 1e6 * s->sum(spent_so_far().seconds - begun) / TURNS;
}

/* in dst, src: memory of size * BLOCK_MAX bytes. */
static void blocks(const struct side *s, char *dst, char *src) {
  memset(src, 1, (size_t)s->size * BLOCK_MAX); /* its pages are there */
  memset(dst, 1, (size_t)s->size * BLOCK_MAX);
  for (size_t bytes = 256 << 10; bytes <= BLOCK_MAX; bytes *= 4) {
    double us[SAMPLES];
    (void)sample(s, dst, src, bytes);
    for (int i = 0; i < SAMPLES; i++) us[i] = sample(s, dst, src, bytes);
    qsort(us, SAMPLES, sizeof *us, by_value);
    if (s->rank == 0) printf("exchange %zu %.1f\n", bytes, us[SAMPLES / 2]);
  }
}

#endif
