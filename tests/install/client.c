/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of an installed Tombolo: each rank puts its rank number to its right neighbour, and
 * checks what its left neighbour put. Built by check.sh through every method of finding the
 * library.
 */
#include <gasnetex.h>

#include <stdio.h>

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "INSTALL_CLIENT", &argc, &argv, 0);
  if (gex_Segment_Attach(&segment, tm, 1 << 20) != GASNET_OK) gasnet_exit(1);
  gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  void *address = NULL;
  gex_Rank_t right = (me + 1) % size, left = (me + size - 1) % size, got;
  gex_Segment_QueryBound(tm, right, &address, NULL, NULL);
  gex_RMA_PutBlocking(tm, right, address, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  got = *(gex_Rank_t *)gex_Segment_QueryAddr(segment);
  if (got != left) {
    printf("rank %u: got %u, expected %u\n", (unsigned)me, (unsigned)got, (unsigned)left);
    gasnet_exit(1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (me == 0) printf("install client: %u ranks ok\n", (unsigned)size);
  for (int i = 1; me == 0 && i < argc; i++) printf("install client: argument %s\n", argv[i]);
  gasnet_exit(0);
  return 0;
}
