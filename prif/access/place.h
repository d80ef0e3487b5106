/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of an image, as the arguments of a PRIF procedure name it.
 *
 * Owns: the two forms of arguments (a coarray and an offset, or an address) and their checks.
 * Included by the rooms access, sync and atomic. Calls the core of coarray/. Invariants: image_num
 * is an image of the initial team, so rank image_num - 1 of the job; a place that was found lies in
 * memory of its image that others may touch, with all bytes that were asked for; messages name the
 * procedure that runs, as PRIF_STATEMENT has set it.
 */
#ifndef PRIF_PLACE_H
#define PRIF_PLACE_H

#include "data/pending.h"
#include "prif.h"

/* The arguments: `pointer`, or else `coarray` and `offset`. */
struct prif_where {
  const int32_t *image_num;
  const prif_handle *coarray;
  const size_t *offset;
  const intptr_t *pointer;
  const char *name; /* of the argument `offset` or `pointer`, for messages */
};

/* The arguments of an entry point, under the names that all of them use. */
#define PRIF_WHERE (&(const struct prif_where){image_num, coarray_handle, offset, NULL, "offset"})
#define PRIF_WHERE_AT(pointer) \
 (&(const struct prif_where){image_num, NULL, NULL, pointer, #pointer})
#define PRIF_WHERE_NOTIFY                                                           \
 (&(const struct prif_where){image_num, notify_coarray_handle, notify_offset, NULL, \
                             "notify_offset"})

struct prif_place {
  uint32_t rank; /* of the job */
  char *at;      /* as the owner sees it */
};

/* Bytes of an access, from the place on: [low, high). Equal: none, and then the place may be
 * anywhere. */
struct prif_span {
  ptrdiff_t low, high;
};

/* Finds a place; false after prif_fail. */
bool prif_find_slow(struct prif_place *place, const struct prif_where *where, struct prif_span span,
                    const struct prif_status *to);
static inline bool prif_find(struct prif_place *place, const struct prif_where *where, size_t bytes,
                             const struct prif_status *to) {
  if (where->coarray) {
    const uint32_t rank = (uint32_t)*where->image_num - 1u;
    const struct prif_co *co = prif_coarray(*where->coarray, to);
    if (__builtin_expect(!co, 0)) return false;
    const size_t at = co->offset + *where->offset, have = co->token->bytes;
    if (__builtin_expect(rank < co->token->ranks && co->token->addr[rank] && at < have &&
                             at >= co->offset && bytes <= have - at,
                         1)) {
      *place = (struct prif_place){rank, (char *)co->token->addr[rank] + at};
      return true;
    }
  }
  return prif_find_slow(place, where, (struct prif_span){0, (ptrdiff_t)bytes}, to);
}

/* Finds a word of 8 bytes: an event, a lock, an atomic variable. */
bool prif_find_word(struct prif_place *place, const struct prif_where *where,
                    const struct prif_status *to);

/* Whether the image of an access is lost; then prif_fail has been called. */
bool prif_met_loss(uint32_t rank, const struct prif_status *to);

/* Ends an access, when it is done. */
static inline void prif_finish(uint32_t rank, const struct prif_status *to) {
  if (__builtin_expect(caf.lost_count != 0 || !caf_is_near(rank), 0) && prif_met_loss(rank, to))
    return;
  prif_done(to);
}

#endif
