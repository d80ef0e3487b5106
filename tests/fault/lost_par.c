/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Several threads of each process put, get, signal, count and send to everybody while the last rank
 * dies in the middle of it (GEXX_FAILURE_REPORT). Each thread meets the loss, nobody crashes or
 * hangs, and what the others send each other arrives.
 */
#include "loss.h"
#include "threads.h"

#include <gasnet_ratomic.h>

#include <stdio.h>

enum { THREADS = 3, COUNT_INDEX = 240, AFTER = 500 };

static gex_Rank_t victim;
static gex_AD_t domain;
static uint64_t arrived[LOSS_RANKS_MAX]; /* messages after the loss, by source; atomic */

static void on_count(gex_Token_t token, gex_AM_Arg_t after) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  if (after) __atomic_fetch_add(&arrived[info.gex_srcrank], 1, __ATOMIC_RELAXED);
}

/* One operation of each kind towards a rank; this thread's own place there. */
static void one_of_each(gex_Rank_t to, int id, int after) {
  char *const there = job.peer[to] + (job.rank * THREADS + (unsigned)id) * 4096;
  uint64_t *const signal = (uint64_t *)(void *)(there + 2048);
  uint64_t data[32] = {0}, before = 0;
  (void)gex_RMA_PutBlocking(job.tm, to, there, data, sizeof data, 0);
  gex_Event_Wait(gex_RMA_GetNB(job.tm, data, to, there, sizeof data, 0));
  (void)gex_RMA_PutNBI(job.tm, to, there, data, sizeof data, GEX_EVENT_NOW, 0);
  gex_Event_Wait(gexx_RMA_PutSignalNB(job.tm, to, there, data, sizeof data, GEX_EVENT_NOW, signal,
                                      GEXX_SIG_ADD, 1, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, to, signal + 8, GEX_OP_FADD, 1, 0, 0));
  (void)gex_AM_RequestShort1(job.tm, to, COUNT_INDEX, 0, after);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

static void body(int id) {
  const double until = now_s() + 20;
  int met = 0;
  while (!met) { /* a loss is met by operations towards everybody, the victim among them */
    for (gex_Rank_t r = 0; r < job.size; r++) one_of_each(r, id, 0);
    gex_Rank_t who = victim;
    met = job.rank != victim && gexx_Lost_Take(&who) == GEXX_ERR_LOST;
    CHECK_EQ(who, victim);
    if (!CHECK_CMP(now_s(), <, until)) return;
  }
  CHECK_EQ(gexx_Peer_Query(victim), GEXX_PEER_FAILED);
  CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, victim, job.peer[victim], 1, 8, 0), GEXX_ERR_LOST);
  CHECK_EQ(gexx_Lost_Take(NULL), GEXX_ERR_LOST);
  threads_meet();
  for (int i = 0; i < AFTER; i++)
    for (gex_Rank_t r = 0; r < job.size; r++)
      if (r != victim) one_of_each(r, id, 1);
  CHECK_EQ(gexx_Lost_Take(NULL), GASNET_OK);
}

static int all_arrived(void *arg) {
  (void)arg;
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != victim && __atomic_load_n(&arrived[r], __ATOMIC_RELAXED) < (uint64_t)THREADS * AFTER)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {COUNT_INDEX, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "c"}};
  loss_start(&argc, &argv, table, 1);
  REQUIRE(job.size > 1 && job.size * THREADS * 4096 <= LOSS_SEGMENT);
  victim = job.size - 1;
  gex_AD_Create(&domain, job.tm, GEX_DT_U64, GEX_OP_FADD, 0);
  REQUIRE(domain != GEX_AD_INVALID);
  if (job.rank == victim) loss_die_soon("uexit", 20000);
  run_threads(THREADS, body);
  CHECK_EQ(loss_reported[victim], 1);
  CHECK(loss_until(all_arrived, NULL));
  loss_meet();
  loss_finish();
}
