/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of a structure whose addresses an accessor follows, and whether these lead to memory that
 * this process reaches.
 *
 * Owns: the description of a trial. Included by trial.c, which makes trials, and by here.h, which
 * asks before each access. Calls nothing. Invariants: an accessor with `followed` words needs
 * nothing but the structure and the memory to which these words of it lead; see follow.c.
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

/* Whether the only word that an accessor follows, of a coarray of one element, leads to the segment
 * of its rank, which lies here where it lies there. Asks what caf_follow_reaches asks, in the
 * fewest instructions. [in] place: of the coarray in this process; offset: of the object in it. */
static inline __attribute__((always_inline)) bool
caf_follow_reaches_alone(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                         uintptr_t place, size_t offset) {
  uint64_t word;
  if (t->bytes != trials->alone || t->elem_bytes != t->bytes || offset) return false;
  if (place != t->addr[rank]) return false;
  memcpy(&word, (const char *)place + trials->word, sizeof word);
  return caf_bound_has(rank, word);
}

/* The words of an element that the accessor follows, bit w: at 8 * w; 0: that was not found. In a
 * process that ends then. */
uint64_t caf_follow_words(const struct caf_trial *t);

/* Whether these words of all elements of a coarray lead to the segment of its rank, which lies here
 * where it lies there. [in] offset: of the object in the coarray. */
bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset);

#endif
