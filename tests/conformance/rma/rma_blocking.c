/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.1, 03.2: blocking put and get over sizes, alignments of both sides, all peers and self, by
 * team and by TM-pair; bytes around the destination are left alone; zero bytes need no addresses.
 */
#include "job.h"

enum { AREA = 2 << 20, MARGIN = 32, GUARD = 0xb1 };

static char *source_room, *back_room;

/* Where rank `from` writes at rank `to`. */
static char *area(gex_Rank_t to, gex_Rank_t from) {
  return job.peer[to] + (size_t)from * AREA;
}

static uint64_t seed_of(gex_Rank_t from, gex_Rank_t to, size_t nbytes, unsigned at) {
  return mix64(from * 64 + to) + nbytes * 16 + at;
}

/* Puts and gets nbytes, then restores the guard value at the peer by a put, too. */
static void transfer(gex_TM_t tm, gex_Rank_t to, size_t nbytes, unsigned at) {
  char *const src = source_room + MARGIN + (at * 3) % 16;
  char *const back = back_room + MARGIN + (at * 5) % 16;
  char *const dest = area(to, job.rank) + MARGIN + at;
  const uint64_t seed = seed_of(job.rank, to, nbytes, at);
  pattern_fill(src, nbytes, seed);
  CHECK_EQ(gex_RMA_PutBlocking(tm, to, dest, src, nbytes, 0), 0);
  memset(src, 0x3d, nbytes);
  memset(back - MARGIN, GUARD, nbytes + 2 * MARGIN);
  CHECK_EQ(gex_RMA_GetBlocking(tm, back, to, dest, nbytes, 0), 0);
  CHECK_BYTES(back, nbytes, seed);
  CHECK_EQ(fill_diff(back - MARGIN, MARGIN, GUARD), MARGIN);
  CHECK_EQ(fill_diff(back + nbytes, MARGIN, GUARD), MARGIN);
  CHECK_EQ(gex_RMA_GetBlocking(tm, back - MARGIN, to, dest - MARGIN, nbytes + 2 * MARGIN, 0), 0);
  CHECK_EQ(fill_diff(back - MARGIN, MARGIN, GUARD), MARGIN);
  CHECK_BYTES(back, nbytes, seed);
  CHECK_EQ(fill_diff(back + nbytes, MARGIN, GUARD), MARGIN);
  memset(src, GUARD, nbytes);
  CHECK_EQ(gex_RMA_PutBlocking(tm, to, dest, src, nbytes, 0), 0);
}

static void all_sizes(void) {
  static const size_t big[] = {100,   127,   128,    129,    255,     256,          511,   513,
                               1000,  2047,  2049,   4095,   4097,    16383,        65535, 65536,
                               65537, 70001, 131072, 300007, 1 << 20, (1 << 20) + 7};
  const gex_TM_t pair = gex_TM_Pair(job.ep, 0);
  for (gex_Rank_t k = 0; k < job.size; k++) {
    const gex_Rank_t to = (job.rank + k) % job.size;
    for (size_t n = 0; n <= 65; n++)
      for (unsigned at = 0; at < 16; at += 1 + n % 3) transfer(at & 1 ? pair : job.tm, to, n, at);
    for (size_t i = 0; i < sizeof big / sizeof *big; i++)
      for (unsigned at = 0; at < 16; at += 5) transfer(at & 1 ? pair : job.tm, to, big[i], at);
  }
  job_barrier();
  CHECK_EQ(fill_diff(job.base, job.bytes, GUARD), job.bytes);
  job_barrier();
}

static void no_bytes(void) {
  for (gex_Rank_t to = 0; to < job.size; to++) {
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, NULL, NULL, 0, 0), 0);
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, NULL, to, NULL, 0, 0), 0);
    CHECK_EQ(gex_RMA_PutNBI(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, 0), 0);
    CHECK_EQ(gex_RMA_GetNBI(job.tm, NULL, to, NULL, 0, 0), 0);
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    gex_Event_t ev = gex_RMA_PutNB(job.tm, to, NULL, NULL, 0, &leaf, 0);
    CHECK(ev != GEX_EVENT_NO_OP && leaf != GEX_EVENT_NO_OP);
    gex_Event_Wait(leaf);
    gex_Event_Wait(ev);
    ev = gex_RMA_GetNB(job.tm, NULL, to, NULL, 0, 0);
    CHECK(ev != GEX_EVENT_NO_OP);
    gex_Event_Wait(ev);
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
}

/* What was put before a barrier is seen by loads after it, at every rank. */
static void seen_after_barrier(void) {
  for (int round = 0; round < 20; round++) {
    for (gex_Rank_t to = 0; to < job.size; to++) {
      pattern_fill(source_room, 777, seed_of(job.rank, to, 777, (unsigned)round));
      CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, area(to, job.rank) + round, source_room, 777, 0), 0);
    }
    job_barrier();
    for (gex_Rank_t from = 0; from < job.size; from++)
      CHECK_BYTES(area(job.rank, from) + round, 777, seed_of(from, job.rank, 777, (unsigned)round));
    job_barrier();
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)AREA * job.size);
  memset(job.base, GUARD, job.bytes);
  source_room = (char *)check_room(1, AREA);
  back_room = (char *)check_room(1, AREA);
  job_barrier();
  no_bytes();
  all_sizes();
  seen_after_barrier();
  return job_finish();
}
