/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the words that an accessor follows lead to memory that this process reaches.
 *
 * Owns nothing. Called by here.c before an access. Calls nothing. Invariant: an access for which
 * this says yes touches the structure and the segment of its rank alone.
 */
#include "compiler/follow.h"

#include <string.h>

enum { WORD = sizeof(uint64_t) };

bool caf_follow_several(const struct caf_token *t, const struct caf_path *path, uint32_t rank,
                        uintptr_t place, const void *add) {
  uint32_t at = path->word, index;
  if (t->sizes != path->all_sizes || !caf_follow_subscript(&path->one, add, &index)) return false;
  at += index * path->one.stride;
  for (int i = 0; i < path->mores; i++) {
    if (!caf_follow_subscript(&path->more[i], add, &index)) return false;
    at += index * path->more[i].stride;
  }
  return at < t->bytes && caf_follow_links(path, rank, place + at);
}

/* Whether the words of all elements lead to the segment of the rank. */
static bool all_reach(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank) {
  const struct caf_bound segment = caf.bound[rank];
  const char *const base = (const char *)t->addr[rank];
  for (uint64_t words = trials->followed; words; words &= words - 1)
    for (size_t at = WORD * (size_t)__builtin_ctzll(words); at < t->bytes;
         at += trials->words * (size_t)WORD) {
      uint64_t word;
      memcpy(&word, base + at, WORD);
      if (word - segment.low >= segment.bytes) return false;
    }
  return true;
}

bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset, const struct caf_desc *shape, const void *add) {
  const struct caf_path *const path = &trials->path;
  const size_t element = trials->words * (size_t)WORD;
  if (caf.delta[rank]) return false;
  if (path->all_sizes && !offset && caf_follow_fits(path, shape) &&
      caf_follow_path(t, path, rank, t->addr[rank], add))
    return true;
  return trials->followed && t->bytes <= CAF_FOLLOW_BYTES &&
         element == (t->elem_bytes ? t->elem_bytes : t->bytes) &&
         trials->offset == (offset < element ? offset : offset % element) &&
         all_reach(t, trials, rank);
}
