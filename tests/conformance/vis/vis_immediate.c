/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 */
/* env: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PROGRESS_SHARE=0 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 04.1: IMMEDIATE puts and gets of each shape, of one message and of several, towards a rank
 * that does not poll, neither by a progress thread: refusal comes and leaves nothing behind, no
 * call of one message blocks, what was accepted completes once the peer polls.
 */
#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

#include "press.h"

enum { TRIES_MAX = 1 << 18, MORE = 300, WORDS = 12, SLOTS = 2048, KINDS = 3 };

static gex_Event_t *events;
static uint64_t (*words)[WORDS]; /* [SLOTS] */
/* Lists live until completion. */
static void *(*addr)[WORDS];       /* [SLOTS] */
static gex_Memvec_t (*vec)[WORDS]; /* [SLOTS] */
static void *(*near_addr)[1];
static gex_Memvec_t (*near_vec)[1];

static char *far_slot(uint32_t i) {
  return job.peer[0] + ((size_t)job.rank * SLOTS + i % SLOTS) * WORDS * 16;
}

static gex_Event_t put(int kind, uint32_t i) {
  const ptrdiff_t wide = 16, tight = 8;
  const size_t count = WORDS, at = i % SLOTS;
  if (kind == 0)
    return gex_VIS_StridedPutNB(job.tm, 0, far_slot(i), &wide, words[at], &tight, 8, &count, 1,
                                GEX_FLAG_IMMEDIATE);
  if (kind == 1)
    return gex_VIS_VectorPutNB(job.tm, 0, WORDS, vec[at], 1, near_vec[at], GEX_FLAG_IMMEDIATE);
  return gex_VIS_IndexedPutNB(job.tm, 0, WORDS, addr[at], 8, 1, near_addr[at], WORDS * 8,
                              GEX_FLAG_IMMEDIATE);
}

static gex_Event_t get(int kind, uint32_t i) {
  const ptrdiff_t wide = 16, tight = 8;
  const size_t count = WORDS, at = i % SLOTS;
  if (kind == 0)
    return gex_VIS_StridedGetNB(job.tm, words[at], &tight, 0, far_slot(i), &wide, 8, &count, 1,
                                GEX_FLAG_IMMEDIATE);
  if (kind == 1)
    return gex_VIS_VectorGetNB(job.tm, 1, near_vec[at], 0, WORDS, vec[at], GEX_FLAG_IMMEDIATE);
  return gex_VIS_IndexedGetNB(job.tm, 1, near_addr[at], WORDS * 8, 0, WORDS, addr[at], 8,
                              GEX_FLAG_IMMEDIATE);
}

static void fill(uint32_t slots) {
  for (uint32_t i = 0; i < slots; i++)
    for (uint32_t k = 0; k < WORDS; k++) words[i][k] = (uint64_t)job.rank << 32 | (i * 100 + k);
}

static void *need(size_t count, size_t each) {
  void *p = check_room(count, each);
  return p;
}

static void prepare(void) {
  events = need(TRIES_MAX, sizeof *events);
  words = need(SLOTS, sizeof *words);
  addr = need(SLOTS, sizeof *addr);
  vec = need(SLOTS, sizeof *vec);
  near_addr = need(SLOTS, sizeof *near_addr);
  near_vec = need(SLOTS, sizeof *near_vec);
  for (uint32_t i = 0; i < SLOTS; i++) {
    for (uint32_t k = 0; k < WORDS; k++) {
      addr[i][k] = far_slot(i) + k * 16;
      vec[i][k].gex_addr = addr[i][k];
      vec[i][k].gex_len = 8;
    }
    near_addr[i][0] = words[i];
    near_vec[i][0].gex_addr = words[i];
    near_vec[i][0].gex_len = WORDS * 8;
  }
}

static gex_Event_t start(int what, uint32_t i) {
  return what & 1 ? get(what >> 1, i) : put(what >> 1, i);
}

/* Returns how many slots are in use. */
static uint32_t press(int is_get, int kind) {
  const uint32_t accepted = press_all(start, kind << 1 | is_get, events, TRIES_MAX, MORE);
  return accepted < SLOTS ? accepted : SLOTS;
}

static void turn(int is_get, int kind) {
  job_barrier();
  oob_meet(); /* rank 0 has left the barrier, and serves nobody from now on */
  if (!is_get) fill(SLOTS);
  if (is_get) memset(words, 0, SLOTS * sizeof *words);
  if (job.rank != 0) {
    const uint32_t slots = press(is_get, kind);
    uint32_t wrong = 0;
    for (uint32_t i = 0; is_get && i < slots; i++)
      for (uint32_t k = 0; k < WORDS; k++)
        wrong += words[i][k] != ((uint64_t)job.rank << 32 | (i * 100 + k));
    CHECK_EQ(wrong, 0);
    if (!is_get) { /* complete what was refused, for the gets */
      const ptrdiff_t wide = 16, tight = 8;
      const size_t count = SLOTS * WORDS;
      gex_VIS_StridedPutBlocking(job.tm, 0, far_slot(0), &wide, words, &tight, 8, &count, 1, 0);
    }
  }
  for (gex_Rank_t r = 1; job.rank == 0 && r < job.size; r++) CHECK_EQ(oob_wait(60000), is_get);
  job_barrier();
}

/* Several messages: an immediate call that has begun goes on; retried until it begins. */
static void large(void) {
  enum { BYTES = 300000 };
  static char data[BYTES], back[BYTES];
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  const ptrdiff_t wide = 5, tight = 3;
  const size_t count = 70000;
  char *far = job.peer[peer] + (size_t)job.size * SLOTS * WORDS * 16;
  gex_Event_t ev;
  for (int i = 0; i < 3; i++) {
    pattern_fill(data, 3 * count, job.rank + 10u * (unsigned)i);
    while ((ev = gex_VIS_StridedPutNB(job.tm, peer, far, &wide, data, &tight, 3, &count, 1,
                                      GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC)) ==
           GEX_EVENT_NO_OP)
      gasnet_AMPoll();
    gex_Event_Wait(gex_Event_QueryLeaf(ev, GEX_EC_LC));
    gex_Event_Wait(ev);
    while (gex_VIS_StridedGetNBI(job.tm, back, &tight, peer, far, &wide, 3, &count, 1,
                                 GEX_FLAG_IMMEDIATE))
      gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_GET, 0);
    CHECK_BYTES(back, 3 * count, job.rank + 10u * (unsigned)i);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)SLOTS * WORDS * 16 * job.size + 400000);
  if (job.mapped) return 77;
  oob_open();
  prepare();
  for (int kind = 0; kind < KINDS; kind++) {
    turn(0, kind);
    turn(1, kind);
  }
  large();
  job_barrier();
  CHECK_CMP(gex_NBI_Test(GEX_EC_ALL, 0), ==, GASNET_OK);
  return job_finish();
}
