/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for messages, see ofi_engine.h.
 *
 * Owns: nothing beyond the pools that are handed in. Called by ofi.c, ofi_send.c, ofi_receive.c.
 * Calls: mmap. Memory of a buffer that is not used is not touched. Invariant: a buffer goes back to
 * the pool that it came from.
 */
#include "net/ofi/ofi_engine.h"

#include "base/compiler.h"
#include "base/container/list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool ofi_pool_make(struct ofi_pool *pool, uint32_t count, size_t bytes, enum ofi_use use) {
  *pool = (struct ofi_pool){.stride = TMB_ALIGN_UP(bytes, (size_t)TMB_CACHE_LINE), .count = count};
  pool->all = calloc(count, sizeof *pool->all);
  void *memory = mmap(NULL, count * pool->stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pool->memory = memory == MAP_FAILED ? NULL : memory;
  if (!pool->all || !pool->memory) return false;
  for (uint32_t i = 0; i < count; i++) {
    struct ofi_buffer *b = &pool->all[i];
    b->op.use = use;
    b->pool = pool;
    b->data = pool->memory + i * pool->stride;
    ofi_buffer_put(b);
  }
  return true;
}

void ofi_pool_free(struct ofi_pool *pool) {
  if (pool->memory) munmap(pool->memory, pool->count * pool->stride);
  free(pool->all);
  *pool = (struct ofi_pool){0};
}

struct ofi_buffer *ofi_pool_take(struct ofi_pool *pool, uint32_t reserve) {
  if (!pool->free || pool->free_count <= reserve) return NULL;
  pool->free_count--;
  return ofi_buffer_of(TMB_LIST_POP(&pool->free));
}

void ofi_buffer_put(struct ofi_buffer *b) {
  if (!b->pool) {
    free(b);
    return;
  }
  TMB_LIST_PUSH(&b->pool->free, &b->op);
  b->pool->free_count++;
}

struct ofi_buffer *ofi_buffer_copy(const struct ofi_buffer *b) {
  const size_t head = TMB_ALIGN_UP(sizeof *b, (size_t)TMB_CACHE_LINE);
  char *memory =
      aligned_alloc(TMB_CACHE_LINE, head + TMB_ALIGN_UP(b->bytes, (uint32_t)TMB_CACHE_LINE));
  if (!memory) return NULL;
  struct ofi_buffer *copy = (struct ofi_buffer *)(void *)memory;
  *copy = (struct ofi_buffer){
      .op = {.use = b->op.use, .peer = b->op.peer}, .data = memory + head, .bytes = b->bytes};
  memcpy(copy->data, b->data, b->bytes);
  return copy;
}
