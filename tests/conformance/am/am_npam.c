/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM_MAP=0
 * TOMBOLO_TEST_SHM=0+TOMBOLO_TEST_BULK_BUFFERS=2 */
/*
 * API 02.5: negotiated payload: medium and long, client and library buffers, destination given at
 * Prepare or at Commit, each lc_opt, both Commit versions, least = 0, least = most and a most
 * beyond every limit, fewer bytes committed than granted; the request handler answers by a
 * negotiated reply of the same shape.
 */
#include "job.h"

enum { LONG = 1, CLIENT = 2, EARLY_DEST = 4, V2 = 8, SHAPES = 16, AREA = 256 * 1024, LCS = 3 };

static gex_AM_Index_t request_index, reply_index;
static volatile uint32_t requests, replies;
static char *client_room, *reply_room;

static char *area(gex_Rank_t to, gex_Rank_t from, int is_reply) {
  return job.peer[to] + ((size_t)from * 2 + (size_t)is_reply) * AREA;
}

/* The checks after Prepare; returns where the payload goes. */
static char *granted(gex_AM_SrcDesc_t sd, const void *client, size_t least, size_t most) {
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  const size_t size = gex_AM_SrcDescSize(sd);
  void *addr = gex_AM_SrcDescAddr(sd);
  CHECK(size >= least && size <= most);
  if (client)
    CHECK_PTR(addr, client);
  else
    CHECK(addr != NULL && (uintptr_t)addr % 16 == 0);
  return (char *)addr;
}

/* How many of the granted bytes are committed: all, half or few, by id. */
static size_t chosen(size_t size, int id) {
  return id % 3 == 0 ? size : id % 3 == 1 ? size / 2 : size < 5 ? size : 5;
}

struct bounds {
  size_t least, most;
};

/* A pair of bounds by id; `limit` is the largest least_payload allowed. */
static struct bounds bounds_of(int id, size_t limit) {
  const struct bounds all[] = {{0, 0},         {0, 100},    {1, 1},         {64, 64},
                               {512, 1 << 30}, {100, 3000}, {limit, limit}, {limit / 2, SIZE_MAX}};
  struct bounds b = all[id % 8];
  if (b.least > limit) b.least = limit;
  return b;
}

static void send_reply(gex_Token_t token, gex_Rank_t to, int shape, int id) {
  const gex_Flags_t how =
      shape & CLIENT ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  gex_Event_t *const lc = shape & CLIENT ? GEX_EVENT_NOW : NULL;
  char *const client = shape & CLIENT ? reply_room : NULL;
  char *const dest = area(to, job.rank, 1);
  gex_AM_SrcDesc_t sd;
  struct bounds b;
  if (shape & LONG) {
    b = bounds_of(id, gex_Token_MaxReplyLong(token, lc, how, 3));
    if (b.most > AREA) b.most = AREA;
    if (b.least > AREA) b.least = AREA;
    sd = gex_AM_PrepareReplyLong(token, client, b.least, b.most, shape & EARLY_DEST ? dest : NULL,
                                 lc, 0, 3);
  } else {
    b = bounds_of(id, gex_Token_MaxReplyMedium(token, lc, how, 3));
    if (b.most > AREA) b.most = AREA;
    sd = gex_AM_PrepareReplyMedium(token, client, b.least, b.most, lc, 0, 3);
  }
  char *const at = granted(sd, client, b.least, b.most);
  const size_t n = chosen(gex_AM_SrcDescSize(sd), id);
  pattern_fill(at, n, job_seed(job.rank, to, id, 1));
  if (shape & LONG) {
    if (shape & V2)
      CHECK_EQ(gex_AM_CommitReplyLong_v2(sd, reply_index, n, dest, 0, id, shape, n), 0);
    else
      gex_AM_CommitReplyLong(sd, reply_index, n, dest, id, shape, n);
  } else if (shape & V2) {
    CHECK_EQ(gex_AM_CommitReplyMedium3_v2(sd, reply_index, n, 0, id, shape, n), 0);
  } else {
    gex_AM_CommitReplyMedium3(sd, reply_index, n, id, shape, n);
  }
  if (client) memset(client, 0x3c, n);
}

