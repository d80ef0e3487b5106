/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* env: TOMBOLO_STATS=1 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Counts of operations are those of the calls, whatever serves them: every form of put, get, their
 * values, signals, semaphores, atomics and strided transfers, through the job's team, a team in
 * reverse order and TM-pairs, towards every rank; the data arrive as without counting.
 */
#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>

enum { BYTES = 4096, AREA = 3 * BYTES };

struct counts {
  uint64_t count[GEXX_STATS_KINDS], bytes[GEXX_STATS_KINDS];
};

static char buf[BYTES];
static int turn; /* through the job's team, the reverse one, TM-pairs, and semaphores */

static struct counts counts_of(gex_Rank_t jobrank) {
  struct counts c;
  for (int k = 0; k < GEXX_STATS_KINDS; k++)
    CHECK_EQ(gexx_Stats_Query(k, jobrank, &c.count[k], &c.bytes[k]), GASNET_OK);
  return c;
}

/* Since `before`, `count` operations of a kind with `bytes` bytes in all have started. */
static void check_kind(const struct counts *before, gex_Rank_t jobrank, int kind, uint64_t count,
                       uint64_t bytes) {
  const struct counts now = counts_of(jobrank);
  CHECK_EQ(now.count[kind] - before->count[kind], count);
  CHECK_EQ(now.bytes[kind] - before->bytes[kind], bytes);
}

/* Where this rank may write at another one. */
static char *area(gex_Rank_t jobrank) {
  return job.peer[jobrank] + (size_t)job.rank * AREA;
}

/* The same, 128 bytes for one operation of a turn whose completion nobody waits for. */
static char *alone(char *an_area, int which) {
  return an_area + 2 * BYTES + (turn * 4 + which) * 128;
}

