/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 3 4 */
/* again: TOMBOLO_TEST_SHM=0 */
/* debug: both */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_RING_SLOTS=64 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_COLL_CHUNK=64 */
/* timeout: 120 */
/*
 * API 06.1 with threads: each thread on a team of its own, all at once; events that another thread
 * syncs; a thread that sleeps in a wait while another starts collectives that must be sent.
 */
#include "job.h"
#include "threads.h"

#include <gasnet_coll.h>

enum { THREADS = 4, ROUNDS = 60, BATCH = 10, WORDS = 3000 };

static gex_TM_t tm[THREADS];
static uint64_t in[THREADS][BATCH][WORDS], out[THREADS][BATCH][WORDS];
static gex_Event_t handed[THREADS][BATCH];

static size_t words_of(int id, int i, int round) {
  return 1 + mix64((uint64_t)(id * 1000 + i * 100 + round)) % (i == 0 ? WORDS : 20);
}

static uint64_t word(gex_Rank_t rank, int id, int i, int round, size_t k) {
  return mix64(rank + k * 16 + (uint64_t)(id * 7 + i * 77 + round * 777));
}

static void start(int id, int round) {
  for (int i = 0; i < BATCH; i++) {
    const size_t n = words_of(id, i, round);
    for (size_t k = 0; k < n; k++) in[id][i][k] = word(job.rank, id, i, round, k);
    handed[id][i] = i % 2 ? gex_Coll_BroadcastNB(tm[id], (gex_Rank_t)(i + round) % job.size,
                                                 out[id][i], in[id][i], 8 * n, 0)
                          : gex_Coll_ReduceToAllNB(tm[id], out[id][i], in[id][i], GEX_DT_U64, 8, n,
                                                   GEX_OP_XOR, NULL, NULL, 0);
  }
}

static void finish(int id, int round) {
  for (int i = 0; i < BATCH; i++) gex_Event_Wait(handed[id][i]);
  for (int i = 0; i < BATCH; i++) {
    const size_t n = words_of(id, i, round);
    size_t bad = 0;
    for (size_t k = 0; k < n; k++) {
      uint64_t want = word((gex_Rank_t)(i + round) % job.size, id, i, round, k);
      if (i % 2 == 0) want = 0;
      for (gex_Rank_t r = 0; r < job.size && i % 2 == 0; r++) want ^= word(r, id, i, round, k);
      bad += out[id][i][k] != want;
    }
    CHECK_EQ(bad, 0);
  }
}

static void body(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    start(id, round);
    finish(id, round);
  }
  for (int round = 0; round < ROUNDS; round++) { /* the next thread syncs */
    start(id, round);
    threads_meet();
    finish((id + 1) % THREADS, round);
    threads_meet();
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  for (int i = 0; i < THREADS; i++)
    gex_TM_Split(&tm[i], job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  run_threads(THREADS, body);
  for (int i = 0; i < THREADS; i++) gex_TM_Destroy(tm[i], NULL, 0);
  return job_finish();
}
