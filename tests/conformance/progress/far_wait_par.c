/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 4 */
/* again:
 * TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop+TOMBOLO_TEST_NET_HOOK=fault:again=30:skip=10:credits=1 */
/* timeout: 120 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/*
 * Several threads of each rank wait at once, each for its own thread of another rank, near or far:
 * every wake-up reaches the thread that it is for, whichever thread runs the progress, and one that
 * sends and goes away leaves nothing undone that a sleeping one would have to see to.
 */
#include "job.h"
#include "threads.h"

#include <gasnetex_ext.h>

enum { THREADS = 6, LAPS = 40, SENDS = 30 };

static uint64_t *word_of(gex_Rank_t rank, int index) {
  return (uint64_t *)(void *)job.peer[rank] + 8 * index;
}

static gex_Rank_t next(int distance) {
  return (job.rank + (gex_Rank_t)distance) % job.size;
}

/* Thread t of all ranks: a token of its own, with pauses in which all threads fall asleep. */
static void token(int t) {
  uint64_t rng = test_seed() + job.rank * 100 + (uint64_t)t;
  const gex_Rank_t to = next(1);
  for (uint64_t lap = 1; lap <= LAPS; lap++) {
    if (job.rank || lap > 1)
      (void)gexx_Signal_Wait(word_of(job.rank, t), GEXX_SIG_GE, job.rank ? lap : lap - 1);
    if (rng_below(&rng, 8) == 0) sleep_ms(2);
    CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, word_of(to, t),
                                        GEXX_SIG_SET, lap, 0),
             0);
  }
}

/* Thread 0 sends signals that nobody acknowledges to it, and leaves the library; the others of its
 * rank are asleep, waiting for what the next rank's thread 0 sends. */
static void send_and_leave(int t) {
  if (t == 0) {
    for (int n = 0; n < SENDS; n++) {
      const gex_Rank_t to = next(1);
      CHECK_EQ(gexx_RMA_PutSignalNBI(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, word_of(to, 20),
                                     GEXX_SIG_ADD, 1, 0),
               0);
      sleep_ms(2);
    }
    gex_NBI_Wait(GEX_EC_ALL, 0);
  } else {
    CHECK_EQ(gexx_Signal_Wait(word_of(job.rank, 20), GEXX_SIG_GE, SENDS), SENDS);
  }
}

/* Blocking gets by all threads at once from a rank whose threads all sleep or get, too. */
static void read_all(int t) {
  uint64_t rng = test_seed() + job.rank * 77 + (uint64_t)t;
  for (int n = 0; n < 25; n++) {
    const gex_Rank_t from = next(1 + (int)rng_below(&rng, job.size));
    uint64_t got = 0;
    if (rng_below(&rng, 6) == 0) sleep_ms(2);
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, &got, from, word_of(from, 30 + t), sizeof got, 0), 0);
    CHECK_EQ(got, from * 1000u + (unsigned)t);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 1 << 16, NULL, 0);
  for (int t = 0; t < THREADS; t++) *word_of(job.rank, 30 + t) = job.rank * 1000u + (unsigned)t;
  job_barrier();
  run_threads(THREADS, token);
  job_barrier();
  run_threads(THREADS, send_and_leave);
  job_barrier();
  run_threads(THREADS, read_all);
  job_barrier();
  return job_finish();
}
