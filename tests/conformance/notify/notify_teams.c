/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_NOTIFY_CREDITS=2 */
/* timeout: 60 */
/*
 * Notifications of teams that end: thousands of teams are made, notified through and destroyed;
 * what nobody awaited gives its credit back, whether it had arrived before or comes later, and no
 * memory is kept. TMB_TEST_SHARE=N: one N-th of the teams. What comes for a team that the target is
 * still making is not lost.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <malloc.h>

enum { BYTES = 64, WARM = 150 };

static unsigned cycles;
static uint64_t sent_unawaited;

static gex_TM_t make_team(void) {
  gex_TM_t tm;
  CHECK_EQ(gex_TM_Split(&tm, job.tm, 0, -(int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
  return tm;
}

static gexx_Notify_Stats_t stats(void) {
  gexx_Notify_Stats_t s;
  gexx_Notify_QueryStats(&s);
  return s;
}

/* One team: the first notification is awaited, and comes from a rank that may be ahead; further
 * ones, half of the credits at most, are not. */
static void cycle(unsigned number) {
  const gex_TM_t tm = make_team();
  const gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  const gex_Rank_t to = (me + 1) % size, from = (me + size - 1) % size;
  const unsigned extra = (unsigned)(mix64(number) % (stats().gexx_credits / 2));
  gexx_Notify_t req;
  gexx_Notify_Status_t status;
  CHECK_EQ(gexx_RMA_PutNotify(tm, to, NULL, NULL, 0, number, 0), 0);
  for (unsigned i = 0; i < extra; i++)
    CHECK_EQ(gexx_RMA_PutNotify(tm, to, NULL, NULL, 0, number + 1, 0), 0);
  if (mix64(number) % 3 == 0 && extra) {
    const gex_Rank_t peer = job.size - 1 - to; /* the team is in reverse order */
    gex_Event_Wait(gexx_RMA_GetNotifyNB(tm, job.base + 8, to, job.peer[peer], 8, number + 2, 0));
    sent_unawaited++;
  }
  sent_unawaited += extra;
  REQUIRE(gexx_Notify_Init(tm, from, number, 1, &req) == GASNET_OK);
  gexx_Notify_Start(req);
  gexx_Notify_Wait(req, &status);
  CHECK_EQ(status.gexx_source, from);
  gexx_Notify_Free(req);
  (void)gex_TM_Destroy(tm, NULL, 0);
}

static size_t memory_in_use(void) {
  return mallinfo2().uordblks;
}

/* All ranks have sent the same number; each has been the target of as many. */
static void all_dropped(void) {
  job_barrier();
  const double limit = now_s() + 20;
  while (stats().gexx_dropped < sent_unawaited && now_s() < limit) gasnet_AMPoll();
  const gexx_Notify_Stats_t s = stats();
  CHECK_EQ(s.gexx_dropped, sent_unawaited);
  CHECK_EQ(s.gexx_kept, 0);
  CHECK_CMP(s.gexx_kept_max, <=, s.gexx_credits * job.size);
  job_barrier();
}

/* All credit is back: half of it never waits, so what is missing would show here. */
static void credit_is_back(void) {
  const gex_Rank_t to = (job.rank + 1) % job.size, from = (job.rank + job.size - 1) % job.size;
  const uint64_t half = stats().gexx_credits / 2;
  uint64_t sent = 0;
  gexx_Notify_t req;
  REQUIRE(gexx_Notify_Init(job.tm, from, 7, 1, &req) == GASNET_OK);
  job_barrier();
  const double limit =
      now_s() + 20; /* a conduit may have no room for a moment; credit lacks for ever */
  while (sent < half && now_s() < limit)
    if (gexx_RMA_PutNotify(job.tm, to, NULL, NULL, 0, 7, GEX_FLAG_IMMEDIATE))
      gasnet_AMPoll();
    else
      sent++;
  CHECK_EQ(sent, half);
  for (uint64_t i = 0; i < half; i++) {
    gexx_Notify_Start(req);
    gexx_Notify_Wait(req, NULL);
  }
  gexx_Notify_Free(req);
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  cycles = job.size <= 4 ? 3000 : job.size <= 7 ? 800 : 250;
  cycles /= (unsigned)env_number("TMB_TEST_SHARE", 1);
  for (unsigned i = 0; i < WARM; i++) cycle(i);
  all_dropped();
  const size_t before = memory_in_use();
  for (unsigned i = WARM; i < WARM + cycles; i++) cycle(i);
  all_dropped();
  const size_t after = memory_in_use();
  CHECK_CMP(after, <, before + 64 * 1024);
  credit_is_back();
  return job_finish();
}
