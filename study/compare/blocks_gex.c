/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long exchanges of Tombolo by processor time, for study/compare/cells.py.
 *
 * Owns nothing. Compiled by cells.py; not part of the build. Calls: the public API, blocks_loop.h.
 * The blocks lie in the segment, as arrays of the languages do.
 */
#define GASNET_SEQ  1
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <gasnetex_ext.h>

#include "blocks_loop.h"

static gex_TM_t tm;

static void exchange(char *dst, const char *src, size_t bytes) {
  gex_Event_Wait(gexx_Coll_ExchangeNB(tm, dst, src, bytes, 0));
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static double sum(double mine) {
  double all;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &all, &mine, GEX_DT_DBL, sizeof all, 1, GEX_OP_ADD,
                                        NULL, NULL, 0));
  return all;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "COMPARE", &argc, &argv, 0);
  const struct side s = {exchange, barrier, sum, (int)gex_TM_QueryRank(tm),
                         (int)gex_TM_QuerySize(tm)};
  gex_Segment_Attach(&segment, tm, 2 * (uintptr_t)s.size * BLOCK_MAX);
  char *const base = gex_Segment_QueryAddr(segment);
  blocks(&s, base, base + (size_t)s.size * BLOCK_MAX);
  barrier();
  gasnet_exit(0);
}
