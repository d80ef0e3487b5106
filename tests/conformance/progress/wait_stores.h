/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A game of wait_stores.c and wait_stores_par.c: a thread that sleeps without a limit sees each
 * plain store of a peer, which calls the library only where it reads that somebody may sleep.
 */
#ifndef TMB_TEST_WAIT_STORES_H
#define TMB_TEST_WAIT_STORES_H

#include <gasnetex_ext.h>

#include "job.h"

enum { GAMES = 2, ROUNDS = 4000 };
/* Segment of a rank. */
struct memory {
  uint32_t sleepers, unused[15];
  uint64_t word[GAMES][8]; /* on cache lines of their own */
};

struct turn {
  const uint64_t *word;
  uint64_t round;
  const uint32_t *sleepers;
  unsigned changes; /* of *sleepers, by this wait */
};

static int is_my_turn(void *arg) {
  const struct turn *t = arg;
  return __atomic_load_n(t->word, __ATOMIC_RELAXED) >= t->round;
}

static void note_change(void *arg) {
  struct turn *t = arg;
  t->changes++;
  CHECK(t->changes != 1 || __atomic_load_n(t->sleepers, __ATOMIC_RELAXED) > 0);
}

static inline void await(struct memory *mine, int game, uint64_t round) {
  struct turn turn = {mine->word[game], round, &mine->sleepers, 0};
  gexx_Wait_Until(&(gexx_WaitCond_t){is_my_turn, &turn, &mine->sleepers, UINT64_MAX, note_change});
  CHECK(turn.changes == 0 || turn.changes == 2);
}

/* Memory of a rank in this process; NULL: it is not mapped. */
static struct memory *memory_of(gex_Rank_t rank) {
  void *owner, *here;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.tm, rank, &owner, &here, &bytes, 0));
  return here;
}

/* Passes a token round the ranks. */
static void play(int game) {
  const gex_Rank_t right = (job.rank + 1) % job.size;
  struct memory *mine = memory_of(job.rank), *next = memory_of(right);
  uint64_t random = test_seed() + job.rank * 100 + (uint64_t)game;
  if (!next) {
    gexx_signal_wake(job.tm, right); /* without effect */
    return;
  }
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    if (job.rank != 0) await(mine, game, round);
    /* now and then the peer is just going to sleep */
    const uint64_t busy = rng_below(&random, 4096);
    for (volatile uint64_t i = 0; i < busy; i++) continue;
    __atomic_store_n(next->word[game], round, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&next->sleepers, __ATOMIC_RELAXED)) gexx_signal_wake(job.tm, right);
    if (job.rank == 0) await(mine, game, round);
  }
}

#endif
