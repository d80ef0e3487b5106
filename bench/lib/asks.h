/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short questions that rank 1 answers, for benchmarks: handlers and a round trip.
 *
 * Owns: the counters of questions and answers. Included by tombolo-bench-*.c. Calls: the public
 * API. A benchmark puts ASKS_ENTRIES first in its handler table. Invariant: asks_expected is the
 * same on both ranks between two samples.
 */
#ifndef BENCH_ASKS_H
#define BENCH_ASKS_H

#include "lib/bench.h"

enum { H_ASK = 200, H_ANSWER, H_ASKS_END };

static volatile uint64_t asks_arrived, asks_answers;
static uint64_t asks_expected; /* value of asks_arrived on rank 1 after the current sample */

static void asks_on_ask(gex_Token_t token) {
  asks_arrived++;
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void asks_on_answer(gex_Token_t token) {
  (void)token;
  asks_answers++;
}

#define ASKS_ENTRIES                                                                 \
 {H_ASK, asks_on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"}, {    \
  H_ANSWER, asks_on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer" \
 }

/* n questions of rank 0, one after the other. Returns ns of one; 0 on rank 1. */
static inline double asks_rtt(struct bench *b, size_t n, size_t bytes) {
  uint64_t start = 0;
  (void)bytes;
  asks_expected += n + BENCH_WARM_OPS;
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(asks_arrived == asks_expected);
    return 0;
  }
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    const uint64_t next = asks_answers + 1;
    if (i == BENCH_WARM_OPS) start = bench_now_ns();
    gex_AM_RequestShort(b->tm, b->peer, H_ASK, 0);
    GASNET_BLOCKUNTIL(asks_answers == next);
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

#endif
