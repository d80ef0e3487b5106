/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays in mapped memory: no memory is allocated for them here, and nothing is described for
 * another image.
 *
 * Owns nothing beyond a call. Called by compiler15.c. Calls: accessors. Invariants: an accessor
 * takes, and fills, elements that lie together; those of a variable with gaps go by a buffer of
 * this frame, if they are few.
 */
#include "compiler/here.h"

#include "inside.h"

#include <stdlib.h>

enum { FEW_BYTES = 2048 };

/* Describes an array by its shape, with lower bounds of 1. Returns whether its elements lie
 * together. */
static bool describe(struct caf_desc *to, const struct caf_desc *array) {
  ptrdiff_t stride = 1;
  caf_desc_copy_head(to, array);
  to->span = (ptrdiff_t)array->dtype.elem_len;
  to->offset = 0;
  bool together = caf_unit(array, array->base) == to->span;
  for (int i = 0; i < array->dtype.rank; i++) {
    const ptrdiff_t n = array->dim[i].ub - array->dim[i].lb + 1;
    together = together && (n == 1 || array->dim[i].stride == stride);
    to->dim[i] = (struct caf_dim){stride, 1, n > 0 ? n : 0};
    to->offset -= (size_t)stride;
    stride *= to->dim[i].ub;
  }
  return together;
}

bool caf_here_takes(const struct caf_desc *array) {
  ptrdiff_t stride = 1, offset = 0;
  if (array->span != (ptrdiff_t)array->dtype.elem_len) return false;
  for (int i = 0; i < array->dtype.rank; i++) {
    const struct caf_dim *d = &array->dim[i];
    if (d->stride != stride) return false;
    offset -= d->lb * stride;
    stride *= d->ub - d->lb + 1;
  }
  return (ptrdiff_t)array->offset == offset && stride > 0;
}

/* [in] hear: of lost images, whether or not this image serves others. */
static void poll_counted(bool hear) {
  CAF_INSIDE;
  caf_poll_counted();
  if (hear) gasnet_AMPoll();
}

/* Whether an accessor may run here on an object. [in] offset: of the object in the coarray. */
static bool runs_here(struct caf_accessor *a, const struct caf_token *t, uint32_t rank,
                      size_t offset, const struct caf_selector *s) {
  caf_accessor_note(a, t);
  return a->trials.direct || rank == caf.rank ||
         caf_follow_reaches(t, &a->trials, rank, offset, s->shape, s->add);
}

/* Finds an object whose memory is here. [in] watches: 0: events may be attached to it. [out] to:
 * its rank. */
static bool find(struct caf_here *here, const struct caf_selector *s, unsigned watches,
                 uint32_t *to) {
  const struct caf_token *t = s->token;
  if (!t || (uint32_t)s->image - 1u >= caf.team->size || !t->here) return false;
  struct caf_accessor *const accessor = caf_accessor_at(s->index);
  if (!accessor) return false;
  const uint32_t rank = *to = caf.team->jobrank[s->image - 1];
  const uintptr_t place = caf_place(t, rank);
  if (!place) return false;
  size_t offset = s->shape ? (size_t)((char *)s->shape->base - (char *)t->base) : 0;
  if (offset >= t->bytes) offset = 0;
  if (!runs_here(accessor, t, rank, offset, s)) return false;
  if (caf_attached(rank, watches) &&
      (!accessor->trials.direct ||
       caf_attached_within(rank, watches, (const void *)t->addr[rank], t->bytes)))
    return false;
  here->accessor = accessor;
  here->rank = rank;
  here->base = (char *)(place + offset);
  here->shape = s->shape;
  here->add = s->add;
  return true;
}

bool caf_find_slow(struct caf_here *here, const struct caf_selector *s, unsigned watches,
                   bool with_stat) {
  uint32_t rank;
  const bool reports = with_stat && caf_has_reports();
  if (caf_poll_is_due(CAF_SCALAR) || reports) poll_counted(with_stat);
  if (with_stat && caf.lost_count) return false;
  return find(here, s, watches, &rank);
}

static const size_t *object_chars_of(const struct caf_lengths *of) {
  return of && of->has_object_chars ? &of->object_chars : NULL;
}

/* Calls the accessor of an array. [in,out] result: its base, NULL: none, has room for an array of
 * its shape, and is not changed where the elements were put there. */
static void fill(const struct caf_here *h, const struct caf_lengths *of, struct caf_desc *result,
                 int32_t *owned) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h);
  c.chars = of ? of->chars : 0;
  ((caf_array_getter *)h->accessor->function)(h->add, &caf.image, result, owned, place, &c.token, 0,
                                              &c.chars, object_chars_of(of));
}

/* Calls the accessor that sets an array. */
static void set(const struct caf_here *h, const struct caf_lengths *of, const void *data) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h);
  ((caf_setter *)h->accessor->function)(h->add, &caf.image, place, data, &c.token, 0,
                                        object_chars_of(of),
                                        of && of->has_chars ? &of->chars : NULL);
}

/* Bytes of an array that `describe` has described. */
static size_t bytes_of(const struct caf_desc *array) {
  size_t bytes = array->dtype.elem_len;
  for (int i = 0; i < array->dtype.rank; i++) bytes *= (size_t)array->dim[i].ub;
  return bytes;
}

