/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of this image's segment: coarrays and their components.
 *
 * Owns: the heap of the segment and its lock, since threads of a program may allocate components at
 * once. Called by register.c, team.c and PRIF. Calls: base/container/heap.h. Local: no
 * communication.
 */
#include "base/container/heap.h"
#include "caf.h"

#include <pthread.h>

#define MARKED 1u /* owner's word of a block that caf_heap_mark named */

static struct {
  pthread_mutex_t lock;
  char *base;
  struct tmb_heap all;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool lock_heap(void) {
  const bool needed = tmb_heap_needs_lock();
  if (needed) pthread_mutex_lock(&heap.lock);
  return needed;
}

static void unlock_heap(bool locked) {
  if (locked) pthread_mutex_unlock(&heap.lock);
}

void caf_heap_init(void *base, size_t bytes) {
  heap.base = base;
  tmb_heap_init(&heap.all, base, 0, bytes);
}

void *caf_heap_alloc(size_t bytes) {
  const bool locked = lock_heap();
  const uint64_t at = tmb_heap_alloc(&heap.all, heap.base, 1, bytes ? bytes : 1);
  unlock_heap(locked);
  return at ? heap.base + at : NULL;
}

void caf_heap_mark(void *memory) {
  tmb_heap_block(memory, 0)->owner = MARKED;
}

bool caf_heap_is_marked(const void *memory) {
  const uint64_t at = (uint64_t)((uintptr_t)memory - (uintptr_t)heap.base);
  return tmb_heap_is_used(&heap.all, heap.base, at) &&
         tmb_heap_block(heap.base, at)->owner == MARKED;
}

void caf_heap_free(void *memory) {
  if (!memory) return;
  const bool locked = lock_heap();
  tmb_heap_free(&heap.all, heap.base, (uint64_t)((char *)memory - heap.base));
  unlock_heap(locked);
}

size_t caf_heap_largest(void) {
  const bool locked = lock_heap();
  const uint64_t largest = tmb_heap_largest(&heap.all, heap.base);
  unlock_heap(locked);
  return largest;
}
