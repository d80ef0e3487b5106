/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for a lock, see lock.h.
 *
 * Owns: tmb_lock_threads, and whether the kernel has the sleeper's fence. Called by the inlines of
 * lock.h. Calls: os/futex, the scheduler. Protocol. Sleeper: asleep = 1; fence on all processors;
 * try; sleep while the word says held and asleep. Releaser: held = 0; if asleep: asleep = 0, wake
 * one. Invariants: whoever has slept says asleep = 1 again before it tries, so when it gets the
 * lock its release wakes the next one; a releaser that clears `asleep` just after another thread
 * has set it either wakes that thread or changes the word that it is about to sleep on, so that it
 * does not sleep. Clearing is therefore a plain store.
 */
#include "os/sync/lock.h"

#include "base/log.h"
#include "os/os.h"
#include "os/sync/futex.h"

#include <limits.h>

/* A wait for the lock: reads with up to PAUSES_MAX pauses between them, about one or two hand-offs
 * in all; then yields; then sleep. Counts chosen with the lock; `tombolo bench lock`
 * measures it. */
#define SPINS            64u
#define PAUSES_MAX       8u
#define YIELDS           8u
/* Wake-ups without the lock, after which the next release hands it to the sleeper. */
#define VAIN_TRIES       2u
/* Longest sleep in ns where there is no process-wide fence: a release may not see the sleeper. */
#define SLEEP_NS_BOUNDED 1000000u

bool tmb_lock_threads = true;
void (*tmb_lock_on_sleep)(const struct tmb_lock *lock, bool begins);
static bool fenced;

void tmb_lock_init(bool threads) {
  tmb_lock_threads = threads;
  fenced = tmb_membarrier_register();
}

/* Try to take the lock until it is free, with longer and longer pauses. Returns false after
 * SPINS tries. */
TMB_NO_LOCK_CHECK static bool spin(struct tmb_lock *lock) {
  uint32_t pauses = 1;
  for (uint32_t i = 0; i < SPINS; i += pauses) {
    for (uint32_t k = 0; k < pauses; k++) tmb_cpu_pause();
    if (tmb_lock_try_shared(lock)) return true;
    if (pauses < PAUSES_MAX) pauses *= 2;
  }
  return false;
}

/* Whether the lock is this thread's, by a grant or because it is free. */
static bool take(struct tmb_lock *lock, bool hungry) {
  if (hungry && tmb_load_rlx(&lock->granted) && tmb_xchg_acq(&lock->granted, 0)) return true;
  return !tmb_xchg_acq(&lock->held, 1);
}

static void sleep_for(struct tmb_lock *lock) {
  for (uint32_t tries = 0;; tries++) {
    const bool hungry = tries >= VAIN_TRIES;
    tmb_store_rel(&lock->asleep, 1);
    if (hungry) tmb_store_rel(&lock->hungry, 1);
    if (fenced)
      tmb_membarrier();
    else
      tmb_fence_seq();
    if (take(lock, hungry)) break;
    const struct tmb_lock seen = {.word = tmb_load_acq(&lock->word)};
    if (seen.held && seen.asleep && !(hungry && seen.granted))
      (void)tmb_futex_wait(&lock->word, seen.word, fenced ? UINT64_MAX : SLEEP_NS_BOUNDED);
  }
  tmb_store_rlx(&lock->hungry, 0);
}

TMB_NO_LOCK_CHECK void tmb_lock_wait(struct tmb_lock *lock) {
  if (spin(lock)) return;
  for (uint32_t i = 0; i < YIELDS; i++) {
    tmb_os_yield();
    if (tmb_lock_try_shared(lock)) return;
  }
  if (tmb_lock_on_sleep) tmb_lock_on_sleep(lock, true);
  sleep_for(lock);
  if (tmb_lock_on_sleep) tmb_lock_on_sleep(lock, false);
}

void tmb_lock_deadlock(void) {
  tmb_bug("the only thread in the library takes a lock that it holds");
}

/*
 * Take a free lock for a hungry thread. Returns whether that was done. A hungry thread takes its
 * mark back while it holds the lock, so a mark that a holder sees is that of one which still waits.
 */
TMB_NO_LOCK_CHECK static bool grant(struct tmb_lock *lock) {
  if (!tmb_load_rlx(&lock->hungry) || !tmb_lock_try_shared(lock)) return false;
  const bool waits = tmb_load_rlx(&lock->hungry);
  if (waits)
    tmb_store_rel(&lock->granted, 1);
  else
    tmb_lock_release(lock);
  return waits;
}

void tmb_lock_wake(struct tmb_lock *lock) {
  tmb_store_rlx(&lock->asleep, 0);
  /* Only hungry threads take a grant, and the kernel does not distinguish them. */
  (void)tmb_futex_wake(&lock->word, grant(lock) ? INT_MAX : 1);
}
