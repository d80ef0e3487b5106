/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vector subscripts of coindexed objects, as the compiler passes them.
 *
 * Owns nothing beyond a call. Called by transfer.c. Calls: section.c. Invariants: for
 * a vector that is a section itself, such as v(4:1:-1), gfortran 11 and 12 pass the address of its
 * first element and, as its length, the length divided by its stride, and no stride. The other side
 * of the assignment gives the length; where the stride follows from both, the vector is gathered,
 * else the assignment is refused.
 */
#include "section.h"

#include <stdlib.h>
#include <string.h>

static size_t elements_of(const struct caf_desc *d) {
  size_t n = 1;
  for (int i = 0; i < d->dtype.rank; i++) {
    const ptrdiff_t count = d->dim[i].ub - d->dim[i].lb + 1;
    n *= count > 0 ? (size_t)count : 0;
  }
  return n;
}

/* The stride of a vector of `count` elements whose length was divided by it; 0: it is not known. */
static ptrdiff_t stride_of(size_t count, ptrdiff_t divided) {
  const size_t length = (size_t)(divided < 0 ? -divided : divided);
  ptrdiff_t stride = 0;
  for (size_t s = 1; length && s <= count; s++) {
    if (count / s != length) continue;
    if (stride) return 0;
    stride = divided < 0 ? -(ptrdiff_t)s : (ptrdiff_t)s;
  }
  return stride;
}

/* Gather a vector of `count` elements with a stride into memory of its own. */
static bool gather(struct caf_vector *v, size_t count, ptrdiff_t stride) {
  int64_t *all = malloc((count + 1) * sizeof *all);
  for (size_t i = 0; all && i < count; i++)
    all[i] = caf_vector_at(v->u.v.vector, v->u.v.kind, (ptrdiff_t)i * stride);
  v->nvec = count;
  v->u.v.vector = all;
  v->u.v.kind = 8;
  return all != NULL;
}

/* Put the lengths of vectors right. want: elements of the other side. Returns the dimension whose
 * vector was gathered, -1: none had to be, -2: it cannot be done. */
static int mend(struct caf_vector *v, const struct caf_desc *object, size_t want) {
  size_t have = 1, others = 1;
  int at = -1, vectors = 0;
  for (int d = 0; d < object->dtype.rank; d++) {
    const size_t n = v[d].nvec ? v[d].nvec : caf_triplet_count(&v[d]);
    have *= n;
    if (v[d].nvec) {
      vectors++;
      at = d;
    } else {
      others *= n;
    }
  }
  if (have == want || vectors == 0) return -1;
  if (vectors > 1 || others == 0 || want % others) return -2;
  const ptrdiff_t stride = stride_of(want / others, (ptrdiff_t)v[at].nvec);
  return stride && gather(&v[at], want / others, stride) ? at : -2;
}

bool caf_remote_section(struct caf_section *s, const struct caf_remote_object *object,
                        const struct caf_desc *other, const struct caf_status *to) {
  const int rank = object->desc->dtype.rank;
  struct caf_vector vector[CAF_RANK_MAX];
  int gathered = -1;
  if (!object->vector) {
    caf_section_of(s, object->desc, object->base, NULL);
    return true;
  }
  if (other && other->dtype.rank > 0 && elements_of(other) == 0) {
    caf_section_of(s, object->desc, object->base, NULL);
    if (rank > 0) s->count[0] = 0;
    return true;
  }
  memcpy(vector, object->vector, (size_t)rank * sizeof vector[0]);
  if (other && other->dtype.rank > 0) gathered = mend(vector, object->desc, elements_of(other));
  for (int d = 0; d < rank; d++)
    if ((ptrdiff_t)vector[d].nvec < 0) gathered = -2;
  if (gathered == -2) {
    caf_fail(
        to, CAF_STAT_ERROR,
        "the compiler does not pass the stride of a vector subscript that is an array section "
        "itself, as gfortran 11 and 12 do not: assign it to an array, and take that [TMB-2022]");
    return false;
  }
  caf_section_of(s, object->desc, object->base, vector);
  if (gathered >= 0) free(vector[gathered].u.v.vector);
  return true;
}
