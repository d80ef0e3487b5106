/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 01.4, 01.5: attach with a size of its own on each rank, segment and bound-segment queries,
 * loads and stores through localaddr, large untouched segments, IMMEDIATE queries.
 */
#include "job.h"

static uintptr_t size_of(gex_Rank_t rank) {
  return (uintptr_t)GASNET_PAGESIZE * (1 + 3 * rank);
}

static gex_TM_t pair_or_team(int use_pair) {
  return use_pair ? gex_TM_Pair(job.ep, 0) : job.tm;
}

static void check_own(void) {
  static int mark;
  CHECK(job.seg != GEX_SEGMENT_INVALID);
  CHECK_PTR(gex_EP_QuerySegment(job.ep), job.seg);
  CHECK_PTR(gex_Segment_QueryClient(job.seg), job.client);
  CHECK_EQ(gex_Segment_QueryFlags(job.seg), 0);
  CHECK_EQ(gex_Segment_QuerySize(job.seg), size_of(job.rank));
  job.base = (char *)gex_Segment_QueryAddr(job.seg);
  REQUIRE(job.base != NULL);
  CHECK_EQ((uintptr_t)job.base % GASNET_PAGESIZE, 0);
  CHECK_PTR(gex_Segment_QueryCData(job.seg), NULL);
  gex_Segment_SetCData(job.seg, &mark);
  CHECK_PTR(gex_Segment_QueryCData(job.seg), &mark);
  memset(job.base, 0x5a, size_of(job.rank));
  CHECK_EQ(fill_diff(job.base, size_of(job.rank), 0x5a), size_of(job.rank));
}

/* The three forms of the query agree. */
static void check_query(gex_TM_t tm, gex_Rank_t r) {
  void *owner = NULL, *local = NULL, *owner2 = NULL, *local2 = NULL;
  uintptr_t bytes = 0, bytes2 = 0;
  CHECK_EQ(gex_Segment_QueryBound(tm, r, &owner, &local, &bytes), 0);
  CHECK_EQ(bytes, size_of(r));
  CHECK_EQ((uintptr_t)owner % GASNET_PAGESIZE, 0);
  if (r == job.rank) {
    CHECK_PTR(owner, job.base);
    CHECK_PTR(local, job.base);
  }
  const gex_Event_t ev = gex_EP_QueryBoundSegmentNB(tm, r, &owner2, &local2, &bytes2, 0);
  CHECK(ev != GEX_EVENT_NO_OP);
  gex_Event_Wait(ev);
  CHECK_PTR(owner2, owner);
  CHECK_PTR(local2, local);
  CHECK_EQ(bytes2, bytes);
  bytes2 = 0;
  const gex_Event_t now =
      gex_EP_QueryBoundSegmentNB(tm, r, NULL, NULL, &bytes2, GEX_FLAG_IMMEDIATE);
  CHECK(now == GEX_EVENT_INVALID || (now == GEX_EVENT_NO_OP && r != job.rank));
  if (now == GEX_EVENT_INVALID) CHECK_EQ(bytes2, bytes);
  CHECK_EQ(gex_Segment_QueryBound(tm, r, NULL, NULL, NULL), 0);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, NULL, NULL, NULL, 0));
}

/* Rank r's last bytes, one for each other rank, are written by load/store when mapped, else by put.
 */
static void check_access(void) {
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL, *local = NULL;
    uintptr_t bytes = 0;
    REQUIRE(gex_Segment_QueryBound(job.tm, r, &owner, &local, &bytes) == 0);
    const uintptr_t at = bytes - job.size + job.rank;
    if (local)
      ((volatile char *)local)[at] = (char)(0x80 + job.rank);
    else
      gex_RMA_PutBlockingVal(job.tm, r, (char *)owner + at, 0x80 + job.rank, 1, 0);
  }
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ((unsigned char)job.base[size_of(job.rank) - job.size + r], 0x80 + r);
  CHECK_EQ(fill_diff(job.base, size_of(job.rank), 0x5a), size_of(job.rank) - job.size);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  const uintptr_t local = gasnet_getMaxLocalSegmentSize();
  const uintptr_t global = gasnet_getMaxGlobalSegmentSize();
  CHECK(local >= GASNET_PAGESIZE && local % GASNET_PAGESIZE == 0);
  CHECK(global >= GASNET_PAGESIZE && global % GASNET_PAGESIZE == 0);
  CHECK_CMP(global, <=, local);
  REQUIRE(gex_Segment_Attach(&job.seg, job.tm, size_of(job.rank)) == GASNET_OK);
  check_own();
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int pair = 0; pair < 2; pair++) check_query(pair_or_team(pair), r);
  check_access();
  CHECK_EQ(gasnet_getMaxLocalSegmentSize(), local);
  return job_finish();
}
