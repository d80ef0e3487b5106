/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap in shared memory that any process that maps it can use.
 *
 * Owns: blocks that lie end to end, each with a header of 64 bytes, and lists of the free ones by
 * size. Called by alloc.c. Invariants: all references are offsets from the beginning of the memory;
 * prev_bytes of a block is `bytes` of the one before it; no two neighbours are free; a free block
 * of b bytes is in bin floor(log2 b); everything is under the heap's lock, whose holder does not
 * wait. Memory that was never touched is never written, save for headers, so that a large segment
 * costs nothing. Algorithm: boundary tags (D. Knuth, The Art of Computer Programming, volume
 * 1, 2.5).
 */
#include "rt.h"

#include <sched.h>

struct block {
  uint64_t bytes;      /* header included; multiple of RT_ALIGN */
  uint64_t prev_bytes; /* of the block before, 0: first */
  uint64_t next, prev; /* free: in its bin, 0: none */
  uint64_t used;
  char pad[RT_ALIGN - 5 * sizeof(uint64_t)];
};
_Static_assert(sizeof(struct block) == RT_ALIGN, "user memory is aligned");

static struct block *at(char *base, uint64_t offset) {
  return (struct block *)(void *)(base + offset);
}

static unsigned bin_of(uint64_t bytes) {
  return 63u - (unsigned)__builtin_clzll(bytes);
}

static void lock(struct upcr_heap *h) {
  while (__atomic_exchange_n(&h->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct upcr_heap *h) {
  __atomic_store_n(&h->lock, 0, __ATOMIC_RELEASE);
}

static void link_free(struct upcr_heap *h, char *base, uint64_t o) {
  struct block *b = at(base, o);
  uint64_t *bin = &h->bin[bin_of(b->bytes)];
  b->used = 0;
  b->prev = 0;
  b->next = *bin;
  if (b->next) at(base, b->next)->prev = o;
  *bin = o;
  if (o + b->bytes < h->end) at(base, o + b->bytes)->prev_bytes = b->bytes;
}

static void unlink_free(struct upcr_heap *h, char *base, uint64_t o) {
  struct block *b = at(base, o);
  if (b->prev)
    at(base, b->prev)->next = b->next;
  else
    h->bin[bin_of(b->bytes)] = b->next;
  if (b->next) at(base, b->next)->prev = b->prev;
}

void rt_heap_init(struct upcr_heap *h, char *base, uint64_t begin, uint64_t end) {
  h->begin = begin;
  h->end = begin + (end - begin) / RT_ALIGN * RT_ALIGN;
  struct block *all = at(base, begin);
  all->bytes = h->end - begin;
  all->prev_bytes = 0;
  link_free(h, base, begin);
}

/* A free block of at least `need` bytes: the first of its bin that fits, else of a larger bin. */
static uint64_t find(struct upcr_heap *h, char *base, uint64_t need) {
  for (unsigned k = bin_of(need); k < 64; k++)
    for (uint64_t o = h->bin[k]; o; o = at(base, o)->next)
      if (at(base, o)->bytes >= need) return o;
  return 0;
}

uint64_t rt_heap_alloc(struct upcr_heap *h, char *base, uint64_t bytes) {
  if (bytes == 0 || bytes > RT_ADDR_MAX) return 0;
  const uint64_t need = (bytes + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN + sizeof(struct block);
  lock(h);
  const uint64_t o = find(h, base, need);
  if (o) {
    struct block *b = at(base, o);
    unlink_free(h, base, o);
    if (b->bytes - need >= 2 * sizeof(struct block)) {
      struct block *rest = at(base, o + need);
      rest->bytes = b->bytes - need;
      rest->prev_bytes = need;
      b->bytes = need;
      link_free(h, base, o + need);
    }
    b->used = 1;
  }
  unlock(h);
  return o ? o + sizeof(struct block) : 0;
}

/* Joins the block with its free neighbours. */
static void give_back(struct upcr_heap *h, char *base, uint64_t o) {
  struct block *b = at(base, o);
  const uint64_t after = o + b->bytes;
  if (after < h->end && !at(base, after)->used) {
    unlink_free(h, base, after);
    b->bytes += at(base, after)->bytes;
  }
  if (b->prev_bytes && !at(base, o - b->prev_bytes)->used) {
    o -= b->prev_bytes;
    unlink_free(h, base, o);
    at(base, o)->bytes += b->bytes;
  }
  link_free(h, base, o);
}

void rt_heap_free(struct upcr_heap *h, char *base, uint64_t user) {
  const uint64_t o = user - sizeof(struct block);
  if (o < h->begin || o >= h->end || user % RT_ALIGN != 0 || at(base, o)->used != 1)
    rt_fatal("upc_free: offset %llu is not the beginning of an allocation, or was freed before "
             "[TMB-2114]",
             (unsigned long long)user);
  lock(h);
  give_back(h, base, o);
  unlock(h);
}
