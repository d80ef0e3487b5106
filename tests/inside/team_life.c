/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 7 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=1 GASNET_SUPERNODE_MAXSIZE=2 */
/* debug: both */
/* timeout: 120 */
/*
 * Teams that come and go leave nothing behind, whatever the library still does on them when their
 * handles are destroyed: a long sequence of collectives has a synchronising one of the library's
 * own behind it, which others may not have begun when a team is destroyed. Every team made is
 * freed, no message waits for a team that is no more, and all memory of boards is there for the
 * next teams.
 */
#include "core/shared.h"
#include "core/team.h"
#include "job.h"

#include <gasnet_coll.h>

/* Cycles over a network, where each of 150,000 collectives wakes every rank: what a cycle does
 * repeats after 60. On a machine with a load of 50, 240 take minutes. */
enum { CYCLES = 240, FAR_CYCLES = 60, FENCE_AT = 127, LIVE = 3 };

/* Collectives up to and beyond the one that starts the library's own. */
static void use(gex_TM_t tm, int count) {
  uint64_t mine = 1, sum = 0;
  for (int i = 0; i < count; i++)
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  CHECK_EQ(sum, gex_TM_QuerySize(tm));
}

static gex_TM_t make(int i) {
  gex_TM_t tm = GEX_TM_INVALID;
  const int color = i % 3 == 0 ? (int)(job.rank % 2) : 0;
  (void)gex_TM_Split(&tm, job.tm, color, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  REQUIRE(tm != GEX_TM_INVALID);
  return tm;
}

/* in way: 0, 3: the call waits for all, 1: a barrier has, 2: they have met outside the library. */
static void destroy(gex_TM_t tm, int way) {
  if (way == 1) gex_Coll_BarrierBlocking(tm, 0);
  if (way == 2) oob_meet();
  gex_TM_Destroy(tm, NULL, way % 3 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
}

/* Waits until every team but the primordial one is freed here, and then until that is so on all. */
static struct tmb_team_stats settled(void) {
  struct tmb_team_stats s = tmb_team_stats();
  for (const double end = now_s() + 20; s.freed != s.made && now_s() < end; s = tmb_team_stats())
    gasnet_AMPoll();
  job_barrier();
  return s;
}

static void check_rows(void) {
  uint32_t row[TMB_SHARED_ROWS_MAX];
  uint32_t count = 0;
  while ((row[count] = tmb_shared_take()) != TMB_SHARED_NONE) count++;
  if (tmb_job.rows) CHECK_EQ(count + 1, TMB_MIN(tmb_shared_rows(), TMB_SHARED_ROWS_MAX));
  while (count--) tmb_shared_give(row[count]);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  oob_open();
  gex_Rank_t near = 0;
  gex_System_QueryNbrhdInfo(NULL, &near, NULL);
  const int cycles = near == job.size ? CYCLES : FAR_CYCLES;
  for (int i = 0; i < cycles; i++) {
    gex_TM_t tm[LIVE];
    const int live = 1 + i % LIVE;
    for (int k = 0; k < live; k++) tm[k] = make(i + k);
    for (int k = 0; k < live; k++) use(tm[k], i % 5 ? FENCE_AT : FENCE_AT * 2 + 3);
    for (int k = 0; k < live; k++) destroy(tm[k], i % 4);
  }
  const struct tmb_team_stats s = settled();
  CHECK_CMP(s.made, >=, (uint64_t)cycles);
  CHECK_EQ(s.freed, s.made);
  CHECK_EQ(s.bytes, 0);
  CHECK_EQ(s.parked, 0);
  check_rows();
  return job_finish();
}
