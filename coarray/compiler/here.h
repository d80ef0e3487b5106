/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of objects in mapped memory, by accessors that this image calls itself: which they are,
 * and the calls.
 *
 * Owns: an object that is here. Included by compiler15.c and here.c. Calls: accessors. Invariants:
 * numbers are here, and structures whose accessor follows no address, or only such as lead to
 * mapped memory. An access uses nothing of the layer below, so nothing marks that the program is
 * inside (inside.h). A function that returns false has changed nothing: the caller then makes the
 * access as of any image.
 */
#ifndef CAF_HERE_H
#define CAF_HERE_H

#include "compiler/follow.h"
#include "data/attach.h"

#include <stdlib.h>

/* An object of this process or of mapped memory. */
struct caf_here {
  char *base;                   /* of the object */
  const struct caf_desc *shape; /* of the object, NULL: the accessor takes its address */
  const void *add;
  const struct caf_accessor *accessor;
  uint32_t rank; /* of its image */
};

/* The image and the object of an access. */
struct caf_selector {
  const void *token;
  int image, index;             /* index: of the accessor */
  const struct caf_desc *shape; /* of the coarray, or NULL */
  const void *add;
};

/* Whether an access may post an event, where any is attached to memory of the rank. Calls nothing,
 * so that the access of others keeps its registers. */
static inline bool caf_here_posts(const struct caf_accessor *a, const struct caf_token *t,
                                  uint32_t rank) {
  return !a->trials.direct || caf_attached_there(rank, (const void *)t->addr[rank], t->bytes);
}

/* Finds out, in the fewest instructions, whether an object is here, no event is attached there, and
 * the image has nothing else to do before an access. [in] watches: the kind of event; weight: as of
 * caf_poll_is_due. */
static inline __attribute__((always_inline)) bool caf_find_short(struct caf_here *here,
                                                                 const struct caf_selector *s,
                                                                 unsigned watches, int32_t weight) {
  const struct caf_token *t = s->token;
  uint32_t rank;
  const uintptr_t place = caf_place_short(t, s->image, &rank);
  if (__builtin_expect(!place, 0)) return false;
  const struct caf_accessor *a = &caf.accessors[s->index]; /* the compiler's index is one of ours */
  size_t offset = 0;
  if (caf_attached(rank, watches) && caf_here_posts(a, t, rank)) return false;
  if (!a->trials.direct && rank != caf.rank) { /* in its own memory it may follow any address */
    if (s->shape && (s->shape->base != t->base || !caf_follow_fits(&a->trials.path, s->shape)))
      return false;
    if (!caf_follow_path(t, &a->trials.path, rank, place, s->add)) return false;
  } else if (s->shape) {
    offset = (size_t)((char *)s->shape->base - (char *)t->base);
    if (__builtin_expect(offset >= t->bytes, 0)) offset = 0;
  }
  if (caf_poll_is_due(weight)) return false;
  here->base = (char *)(place + offset);
  here->shape = s->shape;
  here->add = s->add;
  here->accessor = a;
  here->rank = rank;
  return true;
}

/* Finds any object that is here, and where the access posts no event; takes in messages. [in]
 * with_stat: the access is to tell whether the image has failed: false where any image is lost. */
bool caf_find_slow(struct caf_here *here, const struct caf_selector *s, unsigned watches,
                   bool with_stat);
static inline __attribute__((always_inline)) bool caf_find_here(struct caf_here *here,
                                                                const struct caf_selector *s,
                                                                unsigned watches, bool with_stat) {
  return (!(with_stat && caf_has_reports()) && caf_find_short(here, s, watches, CAF_ARRAY)) ||
         caf_find_slow(here, s, watches, with_stat);
}

/* A call in preparation. */
struct caf_here_call {
  size_t chars;
  struct caf_desc object;
  struct caf_token token; /* last: it ends with an array of any length */
};

/* Returns the object in the form that the accessor takes. */
static inline __attribute__((always_inline)) void *caf_here_prepare(struct caf_here_call *c,
                                                                    const struct caf_here *h) {
  caf_token_of_asker(&c->token, CAF_OF_SELF, (uintptr_t)h->add);
  if (!h->shape) return h->base;
  caf_desc_copy(&c->object, h->shape);
  c->object.base = h->base;
  return &c->object;
}

/* Calls the accessor of a scalar. [out] owned: the result is malloc'ed. Returns where the scalar
 * is; NULL: it is not allocated. */
static inline __attribute__((always_inline)) void *caf_here_find(const struct caf_here *h,
                                                                 int32_t *owned) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h), *at = NULL;
  c.chars = 0;
  ((caf_getter *)h->accessor->function)(h->add, &caf.image, &at, owned, place, &c.token, 0,
                                        &c.chars, NULL);
  return at;
}

/* Calls the accessor that sets an object. [in] data: the address of a scalar, or the descriptor of
 * an array. */
static inline __attribute__((always_inline)) void caf_here_set(const struct caf_here *h,
                                                               const void *data) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h);
  ((caf_setter *)h->accessor->function)(h->add, &caf.image, place, data, &c.token, 0, NULL, NULL);
}

/* Calls the accessor that tells whether an object is allocated. [in] by_pointer: it takes the
 * address of a pointer to the coarray. */
