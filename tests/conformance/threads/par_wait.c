/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* timeout: 120 */
/*
 * API 02.8: all threads of a process block in GASNET_BLOCKUNTIL at once, on conditions of their
 * own, until a peer's thread makes each true in another order, now and then after a pause in which
 * everybody falls asleep.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 16, ROUNDS = 30, SLOW = 15 };

static gex_AM_Index_t wake_index;
static int level[THREADS];
static uint64_t payload[THREADS][8];

static void on_wake(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                    gex_AM_Arg_t round) {
  (void)token;
  CHECK_EQ(nbytes, sizeof payload[0]);
  memcpy(payload[thread], buf, nbytes);
  __atomic_store_n(&level[thread], round, __ATOMIC_RELEASE);
}

/* Takes long enough for every other thread to fall asleep again before the condition becomes true.
 * Two of them may run at once, and end in any order: the number does not go back. */
static int slow_done, slow_stop;
static void on_slow(gex_Token_t token, gex_AM_Arg_t n) {
  (void)token;
  sleep_ms(8);
  int known = __atomic_load_n(&slow_done, __ATOMIC_RELAXED);
  while (known < n &&
         !__atomic_compare_exchange_n(&slow_done, &known, n, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    continue;
}

static gex_AM_Index_t slow_index;

/* Thread 0 polls without pause and so runs the handlers; thread 1 asks; all others wait for what
 * thread 0 does. */
static void slow(int thread) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  for (int n = 1; n <= SLOW; n++) {
    if (thread == 1) {
      sleep_ms(3);
      CHECK_EQ(gex_AM_RequestShort1(job.tm, next, slow_index, 0, n), 0);
    }
    if (thread == 0) {
      while (__atomic_load_n(&slow_stop, __ATOMIC_ACQUIRE) < n) gasnet_AMPoll();
    } else {
      GASNET_BLOCKUNTIL(__atomic_load_n(&slow_done, __ATOMIC_RELAXED) >= n);
      if (thread == 1) __atomic_store_n(&slow_stop, n, __ATOMIC_RELEASE);
    }
  }
}

/* Relaxed: GASNET_BLOCKUNTIL itself orders what follows. The thread sanitizer does not see that. */
#ifdef __SANITIZE_THREAD__
enum { LOAD_ORDER = __ATOMIC_ACQUIRE };
#else
enum { LOAD_ORDER = __ATOMIC_RELAXED };
#endif
static int reached(int thread) {
  return __atomic_load_n(&level[thread], LOAD_ORDER);
}

/* Thread t waits for round k and then wakes thread perm(t) of the next rank for that round: a chain
 * over all threads. */
static void chain(int thread) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  for (int round = 1; round <= ROUNDS; round++) {
    const int starts = job.rank == 0 && thread == 0;
    if (!starts) {
      GASNET_BLOCKUNTIL(reached(thread) == round);
      CHECK_BYTES(payload[thread], sizeof payload[0], (unsigned)(thread * 1000 + round));
    }
    if (round % 20 == 0 && thread == 3) sleep_ms(30);
    /* the chain goes through all ranks for thread t, then on to thread t + 1 */
    const int to = next == 0 ? thread + 1 : thread;
    if (to < THREADS) {
      uint64_t out[8];
      pattern_fill(out, sizeof out, (unsigned)(to * 1000 + round));
      CHECK_EQ(gex_AM_RequestMedium2(job.tm, next, wake_index, out, sizeof out, GEX_EVENT_NOW, 0,
                                     to, round),
               0);
    } else { /* the last one: notifies the first that the round is over */
      uint64_t out[8];
      pattern_fill(out, sizeof out, (unsigned)round);
      CHECK_EQ(
          gex_AM_RequestMedium2(job.tm, 0, wake_index, out, sizeof out, GEX_EVENT_NOW, 0, 0, round),
          0);
    }
    if (starts) {
      GASNET_BLOCKUNTIL(reached(0) == round);
      CHECK_BYTES(payload[0], sizeof payload[0], (unsigned)round);
    }
  }
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_wake, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2, NULL, "wake"};
  job_start(&argc, &argv, 0, &entry, 1);
  wake_index = entry.gex_index;
  gex_AM_Entry_t slow_entry = {
      0, (gex_AM_Fn_t)on_slow, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "slow"};
  REQUIRE(gex_EP_RegisterHandlers(job.ep, &slow_entry, 1) == GASNET_OK);
  slow_index = slow_entry.gex_index;
  for (int mode = GASNET_WAIT_BLOCK; mode <= GASNET_WAIT_SPINBLOCK; mode++) {
    CHECK_EQ(gasnet_set_waitmode(mode), GASNET_OK);
    memset(level, 0, sizeof level);
    job_barrier();
    run_threads(THREADS, chain);
    job_barrier();
    for (int t = 0; t < THREADS; t++) CHECK_EQ(level[t], ROUNDS);
    job_barrier();
  }
  slow_done = slow_stop = 0;
  job_barrier();
  run_threads(4, slow);
  job_barrier();
  CHECK_EQ(slow_done, SLOW);
  return job_finish();
}
