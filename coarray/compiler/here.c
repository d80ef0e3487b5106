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

void caf_here_poll(void) {
  CAF_INSIDE;
  caf_poll();
}

/* Calls the accessor of an array. [in,out] result: its base, NULL: none, has room for an array of
 * its shape, and is not changed where the elements were put there. */
static void fill(const struct caf_here *h, struct caf_desc *result, int32_t *owned) {
  struct caf_here_call c;
  void *const place = caf_here_prepare(&c, h);
  ((caf_array_getter *)h->accessor->function)(h->add, &c.image, result, owned, place, &c.token, 0,
                                              &c.chars, NULL);
}

/* Bytes of an array that `describe` has described. */
static size_t bytes_of(const struct caf_desc *array) {
  size_t bytes = array->dtype.elem_len;
  for (int i = 0; i < array->dtype.rank; i++) bytes *= (size_t)array->dim[i].ub;
  return bytes;
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

bool caf_here_get(const struct caf_selector *object, const struct caf_desc *variable) {
  struct caf_here here;
  if (!caf_find_here(&here, object, CAF_ATTACH_READ)) return false;
  _Alignas(16) char few[FEW_BYTES];
  struct caf_desc result;
  struct caf_section into;
  int32_t owned = 0;
  bool done = true;
  const bool together = describe(&result, variable);
  const size_t bytes = bytes_of(&result);
  if (!together && bytes > sizeof few) return false;
  void *const room = result.base = together ? variable->base : few;
  fill(&here, &result, &owned);
  if (result.base != room) {
    done = take(&result, room, bytes);
    if (owned) free(result.base);
  }
  if (together || !done) return done;
  caf_section_of(&into, variable, variable->base, NULL);
  caf_section_unpack(&into, room);
  return true;
}

bool caf_here_put(const struct caf_selector *object, const struct caf_desc *variable) {
  struct caf_here here;
  if (!caf_find_here(&here, object, CAF_ATTACH_WRITE)) return false;
  _Alignas(16) char few[FEW_BYTES];
  struct caf_desc data;
  struct caf_section from;
  if (!describe(&data, variable)) {
    if (bytes_of(&data) > sizeof few) return false;
    caf_section_of(&from, variable, variable->base, NULL);
    caf_section_pack(&from, few);
    data.base = few;
  }
  caf_here_set(&here, &data);
  return true;
}

bool caf_here_copy(const struct caf_selector *to, const struct caf_selector *from, bool scalar) {
  struct caf_here source, target;
  if (!caf_find_here(&source, from, CAF_ATTACH_READ)) return false;
  if (!caf_find_here(&target, to, CAF_ATTACH_WRITE)) return false;
  struct caf_desc result, data;
  int32_t owned = 0;
  bool found;
  if (scalar) {
    result.base = caf_here_find(&source, &owned);
    found = result.base != NULL;
  } else {
    static const struct caf_desc none;
    caf_desc_copy_head(&result, &none);
    fill(&source, &result, &owned);
    found = result.base && describe(&data, &result);
  }
  if (found) caf_here_set(&target, scalar ? result.base : &data);
  if (owned) free(result.base);
  return found;
}
