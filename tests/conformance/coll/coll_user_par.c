/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_COLL_DIRECT=0 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_RING_SLOTS=64+TOMBOLO_TEST_COLL_EAGER_MAX=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=1 GASNET_SUPERNODE_MAXSIZE=2+TOMBOLO_TEST_COLL_CHUNK=64 */
/* debug: both */
/* timeout: 120 */
/*
 * API 06.4 with threads: client functions that take their time run outside every lock of the
 * library. A function on one team waits until another thread has completed collectives on another
 * team; functions of random delays, which do not commute, on several teams at once, their events
 * waited for and tested in every form, also by a thread that did not start them.
 */
#include "job.h"
#include "threads.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEAMS = 4, ROUNDS = 12, TINY = 20, PAIRS_MAX = 20000, BATCH = 3, GATE_S = 20 };

static gex_TM_t tm[TEAMS];

/* ---- a function that waits for another thread */

static pthread_t other;
static int other_round; /* rounds of tiny collectives that `other` has completed */
static int gate_round;
static int stuck;

static void gate(const void *x, void *y, size_t count, const void *cdata) {
  const uint64_t *left = x;
  uint64_t *right = y;
  const double end = now_s() + GATE_S;
  (void)cdata;
  while (!pthread_equal(pthread_self(), other) &&
         __atomic_load_n(&other_round, __ATOMIC_ACQUIRE) < gate_round && !stuck) {
    if (now_s() > end) stuck = 1;
    usleep(100);
  }
  for (size_t i = 0; i < count; i++) right[i] += left[i];
}

static void tiny_rounds(void) {
  other = pthread_self();
  threads_meet();
  for (int round = 1; round <= ROUNDS; round++) {
    for (int i = 0; i < TINY; i++) {
      uint64_t one = 1, sum = 0;
      gex_Event_Wait(
          gex_Coll_ReduceToAllNB(tm[1], &sum, &one, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
      CHECK_EQ(sum, job.size);
    }
    __atomic_store_n(&other_round, round, __ATOMIC_RELEASE);
    threads_meet();
  }
}

static void gated_rounds(void) {
  static uint64_t in[PAIRS_MAX], out[PAIRS_MAX];
  static const size_t words[] = {1, 9, 1500, 8192, PAIRS_MAX};
  threads_meet();
  for (int round = 1; round <= ROUNDS; round++) {
    const size_t n = words[round % 5];
    gate_round = round;
    for (size_t i = 0; i < n; i++) in[i] = job.rank + i;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm[0], out, in, GEX_DT_USER, 8, n, GEX_OP_USER, gate, NULL, 0));
    const uint64_t ranks = (uint64_t)job.size * (job.size - 1) / 2;
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) bad += out[i] != ranks + i * job.size;
    CHECK_EQ(bad, 0);
    threads_meet();
  }
  CHECK(!stuck);
}

static void gated(int id) {
  if (id == 0)
    gated_rounds();
  else
    tiny_rounds();
}

/* ---- functions that do not commute, with delays */

/* x -> a * x + b; composing two of them does not commute. */
struct map {
  uint64_t a, b;
};

static struct map in[TEAMS][BATCH][PAIRS_MAX / 8], out[TEAMS][BATCH][PAIRS_MAX / 8];
static gex_Event_t event[TEAMS][BATCH];

static struct map compose(struct map left, struct map right) {
  return (struct map){left.a * right.a, left.a * right.b + left.b};
}

static void compose_all(const void *x, void *y, size_t count, const void *cdata) {
  const struct map *left = x;
  struct map *right = y;
  struct timespec delay = {0, 1000 * (long)(mix64((uintptr_t)x + count) % 300)};
  CHECK_PTR(cdata, tm);
  if (count && left->a % 3 == 0) nanosleep(&delay, NULL);
  for (size_t i = 0; i < count; i++) right[i] = compose(left[i], right[i]);
}

