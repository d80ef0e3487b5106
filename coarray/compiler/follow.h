/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of a structure whose addresses an accessor follows, and whether these lead to memory that
 * this process reaches.
 *
 * Owns: the description of a trial. Included by trial.c, which makes trials, and by here.h, which
 * asks before each access. Calls nothing. Invariants: an accessor with `followed` words needs
 * nothing but the structure and the memory to which these words of it lead, and to which the links
 * behind the only word lead; see follow.c.
 */
#ifndef CAF_FOLLOW_H
#define CAF_FOLLOW_H

#include "data/accessor.h"
#include "data/pending.h"

/* A trial of the accessor of an access. */
struct caf_trial {
  const struct caf_ask *ask;
  const struct caf_token *token;
  uint32_t rank;  /* whose memory is mapped here */
  size_t offset;  /* of the object in the coarray */
  size_t element; /* bytes */
};

/* Most bytes of a coarray whose words are looked at in each access. */
enum { CAF_FOLLOW_BYTES = 4096 };

/* Bytes of an element of a coarray. */
static inline size_t caf_follow_element(const struct caf_token *t) {
  return t->elem_bytes && t->bytes % t->elem_bytes == 0 ? t->elem_bytes : t->bytes;
}

/* Whether an address is one of a rank's segment. */
static inline bool caf_bound_has(uint32_t rank, uintptr_t address) {
  return address - caf.bound[rank].low < caf.bound[rank].bytes;
}

/* Bytes of what an address leads to in which a further word is looked for; a path with such words
 * has no address nearer to the end of the segment. */
enum { CAF_FOLLOW_BLOCK = 512 };

/* Whether the words of a path lead to the segment of the rank, which lies here where it lies there.
 * [in] place: of the coarray, which is the object, in this process; add: the values of the
 * accessor. */
static inline bool caf_follow_path(const struct caf_token *t, const struct caf_path *path,
                                   uint32_t rank, uintptr_t place, const void *add) {
  const struct caf_bound segment = caf.bound[rank];
  size_t at = path->word;
  uintptr_t address;
  if (t->bytes != path->coarray || t->elem_bytes != path->element) return false;
  if (place != t->addr[rank]) return false;
  if (path->count) {
    uint32_t index;
    memcpy(&index, (const char *)add + path->subscript, sizeof index);
    index -= path->first;
    if (index >= path->count) return false;
    at += (size_t)index * path->element;
  }
  memcpy(&address, (const char *)place + at, sizeof address);
  for (uint32_t i = 0; i < path->links; i++) {
    if (address - segment.low >= segment.bytes - CAF_FOLLOW_BLOCK) return false;
    memcpy(&address, (const char *)address + path->link[i], sizeof address);
  }
  return address - segment.low < segment.bytes;
}

/* Follows one word of a coarray of one element, in the fewest instructions; false for other
 * coarrays. [in] offset: of the object in the coarray. */
static inline __attribute__((always_inline)) bool caf_follow_short(const struct caf_token *t,
                                                                   const struct caf_path *path,
                                                                   uint32_t rank, uintptr_t place,
                                                                   size_t offset) {
  uint64_t address;
  if (t->bytes != path->alone || t->elem_bytes != t->bytes || offset) return false;
  if (place != t->addr[rank]) return false;
  memcpy(&address, (const char *)place + path->word, sizeof address);
  return caf_bound_has(rank, address);
}

/* Words that an accessor follows. */
struct caf_followed {
  uint64_t words; /* of an element, bit w: at 8 * w; 0: that was not found */
  struct caf_path path;
};

/* Finds what the accessor follows. In a process that ends then. */
void caf_follow(const struct caf_trial *t, struct caf_followed *found);

/* Whether the path, or the words of all elements of a coarray, lead to the segment of its rank,
 * which lies here where it lies there. [in] offset: of the object in the coarray; add: as above. */
bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset, const void *add);

#endif
