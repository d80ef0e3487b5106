/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 17 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* timeout: 120 */
/*
 * API 01.7: gex_TM_Split and gex_TM_Destroy: order by key, members that join nothing, scratch
 * memory and its return, teams made before the segment is attached, put, get and messages over a
 * new team, many barriers in flight on several teams, memory over many cycles.
 */
#include "job.h"

#include <malloc.h>

enum { SCRATCH = 64 * 1024, CYCLES = 3000, PLACES = 64 };

static gex_TM_t split(gex_TM_t parent, int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  const size_t made = gex_TM_Split(&tm, parent, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK_EQ(made, 1);
  REQUIRE(tm != GEX_TM_INVALID);
  return tm;
}

/* Rank and size of `tm`, and translations of all ranks to the jobranks of `want`. */
static void check_members(gex_TM_t tm, const gex_Rank_t *want, gex_Rank_t count) {
  CHECK_EQ(gex_TM_QuerySize(tm), count);
  gex_Rank_t inside = 0;
  for (gex_Rank_t r = 0; r < count; r++) {
    CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r), want[r]);
    CHECK_EQ(gex_TM_TranslateJobrankToRank(tm, want[r]), r);
    const gex_EP_Location_t at = gex_TM_TranslateRankToEP(tm, r, 0);
    CHECK_EQ(at.gex_rank, want[r]);
    CHECK_EQ(at.gex_ep_index, 0);
    if (want[r] == job.rank) {
      CHECK_EQ(gex_TM_QueryRank(tm), r);
      inside++;
    }
  }
  CHECK_EQ(inside, 1);
  CHECK_PTR(gex_TM_QueryEP(tm), job.ep);
  CHECK_PTR(gex_TM_QueryClient(tm), job.client);
  CHECK_PTR(gex_TM_QueryCData(tm), NULL);
  for (gex_Rank_t j = 0; j < job.size; j++) {
    int member = 0;
    for (gex_Rank_t r = 0; r < count; r++) member |= want[r] == j;
    if (!member) CHECK_EQ(gex_TM_TranslateJobrankToRank(tm, j), GEX_RANK_INVALID);
  }
}

/* Odd and even ranks, each in descending order. */
static gex_TM_t by_parity(void) {
  gex_Rank_t want[64], count = 0;
  const gex_TM_t tm = split(job.tm, (int)(job.rank % 2) * 1000000, -(int)job.rank);
  for (gex_Rank_t j = job.size; j-- > 0;)
    if (j % 2 == job.rank % 2) want[count++] = j;
  check_members(tm, want, count);
  return tm;
}

/* Equal keys keep the parent's order; extreme keys compare as signed numbers. */
static void check_keys(void) {
  gex_Rank_t want[64], count = 0;
  const int key = job.rank % 3 == 0 ? 0x7fffffff : job.rank % 3 == 1 ? 5 : -0x7fffffff - 1;
  const gex_TM_t tm = split(job.tm, 0x7fffffff, key);
  for (gex_Rank_t k = 0; k < 3; k++)
    for (gex_Rank_t j = 0; j < job.size; j++)
      if (j % 3 == 2 - k) want[count++] = j;
  check_members(tm, want, count);
  CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
}

