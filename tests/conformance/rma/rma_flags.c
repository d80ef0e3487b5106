/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.3: flags of put and get: segment dispositions of both sides with offsets for addresses,
 * local-completion hints, promises about the peer, IMMEDIATE; every call form.
 */
#include "job.h"

enum { BYTES = 3000, HALF = 1 << 18 };

static char *outside; /* not in a segment */

static uint64_t seed_of(gex_Rank_t from, gex_Rank_t to, unsigned id) {
  return mix64(from * 64 + to) + id * 512;
}

static void *offset(size_t n) {
  return (void *)(uintptr_t)n;
}

static void wait_event(gex_Event_t ev) {
  CHECK(ev != GEX_EVENT_NO_OP);
  gex_Event_Wait(ev);
}

/* Put by call form `form`, get by the same form, compare. self/peer: address or offset as `flags`
 * say; src and dst are the real addresses behind `self_src` and `self_dst`. */
struct places {
  void *self_src, *self_dst, *peer;
  char *src, *dst;
};

static void round_trip(gex_Rank_t to, const struct places *p, gex_Flags_t flags, int form) {
  const unsigned id = flags ^ (unsigned)form;
  pattern_fill(p->src, BYTES, seed_of(job.rank, to, id));
  memset(p->dst, 0, BYTES);
  if (form == 0) {
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, p->peer, p->self_src, BYTES, flags), 0);
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, p->self_dst, to, p->peer, BYTES, flags), 0);
  } else if (form == 1) {
    wait_event(gex_RMA_PutNB(job.tm, to, p->peer, p->self_src, BYTES, GEX_EVENT_DEFER, flags));
    wait_event(gex_RMA_GetNB(job.tm, p->self_dst, to, p->peer, BYTES, flags));
  } else {
    CHECK_EQ(gex_RMA_PutNBI(job.tm, to, p->peer, p->self_src, BYTES, GEX_EVENT_NOW, flags), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    CHECK_EQ(gex_RMA_GetNBI(job.tm, p->self_dst, to, p->peer, BYTES, flags), 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  }
  CHECK_BYTES(p->dst, BYTES, seed_of(job.rank, to, id));
}

static void dispositions(gex_Rank_t to) {
  static const gex_Flags_t self[] = {0, GEX_FLAG_SELF_SEG_UNKNOWN, GEX_FLAG_SELF_SEG_SOME,
                                     GEX_FLAG_SELF_SEG_BOUND, GEX_FLAG_SELF_SEG_OFFSET};
  static const gex_Flags_t peer[] = {0, GEX_FLAG_PEER_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_SOME,
                                     GEX_FLAG_PEER_SEG_BOUND, GEX_FLAG_PEER_SEG_OFFSET};
  const size_t mine = HALF, theirs = (size_t)job.rank * 2 * BYTES + 5;
  for (int s = 0; s < 5; s++)
    for (int p = 0; p < 5; p++)
      for (int form = 0; form < 3; form++) {
        struct places at;
        at.src = s < 2 ? outside : job.base + mine;
        at.dst = at.src + BYTES + 3;
        at.self_src = s == 4 ? offset(mine) : at.src;
        at.self_dst = s == 4 ? offset(mine + BYTES + 3) : at.dst;
        at.peer = p == 4 ? offset(theirs) : job.peer[to] + theirs;
        round_trip(to, &at, self[s] | peer[p], form);
      }
}

static void hints(gex_Rank_t to) {
  struct places at = {outside, outside + BYTES, job.peer[to] + job.rank * 2 * BYTES, outside,
                      outside + BYTES};
  gex_RankInfo_t *info = NULL;
  gex_Rank_t count = 0;
  int neighbour = 0;
  gex_System_QueryNbrhdInfo(&info, &count, NULL);
  for (gex_Rank_t i = 0; i < count; i++) neighbour |= info[i].gex_jobrank == to;
  gex_Flags_t promise = to == job.rank ? 0 : GEX_FLAG_PEER_NEVER_SELF;
  if (!neighbour) promise |= GEX_FLAG_PEER_NEVER_NBRHD;
  for (int form = 0; form < 3; form++) {
    round_trip(to, &at, promise, form);
    round_trip(to, &at, GEX_FLAG_LC_COPY_YES | promise, form);
    round_trip(to, &at, GEX_FLAG_LC_COPY_NO | promise, form);
  }
}

/* Value forms with an offset. */
static void values(gex_Rank_t to) {
  const size_t at = (size_t)job.rank * 2 * BYTES + 1;
  const gex_Flags_t flags = GEX_FLAG_PEER_SEG_OFFSET;
  CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, to, offset(at), 0x1234, 2, flags), 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, offset(at), 2, flags), 0x1234);
  wait_event(gex_RMA_PutNBVal(job.tm, to, offset(at), 0x77, 1, flags));
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, job.peer[to] + at, 1, 0), 0x77);
  CHECK_EQ(gex_RMA_PutNBIVal(job.tm, to, offset(at), 0xabcdef, 3, flags), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, job.peer[to] + at, 3, 0), 0xabcdef);
}

/* Accepted IMMEDIATE calls do their work; refused ones may be tried again after a poll. */
static void immediate(gex_Rank_t to) {
  char *const peer = job.peer[to] + job.rank * 2 * BYTES;
  pattern_fill(outside, BYTES, seed_of(job.rank, to, 9));
  while (gex_RMA_PutBlocking(job.tm, to, peer, outside, BYTES, GEX_FLAG_IMMEDIATE) != 0)
    gasnet_AMPoll();
  gex_Event_t ev;
  while ((ev = gex_RMA_GetNB(job.tm, outside + BYTES, to, peer, BYTES, GEX_FLAG_IMMEDIATE)) ==
         GEX_EVENT_NO_OP)
    gasnet_AMPoll();
  gex_Event_Wait(ev);
  CHECK_BYTES(outside + BYTES, BYTES, seed_of(job.rank, to, 9));
  while (gex_RMA_PutNBIVal(job.tm, to, peer, 77, 4, GEX_FLAG_IMMEDIATE) != 0) gasnet_AMPoll();
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, peer, 4, 0), 77);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 2 * HALF, NULL, 0);
  outside = (char *)check_room(1, 4 * BYTES);
  for (gex_Rank_t k = 0; k < job.size; k++) {
    const gex_Rank_t to = (job.rank + k) % job.size;
    dispositions(to);
    hints(to);
    values(to);
    immediate(to);
  }
  return job_finish();
}
