/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 01.4, 01.5: further endpoints, created segments: indices, limits, errors that leave outputs
 * alone, binding, publication, queries of bound segments over teams and TM-pairs.
 */
#include "job.h"

enum { BYTES = 3 * 4096 + 17 };

static char memory[BYTES]; /* client memory, unaligned length */

static gex_EP_t make_ep(void) {
  gex_EP_t ep = GEX_EP_INVALID;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
  return ep;
}

static gex_Segment_t make_segment(void *addr, uintptr_t bytes) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  REQUIRE(gex_Segment_Create(&seg, job.client, addr, bytes, GEX_MK_HOST, 0) == GASNET_OK);
  return seg;
}

static void check_refusals(void) {
  gex_EP_t ep = (gex_EP_t)(void *)memory;
  gex_Segment_t seg = (gex_Segment_t)(void *)memory;
  CHECK_EQ(gex_EP_Create(&ep, job.client, 0, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_Create(&ep, job.client, 1u << 30, 0), GASNET_ERR_BAD_ARG);
  CHECK_PTR(ep, memory);
  CHECK_EQ(gex_Segment_Create(&seg, job.client, memory, 0, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_Segment_Create(&seg, job.client, memory, BYTES, GEX_MK_INVALID, 0),
           GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_Segment_Create(&seg, job.client, memory, UINTPTR_MAX, GEX_MK_HOST, 0),
           GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_Segment_Create(&seg, job.client, NULL,
                              gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE, GEX_MK_HOST, 0),
           GASNET_ERR_RESOURCE);
  CHECK_PTR(seg, memory);
  CHECK_EQ(gex_EP_BindSegment(GEX_EP_INVALID, job.seg, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_BindSegment(job.ep, GEX_SEGMENT_INVALID, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_BindSegment(job.ep, job.seg, 0), GASNET_ERR_BAD_ARG); /* bound by attach */
}

static void check_segments(void) {
  const gex_Segment_t own = make_segment(NULL, BYTES);
  CHECK_CMP(gex_Segment_QuerySize(own), >=, BYTES);
  char *const base = (char *)gex_Segment_QueryAddr(own);
  REQUIRE(base != NULL);
  memset(base, 1, gex_Segment_QuerySize(own));
  CHECK_PTR(gex_Segment_QueryClient(own), job.client);
  CHECK_EQ(gex_Segment_QueryFlags(own), 0);
  CHECK_PTR(gex_Segment_QueryCData(own), NULL);
  gex_Segment_SetCData(own, base);
  CHECK_PTR(gex_Segment_QueryCData(own), base);
  gex_Segment_Destroy(own, 0);
  memset(memory, 7, sizeof memory);
  const gex_Segment_t client = make_segment(memory, BYTES);
  CHECK_PTR(gex_Segment_QueryAddr(client), memory);
  CHECK_EQ(gex_Segment_QuerySize(client), BYTES);
  gex_Segment_Destroy(client, 0);
  CHECK_EQ(fill_diff(memory, BYTES, 7), BYTES);
  for (int i = 0; i < 2000; i++) /* 2000 x 4 MiB: the memory comes back */
    gex_Segment_Destroy(make_segment(NULL, 4u << 20), 0);
}

/* All three forms of a query of (tm, rank) give these values. */
static void check_bound(gex_TM_t tm, gex_Rank_t rank, const void *addr, uintptr_t bytes) {
  void *owner = memory, *local = memory;
  uintptr_t size = 1;
  CHECK_EQ(gex_Segment_QueryBound(tm, rank, &owner, &local, &size), bytes ? 0 : 1);
  if (!bytes) {
    CHECK_PTR(owner, memory);
    CHECK_EQ(size, 1);
  } else {
    CHECK_PTR(owner, addr);
    CHECK_EQ(size, bytes);
  }
  for (int immediate = 0; immediate < 2; immediate++) {
    size = 1;
    const gex_Event_t event = gex_EP_QueryBoundSegmentNB(
        tm, rank, &owner, &local, &size, immediate ? GEX_FLAG_IMMEDIATE : (gex_Flags_t)0);
    CHECK(event == GEX_EVENT_INVALID || event != GEX_EVENT_NO_OP || immediate);
    if (event == GEX_EVENT_NO_OP) continue;
    gex_Event_Wait(event);
    CHECK_EQ(size, bytes);
    if (bytes) CHECK_PTR(owner, addr);
  }
}

static void check_binding(void) {
  const gex_EP_t ep[3] = {make_ep(), make_ep(), make_ep()};
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(gex_EP_QueryIndex(ep[i]), i + 1);
    CHECK_PTR(gex_EP_QueryClient(ep[i]), job.client);
    CHECK_PTR(gex_EP_QuerySegment(ep[i]), GEX_SEGMENT_INVALID);
    CHECK_EQ(gex_EP_QueryFlags(ep[i]), 0);
    CHECK_PTR(gex_EP_QueryCData(ep[i]), NULL);
  }
  const gex_Segment_t seg = make_segment(memory, BYTES);
  CHECK_EQ(gex_EP_BindSegment(ep[0], seg, 1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_BindSegment(ep[0], seg, 0), GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep[0], seg, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_BindSegment(ep[1], job.seg, 0), GASNET_OK); /* one segment, two endpoints */
  CHECK_PTR(gex_EP_QuerySegment(ep[0]), seg);
  for (gex_Rank_t r = 0; r < job.size; r++) { /* not published: only own ones are known */
    check_bound(gex_TM_Pair(job.ep, 1), r, memory, r == job.rank ? BYTES : 0);
    check_bound(gex_TM_Pair(ep[2], 3), r, NULL, 0);
  }
  job_barrier();
  gex_EP_t list[3] = {ep[2], ep[1], ep[0]};
  CHECK_EQ(gex_EP_PublishBoundSegment(job.tm, list, job.rank % 2 ? 1 : 3, 0), GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    const int listed = r % 2 == 0 || r == job.rank;
    void *const where = r == job.rank ? memory : NULL;
    uintptr_t size = 0;
    void *owner = NULL;
    (void)gex_Segment_QueryBound(gex_TM_Pair(job.ep, 1), r, &owner, NULL, &size);
    CHECK_EQ(size, listed ? BYTES : 0);
    if (where) CHECK_PTR(owner, where);
    check_bound(gex_TM_Pair(ep[0], 2), r, job.peer[r], listed ? job.bytes : 0);
    check_bound(gex_TM_Pair(ep[0], 0), r, job.peer[r], job.bytes);
    check_bound(gex_TM_Pair(ep[0], 3), r, NULL, 0);
    check_bound(job.tm, r, job.peer[r], job.bytes);
  }
  CHECK_EQ(gex_EP_BindSegment(ep[2], make_segment(NULL, 4096), 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job.tm, list, 3, 0), GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    uintptr_t size = 0;
    CHECK_EQ(gex_Segment_QueryBound(gex_TM_Pair(ep[1], 3), r, NULL, NULL, &size), 0);
    CHECK_EQ(size, 4096);
  }
}

/* Up to GASNET_MAXEPS, then refused; and all of them published at once. */
static void check_limit(void) {
  gex_EP_t all[GASNET_MAXEPS], ep = (gex_EP_t)(void *)memory;
  size_t count = 0;
  for (int i = 4; i < GASNET_MAXEPS; i++) {
    all[count] = make_ep();
    CHECK_EQ(gex_EP_QueryIndex(all[count]), i);
    CHECK_EQ(gex_EP_BindSegment(all[count], make_segment(NULL, (uintptr_t)(i + 1) * 4096), 0),
             GASNET_OK);
    count++;
  }
  CHECK_EQ(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0), GASNET_ERR_RESOURCE);
  CHECK_EQ(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0), GASNET_ERR_RESOURCE);
  CHECK_PTR(ep, memory);
  CHECK_EQ(gex_EP_PublishBoundSegment(job.tm, all, count, 0), GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int i = 4; i < GASNET_MAXEPS; i++) {
      uintptr_t size = 0;
      CHECK_EQ(gex_Segment_QueryBound(gex_TM_Pair(job.ep, (gex_EP_Index_t)i), r, NULL, NULL, &size),
               0);
      CHECK_EQ(size, (uintptr_t)(i + 1) * 4096);
    }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4 * GASNET_PAGESIZE, NULL, 0);
  check_refusals();
  check_segments();
  check_binding();
  check_limit();
  job_barrier();
  return job_finish();
}
