/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for messages, see mpi_engine.h.
 *
 * Owns: nothing beyond the pools that are handed in. Called by the files of this conduit. Calls:
 * mmap. Memory of a buffer that is not used is not touched. Invariant: a buffer goes back to the
 * pool that it came from.
 */
#include "base/compiler.h"
#include "base/container/list.h"
#include "net/mpi/mpi_engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool nmpi_pool_make(struct nmpi_pool *pool, uint32_t count, size_t bytes) {
  *pool = (struct nmpi_pool){.stride = TMB_ALIGN_UP(bytes, (size_t)TMB_CACHE_LINE), .count = count};
  pool->all = calloc(count, sizeof *pool->all);
  pool->request = calloc(count, sizeof(MPI_Request));
  void *memory = mmap(NULL, count * pool->stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pool->memory = memory == MAP_FAILED ? NULL : memory;
  if (!pool->all || !pool->request || !pool->memory) return false;
  for (uint32_t i = count; i-- > 0;) {
    struct nmpi_buffer *b = &pool->all[i];
    b->pool = pool;
    b->request = &pool->request[i];
    *b->request = MPI_REQUEST_NULL;
    b->data = pool->memory + i * pool->stride;
    nmpi_buffer_put(b);
  }
  return true;
}

void nmpi_pool_free(struct nmpi_pool *pool) {
  if (pool->memory) munmap(pool->memory, pool->count * pool->stride);
  free(pool->request);
  free(pool->all);
  *pool = (struct nmpi_pool){0};
}

struct nmpi_buffer *nmpi_pool_take(struct nmpi_pool *pool, uint32_t reserve) {
  if (!pool->free || pool->free_count <= reserve) return NULL;
  pool->free_count--;
  return TMB_LIST_POP(&pool->free);
}

void nmpi_buffer_put(struct nmpi_buffer *b) {
  if (!b->pool) {
    free(b);
    return;
  }
  TMB_LIST_PUSH(&b->pool->free, b);
  b->pool->free_count++;
}

struct nmpi_buffer *nmpi_buffer_copy(const struct nmpi_buffer *b) {
  const size_t head = TMB_ALIGN_UP(sizeof *b, (size_t)TMB_CACHE_LINE);
  char *memory =
      aligned_alloc(TMB_CACHE_LINE, head + TMB_ALIGN_UP(b->bytes, (uint32_t)TMB_CACHE_LINE));
  if (!memory) return NULL;
  struct nmpi_buffer *copy = (struct nmpi_buffer *)(void *)memory;
  *copy = (struct nmpi_buffer){.data = memory + head, .bytes = b->bytes, .peer = b->peer};
  memcpy(copy->data, b->data, b->bytes);
  return copy;
}

void nmpi_queue_add(struct nmpi_queue *queue, struct nmpi_buffer *b) {
  TMB_QUEUE_ADD(&queue->first, &queue->last, b);
}

struct nmpi_buffer *nmpi_queue_take(struct nmpi_queue *queue) {
  return TMB_LIST_POP(&queue->first);
}
