/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of the library: four bytes that spin, then yield, then sleep.
 *
 * Owns: how many threads there may be (tmb_lock_threads). Called by every module that has state
 * which several client threads change. Calls: lock.c when a lock is taken. A thread that finds it
 * taken spins for about a hand-off between processors, then gives its processor away a few times,
 * because the holder may be waiting for one, then sleeps on the word. Releasing is a plain store
 * and a check whether a thread sleeps: the sleeper runs a fence on all processors of the job
 * between saying that it sleeps and its last attempt (0011 in docs/DECISIONS); where the kernel has
 * no such fence it sleeps for a bounded time. A sleeper that wakes in vain is handed the lock by
 * the next release, so a holder that takes it again at once starves nobody. Invariants: all bytes
 * zero is a free lock; locks are private to a process; not recursive; a thread that holds one
 * neither waits nor runs a client's function.
 */
#ifndef TMB_OS_LOCK_H
#define TMB_OS_LOCK_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>

struct TMB_CAPABILITY("lock") tmb_lock {
  union {
    uint32_t word; /* the word that a sleeper sleeps on */
    struct {
      uint8_t held;    /* 1: taken */
      uint8_t asleep;  /* 1: somebody sleeps, or is about to */
      uint8_t hungry;  /* 1: a sleeper found it taken again when it woke */
      uint8_t granted; /* 1: taken for a sleeper that is to pick it up; only with held */
    };
  };
};

/* Whether several threads may be inside the library at once. True until tmb_lock_init. */
extern bool tmb_lock_threads TMB_HIDDEN;

/* Adds to a count that only threads inside the library change: by a locked instruction where there
 * may be several. */
static inline void tmb_lock_count(uint64_t *count, uint64_t n) {
  if (tmb_lock_threads)
    tmb_fetch_add_rlx(count, n);
  else
    tmb_store_rlx(count, tmb_load_rlx(count) + n);
}

/* At start-up, while no lock is held. in threads: whether client threads may be inside at once. */
void tmb_lock_init(bool threads);

/* Called before a thread sleeps for a lock, and afterwards; NULL: no call. Set at start-up. */
extern void (*tmb_lock_on_sleep)(const struct tmb_lock *lock, bool begins);

/* The slow halves of the functions below. */
void tmb_lock_wait(struct tmb_lock *lock);
void tmb_lock_wake(struct tmb_lock *lock);
_Noreturn void tmb_lock_deadlock(void);

/* Takes a free lock. Returns whether it did. The second form is for locks that threads share even
 * where one at a time is inside the library. */
static inline bool tmb_lock_try(struct tmb_lock *lock) TMB_TRY_ACQUIRE(true, *lock);
static inline bool tmb_lock_try_shared(struct tmb_lock *lock) TMB_TRY_ACQUIRE(true, *lock);

/* Takes a lock, waiting for it; does not poll. */
static inline void tmb_lock_acquire(struct tmb_lock *lock) TMB_ACQUIRE(*lock);
static inline void tmb_lock_acquire_shared(struct tmb_lock *lock) TMB_ACQUIRE(*lock);

static inline void tmb_lock_release(struct tmb_lock *lock) TMB_RELEASE(*lock);

TMB_NO_LOCK_CHECK static inline bool tmb_lock_try_shared(struct tmb_lock *lock) {
  const bool taken = !tmb_load_rlx(&lock->held) && !tmb_xchg_acq(&lock->held, 1);
  TMB_PREEMPT_POINT("lock");
  return taken;
}

TMB_NO_LOCK_CHECK static inline bool tmb_lock_try(struct tmb_lock *lock) {
  if (TMB_UNLIKELY(tmb_lock_threads)) return tmb_lock_try_shared(lock);
  if (lock->held) return false;
  lock->held = 1;
  return true;
}

TMB_NO_LOCK_CHECK static inline void tmb_lock_acquire_shared(struct tmb_lock *lock) {
  if (TMB_UNLIKELY(!tmb_lock_try_shared(lock))) tmb_lock_wait(lock);
}

TMB_NO_LOCK_CHECK static inline void tmb_lock_acquire(struct tmb_lock *lock) {
  if (TMB_UNLIKELY(tmb_lock_threads))
    tmb_lock_acquire_shared(lock);
  else if (TMB_UNLIKELY(!tmb_lock_try(lock)))
    tmb_lock_deadlock();
}

TMB_NO_LOCK_CHECK static inline void tmb_lock_release(struct tmb_lock *lock) {
  tmb_store_rel(&lock->held, 0);
  tmb_fence_compiler();
  if (TMB_UNLIKELY(tmb_load_rlx(&lock->asleep))) tmb_lock_wake(lock);
}

#endif
