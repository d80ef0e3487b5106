/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/*
 * API 02.1, 02.3: long payloads from 0 bytes to beyond a mebibyte at unaligned sources and
 * destinations, each lc_opt, requests and replies; bytes around the destination stay as they were;
 * a zero-byte Long carries any address.
 */
#include "am_lc.h"
#include "job.h"

enum { AREA = 2 << 20, MARGIN = 64, LCS = 3, GUARD = 0xa7 };

static gex_AM_Index_t request_index, reply_index, zero_index;
static volatile uint32_t replies, requests, zeros;
static char *room;

/* Where messages of `from` land at `to`: one area for requests, one for replies. */
static char *area(gex_Rank_t to, gex_Rank_t from, int is_reply) {
  return job.peer[to] + ((size_t)from * 2 + (size_t)is_reply) * AREA;
}

/* Checks payload, place and guards, then restores the guard value. */
static void landed(gex_Rank_t from, char *buf, size_t nbytes, int id, int is_reply) {
  char *want = area(job.rank, from, is_reply) + MARGIN + id % 13;
  CHECK_PTR(buf, want);
  if (buf != want) return;
  CHECK_BYTES(buf, nbytes, job_seed(from, job.rank, id, is_reply));
  CHECK_EQ(fill_diff(buf - MARGIN, MARGIN, GUARD), MARGIN);
  CHECK_EQ(fill_diff(buf + nbytes, MARGIN, GUARD), MARGIN);
  memset(buf, GUARD, nbytes);
}

static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                       gex_AM_Arg_t want) {
  static char out[AREA];
  const gex_Rank_t from = job_source(token);
  CHECK_EQ(nbytes, want);
  landed(from, (char *)buf, nbytes, id, 0);
  requests++;
  pattern_fill(out, nbytes, job_seed(job.rank, from, id, 1));
  CHECK_CMP(gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 2), >=, 512);
  CHECK_EQ(gex_AM_ReplyLong2(token, reply_index, out, nbytes,
                             area(from, job.rank, 1) + MARGIN + id % 13, GEX_EVENT_NOW, 0, id,
                             want),
           0);
  memset(out, 0x11, nbytes);
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                     gex_AM_Arg_t want) {
  CHECK_EQ(nbytes, want);
  landed(job_source(token), (char *)buf, nbytes, id, 1);
  replies++;
}

static void on_zero(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t lo) {
  CHECK_EQ(nbytes, 0);
  CHECK_PTR(buf, (void *)(uintptr_t)(uint32_t)lo);
  zeros++;
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_IS_REQ | GEX_TI_IS_LONG);
  CHECK_EQ(info.gex_is_long, 1);
  if (info.gex_is_req)
    CHECK_EQ(gex_AM_ReplyLong1(token, zero_index, NULL, 0, (void *)(uintptr_t)(uint32_t)(lo + 1),
                               GEX_EVENT_NOW, 0, lo + 1),
             0);
}

static void send_one(gex_Rank_t to, size_t nbytes, int id, int lc) {
  gex_Event_t ev = GEX_EVENT_NO_OP;
  gex_Event_t *const opts[LCS] = {GEX_EVENT_NOW, &ev, GEX_EVENT_GROUP};
  CHECK_CMP(gex_AM_MaxRequestLong(job.tm, to, opts[lc], 0, 2), >=, nbytes);
  char *src = room + (id * 5) % 16;
  pattern_fill(src, nbytes, job_seed(job.rank, to, id, 0));
  CHECK_EQ(gex_AM_RequestLong2(job.tm, to, request_index, src, nbytes,
                               area(to, job.rank, 0) + MARGIN + id % 13, opts[lc], 0, id, nbytes),
           0);
  reuse(src, nbytes, lc, ev);
}

static void all_sizes(void) {
  static const size_t sizes[] = {
      0,   1,   2,    3,    7,    8,     9,     16,    31,     64,      65,
      255, 512, 1023, 4096, 8191, 32768, 65535, 65537, 200001, 1 << 20, (1 << 20) + 3};
  size_t limit = gex_AM_MaxRequestLong(job.tm, GEX_RANK_INVALID, NULL, 0, 2);
  const size_t back = gex_AM_MaxReplyLong(job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 2);
  if (limit > back) limit = back;
  uint32_t sent = 0;
  int id = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int lc = 0; lc < LCS; lc++, id++) {
      const size_t nbytes = sizes[i] < limit ? sizes[i] : limit;
      for (gex_Rank_t k = 0; k < job.size; k++, sent++)
        send_one((job.rank + k) % job.size, nbytes, id, lc);
      GASNET_BLOCKUNTIL(replies == sent);
    }
  job_barrier();
  CHECK_EQ(requests, sent);
  CHECK_EQ(replies, sent);
  CHECK_EQ(fill_diff(job.base, job.bytes, GUARD), job.bytes);
}

static void zero_bytes(void) {
  for (gex_Rank_t to = 0; to < job.size; to++) {
    CHECK_EQ(gex_AM_RequestLong1(job.tm, to, zero_index, NULL, 0, (void *)(uintptr_t)0x12345,
                                 GEX_EVENT_NOW, 0, 0x12345),
             0);
    CHECK_EQ(gex_AM_RequestLong1(job.tm, to, zero_index, &zero_index, 0, NULL, GEX_EVENT_NOW, 0, 0),
             0);
  }
  GASNET_BLOCKUNTIL(zeros == 4 * job.size);
  job_barrier();
  CHECK_EQ(zeros, 4 * job.size);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  request_index = job_handler((gex_AM_Fn_t)on_request, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 2);
  reply_index = job_handler((gex_AM_Fn_t)on_reply, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 2);
  zero_index = job_handler((gex_AM_Fn_t)on_zero, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQREP, 1);
  job_barrier();
  zero_bytes(); /* before a segment exists */
  job_attach((uintptr_t)AREA * 2 * job.size);
  memset(job.base, GUARD, job.bytes);
  job_barrier();
  room = (char *)check_room(1, AREA);
  all_sizes();
  return job_finish();
}
