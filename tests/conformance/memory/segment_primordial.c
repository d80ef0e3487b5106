/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/*
 * API 01.4, 01.5: a job whose primordial endpoints are bound to created segments instead of the
 * attached one: publish, queries, put, get, Long messages and sub-teams over them; an attach after
 * that is refused everywhere.
 */
#include "job.h"

enum { BYTES = 1 << 18, PLACE = 8192 };

static char client_memory[BYTES]; /* of odd ranks; the library's memory on even ones */
static int arrived;
static gex_AM_Index_t landed;

static void on_landed(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  CHECK((char *)buf >= job.base && (char *)buf < job.base + BYTES);
  CHECK_BYTES(buf, nbytes, (uint64_t)seed);
  arrived++;
}

static void bind_and_publish(void) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  uintptr_t size = 1;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, job.rank, NULL, NULL, &size, 0));
  CHECK_EQ(size, 0);
  REQUIRE(gex_Segment_Create(&seg, job.client, job.rank % 2 ? client_memory : NULL, BYTES,
                             GEX_MK_HOST, 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(job.ep, seg, 0) == GASNET_OK);
  job.base = (char *)gex_Segment_QueryAddr(seg);
  gex_EP_t list[1] = {job.ep};
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, list, 1, 0) == GASNET_OK);
  job.peer = (char **)calloc(job.size, sizeof *job.peer);
  REQUIRE(job.peer != NULL);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    REQUIRE(gex_Segment_QueryBound(job.tm, r, &owner, NULL, &size) == 0);
    CHECK_EQ(size, BYTES);
    job.peer[r] = (char *)owner;
  }
}

static void check_rma(gex_TM_t tm, uint64_t seed) {
  char out[3000], in[3000];
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm); r++) {
    const uintptr_t at = PLACE * (job.rank % 16u);
    char *const there = job.peer[gex_TM_TranslateRankToJobrank(tm, r)] + at;
    pattern_fill(out, sizeof out, seed + r);
    CHECK_EQ(gex_RMA_PutBlocking(tm, r, there, out, sizeof out, 0), 0);
    gex_Event_Wait(gex_RMA_GetNB(tm, in, r, (void *)at, sizeof in, GEX_FLAG_PEER_SEG_OFFSET));
    CHECK_BYTES(in, sizeof in, seed + r);
  }
}

static void check_long(gex_TM_t tm, size_t nbytes) {
  const gex_Rank_t next = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
  char *const out = (char *)malloc(nbytes);
  REQUIRE(out != NULL);
  arrived = 0;
  job_barrier();
  pattern_fill(out, nbytes, 11);
  CHECK_EQ(gex_AM_RequestLong1(tm, next, landed, out, nbytes,
                               job.peer[gex_TM_TranslateRankToJobrank(tm, next)], GEX_EVENT_NOW, 0,
                               11),
           0);
  GASNET_BLOCKUNTIL(arrived == 1);
  job_barrier();
  CHECK_EQ(gex_AM_RequestLong1(tm, next, landed, out, nbytes / 2, (void *)(uintptr_t)64,
                               GEX_EVENT_NOW, GEX_FLAG_PEER_SEG_OFFSET, 11),
           0);
  GASNET_BLOCKUNTIL(arrived == 2);
  job_barrier();
  free(out);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  landed = job_handler((gex_AM_Fn_t)on_landed, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1);
  job_barrier();
  gex_TM_t early = GEX_TM_INVALID, late = GEX_TM_INVALID;
  (void)gex_TM_Split(&early, job.tm, (int)job.rank % 2, -(int)job.rank, NULL, 0,
                     GEX_FLAG_TM_NO_SCRATCH);
  bind_and_publish();
  (void)gex_TM_Split(&late, job.tm, 0, 0, job.base + BYTES / 2, 8192, 0); /* scratch inside it */
  check_rma(job.tm, 1);
  job_barrier();
  check_rma(early, 100);
  job_barrier();
  check_rma(late, 200);
  check_long(job.tm, 100);
  check_long(late, BYTES / 2);
  gex_Memvec_t back = {NULL, 0};
  CHECK_CMP(gex_TM_Destroy(late, &back, 0), !=, 0);
  CHECK_PTR(back.gex_addr, job.base + BYTES / 2);
  CHECK_EQ(gex_TM_Destroy(early, NULL, 0), 0);
  gex_Segment_t attached = GEX_SEGMENT_INVALID;
  CHECK_CMP(gex_Segment_Attach(&attached, job.tm, GASNET_PAGESIZE), !=, GASNET_OK);
  CHECK_PTR(attached, GEX_SEGMENT_INVALID);
  check_rma(job.tm, 300);
  job_barrier();
  return job_finish();
}
