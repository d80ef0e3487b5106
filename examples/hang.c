/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hang.c: the last rank waits for a signal; with the argument "forget" nobody sends it.
 *
 * The example of the chapter "Hangs" of the Book: a job that hangs, to try `tombolo why` on.
 * Compile: tombolo cc -g hang.c -o hang
 * Run:     tombolo run -n 4 ./hang         or       tombolo run -n 4 --watchdog 2 ./hang forget
 */
/* mode: SEQ */
/* ranks: 2 */
#include <gasnetex_ext.h>

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  uint64_t *there;
  if (gex_Client_Init(&client, &ep, &team, "HANG", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  const gex_Rank_t me = gex_TM_QueryRank(team), last = gex_TM_QuerySize(team) - 1;
  uint64_t *const arrived = gex_Segment_QueryAddr(segment);
  gex_Segment_QueryBound(team, last, (void **)&there, NULL, NULL);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book: wait */
  if (me == 0 && argc < 2)
    gexx_RMA_PutSignalBlocking(team, last, NULL, NULL, 0, GEX_EVENT_NOW, there, GEXX_SIG_ADD, 1, 0);
  if (me == last) gexx_Signal_Wait(arrived, GEXX_SIG_GE, 1);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book end */
  if (me == 0) printf("ok: nobody hangs\n");
  gasnet_exit(0);
}
