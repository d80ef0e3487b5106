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

/* Most bytes of a coarray whose words are looked at in each access, and of one that is tried. */
enum { CAF_FOLLOW_BYTES = 4096, CAF_FOLLOW_MOST = 16 << 20 };

/* Bytes of an element of a coarray. */
static inline size_t caf_follow_element(const struct caf_token *t) {
  return t->elem_bytes && t->bytes % t->elem_bytes == 0 ? t->elem_bytes : t->bytes;
}

/* Whether an address is one of a rank's segment, with CAF_BOUND_BLOCK bytes of it. */
static inline bool caf_bound_has(uint32_t rank, uintptr_t address) {
  return address - caf.bound[rank].low < caf.bound[rank].bytes;
}

/* Whether the elements of a coarray lie as in that of a path: its bounds may be others. [in] shape:
 * NULL: it has no descriptor. */
static inline bool caf_follow_fits(const struct caf_path *path, const struct caf_desc *shape) {
  return !shape || caf_form_of(shape) == path->form;
}

/* Whether the word at an address, and those behind it, lead to the segment of the rank. */
static inline __attribute__((always_inline)) bool caf_follow_links(const struct caf_path *path,
                                                                   uint32_t rank, uintptr_t place) {
  uintptr_t address;
  memcpy(&address, (const char *)place, sizeof address);
  if (path->links) { /* a loop of two would take more registers than there are */
    if (!caf_bound_has(rank, address)) return false;
    memcpy(&address, (const char *)address + path->link[0], sizeof address);
    if (path->links > 1) {
      if (!caf_bound_has(rank, address)) return false;
      memcpy(&address, (const char *)address + path->link[1], sizeof address);
    }
  }
  return caf_bound_has(rank, address);
}

/* Whether a subscript has a value of its path. [out] index: from 0 on. */
static inline bool caf_follow_subscript(const struct caf_subscript *s, const void *add,
                                        uint32_t *index) {
  memcpy(index, (const char *)add + s->at, sizeof *index);
  if (s->wide) {
    int64_t value;
    memcpy(&value, (const char *)add + s->at, sizeof value);
    if (value != (int32_t)*index) return false;
  }
  *index -= s->first;
  return *index < s->count;
}

/* Whether the words of a path with several subscripts lead to the segment of the rank; see
 * caf_follow_path. */
bool caf_follow_several(const struct caf_token *t, const struct caf_path *path, uint32_t rank,
                        uintptr_t place, const void *add);

/* Whether the words of a path lead to the segment of the rank. [in] place: of
 * the coarray, which is the object, in this process; add: the values of the accessor. */
static inline __attribute__((always_inline)) bool caf_follow_path(const struct caf_token *t,
                                                                  const struct caf_path *path,
                                                                  uint32_t rank, uintptr_t place,
                                                                  const void *add) {
  if (t->sizes != path->sizes) return path->mores && caf_follow_several(t, path, rank, place, add);
  uint32_t at = path->word;
  if (path->one.count) {
    uint32_t index;
    if (!caf_follow_subscript(&path->one, add, &index)) return false;
    at += index * path->one.stride;
  }
  return caf_follow_links(path, rank, place + at);
}

/* Words that an accessor follows. */
struct caf_followed {
  bool ended; /* the process that finds them has not been ended by its limit of time */
  bool has_path;
  struct caf_path path;
  uint64_t words; /* of each element, bit w: at 8 * w; 0: that was not found */
};

/* Finds what the accessor follows. In a process that ends then. */
void caf_follow(const struct caf_trial *t, struct caf_followed *found);

/* Whether the path, or the words of all elements of a coarray, lead to the segment of its rank,
 * which lies here where it lies there. [in] offset: of the object in the coarray; shape, add: as
 * above. */
bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset, const struct caf_desc *shape, const void *add);

#endif
