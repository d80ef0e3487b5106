/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints with a segment each, and collectives in flight: seeded races, one case each, for
 * tests/check/findings.py. Compiled with `tombolo cc --check`. Lines that race end with a comment
 * `race: CASE`, those of correct cases have none. Run with 3 ranks; the argument is the case.
 */
#include "three_ranks.h"

static volatile long sink;

/* A second endpoint of each rank, its segment, and the pair that reaches it. */
static long *second[3];
static gex_TM_t pair;
static void make_second(void) {
  gex_EP_t other;
  gex_Segment_t segment;
  if (gex_EP_Create(&other, client, GEX_EP_CAPABILITY_RMA, 0) ||
      gex_Segment_Create(&segment, client, NULL, 65536, GEX_MK_HOST, 0))
    abort();
  (void)gex_EP_BindSegment(other, segment, 0);
  (void)gex_EP_PublishBoundSegment(tm, &other, 1, 0);
  long *const mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, 65536);
  wait_for(gexx_Coll_AllGatherNB(tm, second, &mine, sizeof mine, 0));
  pair = gex_TM_Pair(ep, gex_EP_QueryIndex(other));
  barrier();
}
#define PUT(word) gex_RMA_PutBlocking(pair, 1, second[1] + (word), v, 8, 0)
#define GET(word) gex_RMA_GetBlocking(pair, v, 1, second[1] + (word), 8, 0)

CASE(put_and_store) {
  make_second();
  if (me == 0) PUT(0);           /* race: put_and_store */
  if (me == 1) second[1][0] = 4; /* race: put_and_store */
}
CASE(two_puts) {
  make_second();
  if (me != 1) PUT(5); /* race: two_puts */
}
CASE(store_and_get) {
  make_second();
  if (me == 1) second[1][3]++; /* race: store_and_get */
  if (me == 2) GET(3);         /* race: store_and_get */
}
CASE(ok_in_turns) {
  make_second();
  if (me == 0) PUT(0);
  barrier();
  if (me == 1) second[1][0]++;
  barrier();
  if (me == 2) GET(0);
}
CASE(ok_one_each) { /* the same offset of two segments */
  make_second();
  if (me == 0) PUT(0);
  if (me == 2) gex_RMA_PutBlocking(tm, 1, base[1], v, 8, 0);
}

/* A barrier that a member has entered before its all-gather was complete does not publish it. */
static void get_next(void) {
  const gex_Rank_t next = (me + 1) % 3;
  gex_RMA_GetBlocking(tm, v, next, base[next], 24, 0); /* race: barrier_too_early */
}
CASE(barrier_too_early) {
  gex_Event_t e[2];
  e[0] = gexx_Coll_AllGatherNB(tm, base[me], base[me] + 50, 8, 0); /* race: barrier_too_early */
  e[1] = gex_Coll_BarrierNB(tm, 0);
  gex_Event_WaitAll(e, 2, 0);
  if (me == 0) get_next();
}
CASE(ok_barrier_behind) {
  wait_for(gexx_Coll_AllGatherNB(tm, base[me], base[me] + 50, 8, 0));
  barrier();
  get_next();
  barrier();
  base[me][0] = 1;
}
/* A put into what an exchange writes. */
CASE(put_into_exchange) {
  gex_Event_t e;
  e = gexx_Coll_ExchangeNB(tm, base[me], base[me] + 100, 8, 0);  /* race: put_into_exchange */
  if (me == 0) gex_RMA_PutBlocking(tm, 1, base[1] + 1, v, 8, 0); /* race: put_into_exchange */
  wait_for(e);
}
CASE(ok_exchanges) {
  for (long i = 0; i < 5; i++) {
    for (long k = 0; k < 3; k++) base[me][100 + k] = k + i;
    wait_for(gexx_Coll_ExchangeNB(tm, base[me], base[me] + 100, 8, 0));
    sink = base[me][0] + base[me][1] + base[me][2];
  }
}

int main(int argc, char **argv) {
  return run_three(argc, argv);
}
