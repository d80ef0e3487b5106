/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of this image's segment: coarrays and their components.
 *
 * Owns: blocks that fill the segment, each with a header of 64 bytes, and lists of the free ones by
 * size. Called by register.c and team.c. Invariants: blocks lie end to end; prev_bytes of a block
 * is `bytes` of the one before it; no two neighbours are free; a free block of b bytes is in bin
 * floor(log2 b). A lock guards all of it, since threads of a program may allocate components at
 * once. Local: no communication. Memory that was never touched is never written, save for
 * headers, so that a large segment costs nothing. Algorithm: boundary tags (D. Knuth, The Art of
 * Computer Programming, volume 1, 2.5).
 */
#include "caf.h"

#include <pthread.h>

#define ALIGN  64u
#define BINS   64
#define MARKED ((uintptr_t)0x746f6d626f6c6f00)

struct block {
  size_t bytes;               /* header included; multiple of ALIGN */
  size_t prev_bytes;          /* of the block before, 0: first */
  struct block *next, **link; /* free: in its bin; link NULL: in use */
  uintptr_t mark;             /* of caf_heap_mark: MARKED ^ address of the memory; else 0 */
  char pad[ALIGN - 5 * sizeof(void *)];
};
_Static_assert(sizeof(struct block) == ALIGN, "user memory is aligned");

static struct {
  pthread_mutex_t lock; /* of the bins, and of `bytes`, `prev_bytes`, `next`, `link` in blocks */
  char *begin, *end;
  struct block *bin[BINS];
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned bin_of(size_t bytes) {
  return 63u - (unsigned)__builtin_clzll(bytes);
}

static struct block *after(const struct block *b) {
  char *at = (char *)(uintptr_t)b + b->bytes;
  return at < heap.end ? (struct block *)(void *)at : NULL;
}

static void link_free(struct block *b) {
  struct block **bin = &heap.bin[bin_of(b->bytes)];
  b->next = *bin;
  b->link = bin;
  if (b->next) b->next->link = &b->next;
  *bin = b;
  struct block *next = after(b);
  if (next) next->prev_bytes = b->bytes;
}

static void unlink_free(struct block *b) {
  *b->link = b->next;
  if (b->next) b->next->link = b->link;
  b->link = NULL;
}

void caf_heap_init(void *base, size_t bytes) {
  heap.begin = base;
  heap.end = heap.begin + bytes / ALIGN * ALIGN;
  struct block *all = base;
  all->bytes = (size_t)(heap.end - heap.begin);
  all->prev_bytes = 0;
  link_free(all);
}

/* A free block of at least `need` bytes: the first of its bin that fits, else of a larger bin. */
static struct block *find(size_t need) {
  for (unsigned k = bin_of(need); k < BINS; k++)
    for (struct block *b = heap.bin[k]; b; b = b->next)
      if (b->bytes >= need) return b;
  return NULL;
}

/* Takes `need` bytes out of a free block; NULL: none has them. */
static struct block *take(size_t need) {
  struct block *b = find(need);
  if (!b) return NULL;
  unlink_free(b);
  if (b->bytes - need >= 2 * sizeof(struct block)) {
    struct block *rest = (struct block *)(void *)((char *)b + need);
    rest->bytes = b->bytes - need;
    rest->prev_bytes = need;
    b->bytes = need;
    link_free(rest);
  }
  return b;
}

void *caf_heap_alloc(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  const size_t need = ((bytes ? bytes : 1) + ALIGN - 1) / ALIGN * ALIGN + sizeof(struct block);
  pthread_mutex_lock(&heap.lock);
  struct block *b = take(need);
  pthread_mutex_unlock(&heap.lock);
  if (!b) return NULL;
  b->mark = 0;
  return b + 1;
}

void caf_heap_mark(void *memory) {
  ((struct block *)memory - 1)->mark = MARKED ^ (uintptr_t)memory;
}

bool caf_heap_is_marked(const void *memory) {
  const uintptr_t offset = (uintptr_t)memory - (uintptr_t)heap.begin;
  if (offset % ALIGN || offset < ALIGN || offset >= (uintptr_t)(heap.end - heap.begin))
    return false;
  return ((const struct block *)memory - 1)->mark == (MARKED ^ (uintptr_t)memory);
}

/* Makes a block free, one with its free neighbours. */
static void give_back(struct block *b) {
  struct block *next = after(b);
  if (next && next->link) {
    unlink_free(next);
    b->bytes += next->bytes;
  }
  if (b->prev_bytes) {
    struct block *before = (struct block *)(void *)((char *)b - b->prev_bytes);
    if (before->link) {
      unlink_free(before);
      before->bytes += b->bytes;
      b = before;
    }
  }
  link_free(b);
}

void caf_heap_free(void *memory) {
  if (!memory) return;
  struct block *b = (struct block *)memory - 1;
  b->mark = 0;
  pthread_mutex_lock(&heap.lock);
  give_back(b);
  pthread_mutex_unlock(&heap.lock);
}

size_t caf_heap_largest(void) {
  size_t largest = 0;
  pthread_mutex_lock(&heap.lock);
  for (unsigned k = BINS; k-- > 0 && !largest;)
    for (const struct block *b = heap.bin[k]; b; b = b->next)
      if (b->bytes > largest) largest = b->bytes;
  pthread_mutex_unlock(&heap.lock);
  return largest ? largest - sizeof(struct block) : 0;
}
