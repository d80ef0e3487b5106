/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* timeout: 120 */
/*
 * API 00.9, 03: put and get from many threads at once: blocking, explicit, implicit (each thread
 * its own set and access region), and events that are synced by another thread than the one that
 * started them.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 16, ROUNDS = 120, BYTES = 1500, BATCH = 8 };

static gex_Event_t handed[THREADS][BATCH]; /* events for the next thread to sync */
static char *own; /* [THREADS][2][BATCH][BYTES] source and destination of each thread */

static char *local(int id, int which, int i) {
  return own + (((size_t)id * 2 + (size_t)which) * BATCH + (size_t)i) * BYTES;
}

static gex_Rank_t target(int id, int i) {
  return (gex_Rank_t)((job.rank + (unsigned)(id + i)) % job.size);
}

static char *slot_of(int id, int i) {
  return job.peer[target(id, i)] +
         (((size_t)job.rank * THREADS + (size_t)id) * BATCH + (size_t)i) * BYTES;
}

static uint64_t seed_of(int id, int i, int round) {
  return mix64(job.rank * 4096 + (unsigned)(id * 64 + i)) + (unsigned)round * 200;
}

static void fill(int id, int round) {
  for (int i = 0; i < BATCH; i++) pattern_fill(local(id, 0, i), BYTES, seed_of(id, i, round));
}

static void check(int id, int round) {
  for (int i = 0; i < BATCH; i++) {
    CHECK_BYTES(local(id, 1, i), BYTES, seed_of(id, i, round));
    memset(local(id, 1, i), 0, BYTES);
  }
}

static void blocking(int id) {
  for (int i = 0; i < BATCH; i++) {
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, target(id, i), slot_of(id, i), local(id, 0, i), BYTES, 0),
             0);
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, local(id, 1, i), target(id, i), slot_of(id, i), BYTES, 0),
             0);
  }
}

static void implicit(int id, int region) {
  if (region) gex_NBI_BeginAccessRegion(0);
  for (int i = 0; i < BATCH; i++)
    CHECK_EQ(gex_RMA_PutNBI(job.tm, target(id, i), slot_of(id, i), local(id, 0, i), BYTES,
                            GEX_EVENT_DEFER, 0),
             0);
  if (region)
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  else
    gex_NBI_Wait(GEX_EC_PUT, 0);
  for (int i = 0; i < BATCH; i++)
    CHECK_EQ(gex_RMA_GetNBI(job.tm, local(id, 1, i), target(id, i), slot_of(id, i), BYTES, 0), 0);
  while (gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK) gasnet_AMPoll();
}

/* Starts puts whose events thread id + 1 syncs, and syncs those of thread id - 1. */
static void handed_on(int id) {
  const int before = (id + THREADS - 1) % THREADS;
  for (int i = 0; i < BATCH; i++) {
    handed[id][i] = gex_RMA_PutNB(job.tm, target(id, i), slot_of(id, i), local(id, 0, i), BYTES,
                                  GEX_EVENT_DEFER, 0);
    CHECK(handed[id][i] != GEX_EVENT_NO_OP);
  }
  threads_meet();
  if (id % 2)
    gex_Event_WaitAll(handed[before], BATCH, 0);
  else
    for (int i = 0; i < BATCH; i++) gex_Event_Wait(handed[before][i]);
  threads_meet();
  for (int i = 0; i < BATCH; i++)
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, local(id, 1, i), target(id, i), slot_of(id, i), BYTES, 0),
             0);
}

static void body(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    fill(id, round);
    if (round % 4 == 0) blocking(id);
    if (round % 4 == 1) implicit(id, 0);
    if (round % 4 == 2) implicit(id, 1);
    if (round % 4 == 3) handed_on(id);
    check(id, round);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)THREADS * BATCH * BYTES * job.size);
  own = (char *)check_room(1, (size_t)THREADS * 2 * BATCH * BYTES);
  job_barrier();
  run_threads(THREADS, body);
  job_barrier();
  return job_finish();
}
