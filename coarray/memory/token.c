/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens of coarrays, and the search for the coarray that has an address.
 *
 * Owns: the lists of coarrays by team. Called by register.c, and by the files that name a coarray.
 * Calls nothing. Invariants: the list of a team has the coarrays allocated while it was the current
 * one, the latest first; no cached token outlives its coarray.
 */
#include "memory/token.h"

#include <stdlib.h>

static uint64_t tokens_freed; /* coarrays deallocated so far */

struct caf_token *caf_token_new(uint32_t ranks, int type) {
  struct caf_token *t = calloc(1, sizeof *t + 2 * ranks * sizeof t->addr[0]);
  if (!t) return NULL;
  t->ranks = ranks;
  t->here = t->addr + ranks;
  t->type = type;
  t->sizes = caf_sizes_of(0, 0);
  return t;
}

void caf_token_join(struct caf_token *t) {
  t->next = caf.team->coarrays;
  t->link = &caf.team->coarrays;
  if (t->next) t->next->link = &t->next;
  caf.team->coarrays = t;
}

void caf_token_leave(struct caf_token *t) {
  tokens_freed++;
  if (!t->link) return;
  *t->link = t->next;
  if (t->next) t->next->link = t->link;
  t->link = NULL;
}

/* Whether a coarray has a byte of this image. */
static bool holds(const struct caf_token *t, const char *address) {
  return t->base && (size_t)(address - (const char *)t->base) < t->bytes;
}

const struct caf_token *caf_token_at(const char *address) {
  static const struct caf_token *last[2]; /* data and their event, most often */
  static uint64_t version;
  if (version != tokens_freed) last[0] = last[1] = NULL;
  version = tokens_freed;
  for (int i = 0; i < 2; i++)
    if (last[i] && holds(last[i], address)) return last[i];
  for (const struct caf_team *team = caf.team; team; team = team->parent)
    for (const struct caf_token *t = team->coarrays; t; t = t->next) {
      if (!holds(t, address)) continue;
      last[1] = last[0];
      last[0] = t;
      return t;
    }
  return NULL;
}