/* Only rank 0 and the last one join. */
static void check_absent(void) {
  const int joins = job.rank == 0 || job.rank == job.size - 1;
  gex_TM_t tm = GEX_TM_INVALID;
  (void)gex_TM_Split(joins ? &tm : NULL, job.tm, 3, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK_EQ(tm != GEX_TM_INVALID, joins);
  if (!joins) return;
  const gex_Rank_t want[2] = {0, job.size - 1};
  check_members(tm, want, job.size > 1 ? 2 : 1);
  gex_Coll_BarrierBlocking(tm, 0);
  CHECK_EQ(gex_TM_Destroy(tm, NULL, GEX_FLAG_GLOBALLY_QUIESCED * (job.size == 1)), 0);
}

/* ---- scratch memory */

static void check_scratch_sizes(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  const gex_Flags_t ask = GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  const size_t bytes = gex_TM_Split(&tm, job.tm, 0, 0, NULL, 0, ask);
  CHECK(bytes > 0 && bytes <= 2u << 20);
  CHECK_EQ(gex_TM_Split(NULL, job.tm, 0, 0, NULL, 0, ask), 0);
  const size_t least = gex_TM_Split(&tm, job.tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
  CHECK(least > 0 && least <= bytes && least <= SCRATCH);
  CHECK_PTR(tm, GEX_TM_INVALID);
}

static void check_scratch(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Memvec_t back = {NULL, 0};
  char *const at = job.base + SCRATCH;
  (void)gex_TM_Split(&tm, job.tm, 0, (int)job.rank, at, SCRATCH, 0);
  REQUIRE(tm != GEX_TM_INVALID);
  gex_Coll_BarrierBlocking(tm, 0);
  CHECK_CMP(gex_TM_Destroy(tm, &back, 0), !=, 0);
  CHECK_PTR(back.gex_addr, at);
  CHECK_EQ(back.gex_len, SCRATCH);
  (void)gex_TM_Split(&tm, job.tm, (int)job.rank / 2, 0, (void *)(uintptr_t)SCRATCH, SCRATCH,
                     GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  CHECK_CMP(gex_TM_Destroy(tm, &back, GEX_FLAG_SCRATCH_SEG_OFFSET), !=, 0);
  CHECK_PTR(back.gex_addr, (void *)(uintptr_t)SCRATCH);
  (void)gex_TM_Split(&tm, job.tm, 0, 0, at, SCRATCH, 0);
  CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  tm = split(job.tm, 0, 0);
  back.gex_addr = &tm;
  CHECK_EQ(gex_TM_Destroy(tm, &back, 0), 0);
  CHECK_PTR(back.gex_addr, &tm);
}

/* ---- communication over a team */

static uint64_t heard; /* by handlers: sum of senders' team ranks + 1 */
static gex_AM_Index_t hello;

static void on_hello(gex_Token_t token, gex_AM_Arg_t rank) {
  (void)token;
  heard += (uint64_t)rank + 1;
}

/* Every member writes its place at every other, reads it back and sends a message. */
static void check_traffic(gex_TM_t tm) {
  const gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  const uint64_t want = (uint64_t)size * (size + 1) / 2;
  memset(job.base, 0, PLACES * 8);
  heard = 0;
  gex_Coll_BarrierBlocking(tm, 0);
  for (gex_Rank_t r = 0; r < size; r++) {
    void *owner = NULL;
    uintptr_t bytes = 0;
    const gex_Rank_t j = gex_TM_TranslateRankToJobrank(tm, r);
    CHECK_EQ(gex_Segment_QueryBound(tm, r, &owner, NULL, &bytes), 0);
    CHECK_PTR(owner, job.peer[j]);
    CHECK_EQ(gex_RMA_PutBlockingVal(tm, r, job.peer[j] + 8 * me, job.rank + 77, 8, 0), 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, job.peer[j] + 8 * me, 8, 0), job.rank + 77);
    CHECK_EQ(gex_AM_RequestShort1(tm, r, hello, 0, (gex_AM_Arg_t)me), 0);
  }
  GASNET_BLOCKUNTIL(heard >= want);
  CHECK_EQ(heard, want);
  gex_Coll_BarrierBlocking(tm, 0);
  for (gex_Rank_t r = 0; r < size; r++)
    CHECK_EQ(((uint64_t *)(void *)job.base)[r], gex_TM_TranslateRankToJobrank(tm, r) + 77);
  gex_Coll_BarrierBlocking(tm, 0);
}

/* ---- barriers */

/* A barrier is complete only when all have called it: members arrive late in turn, and publish how
 * far they are. */
static void check_barrier_holds(gex_TM_t tm) {
  const gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  uint64_t *const place = (uint64_t *)(void *)job.base;
  memset(job.base, 0, PLACES * 8);
  gex_Coll_BarrierBlocking(tm, 0);
  for (uint64_t step = 1; step <= size; step++) {
    if (step % size == me) sleep_ms(5);
    for (gex_Rank_t r = 0; r < size; r++) {
      const gex_Rank_t j = gex_TM_TranslateRankToJobrank(tm, r);
      CHECK_EQ(gex_RMA_PutBlockingVal(tm, r, job.peer[j] + 8 * me, step, 8, 0), 0);
    }
    gex_Coll_BarrierBlocking(tm, 0);
    for (gex_Rank_t r = 0; r < size; r++) CHECK_CMP(place[r], >=, step);
    gex_Coll_BarrierBlocking(tm, 0);
  }
}

/* Many in flight on three teams at once, completed in any order. */
static void check_barriers(gex_TM_t a, gex_TM_t b) {
  enum { EACH = 40 };
  gex_Event_t event[3 * EACH];
  for (int i = 0; i < EACH; i++) {
    event[3 * i] = gex_Coll_BarrierNB(a, 0);
    event[3 * i + 1] = gex_Coll_BarrierNB(b, 0);
    event[3 * i + 2] = gex_Coll_BarrierNB(job.tm, 0);
  }
  for (int i = 3 * EACH; i-- > 2 * EACH;) gex_Event_Wait(event[i]);
  gex_Event_WaitAll(event, 2 * EACH, 0);
  check_count(1);
}

/* ---- many cycles */

static size_t heap_bytes(void) {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

static void check_cycles(void) {
  const gex_TM_t keep = by_parity();
  size_t before = 0;
  const int cycles = (int)env_number("TMB_TEST_CYCLES", CYCLES) / (job.size > 4 ? 10 : 1);
  for (int i = 0; i < cycles; i++) {
    if (i == cycles / 10) before = heap_bytes();
    gex_TM_t tm = split(i % 2 ? job.tm : keep, (int)job.rank % (1 + i % 3), 0);
    if (i % 5 == 0) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  }
  job_barrier();
  CHECK_CMP(heap_bytes(), <, before + 64 * 1024);
  CHECK_EQ(gex_TM_Destroy(keep, NULL, 0), 0);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  hello = job_handler((gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1);
  job_barrier();
  const gex_TM_t early = by_parity(); /* its tables must follow the attach */
  const gex_TM_t same = split(job.tm, 0, 0);
  job_attach(4 * SCRATCH);
  job_barrier();
  check_keys();
  check_absent();
  check_scratch_sizes();
  check_scratch();
  check_traffic(early);
  check_traffic(same);
  const gex_TM_t nested = split(early, (int)gex_TM_QueryRank(early) / 2, 0);
  check_traffic(nested);
  check_barrier_holds(early);
  check_barriers(early, nested);
  CHECK_EQ(gex_TM_Destroy(early, NULL, 0), 0);
  gex_Coll_BarrierBlocking(nested, 0);
  CHECK_EQ(gex_TM_Destroy(nested, NULL, 0), 0);
  check_cycles();
  gex_Coll_BarrierBlocking(same, 0);
  CHECK_EQ(gex_TM_Destroy(same, NULL, GEX_FLAG_GLOBALLY_QUIESCED), 0);
  return job_finish();
}
