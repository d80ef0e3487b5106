/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks (OpenSHMEM 1.6, 9.12).
 *
 * Owns: sh.holder. Called by programs. Calls: atomics, waits. A lock is a symmetric long of two
 * words of 32 bits. The second word on the home PE of the lock names the PE that asked last; the
 * first word on each PE names the PE behind it in the queue, and says that the PE has the lock now,
 * or that one of its threads has it or asks for it. So a PE waits for a word of its own, PEs get
 * the lock in the order in which they asked, and of the threads of a PE one is in the queue.
 * Invariant: all words are zero while nobody has the lock. Algorithm: J. Mellor-Crummey and M.
 * Scott, Algorithms for scalable synchronization, 1991 (DOI 10.1145/103727.103729).
 */
#include "../sh.h"

#define GRANTED (UINT32_C(1) << 31)
#define TAKEN   (UINT32_C(1) << 30) /* a thread of this PE has the lock, or asks for it */
#define NEXT    (TAKEN - 1)

uint32_t pshmem_uint32_atomic_fetch(const uint32_t *source, int pe);
uint32_t pshmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe);
uint32_t pshmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
void pshmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe);

struct lock {
  uint32_t *node, *tail; /* of this PE; the tail counts on the home alone */
  uint32_t me;           /* this PE, from 1 */
  int home;
};

static struct lock find(const char *call, long *lock) {
  sh_need_start(call);
  const uint64_t offset = sh_find(&sh.ctx, call, "lock", lock, sizeof *lock, (int)sh.pe).offset;
  uint32_t *const words = (uint32_t *)(void *)lock;
  return (struct lock){&words[0], &words[1], sh.pe + 1, (int)(offset / sizeof *lock % sh.size)};
}

static bool is_granted(const struct sh_cond *c, void *unused) {
  (void)unused;
  return __atomic_load_n((const uint32_t *)c->ivars, __ATOMIC_ACQUIRE) & GRANTED;
}

static bool has_next(const struct sh_cond *c, void *unused) {
  (void)unused;
  return (__atomic_load_n((const uint32_t *)c->ivars, __ATOMIC_ACQUIRE) & NEXT) != 0;
}

/* ---- the threads of this PE */

/* Whether this thread is the one of its PE that uses the lock now. */
static bool take(uint32_t *node) {
  return !(__atomic_fetch_or(node, TAKEN, __ATOMIC_ACQUIRE) & TAKEN);
}

static bool is_free(const struct sh_cond *c, void *unused) {
  (void)unused;
  return !(__atomic_load_n((const uint32_t *)c->ivars, __ATOMIC_RELAXED) & TAKEN);
}

/* Another thread may use the lock. in bits: what else is to be cleared. */
static void give(uint32_t *node, uint32_t bits) {
  __atomic_fetch_and(node, ~(TAKEN | bits), __ATOMIC_RELEASE);
  if (sh.threads) sh_wake(sh.pe);
}

/* With threads: the entry of a lock among those that threads hold, or a free one for NULL; NULL:
 * none. Under sh.lock. */
static struct sh_holder *entry(const long *lock) {
  for (int i = 0; i < SH_HOLDERS; i++)
    if (sh.holder[i].lock == lock) return &sh.holder[i];
  return NULL;
}

/* Records that this thread has the lock. */
static void hold(const long *lock) {
  if (SH_UNLIKELY(sh.traced)) gexx_check_made(0, lock, "lock that was never cleared");
  if (!sh.threads) return;
  pthread_mutex_lock(&sh.lock);
  struct sh_holder *const h = entry(NULL);
  if (h) *h = (struct sh_holder){lock, pthread_self()};
  pthread_mutex_unlock(&sh.lock);
}

static void forget(const long *lock) {
  if (SH_UNLIKELY(sh.traced)) gexx_check_ended(0, lock);
  if (!sh.threads) return;
  pthread_mutex_lock(&sh.lock);
  struct sh_holder *const h = entry(lock);
  if (h) h->lock = NULL;
  pthread_mutex_unlock(&sh.lock);
}

static bool is_mine(const long *lock) {
  if (!sh.threads) return true;
  pthread_mutex_lock(&sh.lock);
  const struct sh_holder *const h = entry(lock);
  const bool mine = h && pthread_equal(h->thread, pthread_self());
  pthread_mutex_unlock(&sh.lock);
  return mine;
}

/* ---- the routines */

#define COND(CALL)                                                     \
 (struct sh_cond) {                                                    \
  .ivars = l.node, .call = CALL, .caller = __builtin_return_address(0) \
 }

SH_DEF(void, set_lock, (long *lock)) {
  const struct lock l = find("set_lock", lock);
  while (!take(l.node)) {
    if (is_mine(lock))
      sh_fatal("set_lock",
               "argument lock is %p: this PE has it, or waits for it, already [TMB-2330]",
               (void *)lock);
    sh_wait(&COND("shmem_set_lock"), is_free, NULL);
  }
  const uint32_t before = pshmem_uint32_atomic_swap(l.tail, l.me, l.home);
  if (before) {
    pshmem_uint32_atomic_or(l.node, l.me, (int)before - 1);
    sh_wait(&COND("shmem_set_lock"), is_granted, NULL);
    __atomic_fetch_and(l.node, ~GRANTED, __ATOMIC_ACQUIRE);
  }
  hold(lock);
}

SH_DEF(int, test_lock, (long *lock)) {
  const struct lock l = find("test_lock", lock);
  if (!take(l.node)) return 1;
  if (pshmem_uint32_atomic_compare_swap(l.tail, 0, l.me, l.home)) {
    give(l.node, 0);
    return 1;
  }
  hold(lock);
  return 0;
}

SH_DEF(void, clear_lock, (long *lock)) {
  const struct lock l = find("clear_lock", lock);
  sh_quiet(&sh.ctx);
  /* not by a load: what follows depends on the word, and a replay orders atomics alone */
  uint32_t word = pshmem_uint32_atomic_fetch(l.node, (int)sh.pe);
  if (!(word & TAKEN))
    sh_fatal("clear_lock", "argument lock is %p, which this PE does not have [TMB-2329]",
             (void *)lock);
  forget(lock);
  if (!(word & NEXT)) {
    if (pshmem_uint32_atomic_compare_swap(l.tail, l.me, 0, l.home) == l.me) {
      give(l.node, 0);
      return;
    }
    sh_wait(&COND("shmem_clear_lock"), has_next, NULL);
    word = __atomic_load_n(l.node, __ATOMIC_ACQUIRE);
  }
  give(l.node, NEXT);
  pshmem_uint32_atomic_or(l.node, GRANTED, (int)(word & NEXT) - 1);
}
