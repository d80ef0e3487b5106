/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes to visit, see pool.h.
 *
 * Owns: the private stack. Called by tree.c. Calls: words.h. The oldest nodes are given away: they
 * are nearest to the root, so that most lies below them.
 */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

enum { STATE, WORKING, HEAD = 8, CHUNKS = 1024, KEEP = 2 * POOL_CHUNK };

/* State: chunks in the lowest 16 bits, the first one in the next 16, changes above. */
struct state {
  uint64_t count, first, changes;
};

static struct state unpack(uint64_t word) {
  return (struct state){word & 0xffff, word >> 16 & 0xffff, word >> 32};
}

static uint64_t pack(struct state s) {
  return s.count | s.first % CHUNKS << 16 | s.changes << 32;
}

static size_t chunk_index(uint64_t chunk) {
  return HEAD + (size_t)(chunk % CHUNKS) * POOL_CHUNK;
}

void pool_attach(struct pool *p, struct job *job) {
  *p = (struct pool){.job = job};
  p->shared = words_attach(job, chunk_index(CHUNKS - 1) + POOL_CHUNK);
}

void pool_free(struct pool *p) {
  free(p->node);
}

void pool_start(struct pool *p) {
  p->low = p->high = 0;
  __atomic_store_n(&p->shared[STATE], 0, __ATOMIC_RELAXED);
  if (p->job->rank == 0)
    __atomic_store_n(&p->shared[WORKING], (uint64_t)p->job->size, __ATOMIC_RELAXED);
}

static bool grow(struct pool *p) {
  const size_t room = p->room ? 2 * p->room : 4096;
  uint64_t *const node = realloc(p->node, room * sizeof *node);
  if (!node) return false;
  p->node = node;
  p->room = room;
  return true;
}

void pool_push(struct pool *p, uint64_t node) {
  if (p->high == p->room && !grow(p))
    p->failed = true;
  else
    p->node[p->high++] = node;
}

/* Change the own state: `more` chunks (1: one is added, -1: the newest is taken). Returns the
 * chunk, or CHUNKS if there is none to take. */
static uint64_t change(struct pool *p, int more) {
  uint64_t word = __atomic_load_n(&p->shared[STATE], __ATOMIC_ACQUIRE);
  for (;;) {
    const struct state s = unpack(word);
    if (more < 0 && !s.count) return CHUNKS;
    const struct state next = {s.count + (uint64_t)(int64_t)more, s.first, s.changes + 1};
    const uint64_t was = words_fetch_swap(p->job->rank, STATE, word, pack(next));
    if (was == word) return (s.first + (more < 0 ? s.count - 1 : s.count)) % CHUNKS;
    word = was;
  }
}

bool pool_pop(struct pool *p, uint64_t *node) {
  if (p->low == p->high) {
    const uint64_t chunk = change(p, -1);
    if (chunk == CHUNKS) return false;
    p->low = p->high = 0;
    for (size_t k = 0; k < POOL_CHUNK; k++) pool_push(p, p->shared[chunk_index(chunk) + k]);
  }
  if (p->low == p->high) return false; /* no memory for the stack */
  *node = p->node[--p->high];
  return true;
}

void pool_share(struct pool *p) {
  const struct state s = unpack(__atomic_load_n(&p->shared[STATE], __ATOMIC_ACQUIRE));
  if (p->high - p->low < KEEP + POOL_CHUNK || s.count >= CHUNKS - 1) return;
  /* Whatever is taken meanwhile, the next free chunk is the same. */
  uint64_t *const to = p->shared + chunk_index(s.first + s.count);
  memcpy(to, p->node + p->low, POOL_CHUNK * sizeof *to);
  p->low += POOL_CHUNK;
  (void)change(p, 1);
}

size_t pool_split(struct pool *p, uint64_t *nodes) {
  const size_t have = p->high - p->low, count = have / 2 < POOL_CHUNK ? have / 2 : POOL_CHUNK;
  if (count) memcpy(nodes, p->node + p->low, count * sizeof *nodes);
  p->low += count;
  return count;
}

bool pool_steal(struct pool *p, int victim) {
  uint64_t word, nodes[POOL_CHUNK];
  words_get(victim, STATE, 1, &word);
  if (!unpack(word).count) return false;
  pool_working(1); /* before the chunk disappears from there */
  const struct state s = unpack(word);
  words_get(victim, chunk_index(s.first), POOL_CHUNK, nodes);
  const struct state next = {s.count - 1, s.first + 1, s.changes};
  if (words_fetch_swap(victim, STATE, word, pack(next)) != word) {
    pool_working(-1);
    return false;
  }
  for (size_t k = 0; k < POOL_CHUNK; k++) pool_push(p, nodes[k]);
  return true;
}

void pool_working(int by) {
  (void)words_fetch_add(0, WORKING, (uint64_t)(int64_t)by);
}

bool pool_any_working(void) {
  uint64_t count;
  words_get(0, WORKING, 1, &count);
  return count != 0;
}
