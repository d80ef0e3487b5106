/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a round trip between ranks 0 and 1 while every other rank waits in a barrier.
 *
 * Owns: the oversubscribed row. Called by: `tombolo bench oversubscribed`, which runs it by turns
 * with two ranks and with more ranks than processors, and divides. Calls: bench/lib, the public
 * API. The reported floor is the hand-off between the two measuring ranks in the same job.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#define WARM_TRIPS 20000

enum handler { H_ASK = 200, H_ANSWER };

static volatile uint64_t arrived, replies;

static void on_ask(gex_Token_t token) {
  arrived++;
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void on_answer(gex_Token_t token) {
  (void)token;
  replies++;
}

static double short_rtt(struct bench *b, size_t n, size_t bytes) {
  static uint64_t expected;
  uint64_t start = 0;
  (void)bytes;
  expected += n + BENCH_WARM_OPS;
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(arrived == expected);
    return 0;
  }
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    const uint64_t next = replies + 1;
    if (i == BENCH_WARM_OPS) start = bench_now_ns();
    gex_AM_RequestShort(b->tm, b->peer, H_ASK, 0);
    GASNET_BLOCKUNTIL(replies == next);
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t handlers[] = {
      {H_ASK, on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {H_ANSWER, on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
  };
  bench_start(&b, "oversubscribed", &argc, &argv);
  bench_attach(&b, handlers, 2, 4096);
  if (b.rank < 2) {
    floor_rest();
    floor_rest();
    short_rtt(&b, WARM_TRIPS, 0);
  }
  const struct bench_row row = {.group = "oversubscribed",
                                .name = "short_rtt",
                                .floor_name = "handoff",
                                .figure = short_rtt,
                                .floor = b.size == 2 ? floor_handoff : NULL};
  bench_measure(&b, &row);
  bench_finish(&b);
}