static void arrived(gex_Token_t token, void *buf, size_t nbytes, int id, int shape) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  const int is_reply = !info.gex_is_req;
  CHECK_EQ(info.gex_is_long, shape & LONG);
  if (shape & LONG)
    CHECK_PTR(buf, area(job.rank, info.gex_srcrank, is_reply));
  else if (nbytes)
    CHECK_EQ((uintptr_t)buf % 16, 0);
  CHECK_BYTES(buf, nbytes, job_seed(info.gex_srcrank, job.rank, id, is_reply));
}

static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                       gex_AM_Arg_t shape, gex_AM_Arg_t want) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  CHECK_EQ(nbytes, want);
  arrived(token, buf, nbytes, id, shape);
  requests++;
  send_reply(token, info.gex_srcrank, shape, id);
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                     gex_AM_Arg_t shape, gex_AM_Arg_t want) {
  CHECK_EQ(nbytes, want);
  arrived(token, buf, nbytes, id, shape);
  replies++;
}

static void commit(gex_AM_SrcDesc_t sd, int shape, size_t n, char *dest, int id) {
  if (shape & LONG) {
    if (shape & V2)
      CHECK_EQ(gex_AM_CommitRequestLong3_v2(sd, request_index, n, dest, 0, id, shape, n), 0);
    else
      gex_AM_CommitRequestLong3(sd, request_index, n, dest, id, shape, n);
  } else if (shape & V2) {
    CHECK_EQ(gex_AM_CommitRequestMedium_v2(sd, request_index, n, 0, id, shape, n), 0);
  } else {
    gex_AM_CommitRequestMedium(sd, request_index, n, id, shape, n);
  }
}

static void send_request(gex_Rank_t to, int shape, int id, int lc) {
  gex_Event_t ev = GEX_EVENT_NO_OP;
  gex_Event_t *const opts[LCS] = {GEX_EVENT_NOW, &ev, GEX_EVENT_GROUP};
  gex_Event_t *const opt = shape & CLIENT ? opts[lc] : NULL;
  const gex_Flags_t how =
      shape & CLIENT ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  char *const client = shape & CLIENT ? client_room + id % 16 : NULL;
  char *const dest = area(to, job.rank, 0);
  gex_AM_SrcDesc_t sd;
  struct bounds b;
  if (shape & LONG) {
    b = bounds_of(id, gex_AM_MaxRequestLong(job.tm, to, opt, how, 3));
    if (b.most > AREA) b.most = AREA;
    if (b.least > AREA) b.least = AREA;
    sd = gex_AM_PrepareRequestLong(job.tm, to, client, b.least, b.most,
                                   shape & EARLY_DEST ? dest : NULL, opt, 0, 3);
  } else {
    b = bounds_of(id, gex_AM_MaxRequestMedium(job.tm, to, opt, how, 3));
    if (b.most > AREA) b.most = AREA;
    sd = gex_AM_PrepareRequestMedium(job.tm, to, client, b.least, b.most, opt, 0, 3);
  }
  char *const at = granted(sd, client, b.least, b.most);
  const size_t n = chosen(gex_AM_SrcDescSize(sd), id);
  pattern_fill(at, n, job_seed(job.rank, to, id, 0));
  commit(sd, shape, n, dest, id);
  if (opt == &ev) {
    CHECK(ev != GEX_EVENT_NO_OP);
    gex_Event_Wait(ev);
  }
  if (opt == GEX_EVENT_GROUP) gex_NBI_Wait(GEX_EC_AM, 0);
  if (client) memset(client, 0xee, n);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  request_index =
      job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 3);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 3);
  job_barrier();
  job_attach((uintptr_t)AREA * 2 * job.size);
  client_room = (char *)check_room(1, AREA + 16);
  reply_room = (char *)check_room(1, AREA);
  job_barrier();
  uint32_t sent = 0;
  for (int id = 0; id < 24; id++)
    for (int shape = 0; shape < SHAPES; shape++) {
      if (shape & EARLY_DEST && !(shape & LONG)) continue;
      for (gex_Rank_t k = 0; k < job.size; k++, sent++)
        send_request((job.rank + k) % job.size, shape, id, id % LCS);
      GASNET_BLOCKUNTIL(replies == sent);
    }
  job_barrier();
  CHECK_EQ(requests, sent);
  CHECK_EQ(replies, sent);
  return job_finish();
}