/* As `describe`, of few instructions for an array of rank 1. [out] bytes: of the array. */
static inline bool describe_any(struct caf_desc *to, const struct caf_desc *array, size_t *bytes) {
  const struct caf_dim *const d = &array->dim[0];
  const ptrdiff_t n = d->ub - d->lb + 1;
  if (array->dtype.rank != 1 || array->span != (ptrdiff_t)array->dtype.elem_len || d->stride != 1 ||
      n <= 0) {
    const bool together = describe(to, array);
    *bytes = bytes_of(to);
    return together;
  }
  caf_desc_copy_head(to, array);
  to->offset = (size_t)-1;
  to->dim[0] = (struct caf_dim){1, 1, n};
  *bytes = (size_t)n * array->dtype.elem_len;
  return true;
}

/* Copies the result of an accessor that did not put it into its room. Returns false where its shape
 * is another one. */
static bool take(const struct caf_desc *result, void *room, size_t bytes) {
  struct caf_section s;
  if (!result->base) return false;
  caf_section_of(&s, result, result->base, NULL);
  if (caf_section_elements(&s) * s.elem_len != bytes) return false;
  caf_section_pack(&s, room);
  return true;
}

bool caf_here_get(const struct caf_selector *object, const struct caf_desc *variable,
                  const struct caf_lengths *of, bool with_stat) {
  struct caf_here here;
  if (!caf_find_here(&here, object, CAF_ATTACH_READ, with_stat)) return false;
  _Alignas(16) char few[FEW_BYTES];
  struct caf_desc result;
  struct caf_section into;
  int32_t owned = 0;
  bool done = true;
  size_t bytes;
  const bool together = describe_any(&result, variable, &bytes);
  if (!together && bytes > sizeof few) return false;
  void *const room = result.base = together ? variable->base : few;
  caf_count_bytes(bytes);
  fill(&here, of, &result, &owned);
  if (result.base != room) {
    done = take(&result, room, bytes);
    if (owned) free(result.base);
  }
  if (together || !done) return done;
  caf_section_of(&into, variable, variable->base, NULL);
  caf_section_unpack(&into, room);
  return true;
}

bool caf_here_put(const struct caf_selector *object, const struct caf_desc *variable,
                  const struct caf_lengths *of, bool with_stat) {
  struct caf_here here;
  if (!caf_find_here(&here, object, CAF_ATTACH_WRITE, with_stat)) return false;
  _Alignas(16) char few[FEW_BYTES];
  struct caf_desc data;
  struct caf_section from;
  if (!describe(&data, variable)) {
    if (bytes_of(&data) > sizeof few) return false;
    caf_section_of(&from, variable, variable->base, NULL);
    caf_section_pack(&from, few);
    data.base = few;
  }
  set(&here, of, &data);
  return true;
}

/* Whether a put of an element writes all of its bytes. */
static bool is_one_value(const struct caf_token *t) {
  return t->elem_type == CAF_INTEGER || t->elem_type == CAF_LOGICAL || t->elem_type == CAF_REAL ||
         t->elem_type == CAF_CHARACTER;
}

bool caf_here_put_attached(const struct caf_selector *object, const void *data,
                           const struct caf_desc *array, const struct caf_lengths *of) {
  CAF_INSIDE;
  struct caf_here here;
  uint32_t rank;
  size_t count = 1;
  const struct caf_token *t = object->token;
  if (!find(&here, object, 0, &rank) || !here.accessor->trials.direct) return false;
  if (!caf_attached(rank, CAF_ATTACH_WRITE) || (array && !caf_here_takes(array))) return false;
  for (int i = 0; array && i < array->dtype.rank; i++)
    count *= (size_t)(array->dim[i].ub - array->dim[i].lb + 1);
  if (!is_one_value(t) || count * t->elem_bytes != t->bytes) return false;
  if ((uintptr_t)here.base != t->here[rank]) return false;
  set(&here, of, data);
  const struct caf_section all = {.base = (char *)t->addr[rank], .elem_len = t->bytes};
  caf_attach_post(rank, &all, CAF_ATTACH_WRITE);
  return true;
}

/* Finds both objects of a transfer. */
static inline __attribute__((always_inline)) bool find_both(struct caf_here *target,
                                                            const struct caf_selector *to,
                                                            struct caf_here *source,
                                                            const struct caf_selector *from) {
  return caf_find_here(source, from, CAF_ATTACH_READ, false) &&
         caf_find_here(target, to, CAF_ATTACH_WRITE, false);
}

bool caf_here_copy(const struct caf_selector *to, const struct caf_selector *from) {
  struct caf_here source, target;
  if (!find_both(&target, to, &source, from)) return false;
  static const struct caf_desc none;
  struct caf_desc result, data;
  int32_t owned = 0;
  caf_desc_copy_head(&result, &none);
  fill(&source, NULL, &result, &owned);
  const bool ready = result.base && caf_here_takes(&result);
  const bool found = ready || (result.base && describe(&data, &result));
  if (found) caf_here_set(&target, ready ? &result : &data);
  if (owned) free(result.base);
  return found;
}

bool caf_here_move(const struct caf_selector *to, const struct caf_selector *from) {
  struct caf_here source, target;
  return find_both(&target, to, &source, from) && caf_here_pass(&target, &source);
}
