/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Several threads wait for some of a range while others, and those of other ranks, signal: every
 * signal is taken once, by the thread whose reset returned it, and sleepers are woken.
 */
#include "job.h"
#include "threads.h"

#include <gasnetex_ext.h>

enum {
  COUNT = 5000,
  TAKERS = 3,
  THREADS = TAKERS + 2,
  SENT = 1500,
  TOTAL = (THREADS - TAKERS) * SENT
};

#define STOP ((uint64_t)1 << 40) /* a taker that gets it ends */

static uint64_t taken; /* of a round; atomic */

static uint64_t *signals(gex_Rank_t owner) {
  return (uint64_t *)(void *)job.peer[owner];
}

static void add(gex_Rank_t to, size_t index, uint64_t n) {
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, signals(to) + index,
                                      GEXX_SIG_ADD, n, 0),
           0);
}

static void produce(int id) {
  uint64_t state = test_seed() + job.rank * THREADS + (unsigned)id;
  for (int i = 0; i < SENT; i++) {
    if (i == SENT / 2) sleep_ms(20); /* takers sleep */
    add((job.rank + 1) % job.size, (size_t)rng_below(&state, COUNT), 1);
  }
}

/* Until all of the round are taken: who takes the last stops the others. */
static void take(int id) {
  uint64_t *const mine = signals(job.rank);
  size_t index = (size_t)id * 100;
  for (;;) {
    (void)gexx_Signal_WaitSome(mine, COUNT, 8, &index);
    const uint64_t n = gexx_Signal_Reset(mine + index); /* 0: another thread was first */
    if (n >= STOP) {
      CHECK_EQ(n, STOP);
      return;
    }
    if (n && __atomic_add_fetch(&taken, n, __ATOMIC_RELAXED) == TOTAL) {
      for (size_t i = 1; i < TAKERS; i++) add(job.rank, i * 1000, STOP);
      return;
    }
    index = (index + 1) % COUNT;
  }
}

static void body(int id) {
  if (id < TAKERS)
    take(id);
  else
    produce(id);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach(65536);
  for (int round = 0; round < 3; round++) {
    taken = 0;
    job_barrier();
    run_threads(THREADS, body);
    CHECK_EQ(taken, TOTAL);
    size_t index = 0;
    CHECK_EQ(gexx_Signal_TestSome(signals(job.rank), COUNT, 8, &index), GASNET_ERR_NOT_READY);
    job_barrier();
  }
  return job_finish();
}
