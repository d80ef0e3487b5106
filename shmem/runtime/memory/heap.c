/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric heap (OpenSHMEM 1.6, 9.3).
 *
 * Owns: the heap. Called by programs. Calls: base/container/heap.h, the barrier. Invariant: all PEs
 * call in one order with equal arguments, so their heaps are alike without communication.
 */
#include "base/container/heap.h"
#include "../sh.h"

#include <string.h>

static struct {
  char *base;
  struct tmb_heap all;
} heap;

void sh_heap_init(void *base, size_t bytes) {
  heap.base = base;
  tmb_heap_init(&heap.all, base, 0, bytes);
}

/* Memory at a multiple of `alignment`, a power of two: at an equal offset on all PEs, whose bases
 * differ by multiples of sh.alike. */
static void *take(size_t alignment, size_t bytes) {
  const uint64_t at = tmb_heap_alloc(&heap.all, heap.base, alignment, bytes);
  return at ? heap.base + at : NULL;
}

/* Name of the block that a program's pointer is of. */
static uint64_t block_of(const char *call, void *ptr) {
  const uint64_t at = (uint64_t)((uintptr_t)ptr - (uintptr_t)heap.base);
  if (!tmb_heap_is_used(&heap.all, heap.base, at))
    sh_fatal(call,
             "argument ptr is %p, which is no block of the symmetric heap, or was freed before "
             "[TMB-2303]",
             ptr);
  return at;
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

/* A block is given to the program. Inlined, so that the checker finds the name of the call. */
static inline void *allocated(void *p) {
  if (p && SH_UNLIKELY(sh.traced)) gexx_check_allocated((gex_Rank_t)sh.pe, (uintptr_t)p);
  return p;
}

static void freed(void *p) {
  if (SH_UNLIKELY(sh.traced)) gexx_check_freed((gex_Rank_t)sh.pe, (uintptr_t)p);
}

SH_DEF(void *, malloc, (size_t size)) {
  return allocated(allocate("malloc", 1, size));
}

SH_DEF(void *, malloc_with_hints, (size_t size, long hints)) {
  (void)hints; /* all memory serves atomics and signals alike */
  return allocated(allocate("malloc_with_hints", 1, size));
}

SH_DEF(void *, calloc, (size_t count, size_t size)) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  sh_need_start("calloc");
  if (!bytes) return NULL;
  pthread_mutex_lock(&sh.lock);
  void *p = take(1, bytes);
  pthread_mutex_unlock(&sh.lock);
  if (p) memset(p, 0, bytes);
  sh_quiet(&sh.ctx);
  sh_barrier();
  return allocated(p);
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
  return allocated(allocate("align", alignment, size));
}

SH_DEF(void, free, (void *ptr)) {
  sh_need_start("free");
  if (!ptr) return;
  const uint64_t at = block_of("free", ptr);
  freed(ptr);
  sh_quiet(&sh.ctx);
  sh_barrier();
  pthread_mutex_lock(&sh.lock);
  tmb_heap_free(&heap.all, heap.base, at);
  pthread_mutex_unlock(&sh.lock);
}

SH_DEF(void *, realloc, (void *ptr, size_t size)) {
  if (!ptr) return allocated(allocate("realloc", 1, size));
  const uint64_t at = block_of("realloc", ptr);
  sh_quiet(&sh.ctx);
  sh_barrier();
  pthread_mutex_lock(&sh.lock);
  void *p = NULL;
  if (!size) {
    tmb_heap_free(&heap.all, heap.base, at);
  } else if (tmb_heap_cut(&heap.all, heap.base, at, size)) {
    p = ptr;
  } else {
    p = take(1, size);
    if (p) {
      memcpy(p, ptr, tmb_heap_room(heap.base, at));
      tmb_heap_free(&heap.all, heap.base, at);
    }
  }
  pthread_mutex_unlock(&sh.lock);
  if (p || !size) freed(ptr);
  sh_barrier();
  return allocated(p);
}
