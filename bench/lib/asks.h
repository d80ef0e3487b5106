/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short questions that rank 1 answers, for benchmarks: a round trip.
 *
 * Owns: the number of questions that are expected. Included by tombolo-bench-*.c. Calls: the public
 * API. A benchmark puts ECHO_ENTRIES first in its handler table. Invariant: asks_expected is equal
 * on both ranks between two samples.
 */
#ifndef BENCH_ASKS_H
#define BENCH_ASKS_H

#include "lib/bench.h"
#include "lib/echo.h"

static uint64_t asks_expected; /* value of asked on rank 1 after the current sample */

/* n questions of rank 0, one after the other. Returns ns of one; 0 on rank 1. */
static inline double asks_rtt(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  asks_expected += n + BENCH_WARM_OPS;
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(asked == asks_expected);
    return 0;
  }
  BENCH_TIMED_WARM(n, const uint64_t next = answered + 1;
                   gex_AM_RequestShort(b->tm, b->peer, H_ASK, 0);
                   GASNET_BLOCKUNTIL(answered == next));
}

#endif