static size_t length_of(int team, int i, int round) {
  const uint64_t v = mix64((uint64_t)(team * 100 + i * 10 + round * 1000));
  return 1 + v % (v % 3 ? 5 : PAIRS_MAX / 8);
}

static struct map map_of(gex_Rank_t rank, int team, int i, int round, size_t k) {
  const uint64_t v = mix64(rank + 64 * k + (uint64_t)(team + 7 * i + 77 * round) * 1000003);
  return (struct map){v | 1, mix64(v)};
}

static gex_Event_t start(int team, int i, int round) {
  const size_t n = length_of(team, i, round);
  for (size_t k = 0; k < n; k++) in[team][i][k] = map_of(job.rank, team, i, round, k);
  if (i == 1)
    return gexx_Coll_ScanNB(tm[team], out[team][i], in[team][i], GEX_DT_USER, sizeof(struct map), n,
                            GEX_OP_USER_NC, compose_all, tm, 0);
  return gex_Coll_ReduceToAllNB(tm[team], out[team][i], in[team][i], GEX_DT_USER,
                                sizeof(struct map), n, GEX_OP_USER_NC, compose_all, tm, 0);
}

static void check(int team, int i, int round) {
  const size_t n = length_of(team, i, round);
  const gex_Rank_t last = i == 1 ? job.rank : job.size - 1;
  size_t bad = 0;
  for (size_t k = 0; k < n; k++) {
    struct map want = map_of(0, team, i, round, k);
    for (gex_Rank_t r = 1; r <= last; r++) want = compose(want, map_of(r, team, i, round, k));
    bad += memcmp(&want, &out[team][i][k], sizeof want) != 0;
  }
  CHECK_EQ(bad, 0);
}

static void await(gex_Event_t *events, int method) {
  switch (method % 4) {
  case 0: gex_Event_WaitAll(events, BATCH, 0); break;
  case 1:
    while (gex_Event_TestAll(events, BATCH, 0) == GASNET_ERR_NOT_READY) gasnet_AMPoll();
    break;
  case 2:
    for (int i = BATCH; i-- > 0;) gex_Event_Wait(events[i]);
    break;
  default:
    for (int i = 0; i < BATCH; i++)
      while (gex_Event_Test(events[i]) == GASNET_ERR_NOT_READY) gasnet_AMPoll();
  }
}

/* Each thread starts on its own team; every other round another thread waits. */
static void delayed(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BATCH; i++) event[id][i] = start(id, i, round);
    const int whose = round % 2 ? (id + 1) % TEAMS : id;
    threads_meet();
    await(event[whose], round / 2 + id);
    for (int i = 0; i < BATCH; i++) check(whose, i, round);
    threads_meet();
  }
}

/* ---- nobody awaits it, and the thread that started it is away */

static int away_done;

static void away(int id) {
  static uint64_t in_word = 3, out_word;
  static gex_Event_t started;
  if (id == 0) {
    gate_round = 0;
    started = gex_Coll_ReduceToAllNB(tm[0], &out_word, &in_word, GEX_DT_USER, 8, 1, GEX_OP_USER,
                                     gate, NULL, 0);
    threads_meet();
    for (const double end = now_s() + GATE_S; !__atomic_load_n(&away_done, __ATOMIC_ACQUIRE);) {
      REQUIRE(now_s() < end);
      usleep(1000);
    }
    gex_Event_Wait(started);
    CHECK_EQ(out_word, 3 * (uint64_t)job.size);
  } else {
    threads_meet();
    gex_TM_t quiet = tm[1];
    for (int i = 0; i < 200; i++) { /* other ranks' thread 0 need what this rank must do */
      gex_Event_Wait(gex_Coll_BarrierNB(quiet, 0));
      usleep(500);
    }
    __atomic_store_n(&away_done, 1, __ATOMIC_RELEASE);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  for (int i = 0; i < TEAMS; i++)
    REQUIRE(gex_TM_Dup(&tm[i], job.tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  run_threads(2, gated);
  job_barrier();
  run_threads(TEAMS, delayed);
  job_barrier();
  run_threads(2, away);
  return job_finish();
}
