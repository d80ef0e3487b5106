/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_STATS=1 */
/* timeout: 60 */
/*
 * Finding a changed signal in long ranges: what random producers add is found exactly as often as a
 * model says; the search begins at *index and serves all in turn; signals that were not changed by
 * signal operations are found, too; ranges of other strides, more ranges than have an index, ranges
 * that share signals; the time does not grow with the range. The seed is that of TMB_TEST_SEED.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <stdio.h>

enum {
  MANY = 1000000,
  SEG_BYTES = MANY * 8,
  RANDOM = 20000, /* signals in the random range */
  SENT = 400,     /* signals that each rank sends in it */
  RANGES = 12     /* more than have an index */
};

static uint64_t *signals(gex_Rank_t owner) {
  return (uint64_t *)(void *)job.peer[owner];
}

/* Returns when the signal has changed. */
static void signal_at(uint64_t *sig, gex_Rank_t owner, int op, uint64_t value) {
  gex_Event_Wait(
      gexx_RMA_PutSignalNB(job.tm, owner, NULL, NULL, 0, GEX_EVENT_NOW, sig, op, value, 0));
}

static void none_left(size_t count, size_t words) {
  size_t index = count - 1;
  for (size_t i = 0; i < count / 64 + 2; i++)
    CHECK_EQ(gexx_Signal_TestSome(signals(job.rank), count, words * 8, &index),
             GASNET_ERR_NOT_READY);
  CHECK_EQ(index, count - 1);
}

/* The i-th signal that `from` sends to `to`. */
static size_t place(gex_Rank_t from, gex_Rank_t to, unsigned i) {
  uint64_t state = test_seed() + ((uint64_t)from << 40) + ((uint64_t)to << 20) + i;
  const uint64_t kind = rng_below(&state, 4);
  return (size_t)(kind == 0   ? rng_below(&state, 8)
                  : kind == 1 ? RANDOM - 1 - rng_below(&state, 70)
                              : rng_below(&state, RANDOM));
}

/* Everybody adds one to random signals of everybody, in forms that alternate, and takes what it
 * finds; at the end each signal was found as often as the model says. */
static void random_producers(void) {
  uint64_t *const found = (uint64_t *)calloc(RANDOM, sizeof *found);
  uint64_t state = test_seed() + job.rank, left = (uint64_t)SENT * job.size;
  size_t index = 0;
  if (!found) check_abandon();
  job_barrier();
  for (unsigned i = 0; i < SENT; i++) {
    for (gex_Rank_t k = 0; k < job.size; k++) {
      const gex_Rank_t to = (job.rank + k) % job.size;
      uint64_t *const sig = signals(to) + place(job.rank, to, i);
      if (i % 3 == 0)
        CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, sig,
                                            GEXX_SIG_ADD, 1, 0),
                 0);
      else if (i % 3 == 1)
        CHECK_EQ(gexx_RMA_PutSignalNBI(job.tm, to, NULL, NULL, 0, GEX_EVENT_DEFER, sig,
                                       GEXX_SIG_ADD, 1, 0),
                 0);
      else
        gex_Event_Wait(
            gexx_RMA_GetSignalNB(job.tm, found, to, signals(to), 0, sig, GEXX_SIG_ADD, 1, 0));
    }
    while (rng_below(&state, 2) &&
           gexx_Signal_TestSome(signals(job.rank), RANDOM, 8, &index) == GASNET_OK) {
      const uint64_t n = gexx_Signal_Reset(signals(job.rank) + index);
      CHECK(n > 0 && n <= left);
      found[index] += n;
      left -= n;
      index = (size_t)rng_below(&state, RANDOM);
    }
  }
  while (left) {
    const uint64_t seen = gexx_Signal_WaitSome(signals(job.rank), RANDOM, 8, &index);
    const uint64_t n = gexx_Signal_Reset(signals(job.rank) + index);
    CHECK(seen > 0 && n >= seen && n <= left);
    found[index] += n;
    left -= n;
    index = (index + 1) % RANDOM;
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  for (gex_Rank_t from = 0; from < job.size; from++)
    for (unsigned i = 0; i < SENT; i++) found[place(from, job.rank, i)]--;
  for (size_t i = 0; i < RANDOM; i++) CHECK_EQ(found[i], 0);
  job_barrier();
  none_left(RANDOM, 1);
  free(found);
}

/* Ranges of `count` signals, `words` apart: each rank changes its share at the next one, all are
 * found in turn from the middle, twice, as long as nobody resets them. */
static void in_turn(size_t count, size_t words) {
  uint64_t *const mine = signals(job.rank);
  const gex_Rank_t to = (job.rank + 1) % job.size;
  const size_t step = count / 37;
  size_t index = count / 2, sent = 0, want = (count / 2 + step - 1) / step * step;
  job_barrier();
  none_left(count, words);
  job_barrier();
  for (size_t i = 0; i < count; i += step, sent++)
    signal_at(signals(to) + i * words, to, GEXX_SIG_SET, i + 1);
  job_barrier();
  for (size_t k = 0; k < 2 * sent; k++) {
    if (want >= count) want = 0;
    if (k % 2)
      CHECK_EQ(gexx_Signal_WaitSome(mine, count, words * 8, &index), want + 1);
    else
      while (gexx_Signal_TestSome(mine, count, words * 8, &index) != GASNET_OK) continue;
    CHECK_EQ(index, want);
    index = (index + 1) % count;
    want += step;
  }
  for (index = count - 1; sent; sent--) {
    (void)gexx_Signal_WaitSome(mine, count, words * 8, &index);
    CHECK_EQ(gexx_Signal_Reset(mine + index * words), index + 1);
  }
  none_left(count, words);
  job_barrier();
}

