/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens of allocatable and pointer components.
 *
 * Owns: their memory, blocks each twice as large as the one before. Called by register.c. Calls
 * nothing. Why blocks: gfortran 12 leaves the token of a component within a component
 * uninitialised, and copies tokens when it assigns a structure; so any word may come as a token,
 * and only an address of a block is read. Invariant: a token that is not in use has no type.
 */
#include "caf.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_COUNT ((size_t)64)
#define BLOCKS      32

static struct {
  struct caf_token *block[BLOCKS]; /* block b has FIRST_COUNT << b tokens */
  unsigned blocks;
  struct caf_token *unused; /* by next */
} pool;

/* Make one more block. Returns whether there was memory. */
static bool grow(void) {
  if (pool.blocks == BLOCKS) return false;
  const size_t count = FIRST_COUNT << pool.blocks;
  char *const memory = calloc(count, sizeof(struct caf_token));
  if (!memory) return false;
  for (size_t i = count; i-- > 0;) {
    struct caf_token *t = (struct caf_token *)(void *)(memory + i * sizeof *t);
    t->next = pool.unused;
    pool.unused = t;
  }
  pool.block[pool.blocks++] = (struct caf_token *)(void *)memory;
  return true;
}

struct caf_token *caf_component_new(void) {
  if (!pool.unused && !grow()) return NULL;
  struct caf_token *t = pool.unused;
  pool.unused = t->next;
  memset(t, 0, sizeof *t);
  t->type = CAF_REGISTER_ONLY;
  return t;
}

void caf_component_free(struct caf_token *t) {
  t->type = 0;
  t->next = pool.unused;
  pool.unused = t;
}

enum caf_component caf_component_is(const void *word) {
  for (unsigned b = 0; b < pool.blocks; b++) {
    const size_t at = (size_t)((uintptr_t)word - (uintptr_t)pool.block[b]);
    if (at >= (FIRST_COUNT << b) * sizeof(struct caf_token)) continue;
    if (at % sizeof(struct caf_token)) return CAF_COMPONENT_FREED;
    const struct caf_token *t = word;
    return t->type == CAF_REGISTER_ONLY ? CAF_COMPONENT : CAF_COMPONENT_FREED;
  }
  return CAF_NO_COMPONENT;
}
