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

/* An object of this process or of mapped memory. */
struct caf_here {
  char *base;                   /* of the object */
  const struct caf_desc *shape; /* of the object, NULL: the accessor takes its address */
  const void *add;
  const struct caf_accessor *accessor;
};

/* The image and the object of an access. */
struct caf_selector {
  const void *token;
  int image, index;             /* index: of the accessor */
  const struct caf_desc *shape; /* of the coarray, or NULL */
  const void *add;
};

/* Takes in messages. */
__attribute__((cold)) void caf_here_poll(void);

/* Whether an accessor may run here on an object. [in] offset: of the object in the coarray. */
static inline __attribute__((always_inline)) bool caf_runs_here(const struct caf_accessor *a,
                                                                const struct caf_token *t,
                                                                uint32_t rank, size_t offset) {
  if (__builtin_expect((uint32_t)t->elem_type - 1u < CAF_DERIVED - 1, 1)) return true;
  if (t->elem_type != CAF_DERIVED) return false;
  return a->trials.direct ||
         (a->trials.followed && caf_follow_reaches(t, &a->trials, rank, offset));
}

/* Finds out whether an object is here, and no event is attached there. [in] watches: the kind of
 * event. */
static inline __attribute__((always_inline)) bool
caf_find_here(struct caf_here *here, const struct caf_selector *s, unsigned watches) {
  const struct caf_token *t = s->token;
  if (!t || (uint32_t)s->image - 1u >= caf.team->size || !t->here) return false;
  here->accessor = caf_accessor_at(s->index);
  if (!here->accessor) return false;
  const uint32_t rank = caf.team->jobrank[s->image - 1];
  const uintptr_t place = caf_place(t, rank);
  if (!place || caf_attached(rank, watches)) return false;
  if (caf_poll_is_due()) caf_here_poll();
  size_t offset = s->shape ? (size_t)((char *)s->shape->base - (char *)t->base) : 0;
  if (offset >= t->bytes) offset = 0;
  if (!caf_runs_here(here->accessor, t, rank, offset)) return false;
  here->base = (char *)(place + offset);
  here->shape = s->shape;
  here->add = s->add;
  return true;
}

/* A call in preparation. */
struct caf_here_call {
  int image;
  size_t chars;
  struct caf_desc object;
  struct caf_token token; /* last: it ends with an array of any length */
};

/* Returns the object in the form that the accessor takes. */
static inline void *caf_here_prepare(struct caf_here_call *c, const struct caf_here *h) {
  c->image = (int)caf.rank + 1;
  c->chars = 0;
  caf_token_of_asker(&c->token, caf.rank, (uintptr_t)h->add);
  if (!h->shape) return h->base;
  caf_desc_copy(&c->object, h->shape);
  c->object.base = h->base;
  return &c->object;
}

/* Calls the accessor of a scalar. [out] owned: the result is malloc'ed. Returns where the scalar
 * is; NULL: it is not allocated. */
static inline void *caf_here_find(const struct caf_here *h, int32_t *owned) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h), *at = NULL;
  ((caf_getter *)h->accessor->function)(h->add, &c.image, &at, owned, place, &c.token, 0, &c.chars,
                                        NULL);
  return at;
}

/* Calls the accessor that sets an object. [in] data: the address of a scalar, or the descriptor of
 * an array. */
static inline void caf_here_set(const struct caf_here *h, const void *data) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h);
  ((caf_setter *)h->accessor->function)(h->add, &c.image, place, data, &c.token, 0, NULL, NULL);
}

/* variable = object, an array. */
bool caf_here_get(const struct caf_selector *object, const struct caf_desc *variable);

/* object = variable, an array. */
bool caf_here_put(const struct caf_selector *object, const struct caf_desc *variable);

/* to = from. scalar: `from` is no array. */
bool caf_here_copy(const struct caf_selector *to, const struct caf_selector *from, bool scalar);

#endif