static inline int32_t caf_here_asks(const struct caf_here *h, bool by_pointer) {
  struct caf_here_call c;
  char *base = h->base;
  void *const place = caf_here_prepare(&c, h);
  int32_t present = 0;
  ((caf_asking *)h->accessor->function)(h->add, &caf.image, &present, by_pointer ? &base : place,
                                        &c.token, 0);
  return present;
}

/* Copies a scalar. Returns false where it is not allocated. */
static inline __attribute__((always_inline)) bool caf_here_pass(const struct caf_here *to,
                                                                const struct caf_here *from) {
  int32_t owned = 0;
  void *const found = caf_here_find(from, &owned);
  if (__builtin_expect(!found, 0)) return false;
  caf_here_set(to, found);
  if (__builtin_expect(owned, 0)) free(found);
  return true;
}

/* to = from, scalars, in the fewest instructions. Returns false where that does not do. */
static inline __attribute__((always_inline)) bool caf_pass_short(const struct caf_selector *to,
                                                                 const struct caf_selector *from) {
  struct caf_here source, target;
  return caf_find_short(&source, from, CAF_ATTACH_READ, CAF_SCALAR) &&
         caf_find_short(&target, to, CAF_ATTACH_WRITE, 0) && caf_here_pass(&target, &source);
}

/* Whether an accessor may take an array as the program has it: its elements lie together, and are
 * found by its offset. */
bool caf_here_takes(const struct caf_desc *array);

/* The same, without a call; false of arrays of rank 3 and more. */
static inline bool caf_here_takes_short(const struct caf_desc *array) {
  const struct caf_dim *const d = array->dim;
  if (__builtin_expect((unsigned)array->dtype.rank - 1 > 1, 0)) return false;
  if (array->span != (ptrdiff_t)array->dtype.elem_len || d[0].stride != 1) return false;
  ptrdiff_t first = d[0].lb;
  if (array->dtype.rank == 2) {
    const ptrdiff_t column = d[0].ub - d[0].lb + 1;
    if (d[1].stride != column || column <= 0) return false;
    first += d[1].lb * column;
  }
  return (ptrdiff_t)array->offset == -first;
}

/* Lengths in characters of an element of an array of texts: of the variable, and of the object. */
struct caf_lengths {
  size_t chars, object_chars;
  bool has_chars, has_object_chars;
};

/* variable = object, an array. [in] of: NULL: not of texts; with_stat: as of caf_find_slow. */
bool caf_here_get(const struct caf_selector *object, const struct caf_desc *variable,
                  const struct caf_lengths *of, bool with_stat);

/* object = variable, an array. [in] of, with_stat: as of caf_here_get. */
bool caf_here_put(const struct caf_selector *object, const struct caf_desc *variable,
                  const struct caf_lengths *of, bool with_stat);

/* object = variable, where that sets all of a coarray to which events are attached: posts these.
 * [in] data: a scalar, or the descriptor `array`. */
bool caf_here_put_attached(const struct caf_selector *object, const void *data,
                           const struct caf_desc *array, const struct caf_lengths *of);

/* to = from, arrays; scalars. */
bool caf_here_copy(const struct caf_selector *to, const struct caf_selector *from);
bool caf_here_move(const struct caf_selector *to, const struct caf_selector *from);

/* One side of a transfer, as the compiler passes it. */
struct caf_side {
  struct caf_selector object;
  const size_t *chars;
  size_t add_bytes;
  int *stat;
  void **team;
  int *team_number;
};

/* A transfer from image to image. */
struct caf_transfer {
  struct caf_side from, into;
  size_t bytes;
  bool scalar;
  const void *caller;
};

/* All transfers but those of caf_pass_short and caf_here_copy; anywhere.c. [in] usual: without
 * characters, STAT= and TEAM=. */
void caf_transfer_in_full(const struct caf_transfer *t, bool usual);

/* The parameters of transfer_between_remotes that all compilers pass. From gfortran 16 on, the team
 * of the source follows: before, its places belong to the caller, and none may be touched. */
#define CAF_TRANSFER_PARAMETERS                                                                  \
 void *dst_token, struct caf_desc *dst_desc, size_t *dst_chars, int dst_image, int dst_index,    \
     void *dst_add, size_t dst_add_bytes, void *src_token, const struct caf_desc *src_desc,      \
     const size_t *src_chars, int src_image, int src_index, void *src_add, size_t src_add_bytes, \
     size_t src_size, bool scalar, int *dst_stat, int *src_stat, void **dst_team,                \
     int *dst_team_number
#define CAF_TRANSFER_FROM \
 { src_token, src_image, src_index, src_desc, src_add }
#define CAF_TRANSFER_INTO \
 { dst_token, dst_image, dst_index, dst_desc, dst_add }
#define CAF_TRANSFER_USUAL \
 (!dst_chars && !src_chars && !dst_stat && !src_stat && !dst_team && !dst_team_number)
#define CAF_TRANSFER(team, team_number)                                                   \
 {                                                                                        \
  {CAF_TRANSFER_FROM, src_chars, src_add_bytes, src_stat, (team), (team_number)},         \
      {CAF_TRANSFER_INTO, dst_chars, dst_add_bytes, dst_stat, dst_team, dst_team_number}, \
      src_size, scalar, __builtin_return_address(0)                                       \
 }

#endif
