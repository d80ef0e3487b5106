/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a round trip between ranks 0 and 1 while every other rank waits in a barrier.
 *
 * Owns: the oversubscribed row. Called by: `tombolo bench oversubscribed`, which runs it by turns
 * with two ranks and with more ranks than processors, and divides. Calls: bench/lib, the public
 * API. The reported floor is the hand-off between the two measuring ranks in the same job.
 */
#include "lib/asks.h"
#include "lib/bench.h"
#include "lib/floors.h"

#define WARM_TRIPS 20000

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t handlers[] = {
      ECHO_ENTRIES,
  };
  bench_start(&b, "oversubscribed", &argc, &argv);
  bench_attach(&b, handlers, 2, 4096);
  if (b.rank < 2) {
    floor_rest();
    floor_rest();
    asks_rtt(&b, WARM_TRIPS, 0);
  }
  const struct bench_row row = {.group = "oversubscribed",
                                .name = "short_rtt",
                                .floor_name = "handoff",
                                .figure = asks_rtt,
                                .floor = b.size == 2 ? floor_handoff : NULL};
  bench_measure(&b, &row);
  bench_finish(&b);
}
