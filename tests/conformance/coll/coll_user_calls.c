/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* debug: yes */
/* far: no */
/* match: called.in.the.function.of.a.reduction */
/*
 * A client's function of a reduction communicates, which the API does not allow there (API 00.8). A
 * get of mapped memory works all the same: a debug job prints a note and goes on.
 */
#include "check.h"

#include <gasnet_coll.h>

static gex_TM_t tm;
static gex_Rank_t next;
static uint64_t *base, value;

static void with_get(const void *x, void *y, size_t count, const void *cdata) {
  (void)x, (void)y, (void)count, (void)cdata;
  gex_RMA_GetBlocking(tm, &value, next, base, 8, 0);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  const uint64_t in = 1;
  uint64_t out;
  gex_Client_Init(&client, &ep, &tm, "CALLS", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, 65536);
  next = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, (void **)&base, NULL, NULL, 0));
  gex_Coll_BarrierBlocking(tm, 0);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, &out, &in, GEX_DT_USER, 8, 1, GEX_OP_USER, with_get, NULL, 0));
  gasnet_exit(0);
}
