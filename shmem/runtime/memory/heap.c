/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric heap (OpenSHMEM 1.6, 9.3).
 *
 * Owns: blocks that fill the heap, each with a header in front, and lists of the free ones by size.
 * Called by programs. Calls: the barrier. Invariants: blocks lie end to end; no two neighbours are
 * free; a free block of b bytes is in bin floor(log2 b). All PEs call in one order with equal
 * arguments, so their heaps are alike without communication. Memory that was never allocated is not
 * written, save for headers. Algorithm: boundary tags (D. Knuth, The Art of Computer Programming,
 * volume 1, 2.5).
 */
#include "../sh.h"

#include <string.h>

#define ALIGN 64u
#define BINS  64

struct block {
  size_t bytes;               /* header included; multiple of ALIGN */
  size_t prev_bytes;          /* of the block before, 0: first */
  struct block *next, **link; /* free: in its bin; link NULL: in use */
  uint64_t mark;              /* MARK ^ address while in use */
  char pad[ALIGN - 5 * sizeof(void *)];
};
_Static_assert(sizeof(struct block) == ALIGN, "memory of the program is aligned");
#define MARK UINT64_C(0x73686d656d686561)

static struct {
  char *begin, *end;
  struct block *bin[BINS];
} heap;

static unsigned bin_of(size_t bytes) {
  return 63u - (unsigned)__builtin_clzll(bytes);
}

static struct block *after(struct block *b) {
  char *at = (char *)b + b->bytes;
  return at < heap.end ? (struct block *)(void *)at : NULL;
}

static struct block *before(struct block *b) {
  return b->prev_bytes ? (struct block *)(void *)((char *)b - b->prev_bytes) : NULL;
}

static void link_free(struct block *b) {
  struct block **bin = &heap.bin[bin_of(b->bytes)];
  b->mark = 0;
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
  b->mark = MARK ^ (uintptr_t)b;
}

void sh_heap_init(void *base, size_t bytes) {
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

/* Frees the bytes of a block in use behind `keep`. */
static void cut(struct block *b, size_t keep) {
  if (b->bytes - keep < 2 * sizeof(struct block)) return;
  struct block *rest = (struct block *)(void *)((char *)b + keep);
  rest->bytes = b->bytes - keep;
  rest->prev_bytes = keep;
  b->bytes = keep;
  struct block *next = after(rest);
  if (next && next->link) {
    unlink_free(next);
    rest->bytes += next->bytes;
  }
  link_free(rest);
}

static void release(struct block *b) {
  struct block *next = after(b), *prev = before(b);
  if (next && next->link) {
    unlink_free(next);
    b->bytes += next->bytes;
  }
  if (prev && prev->link) {
    unlink_free(prev);
    prev->bytes += b->bytes;
    b->mark = 0;
    b = prev;
  }
  link_free(b);
}

static size_t needed(size_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN + sizeof(struct block);
}

/* Memory at a multiple of `alignment`, a power of two from ALIGN on. */
static void *take(size_t alignment, size_t bytes) {
  if (bytes > SIZE_MAX / 4 || alignment > SIZE_MAX / 4) return NULL;
  const size_t need = needed(bytes);
  const size_t extra = alignment > ALIGN ? alignment + sizeof(struct block) : 0;
  struct block *b = find(need + extra);
  if (!b) return NULL;
  unlink_free(b);
  if (extra) { /* equal on all PEs, whose bases differ by multiples of sh.alike */
    const uintptr_t data = (uintptr_t)(b + 1);
    size_t skip = (size_t)(((data + alignment - 1) & ~(uintptr_t)(alignment - 1)) - data);
    if (skip) {
      struct block *head = b;
      b = (struct block *)(void *)((char *)head + skip);
      b->bytes = head->bytes - skip;
      b->prev_bytes = skip;
      b->link = NULL;
      b->mark = MARK ^ (uintptr_t)b;
      head->bytes = skip;
      struct block *next = after(b);
      if (next) next->prev_bytes = b->bytes;
      release(head);
    }
  }
  cut(b, need);
  return b + 1;
}

static struct block *block_of(const char *call, void *ptr) {
  struct block *b = (struct block *)ptr - 1;
  const uintptr_t at = (uintptr_t)b;
  if (at < (uintptr_t)heap.begin || (uintptr_t)ptr >= (uintptr_t)heap.end || at % ALIGN ||
      b->mark != (MARK ^ at))
    sh_fatal(call,
             "argument ptr is %p, which is no block of the symmetric heap, or was freed before "
             "[TMB-2303]",
             ptr);
  return b;
}

/* A block for the program, and the barrier that ends its call. */
static void *allocate(const char *call, size_t alignment, size_t size) {
  sh_need_start(call);
  if (!size) return NULL;
  pthread_mutex_lock(&sh.lock);
  void *p = take(alignment, size);
  pthread_mutex_unlock(&sh.lock);
  if (!p && sh.debug)
    sh_say("shmem_%s: no room for %zu bytes in the symmetric heap of %llu; raise "
           "SHMEM_SYMMETRIC_SIZE [TMB-2302]",
           call, size, (unsigned long long)(sh.bytes - sh.heap));
  sh_quiet(&sh.ctx);
  sh_barrier();
  return p;
}

SH_DEF(void *, malloc, (size_t size)) {
  return allocate("malloc", ALIGN, size);
}

SH_DEF(void *, malloc_with_hints, (size_t size, long hints)) {
  (void)hints; /* all memory serves atomics and signals alike */
  return allocate("malloc_with_hints", ALIGN, size);
}

SH_DEF(void *, calloc, (size_t count, size_t size)) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  sh_need_start("calloc");
  if (!bytes) return NULL;
  pthread_mutex_lock(&sh.lock);
  void *p = take(ALIGN, bytes);
  pthread_mutex_unlock(&sh.lock);
  if (p) memset(p, 0, bytes);
  sh_quiet(&sh.ctx);
  sh_barrier();
  return p;
}

SH_DEF(void *, align, (size_t alignment, size_t size)) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
    sh_fatal("align", "argument alignment is %zu; a power of two from %zu on is needed [TMB-2301]",
             alignment, sizeof(void *));
  sh_need_start("align");
  if (alignment > sh.alike) {
    if (sh.debug)
      sh_say("shmem_align: argument alignment is %zu; PEs have symmetric memory at addresses that "
             "allow up to %zu [TMB-2338]",
             alignment, (size_t)sh.alike);
    return NULL;
  }
  return allocate("align", alignment < ALIGN ? ALIGN : alignment, size);
}

SH_DEF(void, free, (void *ptr)) {
  sh_need_start("free");
  if (!ptr) return;
  struct block *b = block_of("free", ptr);
  sh_quiet(&sh.ctx);
  sh_barrier();
  pthread_mutex_lock(&sh.lock);
  release(b);
  pthread_mutex_unlock(&sh.lock);
}

SH_DEF(void *, realloc, (void *ptr, size_t size)) {
  if (!ptr) return allocate("realloc", ALIGN, size);
  struct block *b = block_of("realloc", ptr);
  sh_quiet(&sh.ctx);
  sh_barrier();
  pthread_mutex_lock(&sh.lock);
  void *p = NULL;
  if (!size) {
    release(b);
  } else if (size <= SIZE_MAX / 4 && needed(size) <= b->bytes) {
    cut(b, needed(size));
    p = ptr;
  } else {
    p = take(ALIGN, size);
    if (p) {
      memcpy(p, ptr, b->bytes - sizeof *b);
      release(b);
    }
  }
  pthread_mutex_unlock(&sh.lock);
  sh_barrier();
  return p;
}
