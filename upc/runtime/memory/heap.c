/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap in shared memory that any process that maps it can use.
 *
 * Owns: the lock of a heap, whose holder does not wait. Called by alloc.c. Calls:
 * base/container/heap.h.
 */
#include "../rt.h"

#include <sched.h>

static void lock(struct upcr_heap *h) {
  while (__atomic_exchange_n(&h->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct upcr_heap *h) {
  __atomic_store_n(&h->lock, 0, __ATOMIC_RELEASE);
}

uint64_t rt_heap_alloc(struct upcr_heap *h, char *base, uint64_t bytes) {
  if (bytes == 0) return 0;
  lock(h);
  const uint64_t at = tmb_heap_alloc(&h->all, base, 1, bytes);
  unlock(h);
  return at;
}

void rt_heap_free(struct upcr_heap *h, char *base, uint64_t at) {
  lock(h);
  const bool used = tmb_heap_is_used(&h->all, base, at);
  if (used) tmb_heap_free(&h->all, base, at);
  unlock(h);
  if (!used)
    rt_fatal("upc_free: offset %llu is not the beginning of an allocation, or was freed before "
             "[TMB-2114]",
             (unsigned long long)at);
}
