/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.c: every rank says who and where it is, in rank order.
 *
 * Compile: tombolo cc hello.c -o hello
 * Run:     tombolo run -n 4 ./hello        or        GASNET_PSHM_NODES=4 ./hello
 */
/* mode: SEQ */
/* ranks: 1 4 */
#include <gasnetex.h>

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;

  /* Joins the job (or starts it) and creates the team that all ranks belong to. */
  if (gex_Client_Init(&client, &ep, &team, "HELLO", &argc, &argv, 0) != GASNET_OK) {
    fprintf(stderr, "hello: cannot join the job\n");
    return 1;
  }
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const gex_Rank_t size = gex_TM_QuerySize(team);

  gex_RankInfo_t *neighbours;
  gex_Rank_t count, index;
  gex_System_QueryNbrhdInfo(&neighbours, &count, &index);

  /* One barrier for each rank puts the lines in order. */
  for (gex_Rank_t turn = 0; turn < size; turn++) {
    if (turn == me) {
      printf("hello from rank %u of %u; on this host number %u of %u\n", (unsigned)me,
             (unsigned)size, (unsigned)index, (unsigned)count);
      fflush(stdout);
    }
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  gasnet_exit(0);
}
