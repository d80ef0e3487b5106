/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tombolo's collectives, for study/compare/compare.py.
 *
 * Owns nothing. Compiled by compare.py; not part of the build. Calls: the public API, coll_loop.h.
 * Each collective is started and waited for, as a blocking MPI call is.
 */
#define GASNET_SEQ 1
#define _GNU_SOURCE
#include "coll_loop.h"

#include <gasnetex_ext.h>

static gex_TM_t tm;

static gex_Event_t start(int kind, void *dst, void *src, size_t bytes) {
  switch (kind) {
  case BROADCAST: return gex_Coll_BroadcastNB(tm, 0, dst, dst, bytes, 0);
  case ALLREDUCE:
    return gex_Coll_ReduceToAllNB(tm, dst, src, GEX_DT_DBL, 8, bytes / 8, GEX_OP_ADD, NULL, NULL,
                                  0);
  case ALLGATHER: return gexx_Coll_AllGatherNB(tm, dst, src, bytes, 0);
  default: return gexx_Coll_ExchangeNB(tm, dst, src, bytes, 0);
  }
}

static void run(int kind, void *dst, void *src, size_t bytes) {
  gex_Event_Wait(start(kind, dst, src, bytes));
}

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &tm, "COMPARE", &argc, &argv, 0);
  const struct side s = {run, barrier, (int)gex_TM_QueryRank(tm), (int)gex_TM_QuerySize(tm)};
  const int rc = loop_main(&s, argc, argv);
  barrier();
  gasnet_exit(rc);
}
