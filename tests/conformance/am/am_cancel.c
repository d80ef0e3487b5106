/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/*
 * API 02.5: Cancel of every kind releases everything (many more cancels than there are buffers), a
 * cancelled reply may be followed by another one, and a Commit_v2 that may fail leaves the
 * descriptor usable.
 */
#include "job.h"

enum { ROUNDS = 3000, BYTES = 3000 };

static gex_AM_Index_t request_index, reply_index;
static volatile uint32_t requests, replies;

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  (void)token;
  CHECK_EQ(nbytes, 100);
  CHECK_BYTES(buf, nbytes, (unsigned)id);
  replies++;
}

/* Prepares and cancels replies of each kind before the real one. */
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  char mine[100];
  CHECK_EQ(nbytes, BYTES);
  CHECK_BYTES(buf, nbytes, (unsigned)id);
  requests++;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, 512, 65536, NULL, 0, 1);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  memset(gex_AM_SrcDescAddr(sd), 0x41, 512);
  CHECK_EQ(gex_AM_CancelReplyMedium(sd, 0), 0);
  sd = gex_AM_PrepareReplyMedium(token, mine, 1, 100, GEX_EVENT_NOW, 0, 4);
  CHECK_EQ(gex_AM_CancelReplyMedium(sd, 0), 0);
  sd = gex_AM_PrepareReplyLong(token, NULL, 1, 512, NULL, NULL, 0, 0);
  CHECK_EQ(gex_AM_CancelReplyLong(sd, 0), 0);
  pattern_fill(mine, sizeof mine, (unsigned)id);
  if (id % 2) {
    CHECK_EQ(gex_AM_ReplyMedium1(token, reply_index, mine, sizeof mine, GEX_EVENT_NOW, 0, id), 0);
    return;
  }
  sd = gex_AM_PrepareReplyMedium(token, NULL, 100, 200, NULL, 0, 1);
  memcpy(gex_AM_SrcDescAddr(sd), mine, sizeof mine);
  int tries = 0;
  while (gex_AM_CommitReplyMedium_v2(sd, reply_index, 100, GEX_FLAG_IMMEDIATE, id) != 0)
    if (++tries == 100) {
      CHECK_EQ(gex_AM_CommitReplyMedium_v2(sd, reply_index, 100, 0, id), 0);
      break;
    }
}

static void cancel_requests(gex_Rank_t to, char *client) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, 512, 65536, NULL, 0, 2);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  memset(gex_AM_SrcDescAddr(sd), 0x42, 512);
  CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
  sd = gex_AM_PrepareRequestMedium(job.tm, to, client, 10, 3000, GEX_EVENT_GROUP, 0, 16);
  CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
  sd = gex_AM_PrepareRequestLong(job.tm, to, NULL, 512, 40000, NULL, NULL, 0, 1);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  CHECK_EQ(gex_AM_CancelRequestLong(sd, 0), 0);
  sd = gex_AM_PrepareRequestLong(job.tm, to, client, 10, 3000, job.peer[to], GEX_EVENT_NOW, 0, 0);
  CHECK_EQ(gex_AM_CancelRequestLong(sd, 0), 0);
  sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, 1, 65536, NULL, GEX_FLAG_IMMEDIATE, 0);
  if (sd != GEX_AM_SRCDESC_NO_OP) CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
}

static void send_real(gex_Rank_t to, int id) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, BYTES, 1 << 20, NULL, 0, 1);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  pattern_fill(gex_AM_SrcDescAddr(sd), BYTES, (unsigned)id);
  int tries = 0;
  while (gex_AM_CommitRequestMedium_v2(sd, request_index, BYTES, GEX_FLAG_IMMEDIATE, id) != 0)
    if (++tries == 100) {
      CHECK_EQ(gex_AM_CommitRequestMedium_v2(sd, request_index, BYTES, 0, id), 0);
      break;
    }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1);
  job_barrier();
  static char client[3000];
  for (int id = 0; id < ROUNDS; id++) {
    const gex_Rank_t to = (job.rank + (gex_Rank_t)id) % job.size;
    cancel_requests(to, client);
    if (id % 5 == 0) send_real(to, id);
  }
  GASNET_BLOCKUNTIL(replies == ROUNDS / 5);
  job_barrier();
  CHECK_EQ(replies, ROUNDS / 5);
  /* 5 and the job's size have no common factor but at 5 ranks: everyone gets as many as it sends */
  CHECK_EQ(requests, ROUNDS / 5);
  CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), 0); /* cancelled ones left nothing behind */
  return job_finish();
}
