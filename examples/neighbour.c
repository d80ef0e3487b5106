/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbour.c: each rank puts its number into its right neighbour's memory, and checks what it got.
 *
 * The first program of the Book (docs/book/start.md), which explains it part by part.
 * Compile: tombolo cc neighbour.c -o neighbour
 * Run:     tombolo run -n 4 ./neighbour
 */
/* mode: SEQ */
/* ranks: 3 */
#include <gasnetex.h>
#include <stdio.h>

int main(int argc, char **argv) {
  /* book: join */
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Client_Init(&client, &endpoint, &team, "NEIGHBOUR", &argc, &argv, 0);
  gex_Rank_t me = gex_TM_QueryRank(team);
  gex_Rank_t size = gex_TM_QuerySize(team);
  /* book end */

  /* book: segment */
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, 1 << 20);
  gex_Rank_t *here = gex_Segment_QueryAddr(segment);
  /* book end */

  /* book: find */
  gex_Rank_t right = (me + 1) % size;
  gex_Rank_t left = (me + size - 1) % size;
  void *there;
  gex_Segment_QueryBound(team, right, &there, NULL, NULL);
  /* book end */

  /* book: put */
  gex_RMA_PutBlocking(team, right, there, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book end */

  /* book: check */
  printf("rank %u of %u got %u from its left neighbour\n", me, size, *here);
  gasnet_exit(*here == left ? 0 : 1);
  /* book end */
}
