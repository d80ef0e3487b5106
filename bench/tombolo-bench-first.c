/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the first milliseconds of a job: round trips of short messages right after the start,
 * beside later ones, when the kernel and the waits have settled.
 *
 * Owns: nothing. Called by bench/first.py, which starts it again and again. Calls: the public API,
 * gasnett_ticks. Ranks 2k and 2k + 1 are a pair. Prints one line a pair: mean nanoseconds of a
 * round trip, of chunk after chunk of CHUNK of them since the attachment, then of one long chunk
 * after a pause of SETTLE_TRIPS. Invariant: nothing happens between the attachment and the first
 * trip.
 */
#include <gasnet_tools.h>
#include <gasnetex.h>
#include <stdio.h>

#include "lib/echo.h"
#include "lib/usage.h"

enum { CHUNK = 1000, CHUNKS = 20, SETTLE_TRIPS = 200000 };

/* Mean time of n round trips from the lower rank of a pair to the upper. */
static double trips(gex_TM_t tm, gex_Rank_t peer, uint64_t n) {
  const gasnett_tick_t from = gasnett_ticks_now();
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t next = answered + 1;
    gex_AM_RequestShort(tm, peer, H_ASK, 0);
    GASNET_BLOCKUNTIL(answered == next);
  }
  return (double)gasnett_ticks_to_ns(gasnett_ticks_now() - from) / (double)n;
}

static const char usage[] = "Usage: tombolo run -n RANKS tombolo-bench-first\n"
                            "Measure round trips of short messages right after the start of a job, "
                            "and later, between ranks\n"
                            "2k and 2k + 1. bench/first.py starts it again and again.";

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_AM_Entry_t table[] = {ECHO_ENTRIES};
  (void)usage_number(argc, argv, usage, 0);
  if (gex_Client_Init(&client, &ep, &tm, "FIRST", &argc, &argv, 0)) return 1;
  if (gex_EP_RegisterHandlers(ep, table, 2)) return 1;
  if (gex_Segment_Attach(&segment, tm, 65536)) return 1;
  const gex_Rank_t rank = gex_TM_QueryRank(tm), peer = rank ^ 1u;
  const uint64_t all = (uint64_t)CHUNK * CHUNKS + 2 * (uint64_t)SETTLE_TRIPS;
  if (peer >= gex_TM_QuerySize(tm)) return 1;
  if (rank & 1) {
    GASNET_BLOCKUNTIL(asked == all);
  } else {
    double chunk[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++) chunk[i] = trips(tm, peer, CHUNK);
    (void)trips(tm, peer, SETTLE_TRIPS);
    const double steady = trips(tm, peer, SETTLE_TRIPS);
    printf("first");
    for (uint32_t i = 0; i < CHUNKS; i++) printf(" %.0f", chunk[i]);
    printf(" steady %.0f\n", steady);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}
