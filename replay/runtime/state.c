/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of record and replay in a rank.
 *
 * Owns: struct rpl and its lock, the library's functions, the first thread, and which one calls.
 * Used by every file of this folder. Calls nothing. Invariants: start.c fills them in before the
 * job starts; the locks are our own, because locks.c stands before those of
 * pthreads.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <sched.h>
#include <time.h>

struct rpl rpl;
struct rpl_real rpl_real;
struct rpl_thread rpl_first;
_Thread_local struct rpl_thread *rpl_own;

#define YIELDS   1000u
#define SLEEP_NS 50000L

void rpl_word_lock(uint32_t *word) {
  uint32_t steps = 0;
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
    if (++steps < YIELDS)
      (void)sched_yield();
    else
      (void)nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
}

void rpl_word_unlock(uint32_t *word) {
  __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static uint32_t word;
static _Thread_local uint32_t depth; /* of the calling thread's locks */

void rpl_lock(void) {
  if (depth++ == 0) rpl_word_lock(&word);
}

void rpl_unlock(void) {
  if (--depth == 0) rpl_word_unlock(&word);
}
