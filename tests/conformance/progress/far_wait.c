/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/* again:
 * TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop+TOMBOLO_TEST_NET_HOOK=fault:again=30:skip=10:credits=2 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop+TOMBOLO_TEST_NET_HOOK=delay:jitter=300 */
/* timeout: 120 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/*
 * Waits for ranks of this host and of others at once: whoever sleeps is woken by either, by a
 * signal, a request that it must serve, a reply, a barrier and a collective, whichever comes after
 * it has fallen asleep; and a rank that waits for a far one uses hardly any processor time. Without
 * TOMBOLO_PLACES all ranks are near; a lost wake-up is a test that hangs.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <time.h>

enum { LAPS = 12, NAP_MS = 80 };

static uint64_t rng;

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t *word_of(gex_Rank_t rank, int index) {
  return (uint64_t *)(void *)job.peer[rank] + index;
}

/* Sometimes long enough for every other rank to fall asleep. */
static void dawdle(void) {
  const uint64_t kind = rng_below(&rng, 4);
  if (kind == 0) sleep_ms(3);
  if (kind == 1) sleep_ms(1);
}

/* A token visits all ranks in an order that differs from lap to lap, as a signal with data. */
static void token(void) {
  for (uint64_t lap = 1; lap <= LAPS; lap++) {
    const gex_Rank_t stride = lap % 2 ? 1 : job.size - 1;
    const gex_Rank_t to = (job.rank + stride) % job.size;
    uint64_t data[64];
    if (job.rank || lap > 1)
      CHECK_EQ(gexx_Signal_Wait(word_of(job.rank, 0), GEXX_SIG_GE, job.rank ? lap : lap - 1),
               job.rank ? lap : lap - 1);
    dawdle();
    for (int i = 0; i < 64; i++) data[i] = lap * 1000 + job.rank;
    CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, word_of(to, 8), data, sizeof data,
                                        GEX_EVENT_NOW, word_of(to, 0), GEXX_SIG_SET, lap, 0),
             0);
  }
  if (!job.rank) (void)gexx_Signal_Wait(word_of(0, 0), GEXX_SIG_GE, LAPS);
  job_barrier();
}

/* One rank after the other sleeps in a wait that ends last of all; meanwhile the others get from
 * it, so it must wake to serve them where they cannot read its memory. */
static void served_while_asleep(void) {
  for (gex_Rank_t owner = 0; owner < job.size; owner++) {
    uint64_t *const done = word_of(owner, 1);
    if (job.rank == owner) {
      for (int i = 0; i < 64; i++) word_of(owner, 128)[i] = owner * 100 + (uint64_t)i;
      job_barrier();
      CHECK_EQ(gexx_Signal_Wait(done, GEXX_SIG_GE, job.size - 1), job.size - 1);
    } else {
      job_barrier();
      for (int n = 0; n < 6; n++) {
        uint64_t got[64] = {0};
        dawdle();
        CHECK_EQ(gex_RMA_GetBlocking(job.tm, got, owner, word_of(owner, 128), sizeof got, 0), 0);
        for (int i = 0; i < 64; i++) CHECK_EQ(got[i], owner * 100 + (uint64_t)i);
      }
      CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, owner, NULL, NULL, 0, GEX_EVENT_NOW, done,
                                          GEXX_SIG_ADD, 1, 0),
               0);
    }
    job_barrier();
  }
}

/* Everybody waits for whoever is last. */
static void collectives(void) {
  for (int n = 0; n < 2 * LAPS; n++) {
    uint64_t mine = job.rank + (uint64_t)n, sum = 0;
    dawdle();
    if (n % 3 == 0) {
      gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
    } else {
      gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, &sum, &mine, GEX_DT_U64, sizeof mine, 1,
                                            GEX_OP_ADD, NULL, NULL, 0));
      CHECK_EQ(sum, (uint64_t)job.size * (job.size - 1) / 2 + (uint64_t)n * job.size);
    }
  }
}

/* The others wait for rank 0, which sleeps. */
static void waits_are_idle(void) {
  job_barrier();
  if (job.rank) {
    const double before = cpu_s();
    CHECK_EQ(gexx_Signal_Wait(word_of(job.rank, 2), GEXX_SIG_NE, 0), 1);
    CHECK_CMP(cpu_s() - before, <, NAP_MS * 0.5e-3);
  } else {
    sleep_ms(NAP_MS);
    for (gex_Rank_t r = 1; r < job.size; r++)
      CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, r, NULL, NULL, 0, GEX_EVENT_NOW, word_of(r, 2),
                                          GEXX_SIG_SET, 1, 0),
               0);
  }
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 1 << 16, NULL, 0);
  rng = test_seed() + job.rank;
  token();
  served_while_asleep();
  collectives();
  waits_are_idle();
  return job_finish();
}
