/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 3 4 7 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PLACES=cyclic:2 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* timeout: 60 */
/*
 * gexx_TM_Abandon: a member that knows that the last one will not take part gives the team up. Its
 * collectives and barriers in flight complete, marked; what members send that begin later touches
 * none of its buffers, and calls no function of it; later ones complete at once, marked. Other
 * teams work as before.
 */
#include "job.h"

#include <gasnetex_ext.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "threads.h"

enum { WORDS_MAX = 50000 };

static const size_t sizes[] = {1, 100, 3000, WORDS_MAX};
static uint64_t data[WORDS_MAX], sums[WORDS_MAX];
static atomic_uint calls;
static atomic_bool over;

static void add(const void *in, void *inout, size_t count, const void *cdata) {
  (void)cdata;
  calls++;
  for (size_t i = 0; i < count; i++) ((uint64_t *)inout)[i] += ((const uint64_t *)in)[i];
}

static gex_Event_t begin(gex_TM_t team, unsigned kind, size_t words) {
  switch (kind) {
  case 0: return gex_Coll_BarrierNB(team, 0);
  case 1: return gex_Coll_BroadcastNB(team, 1, data, data, 8 * words, 0);
  default:
    return gex_Coll_ReduceToAllNB(team, sums, data, GEX_DT_USER, 8, words, GEX_OP_USER, add, NULL,
                                  0);
  }
}

/* A collective that the last member never begins. */
static void give_up(gex_TM_t team, unsigned kind, size_t words) {
  gex_Rank_t lost = 0;
  const gex_Event_t event = begin(team, kind, words);
  for (unsigned i = 0; i < 100; i++) gasnet_AMPoll();
  CHECK_EQ(gexx_TM_Abandon(team, job.size - 1), GASNET_OK);
  gex_Event_Wait(event);
  CHECK_EQ(gexx_Lost_Take(&lost), GEXX_ERR_LOST);
  CHECK_EQ(lost, job.size - 1);
}

static void fill(uint64_t value) {
  for (size_t i = 0; i < WORDS_MAX; i++) data[i] = sums[i] = value;
  calls = 0;
}

static int holds(uint64_t value) {
  for (size_t i = 0; i < WORDS_MAX; i++)
    if (data[i] != value || sums[i] != value) return 0;
  return 1;
}

/* Rank 0 gives up before the others begin. */
static void first_leaves(unsigned kind, size_t words) {
  gex_TM_t team;
  gex_Event_t event = GEX_EVENT_INVALID;
  (void)gex_TM_Split(&team, job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  fill(job.rank + 1);
  if (job.rank == 0) give_up(team, kind, words);
  fill(77);
  job_barrier();
  const int late = job.rank > 0 && job.rank < job.size - 1;
  if (late) event = begin(team, kind, words);
  for (unsigned i = 0; i < 1000; i++) gasnet_AMPoll();
  job_barrier();
  if (job.rank == 0) {
    CHECK(holds(77));
    CHECK_EQ(calls, 0);
    gex_Event_Wait(begin(team, kind, words)); /* at once */
    CHECK_EQ(gexx_Lost_Take(NULL), GEXX_ERR_LOST);
  }
  if (late) {
    CHECK_EQ(gexx_TM_Abandon(team, job.size - 1), GASNET_OK);
    gex_Event_Wait(event);
    const int lost = gexx_Lost_Take(NULL); /* a broadcast may be done before */
    if (kind != 1) CHECK_EQ(lost, GEXX_ERR_LOST);
  }
  job_barrier();
}

static void body(int id) {
  if (id == 1) {
    for (; !over; sched_yield()) gasnet_AMPoll();
    return;
  }
  for (unsigned kind = 0; kind < 3; kind++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) first_leaves(kind, sizes[i]);
  CHECK_EQ(gexx_Lost_Take(NULL), GASNET_OK);
  over = true;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 1 << 20, NULL, 0);
  CHECK_EQ(gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT), GASNET_OK);
  run_threads(2, body);
  return job_finish();
}
