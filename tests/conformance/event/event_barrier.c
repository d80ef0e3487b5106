/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_RING_SLOTS=64 GASNET_SUPERNODE_MAXSIZE=2 */
/*
 * API 06.2: team barriers: not complete before every member has called, many outstanding and synced
 * in any order, with messages and puts in between, ordering of what came before, and the
 * split-phase barrier beside it. A loop of barriers that end in their call takes in messages.
 */
#include "job.h"

enum { MANY = 500, SECONDS_MOST = 30 };

static gex_AM_Index_t go_index;
static volatile int go;

static void on_go(gex_Token_t token) {
  (void)token;
  go++;
}

/* The last rank calls only when asked to, after everybody else has seen an incomplete barrier. */
static void not_before_all(void) {
  for (int round = 1; round <= 20; round++) {
    const gex_Rank_t late = (gex_Rank_t)round % job.size;
    job_barrier();
    if (job.rank == late) {
      GASNET_BLOCKUNTIL(go >= (int)job.size - 1);
      go -= (int)job.size - 1;
      gex_Coll_BarrierBlocking(job.tm, 0);
      continue;
    }
    const gex_Event_t ev = gex_Coll_BarrierNB(job.tm, 0);
    CHECK(ev != GEX_EVENT_INVALID && ev != GEX_EVENT_NO_OP);
    for (int i = 0; i < 50; i++) {
      if (ev != GEX_EVENT_INVALID) CHECK_EQ(gex_Event_Test(ev), GASNET_ERR_NOT_READY);
      gasnet_AMPoll();
    }
    CHECK_EQ(gex_AM_RequestShort0(job.tm, late, go_index, 0), 0);
    gex_Event_Wait(ev);
  }
}

static void many_outstanding(void) {
  static gex_Event_t ev[MANY];
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < MANY; i++) {
      ev[i] = gex_Coll_BarrierNB(job.tm, 0);
      CHECK(ev[i] != GEX_EVENT_NO_OP);
    }
    for (int i = 0; i < MANY && round == 0; i++) gex_Event_Wait(ev[i]);
    for (int i = 0; i < MANY && round == 1; i++) gex_Event_Wait(ev[MANY - 1 - i]);
    if (round == 2) gex_Event_WaitAll(ev, MANY, 0);
    for (int i = 0; i < MANY && round == 3;
         i++) { /* the next one starts before this one is synced */
      gex_Event_Wait(ev[i]);
      ev[i] = gex_Coll_BarrierNB(job.tm, 0);
    }
    if (round == 3) gex_Event_WaitAll(ev, MANY, 0);
  }
}

/* Blocking ones while others are in flight, of ranks that call the same one differently. */
static void blocking_between(void) {
  for (gex_Rank_t k = 0; k < 200; k++) {
    const gex_Event_t first = gex_Coll_BarrierNB(job.tm, 0);
    if (k % 5 == 0) gex_Event_Wait(first);
    if ((job.rank + k) % 2)
      gex_Coll_BarrierBlocking(job.tm, 0);
    else
      gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
    if (k % 5) gex_Event_Wait(first);
  }
}

/* Each rank counts in its own segment; after the k-th barrier every counter is at least k. */
static void orders_memory(void) {
  volatile uint64_t *const mine = (volatile uint64_t *)(void *)job.base;
  for (uint64_t k = 1; k <= 300; k++) {
    *mine = k;
    const gex_Event_t ev = gex_Coll_BarrierNB(job.tm, 0);
    if (k % 3 == 0) gasnet_AMPoll();
    gex_Event_Wait(ev);
    for (gex_Rank_t r = 0; r < job.size; r++) {
      const uint64_t seen = gex_RMA_GetBlockingVal(job.tm, r, job.peer[r], 8, 0);
      CHECK(seen == k || seen == k + 1);
    }
  }
}

/* Puts that were synced before are there after. */
static void orders_puts(void) {
  for (int k = 0; k < 200; k++) {
    const gex_Rank_t to = (job.rank + (gex_Rank_t)k) % job.size;
    gex_RMA_PutBlockingVal(job.tm, to, job.peer[to] + 8 + 8 * job.rank,
                           mix64(job.rank + (unsigned)k * 100), 8, 0);
    job_barrier();
    const gex_Rank_t from = (job.rank + job.size - (gex_Rank_t)k % job.size) % job.size;
    uint64_t got;
    memcpy(&got, job.base + 8 + 8 * from, 8);
    CHECK_EQ(got, mix64(from + (unsigned)k * 100));
    if (k % 4 == 0) CHECK_EQ(gasnet_barrier(k, 0), GASNET_OK);
    job_barrier();
  }
}

/* Barriers of a team of one are over at once. */
static void takes_in_messages(void) {
  gex_TM_t own;
  gex_TM_Split(&own, job.tm, (int)job.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const gex_Rank_t right = (job.rank + 1) % job.size;
  CHECK_EQ(gex_AM_RequestShort0(job.tm, right, go_index, 0), 0);
  const double begin = now_s();
  while (!go && now_s() - begin < SECONDS_MOST) gex_Event_Wait(gex_Coll_BarrierNB(own, 0));
  CHECK_EQ(go, 1);
  go = 0;
  gex_TM_Destroy(own, NULL, 0);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {0,   (gex_AM_Fn_t)on_go, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL,
                          "go"};
  job_start(&argc, &argv, GASNET_PAGESIZE, &entry, 1);
  go_index = entry.gex_index;
  not_before_all();
  many_outstanding();
  blocking_between();
  job_barrier();
  orders_memory();
  orders_puts();
  takes_in_messages();
  return job_finish();
}
