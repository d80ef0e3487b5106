/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mistakes of a program that is not compiled for debugging, which `--check misuse` finds in calls
 * that are inlined without it. The argument is the case.
 */
#include <gasnet.h>
#include <gasnetex_ext.h>

#include "../lib/cases.h"

static gex_TM_t tm;
static gex_EP_t ep;
static char *base; /* of this rank's segment */
static long v;
static const gex_Rank_t none = 999;

CASE(put) {
  gex_RMA_PutBlocking(tm, none, base, &v, 8, 0);
}
CASE(put_val) {
  gex_RMA_PutBlockingVal(tm, none, base, 1, 8, 0);
}
CASE(get) {
  gex_RMA_GetBlocking(tm, &v, none, base, 8, 0);
}
CASE(get_nbi) {
  (void)gex_RMA_GetNBI(tm, &v, none, base, 8, 0);
}
CASE(pair) {
  gex_RMA_PutBlocking(gex_TM_Pair(ep, 0), none, base, &v, 8, 0);
}
CASE(node) {
  gasnet_put(none, base, &v, 8);
}
CASE(beyond) {
  gex_RMA_PutBlocking(tm, 0, base + (1 << 20), &v, 8, 0);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &tm, "MISUSE", &argc, &argv, GEX_FLAG_USES_GASNET1)) return 1;
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK) return 1;
  base = gex_Segment_QueryAddr(segment);
  case_run(argc, argv);
  gasnet_exit(0);
}
