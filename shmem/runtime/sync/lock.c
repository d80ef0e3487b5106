/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks (OpenSHMEM 1.6, 9.12).
 *
 * Owns nothing. Called by programs. Calls: atomics, waits. A lock is a symmetric long of two words
 * of 32 bits. The second word on the home PE of the lock names the PE that asked last; the first
 * word on each PE names the PE behind it in the queue, and says that the PE has the lock now. So a
 * PE waits for a word of its own, and PEs get the lock in the order in which they asked. Invariant:
 * all words are zero while nobody has the lock. Algorithm: J. Mellor-Crummey and M. Scott,
 * Algorithms for scalable synchronization, 1991 (DOI 10.1145/103727.103729).
 */
#include "../sh.h"

#define GRANTED (UINT32_C(1) << 31)

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
  return (__atomic_load_n((const uint32_t *)c->ivars, __ATOMIC_ACQUIRE) & ~GRANTED) != 0;
}

SH_DEF(void, set_lock, (long *lock)) {
  const struct lock l = find("set_lock", lock);
  const uint32_t before = pshmem_uint32_atomic_swap(l.tail, l.me, l.home);
  if (!before) return;
  if (before == l.me)
    sh_fatal("set_lock", "argument lock is %p: this PE has it, or waits for it, already [TMB-2330]",
             (void *)lock);
  pshmem_uint32_atomic_or(l.node, l.me, (int)before - 1);
  sh_wait(&(struct sh_cond){.ivars = l.node, .call = "shmem_set_lock"}, is_granted, NULL);
  __atomic_fetch_and(l.node, ~GRANTED, __ATOMIC_ACQUIRE);
}

SH_DEF(int, test_lock, (long *lock)) {
  const struct lock l = find("test_lock", lock);
  return pshmem_uint32_atomic_compare_swap(l.tail, 0, l.me, l.home) != 0;
}

SH_DEF(void, clear_lock, (long *lock)) {
  const struct lock l = find("clear_lock", lock);
  sh_quiet(&sh.ctx);
  uint32_t next = __atomic_load_n(l.node, __ATOMIC_ACQUIRE);
  if (!next) {
    const uint32_t last = pshmem_uint32_atomic_compare_swap(l.tail, l.me, 0, l.home);
    if (last == l.me) return;
    if (!last)
      sh_fatal("clear_lock", "argument lock is %p, which nobody has [TMB-2329]", (void *)lock);
    sh_wait(&(struct sh_cond){.ivars = l.node, .call = "shmem_clear_lock"}, has_next, NULL);
    next = __atomic_load_n(l.node, __ATOMIC_ACQUIRE);
  }
  __atomic_store_n(l.node, 0, __ATOMIC_RELAXED);
  pshmem_uint32_atomic_or(l.node, GRANTED, (int)next - 1);
}
