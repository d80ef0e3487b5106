/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 00.9, 04: strided and indexed transfers from many threads at once, and peer completion
 * armed by each thread for its own puts only.
 */
#include <gasnet_vis.h>

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "threads.h"

enum { THREADS = 8, ROUNDS = 40, WORDS = 3000, SLOT = WORDS * 16 };

static uint64_t noted[THREADS]; /* completions that name thread t of the peer; atomic */

static void on_note(gex_Token_t token, void *buf, size_t nbytes) {
  uint32_t who[2];
  (void)token;
  CHECK_EQ(nbytes, sizeof who);
  memcpy(who, buf, sizeof who);
  uint64_t first;
  memcpy(&first, job.base + (size_t)who[0] * SLOT, 8);
  CHECK_EQ(first >> 32, who[1]);
  __atomic_fetch_add(&noted[who[0]], 1, __ATOMIC_RELEASE);
}

static gex_AM_Index_t note;

static void body(int id) {
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  char *far = job.peer[peer] + (size_t)id * SLOT;
  const ptrdiff_t wide = 16, tight = 8;
  const size_t count = WORDS;
  uint64_t *data = calloc(WORDS, 8), *back = calloc(WORDS, 8);
  void *far_list[100], *near_list[1] = {back};
  REQUIRE(data && back);
  for (int i = 0; i < 100; i++) far_list[i] = far + (99 - i) * 16;
  threads_meet();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < WORDS; i++) data[i] = (uint64_t)round << 32 | i * 8 | (uint32_t)id;
    const uint32_t who[2] = {(uint32_t)id, round};
    if (id % 2) gex_VIS_SetPeerCompletionHandler(note, who, sizeof who, 0);
    gex_Event_Wait(gex_VIS_StridedPutNB(job.tm, peer, far, &wide, data, &tight, 8, &count, 1, 0));
    gex_VIS_StridedGetNBI(job.tm, back, &tight, peer, far, &wide, 8, &count, 1, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    CHECK_CMP(memcmp(back, data, WORDS * 8), ==, 0);
    gex_VIS_IndexedGetBlocking(job.tm, 1, near_list, 800, peer, 100, far_list, 8, 0);
    for (uint32_t i = 0; i < 100; i++) CHECK_EQ(back[i], data[99 - i]);
    if (id % 2) /* the handler looks at this round's data */
      GASNET_BLOCKUNTIL(__atomic_load_n(&noted[id], __ATOMIC_ACQUIRE) > round);
    threads_meet();
    if (id == 0) job_barrier();
    threads_meet();
  }
  free(data);
  free(back);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  note = job_handler((gex_AM_Fn_t)on_note, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0);
  job_barrier();
  job_attach((uintptr_t)THREADS * SLOT);
  job_barrier();
  run_threads(THREADS, body);
  for (int i = 0; i < THREADS; i++) CHECK_EQ(noted[i], i % 2 ? ROUNDS : 0);
  job_barrier();
  return job_finish();
}
