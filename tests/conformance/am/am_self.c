/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_STATS=1 */
/*
 * API 02.1: a message to oneself runs its handler, and that of its reply, before the call that
 * injects it returns; nobody polls here. All categories, library and client buffers, sizes up to
 * the limit, immediate ones, through teams and TM-pairs.
 */
#include "job.h"

enum { LIMIT = 65536 };

static gex_AM_Index_t on_short_i, on_medium_i, on_long_i, reply_short_i, reply_medium_i,
    reply_long_i;
static int requests, replies, depth, depth_most;
static size_t want_bytes;
static char *reply_to; /* own segment: where a Long reply goes */

static void enter(void) {
  if (++depth > depth_most) depth_most = depth;
}

static void on_reply_short(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  enter();
  CHECK_EQ(a, 5);
  replies++;
  depth--;
}
static void on_reply_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a) {
  gex_Token_Info_t info;
  enter();
  gex_Token_Info(token, &info, GEX_TI_ALL);
  CHECK_EQ(info.gex_srcrank, job.rank);
  CHECK_EQ(info.gex_is_req, 0);
  CHECK_EQ(nbytes, want_bytes);
  CHECK_BYTES(buf, nbytes, (unsigned)a);
  if (info.gex_is_long) CHECK_PTR(buf, reply_to);
  replies++;
  depth--;
}

static void on_short(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b) {
  enter();
  CHECK_EQ(a, 1);
  CHECK_EQ(b, -2);
  requests++;
  gex_AM_ReplyShort1(token, reply_short_i, 0, 5);
  depth--;
}
static void on_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a) {
  enter();
  CHECK_EQ(nbytes, want_bytes);
  CHECK_EQ((uintptr_t)buf % 16, 0);
  CHECK_BYTES(buf, nbytes, (unsigned)a);
  if (nbytes) pattern_fill(buf, nbytes, (unsigned)a + 1); /* the handler's own copy */
  requests++;
  gex_AM_ReplyMedium1(token, reply_medium_i, buf, nbytes, GEX_EVENT_NOW, 0, a + 1);
  if (nbytes) CHECK_BYTES(buf, nbytes, (unsigned)a + 1);
  depth--;
}
static void on_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a) {
  enter();
  CHECK_PTR(buf, job.base);
  CHECK_EQ(nbytes, want_bytes);
  CHECK_BYTES(buf, nbytes, (unsigned)a);
  requests++;
  gex_AM_ReplyLong1(token, reply_long_i, buf, nbytes, reply_to, GEX_EVENT_NOW, 0, a);
  depth--;
}

/* Exactly one request and its reply have been handled since the last look. */
static void expect_one(void) {
  static int seen;
  CHECK_EQ(requests, seen + 1);
  CHECK_EQ(replies, seen + 1);
  seen = requests;
}

static void fixed(gex_TM_t tm, gex_Rank_t me, size_t nbytes, gex_Flags_t flags) {
  static char out[LIMIT];
  gex_Event_t done;
  want_bytes = nbytes;
  CHECK_EQ(gex_AM_RequestShort2(tm, me, on_short_i, flags, 1, -2), 0);
  expect_one();
  pattern_fill(out, nbytes, 7);
  CHECK_EQ(gex_AM_RequestMedium1(tm, me, on_medium_i, out, nbytes, GEX_EVENT_NOW, flags, 7), 0);
  expect_one();
  CHECK_BYTES(out, nbytes, 7);
  CHECK_EQ(gex_AM_RequestMedium1(tm, me, on_medium_i, out, nbytes, &done, flags, 7), 0);
  expect_one();
  gex_Event_Wait(done);
  CHECK_EQ(gex_AM_RequestLong1(tm, me, on_long_i, out, nbytes, job.base, GEX_EVENT_GROUP, flags, 7),
           0);
  expect_one();
  gex_NBI_Wait(GEX_EC_AM, 0);
}

static void prepared(gex_TM_t tm, gex_Rank_t me, size_t nbytes, int client) {
  static char out[LIMIT];
  void *const buf = client ? out : NULL;
  gex_Event_t *const lc = client ? GEX_EVENT_NOW : NULL;
  want_bytes = nbytes;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, me, buf, nbytes, nbytes, lc, 0, 1);
  pattern_fill(gex_AM_SrcDescAddr(sd), nbytes, 9);
  gex_AM_CommitRequestMedium1(sd, on_medium_i, nbytes, 9);
  expect_one();
  sd = gex_AM_PrepareRequestMedium(tm, me, buf, nbytes, nbytes, lc, GEX_FLAG_IMMEDIATE, 1);
  if (sd != GEX_AM_SRCDESC_NO_OP) {
    pattern_fill(gex_AM_SrcDescAddr(sd), nbytes, 10);
    CHECK_EQ(gex_AM_CommitRequestMedium1_v2(sd, on_medium_i, nbytes, GEX_FLAG_IMMEDIATE, 10), 0);
    expect_one();
  }
  sd = gex_AM_PrepareRequestLong(tm, me, buf, nbytes, nbytes, job.base, lc, 0, 1);
  pattern_fill(gex_AM_SrcDescAddr(sd), nbytes, 11);
  gex_AM_CommitRequestLong1(sd, on_long_i, nbytes, job.base, 11);
  expect_one();
}

static void all(gex_TM_t tm, gex_Rank_t me) {
  static const size_t sizes[] = {0, 1, 8, 100, 1000, 5000};
  const size_t most = gex_AM_MaxRequestMedium(tm, me, GEX_EVENT_NOW, 0, 1);
  const size_t reply = gex_AM_MaxReplyMedium(tm, me, GEX_EVENT_NOW, 0, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    fixed(tm, me, sizes[i], 0);
    fixed(tm, me, sizes[i], GEX_FLAG_IMMEDIATE);
  }
  fixed(tm, me, most < reply ? most : reply, 0);
  for (int client = 0; client < 2; client++)
    for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) prepared(tm, me, sizes[i], client);
}

#define ENTRY(fn, kind, n) \
 { 0, (gex_AM_Fn_t)fn, GEX_FLAG_AM_##kind, n, NULL, #fn }

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {ENTRY(on_short, SHORT | GEX_FLAG_AM_REQUEST, 2),
                            ENTRY(on_medium, MEDIUM | GEX_FLAG_AM_REQUEST, 1),
                            ENTRY(on_long, LONG | GEX_FLAG_AM_REQUEST, 1),
                            ENTRY(on_reply_short, SHORT | GEX_FLAG_AM_REPLY, 1),
                            ENTRY(on_reply_payload, MEDIUM | GEX_FLAG_AM_REPLY, 1),
                            ENTRY(on_reply_payload, LONG | GEX_FLAG_AM_REPLY, 1)};
  job_start(&argc, &argv, 2 * LIMIT, table, 6);
  on_short_i = table[0].gex_index;
  on_medium_i = table[1].gex_index;
  on_long_i = table[2].gex_index;
  reply_short_i = table[3].gex_index;
  reply_medium_i = table[4].gex_index;
  reply_long_i = table[5].gex_index;
  reply_to = job.base + LIMIT;
  all(job.tm, job.rank);
  all(gex_TM_Pair(job.ep, 0), job.rank);
  CHECK_EQ(depth_most, 2);
  return job_finish();
}
