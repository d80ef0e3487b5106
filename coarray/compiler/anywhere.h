/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of objects of any image, by accessors: here, or by a message to the image of the object.
 *
 * Owns: the image and the object of an access, and where the result of a get goes. Included by
 * compiler15.c, which makes an access shorter where the object is here. Calls: remote.h.
 * Invariants: a function reports each failure by caf_fail.
 */
#ifndef CAF_ANYWHERE_H
#define CAF_ANYWHERE_H

#include "compiler/generation.h"
#include "data/remote.h"

/* The image and the object of an access. */
struct caf_any {
  const void *token;
  int image;
  void **team;
  const int *team_number;
};

/* Where the result of a get goes. */
struct caf_target {
  void **dst;
  size_t bytes; /* of a scalar, or of one of its characters */
  size_t *chars;
  struct caf_desc *desc;
  bool may_realloc;
};

/* Whether an accessor asks: its statement is that of the image which it answers. */
static inline bool caf_is_accessors(const struct caf_token *t) {
  return t && t->type < 0;
}

/* The work of caf_text_length where the lengths differ. */
size_t caf_text_length_slow(const struct caf_token *t, size_t bytes, size_t object_chars);

/* Length of the elements of a coarray of characters, where the compiler passes that of a substring,
 * by which it would find the elements. [in] bytes: of a character of the other side, which those of
 * kind 4 may be put from, too. */
static inline __attribute__((always_inline)) size_t
caf_text_length(const struct caf_token *t, size_t bytes, size_t object_chars) {
  if (t && __builtin_expect(t->elem_bytes == object_chars * bytes, 1)) return object_chars;
  return caf_text_length_slow(t, bytes, object_chars);
}

/* The shape of an allocatable coarray, by its variable. NULL: it is elsewhere now. */
static inline const struct caf_desc *caf_shape_here(const struct caf_token *t) {
  return t->desc && t->desc->base == t->base ? t->desc : NULL;
}

/* Whether an accessor takes the address of a pointer to the coarray. */
static inline bool caf_takes_pointer(const struct caf_token *t) {
  return t->rank == 0 && caf_scalars_by_pointer && t->elem_bytes == t->bytes;
}

/* Gets an object. [in] src_chars: its characters, or NULL. */
void caf_any_get(const struct caf_any *object, const size_t *src_chars, struct caf_ask *ask,
                 const struct caf_target *target, int *stat);

/* Puts to an object. [in] dst_chars: its characters, or NULL; src_size: bytes of a scalar, or of
 * one of its characters; src_desc: of an array, or NULL. */
void caf_any_put(const struct caf_any *object, const size_t *dst_chars, size_t src_size,
                 const struct caf_desc *src_desc, struct caf_ask *ask, int *stat);

/* Asks the image of an object, or runs the accessor here where it may, for ALLOCATED. */
int32_t caf_any_is_present(const struct caf_any *object, struct caf_ask *ask);

/* Ends a get of a component that is not allocated. */
__attribute__((cold)) void caf_fail_not_allocated(const struct caf_status *to);

#endif