/* Signals that a store of the owner, a put or an atomic has changed are found, if later. */
static void otherwise(void) {
  enum { COUNT = 3000 };
  uint64_t *const mine = signals(job.rank), seven = 7;
  const gex_Rank_t to = (job.rank + 1) % job.size;
  size_t index = 0;
  job_barrier();
  mine[COUNT - 1] = 5; /* a wait sees what was there when it began */
  CHECK_EQ(gexx_Signal_WaitSome(mine, COUNT, 8, &index), 5);
  CHECK_EQ(index, COUNT - 1);
  mine[COUNT - 1] = 0;
  index = 0;
  unsigned tries = 0;
  job_barrier();
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, signals(to) + 1234, &seven, 8, 0), 0);
  job_barrier();
  while (gexx_Signal_TestSome(mine, COUNT, 8, &index) != GASNET_OK) tries++;
  CHECK_EQ(index, 1234);
  CHECK_CMP(tries, <=, COUNT / 64 + 1);
  CHECK_EQ(gexx_Signal_Reset(mine + 1234), 7);
  none_left(COUNT, 1);
  job_barrier();
}

/* More ranges than have an index, some of which share signals. */
static void many_ranges(void) {
  enum { COUNT = 500, APART = 450 };
  uint64_t *const mine = signals(job.rank);
  const gex_Rank_t to = (job.rank + 1) % job.size;
  job_barrier();
  for (int round = 0; round < 3; round++) {
    for (size_t k = 0; k < RANGES; k++) {
      size_t index = 17;
      CHECK_EQ(gexx_Signal_TestSome(mine + k * APART, COUNT, 8, &index), GASNET_ERR_NOT_READY);
    }
    job_barrier();
    signal_at(signals(to) + 5 * APART + 20, to, GEXX_SIG_ADD, 1); /* in ranges 4 and 5 */
    for (size_t k = 4; k < 6; k++) {
      size_t index = 17;
      CHECK_EQ(gexx_Signal_WaitSome(mine + k * APART, COUNT, 8, &index), 1);
      CHECK_EQ(index, 20 + (5 - k) * APART);
    }
    (void)gexx_Signal_Reset(mine + 5 * APART + 20);
    job_barrier();
    for (size_t k = 0; k < RANGES; k++)
      signal_at(signals(to) + k * APART + 90, to, GEXX_SIG_SET, k + 1);
    for (size_t k = 0; k < RANGES; k++) {
      size_t index = 60;
      CHECK_EQ(gexx_Signal_WaitSome(mine + k * APART, COUNT, 8, &index), k + 1);
      CHECK_EQ(index, 90);
    }
    job_barrier();
    for (size_t k = 0; k < RANGES; k++) mine[k * APART + 90] = 0;
    /* Long enough for the last range to take over an index. */
    for (int i = 0; i < 5000; i++) {
      size_t index = 0;
      CHECK_EQ(gexx_Signal_TestSome(mine + (RANGES - 1) * APART, COUNT, 8, &index),
               GASNET_ERR_NOT_READY);
    }
    job_barrier();
  }
}

/* Best time of a signal to this process itself and the search for it, ns. */
static double search_ns(size_t count) {
  enum { BATCHES = 10, TIMES = 200 };
  uint64_t *const mine = signals(job.rank), state = test_seed();
  double best = 1e9;
  for (int batch = 0; batch < BATCHES; batch++) {
    const double start = now_s();
    for (int i = 0; i < TIMES; i++) {
      const size_t at = (size_t)(mix64(state + (unsigned)i) % count);
      size_t index = 0;
      signal_at(mine + at, job.rank, GEXX_SIG_SET, 1);
      (void)gexx_Signal_WaitSome(mine, count, 8, &index);
      CHECK_EQ(index, at);
      mine[index] = 0;
    }
    const double ns = (now_s() - start) * 1e9 / TIMES;
    if (ns < best) best = ns;
  }
  return best;
}

/* A search that looked at a share of the signals would take thousands of times as long. */
static void does_not_grow(void) {
  job_barrier();
  if (job.rank == 0) {
    const double few = search_ns(100), many = search_ns(MANY);
    if (!CHECK_CMP(many, <, 40 * few + 2000))
      printf("range of 100: %.0f ns, of %d: %.0f ns\n", few, MANY, many);
  }
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach(SEG_BYTES + 4096);
  if (job.rank == 0) printf("seed %llu\n", (unsigned long long)test_seed());
  random_producers();
  in_turn(100, 1);
  in_turn(3000, 1);
  in_turn(2000, 8);
  in_turn(1000, 3);
  otherwise();
  many_ranges();
  if (job.size <= 4) in_turn(MANY - 5, 1); /* with groups of four */
  does_not_grow();
  return job_finish();
}
