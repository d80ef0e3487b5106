/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_BULK_BUFFERS=2 */
/* timeout: 120 */
/*
 * API 02.1, 02.4: back-pressure without IMMEDIATE. All ranks flood all ranks with requests of every
 * category and size, each answered by a reply of another category and size; nobody waits until the
 * end. No deadlock, exact counts, every byte checked.
 */
#include "job.h"

enum { KINDS = 4, SLOTS = 32, SLOT_BYTES = 3000, FULL = 1 << 30 };

static gex_AM_Index_t short_req, data_req, short_rep, data_rep, count_index;
static volatile uint64_t got_requests[64], got_replies, got_counts;
static uint64_t sent_to[64];
static char slot_busy[SLOTS]; /* Long destinations of ours in flight */
static char *source_buf, *reply_buf;

static size_t limits[KINDS] = {0, 200, FULL, SLOT_BYTES}; /* largest payload of each kind */

static char *slot_of(gex_Rank_t to, gex_Rank_t from, int slot, int is_reply) {
  return job.peer[to] + (((size_t)from * 2 + (size_t)is_reply) * SLOTS + (size_t)slot) * SLOT_BYTES;
}

/* Payload size that goes with a message: a function of its id, so that both sides know it. */
static size_t size_of(int kind, uint32_t id, size_t max) {
  const size_t limit = limits[kind] < max ? limits[kind] : max;
  return id % 7 == 0 ? limit : mix64(id * 4 + (unsigned)kind) % (limit + 1);
}

static void answer(gex_Token_t token, uint32_t id, int slot) {
  const int kind = slot >= 0 ? 3 : (int)(mix64(id) % 3);
  const gex_Rank_t to = job_source(token);
  got_requests[to]++;
  if (kind == 0) {
    if (gex_AM_ReplyShort2(token, short_rep, GEX_FLAG_IMMEDIATE, id, slot) != 0)
      CHECK_EQ(gex_AM_ReplyShort2(token, short_rep, 0, id, slot), 0);
    return;
  }
  const size_t n = size_of(kind, id, gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3));
  pattern_fill(reply_buf, n, ~(uint64_t)id);
  if (kind == 3)
    CHECK_EQ(gex_AM_ReplyLong3(token, data_rep, reply_buf, n, slot_of(to, job.rank, slot, 1),
                               GEX_EVENT_NOW, 0, id, slot, n),
             0);
  else
    CHECK_EQ(gex_AM_ReplyMedium3(token, data_rep, reply_buf, n, GEX_EVENT_NOW, 0, id, slot, n), 0);
}

static void on_short_req(gex_Token_t token, gex_AM_Arg_t id, gex_AM_Arg_t slot) {
  answer(token, (uint32_t)id, slot);
}

static void on_data_req(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                        gex_AM_Arg_t slot, gex_AM_Arg_t want) {
  CHECK_EQ(nbytes, want);
  CHECK_BYTES(buf, nbytes, (uint32_t)id);
  if (slot >= 0) CHECK_PTR(buf, slot_of(job.rank, job_source(token), slot, 0));
  answer(token, (uint32_t)id, slot);
}

static void on_short_rep(gex_Token_t token, gex_AM_Arg_t id, gex_AM_Arg_t slot) {
  (void)token;
  (void)id;
  CHECK_EQ(slot, -1);
  got_replies++;
}

static void on_data_rep(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t id,
                        gex_AM_Arg_t slot, gex_AM_Arg_t want) {
  CHECK_EQ(nbytes, want);
  CHECK_BYTES(buf, nbytes, ~(uint64_t)(uint32_t)id);
  if (slot >= 0) {
    CHECK_PTR(buf, slot_of(job.rank, job_source(token), slot, 1));
    CHECK(slot_busy[slot]);
    slot_busy[slot] = 0;
  }
  got_replies++;
}

static void on_count(gex_Token_t token, gex_AM_Arg_t count) {
  CHECK_EQ(got_requests[job_source(token)], (uint32_t)count);
  got_counts++;
}

static void send_one(gex_Rank_t to, uint32_t id, uint64_t *random) {
  int kind = (int)rng_below(random, KINDS), slot = -1;
  if (kind == 3) {
    slot = (int)rng_below(random, SLOTS);
    if (slot_busy[slot]) {
      kind = 1;
      slot = -1;
    } else {
      slot_busy[slot] = 1;
    }
  }
  sent_to[to]++;
  if (kind == 0) {
    CHECK_EQ(gex_AM_RequestShort2(job.tm, to, short_req, 0, id, slot), 0);
    return;
  }
  const size_t n = size_of(kind, id, gex_AM_MaxRequestMedium(job.tm, to, GEX_EVENT_NOW, 0, 3));
  pattern_fill(source_buf, n, id);
  if (kind == 3)
    CHECK_EQ(gex_AM_RequestLong3(job.tm, to, data_req, source_buf, n,
                                 slot_of(to, job.rank, slot, 0), GEX_EVENT_NOW, 0, id, slot, n),
             0);
  else
    CHECK_EQ(
        gex_AM_RequestMedium3(job.tm, to, data_req, source_buf, n, GEX_EVENT_NOW, 0, id, slot, n),
        0);
}

static void flood(uint32_t count) {
  uint64_t random = test_seed() + job.rank;
  for (uint32_t i = 0; i < count; i++)
    send_one((gex_Rank_t)rng_below(&random, job.size), i * job.size + job.rank, &random);
  GASNET_BLOCKUNTIL(got_replies == count);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_AM_RequestShort1(job.tm, r, count_index, 0, sent_to[r]), 0);
  GASNET_BLOCKUNTIL(got_counts == job.size);
  job_barrier();
  CHECK_EQ(got_replies, count);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_short_req, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "short_req"},
      {0, (gex_AM_Fn_t)on_data_req, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 3, NULL, "data_req"},
      {0, (gex_AM_Fn_t)on_short_rep, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, NULL, "short_rep"},
      {0, (gex_AM_Fn_t)on_data_rep, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 3, NULL, "data_rep"},
      {0, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "count"}};
  job_start(&argc, &argv, 0, table, 5);
  REQUIRE(job.size <= 64);
  short_req = table[0].gex_index;
  data_req = table[1].gex_index;
  short_rep = table[2].gex_index;
  data_rep = table[3].gex_index;
  count_index = table[4].gex_index;
  job_attach((uintptr_t)2 * SLOTS * SLOT_BYTES * job.size);
  const size_t most = gex_AM_MaxRequestMedium(job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0) +
                      gex_AM_MaxReplyMedium(job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0);
  source_buf = (char *)check_room(1, most);
  reply_buf = (char *)check_room(1, most);
  job_barrier();
  flood((uint32_t)env_number("TMB_TEST_COUNT", 20000));
  return job_finish();
}
