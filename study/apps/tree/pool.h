/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes that a rank has still to visit, some of which others may take.
 *
 * Owns: struct pool. Called by tree.c. Calls: words.h. A private stack, and in the memory of words
 * a ring of chunks that anyone may take: word 0 is its state (first chunk, number of chunks, times
 * that the owner has changed it); word 1, on rank 0, the number of ranks that work; chunks follow.
 * Invariants: state changes by compare-and-swap only; a chunk is written by its owner before the
 * state shows it, and not again while the state shows it; a thief who finds the state as it was
 * before it read the chunk has read what the owner wrote.
 */
#ifndef TMB_TREE_POOL_H
#define TMB_TREE_POOL_H

#include "lib/words.h"

#define POOL_CHUNK 16 /* nodes */

struct pool {
  struct job *job;
  uint64_t *shared; /* this rank's words */
  uint64_t *node;   /* private stack: [low, high) of `room` */
  size_t low, high, room;
  bool failed; /* nodes were lost for want of memory */
};

void pool_attach(struct pool *p, struct job *job);
void pool_free(struct pool *p);

/* Empty, and all ranks work; before a barrier. */
void pool_start(struct pool *p);

void pool_push(struct pool *p, uint64_t node);

/* Take the newest node, from the ring if the stack is empty. Returns false if there is none. */
bool pool_pop(struct pool *p, uint64_t *node);

/* Let others take the oldest nodes, if there are enough. */
void pool_share(struct pool *p);

/* Take the oldest nodes out, if there are enough, up to POOL_CHUNK. Returns how many. */
size_t pool_split(struct pool *p, uint64_t *nodes);

/* Take a chunk from another rank's ring; then this rank works. Returns whether there was one. */
bool pool_steal(struct pool *p, int victim);

/* One rank more or less works; whether any does. */
void pool_working(int by);
bool pool_any_working(void);

#endif
