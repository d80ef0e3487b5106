/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round trips by put with signal, for benchmarks.
 *
 * Owns: the number of turns so far. Included by tombolo-bench-*.c. Calls: the public API.
 * Invariant: both ranks call alike, so that the number of turns is equal on both.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include "lib/bench.h"

#include <gasnetex_ext.h>

/* Offsets in the segment: destination of a put, its source, the signal. */
struct signal_places {
  size_t to, from, signal;
};

/* n times there and back: each rank puts when it has seen the other's signal. Returns ns of one. */
static inline double signal_rtt(struct bench *b, size_t n, size_t bytes, struct signal_places at) {
  static uint64_t turns;
  uint64_t start = 0;
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    if (i == BENCH_WARM_OPS) start = bench_now_ns();
    turns++;
    for (uint32_t side = 0; side < 2; side++) {
      if (side == b->rank)
        gexx_RMA_PutSignalNBI(b->tm, b->peer, b->theirs_at + at.to, b->mine + at.from, bytes,
                              GEX_EVENT_DEFER, (uint64_t *)(void *)(b->theirs_at + at.signal),
                              GEXX_SIG_SET, turns, 0);
      else
        (void)gexx_Signal_Wait((uint64_t *)(void *)(b->mine + at.signal), GEXX_SIG_EQ, turns);
    }
  }
  const uint64_t end = bench_now_ns();
  gex_NBI_Wait(GEX_EC_PUT, 0);
  return (double)(end - start) / (double)n;
}

#endif
