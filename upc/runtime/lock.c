/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks (UPC 1.3 library section 7.2.4).
 *
 * Called by UPC programs. Calls: remote atomics. Invariants: a lock is one word: the next ticket in
 * the upper half, the ticket that holds the lock in the lower; a thread adds 1 to the upper half
 * and waits until its ticket is the lower one, so that threads get the lock in the order in which
 * they asked; it is one operation where the lock is free. Algorithm: ticket lock (D. Reed, R.
 * Kanodia, doi 10.1145/359060.359076).
 */
#include "rt.h"

#include <sched.h>

typedef upcr_pts_t lock_t;

#define TICKET ((uint64_t)1 << 32)

RT_EXPORT lock_t upc_global_lock_alloc(void);
RT_EXPORT lock_t upc_all_lock_alloc(void);
RT_EXPORT void upc_lock(lock_t lock);
RT_EXPORT int upc_lock_attempt(lock_t lock);
RT_EXPORT void upc_unlock(lock_t lock);
RT_EXPORT void upc_lock_free(lock_t lock);
RT_EXPORT void upc_all_lock_free(lock_t lock);
RT_EXPORT void bupc_all_lock_free(lock_t lock);
RT_EXPORT void upc_lock_init(lock_t lock);

extern upcr_pts_t upc_alloc(size_t nbytes);
extern void upc_free(upcr_pts_t p);

static void check(lock_t lock, const char *what) {
  if (__builtin_expect(upcr_addrfield(lock) < RT_GUARD, 0)) rt_fatal("%s: null lock", what);
}

static uint64_t operate(lock_t lock, gex_OP_t op, uint64_t a, uint64_t b) {
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(rt.ad64, &old, (gex_Rank_t)upcr_threadof(lock),
                                 rt_owner_addr(lock), op, a, b, 0));
  return old;
}

lock_t upc_global_lock_alloc(void) {
  const lock_t lock = upc_alloc(sizeof(uint64_t));
  if (!lock) rt_fatal("upc_global_lock_alloc: no shared memory is left");
  upcr_put8(lock, 0);
  return lock;
}

lock_t upc_all_lock_alloc(void) {
  static int next; /* homes go round, so that no thread serves all locks */
  lock_t lock = 0;
  const int home = next++ % upcr_threads;
  if (upcr_mythread == home) lock = upc_global_lock_alloc();
  gex_Event_Wait(gex_Coll_BroadcastNB(rt.tm, (gex_Rank_t)home, &lock, &lock, sizeof lock, 0));
  return lock;
}

void upc_lock(lock_t lock) {
  check(lock, "upc_lock");
  uint64_t word = operate(lock, GEX_OP_FADD, TICKET, 0);
  const uint32_t ticket = (uint32_t)(word >> 32);
  for (unsigned tries = 0; (uint32_t)word != ticket; tries++) {
    gasnet_AMPoll();
    if (tries > 16) sched_yield();
    word = operate(lock, GEX_OP_GET, 0, 0);
  }
  upcr_fence();
}

int upc_lock_attempt(lock_t lock) {
  check(lock, "upc_lock_attempt");
  const uint64_t word = operate(lock, GEX_OP_GET, 0, 0);
  if ((uint32_t)word != (uint32_t)(word >> 32) ||
      operate(lock, GEX_OP_FCAS, word, word + TICKET) != word) {
    gasnet_AMPoll();
    return 0;
  }
  upcr_fence();
  return 1;
}

void upc_unlock(lock_t lock) {
  check(lock, "upc_unlock");
  upcr_fence();
  const uint64_t word = operate(lock, GEX_OP_GET, 0, 0);
  /* The lower half must not carry into the upper one. */
  operate(lock, GEX_OP_FADD, (uint32_t)word == UINT32_MAX ? 1 - TICKET : 1, 0);
}

void upc_lock_free(lock_t lock) {
  upc_free(lock);
}

void upc_all_lock_free(lock_t lock) {
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  if (upcr_mythread == 0) upc_lock_free(lock);
}

void bupc_all_lock_free(lock_t lock) {
  upc_all_lock_free(lock);
}

void upc_lock_init(lock_t lock) {
  (void)lock;
}
