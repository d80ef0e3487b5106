/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/* debug: yes */
/* env: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_BULK_BUFFERS=2 */
/*
 * API 02.5: an immediate Commit of a Long of several pieces waits for room once its beginning was
 * sent. Request handlers that run in that wait prepare replies on the same thread, cancel them, and
 * reply in other ways.
 */
#include "job.h"

enum { ROUNDS = 40, AREA = 256 * 1024 };

static gex_AM_Index_t request_index, reply_index;
static volatile uint32_t requests, replies;

/* Cancel one prepared reply, then answer by another. */
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  const gex_Rank_t from = job_source(token);
  CHECK_PTR(buf, job.base + (size_t)from * AREA);
  CHECK_BYTES(buf, nbytes, job_seed(from, job.rank, id, 0));
  requests++;
  REQUIRE(gex_AM_CancelReplyMedium(gex_AM_PrepareReplyMedium(token, NULL, 8, 64, NULL, 0, 2), 0) ==
          0);
  if (id % 2) {
    CHECK_EQ(gex_AM_ReplyMedium1(token, reply_index, &id, sizeof id, GEX_EVENT_NOW, 0, id), 0);
    return;
  }
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, 8, 64, NULL, 0, 1);
  memcpy(gex_AM_SrcDescAddr(sd), &id, sizeof id);
  gex_AM_CommitReplyMedium1(sd, reply_index, sizeof id, id);
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id) {
  (void)token;
  CHECK_EQ(nbytes, sizeof id);
  CHECK_EQ(memcmp(buf, &id, sizeof id), 0);
  replies++;
}

/* Commits until it is accepted; a refused descriptor stays as it was. */
static void send(gex_Rank_t to, char *from, int id) {
  char *const dest = job.peer[to] + (size_t)job.rank * AREA;
  pattern_fill(from, AREA, job_seed(job.rank, to, id, 0));
  gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestLong(job.tm, to, from, 8, AREA, dest, GEX_EVENT_NOW, 0, 1);
  const size_t n = gex_AM_SrcDescSize(sd);
  while (gex_AM_CommitRequestLong1_v2(sd, request_index, n, dest, GEX_FLAG_IMMEDIATE, id)) {
    CHECK_PTR(gex_AM_SrcDescAddr(sd), from);
    CHECK_EQ(gex_AM_SrcDescSize(sd), n);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1);
  job_attach((uintptr_t)AREA * job.size);
  char *const from = (char *)check_room(1, AREA);
  job_barrier();
  for (uint32_t id = 0, sent = 0; id < ROUNDS; id++) {
    for (gex_Rank_t k = 1; k < job.size; k++, sent++)
      send((job.rank + k) % job.size, from, (int)id);
    GASNET_BLOCKUNTIL(replies == sent);
  }
  job_barrier();
  CHECK_EQ(requests, ROUNDS * (job.size - 1));
  free(from);
  return job_finish();
}
