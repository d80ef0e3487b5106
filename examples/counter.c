/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.c: ranks draw task numbers from one counter, and keep a common maximum, by atomics.
 *
 * The example of the chapter "Atomics" of the Book. Rank 0 holds both words.
 * Compile: tombolo cc counter.c -o counter
 * Run:     tombolo run -n 4 ./counter 10000        (tasks; default 1000)
 */
/* mode: SEQ */
/* ranks: 4 */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>

struct shared {
  uint64_t next;    /* the next task */
  uint64_t longest; /* the largest result so far */
};

/* Any function of the task: the length of its Collatz sequence. */
static uint64_t work(uint64_t task) {
  uint64_t steps = 0;
  for (uint64_t x = task + 1; x != 1; steps++) x = x % 2 ? 3 * x + 1 : x / 2;
  return steps;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  struct shared *shared; /* of rank 0, as rank 0 addresses it */
  if (gex_Client_Init(&client, &ep, &team, "COUNTER", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const uint64_t tasks = argc > 1 ? (uint64_t)atoll(argv[1]) : 1000;
  gex_Segment_QueryBound(team, 0, (void **)&shared, NULL, NULL);

  /* book: domain */
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_MAX | GEX_OP_SET | GEX_OP_GET, 0);
  if (me == 0) {
    gex_Event_Wait(gex_AD_OpNB_U64(domain, NULL, 0, &shared->next, GEX_OP_SET, 0, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(domain, NULL, 0, &shared->longest, GEX_OP_SET, 0, 0, 0));
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book end */

  /* book: draw */
  uint64_t mine = 0, task;
  for (;;) {
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &task, 0, &shared->next, GEX_OP_FADD, 1, 0, 0));
    if (task >= tasks) break;
    uint64_t result = work(task);
    mine++;
    /* book end */
    /* book: max */
    gex_AD_OpNBI_U64(domain, NULL, 0, &shared->longest, GEX_OP_MAX, result, 0, 0);
    /* book end */
    /* book: draw */
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book end */

  uint64_t done, longest, want = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &done, &mine, GEX_DT_U64, sizeof mine, 1, GEX_OP_ADD,
                                        NULL, NULL, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &longest, 0, &shared->longest, GEX_OP_GET, 0, 0, 0));
  for (uint64_t t = 0; t < tasks; t++) want = work(t) > want ? work(t) : want;
  const int bad = done != tasks || longest != want;
  if (me == 0)
    printf("%s: %llu tasks, the longest takes %llu steps\n", bad ? "FAILED" : "ok",
           (unsigned long long)done, (unsigned long long)longest);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gex_AD_Destroy(domain);
  gasnet_exit(bad);
}
