/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* debug: both */
/*
 * API 00.8: everything that is legal in a request handler, a reply handler, with a lock held, and
 * between Prepare and Commit gives the same answers there as outside.
 */
#include "job.h"

static gex_AM_Index_t request_index, reply_index;
static volatile uint32_t requests, replies;
static gex_HSL_t static_lock = GEX_HSL_INITIALIZER;
static gex_HSL_t made_lock;
static int mark[4];

static void ask_placement(void) {
  gex_RankInfo_t *info = NULL;
  gex_Rank_t count = 0, mine = 0, ns = 0, nr = 0, hs = 0, hr = 0;
  gex_System_QueryNbrhdInfo(&info, &count, &mine);
  CHECK(count >= 1 && info[mine].gex_jobrank == job.rank);
  gex_System_QueryHostInfo(&info, &count, &mine);
  CHECK(count >= 1 && info[mine].gex_jobrank == job.rank);
  gex_System_QueryMyPosition(&ns, &nr, &hs, &hr);
  CHECK(nr < ns && hr < hs);
}

static void ask_everything(void) {
  CHECK_EQ(gex_System_QueryJobRank(), job.rank);
  CHECK_EQ(gex_System_QueryJobSize(), job.size);
  ask_placement();
  CHECK_EQ(gex_System_QueryMaxThreads(), 1);
  CHECK_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), GASNET_HIDDEN_AM_CONCURRENCY_LEVEL);
  gex_System_SetVerboseErrors(gex_System_GetVerboseErrors());
  CHECK_PTR(gex_Client_QueryCData(job.client), &mark[0]);
  gex_Client_SetCData(job.client, &mark[0]);
  CHECK_PTR(gex_EP_QueryCData(job.ep), &mark[1]);
  gex_EP_SetCData(job.ep, &mark[1]);
  CHECK_PTR(gex_TM_QueryCData(job.tm), &mark[2]);
  gex_TM_SetCData(job.tm, &mark[2]);
  CHECK_PTR(gex_Segment_QueryCData(job.seg), &mark[3]);
  gex_Segment_SetCData(job.seg, &mark[3]);
  CHECK_STR(gex_Client_QueryName(job.client), "CONFORM");
  CHECK_EQ(gex_Client_QueryFlags(job.client), 0);
  CHECK_PTR(gex_EP_QuerySegment(job.ep), job.seg);
  CHECK_PTR(gex_EP_QueryClient(job.ep), job.client);
  CHECK_EQ(gex_EP_QueryIndex(job.ep), 0);
  CHECK_PTR(gex_Segment_QueryAddr(job.seg), job.base);
  CHECK_EQ(gex_Segment_QuerySize(job.seg), job.bytes);
  CHECK_PTR(gex_TM_QueryEP(job.tm), job.ep);
  CHECK_PTR(gex_TM_QueryClient(job.tm), job.client);
  CHECK_EQ(gex_TM_QueryRank(job.tm), job.rank);
  CHECK_EQ(gex_TM_QuerySize(job.tm), job.size);
  CHECK_PTR(gex_TM_Pair(job.ep, 0), gex_TM_Pair(job.ep, 0));
  CHECK_CMP(gex_AM_MaxRequestMedium(job.tm, 0, GEX_EVENT_NOW, 0, 0), >=, gex_AM_LUBRequestMedium());
  CHECK_CMP(gex_AM_MaxReplyLong(job.tm, 0, GEX_EVENT_NOW, 0, 16), >=, gex_AM_LUBReplyLong());
  uintptr_t bytes = 0;
  CHECK_PTR(gex_EP_QueryBoundSegmentNB(job.tm, job.rank, NULL, NULL, &bytes, GEX_FLAG_IMMEDIATE),
            GEX_EVENT_INVALID);
  CHECK_EQ(bytes, job.bytes);
}

static void with_locks(void) {
  gex_HSL_Lock(&static_lock);
  CHECK_EQ(gex_HSL_Trylock(&made_lock), GASNET_OK);
  ask_everything();
  gex_HSL_Unlock(&made_lock);
  gex_HSL_Unlock(&static_lock);
}

static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  CHECK_EQ(nbytes, 16);
  CHECK_BYTES(buf, 16, (uint32_t)id);
  ask_everything();
  with_locks();
  requests++;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, 16, 16, NULL, 0, 1);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  ask_everything();
  pattern_fill(gex_AM_SrcDescAddr(sd), 16, (uint32_t)id + 1);
  gex_AM_CommitReplyMedium1(sd, reply_index, 16, id + 1);
  ask_everything();
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  (void)token;
  CHECK_EQ(nbytes, 16);
  CHECK_BYTES(buf, 16, (uint32_t)id);
  ask_everything();
  with_locks();
  replies++;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1);
  job_barrier();
  gex_HSL_Init(&made_lock);
  gex_Client_SetCData(job.client, &mark[0]);
  gex_EP_SetCData(job.ep, &mark[1]);
  gex_TM_SetCData(job.tm, &mark[2]);
  gex_Segment_SetCData(job.seg, &mark[3]);
  job_barrier();
  with_locks();
  for (gex_Rank_t r = 0; r < job.size; r++) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, r, NULL, 16, 16, NULL, 0, 1);
    REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
    const uint32_t before = requests;
    ask_everything();
    with_locks();
    CHECK_EQ(requests, before); /* no handler runs in this interval */
    pattern_fill(gex_AM_SrcDescAddr(sd), 16, r);
    gex_AM_CommitRequestMedium1(sd, request_index, 16, r);
  }
  GASNET_BLOCKUNTIL(replies == job.size && requests == job.size);
  job_barrier();
  CHECK_EQ(replies, job.size);
  CHECK_EQ(requests, job.size);
  gex_HSL_Destroy(&made_lock);
  return job_finish();
}