static void puts_and_gets(gex_TM_t tm, gex_Rank_t rank, gex_Rank_t jobrank) {
  char *const there = area(jobrank);
  const struct counts before = counts_of(jobrank);
  gex_Event_t leaf;
  pattern_fill(buf, BYTES, jobrank + 1);
  CHECK_EQ(gex_RMA_PutBlocking(tm, rank, there, buf, 1000, 0), 0);
  CHECK_EQ(gex_RMA_PutNBI(tm, rank, there + 1000, buf + 1000, 1000, GEX_EVENT_NOW, 0), 0);
  const gex_Event_t root = gex_RMA_PutNB(tm, rank, there + 2000, buf + 2000, 90, &leaf, 0);
  gex_Event_Wait(leaf);
  gex_Event_Wait(root);
  CHECK_EQ(gex_RMA_PutBlockingVal(tm, rank, there + BYTES, 42, 8, 0), 0);
  CHECK_EQ(gex_RMA_PutNBIVal(tm, rank, there + BYTES + 8, 7, 4, 0), 0);
  CHECK_EQ(gex_RMA_PutBlocking(tm, rank, there, buf, 0, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  check_kind(&before, jobrank, GEXX_STATS_PUT, 6, 1000 + 1000 + 90 + 8 + 4);
  memset(buf, 0, sizeof buf);
  CHECK_EQ(gex_RMA_GetBlocking(tm, buf, rank, there, 1000, 0), 0);
  CHECK_EQ(gex_RMA_GetNBI(tm, buf + 1000, rank, there + 1000, 1000, 0), 0);
  gex_Event_Wait(gex_RMA_GetNB(tm, buf + 2000, rank, there + 2000, 90, 0));
  gex_NBI_Wait(GEX_EC_GET, 0);
  CHECK_BYTES(buf, 2090, jobrank + 1);
  CHECK_EQ(gex_RMA_GetBlockingVal(tm, rank, there + BYTES, 8, 0), 42);
  check_kind(&before, jobrank, GEXX_STATS_GET, 4, 1000 + 1000 + 90 + 8);
  check_kind(&before, jobrank, GEXX_STATS_PUT, 6, 1000 + 1000 + 90 + 8 + 4);
}

static void strided(gex_TM_t tm, gex_Rank_t rank, gex_Rank_t jobrank) {
  const struct counts before = counts_of(jobrank);
  const size_t counts[1] = {10};
  const ptrdiff_t there_strides[1] = {16}, here_strides[1] = {8};
  pattern_fill(buf, 80, 5);
  CHECK_EQ(gex_VIS_StridedPutBlocking(tm, rank, area(jobrank), there_strides, buf, here_strides, 8,
                                      counts, 1, 0),
           0);
  memset(buf, 0, 80);
  CHECK_EQ(gex_VIS_StridedGetBlocking(tm, buf, here_strides, rank, area(jobrank), there_strides, 8,
                                      counts, 1, 0),
           0);
  CHECK_BYTES(buf, 80, 5);
  if (!job.mapped) return;
  check_kind(&before, jobrank, GEXX_STATS_PUT, 1, 80);
  check_kind(&before, jobrank, GEXX_STATS_GET, 1, 80);
}

static void signals(gex_TM_t tm, gex_Rank_t rank, gex_Rank_t jobrank) {
  const struct counts before = counts_of(jobrank);
  uint64_t *const sig = (uint64_t *)(void *)(area(jobrank) + BYTES + 64);
  CHECK_EQ(gexx_RMA_PutSignalBlocking(tm, rank, alone(area(jobrank), 0), buf, 100, GEX_EVENT_NOW,
                                      sig, GEXX_SIG_ADD, 1, 0),
           0);
  CHECK_EQ(gexx_RMA_PutSignalNBI(tm, rank, NULL, NULL, 0, GEX_EVENT_DEFER, sig, GEXX_SIG_ADD, 1, 0),
           0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gexx_RMA_GetSignalNB(tm, buf, rank, area(jobrank), 50, sig, GEXX_SIG_ADD, 1, 0));
  check_kind(&before, jobrank, GEXX_STATS_PUT_SIGNAL, 2, 100);
  check_kind(&before, jobrank, GEXX_STATS_GET_SIGNAL, 1, 50);
  while (gex_RMA_GetBlockingVal(tm, rank, sig, 8, 0) != 3) gasnet_AMPoll();
  CHECK_EQ(gex_RMA_PutBlockingVal(tm, rank, sig, 0, 8, 0), 0);
}

static void atomics(gex_AD_t ad, gex_Rank_t rank, gex_Rank_t jobrank) {
  const struct counts before = counts_of(jobrank);
  uint64_t *const word = (uint64_t *)(void *)(area(jobrank) + BYTES + 128), old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, rank, word, GEX_OP_SET, 5, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, rank, word, GEX_OP_FADD, 6, 0, 0));
  CHECK_EQ(old, 5);
  CHECK_EQ(gex_AD_OpNBI_U64(ad, NULL, rank, word, GEX_OP_ADD, 1, 0, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, rank, word, GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(old, 12);
  check_kind(&before, jobrank, GEXX_STATS_ATOMIC, 4, 32);
}

static void notifications(gex_TM_t tm, gex_Rank_t rank, gex_Rank_t jobrank) {
  static char source[60];
  char *const to = alone(job.base + (size_t)jobrank * AREA, 3);
  const struct counts before = counts_of(jobrank);
  CHECK_EQ(gexx_RMA_PutNotify(tm, rank, alone(area(jobrank), 1), source, 60, 1, 0), 0);
  CHECK_EQ(gexx_RMA_GetNotify(tm, to, rank, alone(area(jobrank), 2), 70, 2, 0), 0);
  check_kind(&before, jobrank, GEXX_STATS_PUT, 1, 60);
  check_kind(&before, jobrank, GEXX_STATS_GET, 1, 70);
}

/* Everything through one team towards all ranks of it. */
static void through(gex_TM_t tm, int pair) {
  gex_AD_t ad = GEX_AD_INVALID;
  if (!pair)
    gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD | GEX_OP_ADD, 0);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    const gex_Rank_t jobrank = pair ? r : gex_TM_TranslateRankToJobrank(tm, r);
    puts_and_gets(tm, r, jobrank);
    strided(tm, r, jobrank);
    signals(tm, r, jobrank);
    if (!pair) atomics(ad, r, jobrank);
    if (!pair) notifications(tm, r, jobrank);
  }
  turn++;
  job_barrier();
  if (!pair) gex_AD_Destroy(ad);
}

static void semaphores(void) {
  const gex_Rank_t to = (job.rank + 1) % job.size;
  gexx_Sem_t sem;
  gexx_Sem_Handle_t h;
  REQUIRE(gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_SCONSUMER) ==
          GASNET_OK);
  *(gexx_Sem_Handle_t *)(void *)job.base = gexx_Sem_QueryHandle(sem);
  job_barrier();
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, &h, to, job.peer[to], sizeof h, 0), 0);
  job_barrier();
  const struct counts before = counts_of(to);
  gexx_Sem_Post(h);
  gexx_Sem_PutSignal(h, alone(area(to), 0), buf, 77, 2);
  gexx_Sem_WaitN(sem, 3);
  job_barrier(); /* what found no room is sent, and counted, by now */
  check_kind(&before, to, GEXX_STATS_PUT_SIGNAL, 2, 77);
  gexx_Sem_Free(sem);
}

int main(int argc, char **argv) {
  gex_TM_t reverse;
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)AREA * job.size);
  memset(job.base, 0, job.bytes);
  CHECK_EQ(gex_TM_Split(&reverse, job.tm, 0, -(int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
  job_barrier();
  through(job.tm, 0);
  through(reverse, 0);
  through(gex_TM_Pair(job.ep, 0), 1);
  semaphores();
  CHECK_STR(gexx_Stats_Name(GEXX_STATS_ATOMIC), "atomic");
  CHECK_EQ(gex_TM_Destroy(reverse, NULL, 0), 0);
  return job_finish();
}
