/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Array sections: from the compiler's descriptors to counts and strides, and walks over them.
 *
 * Owns nothing beyond a call. Called by the transfers, by ref.c and collective.c. Calls: pending.c,
 * for the accesses that the range of a section has to wait for. Invariants: the first dimension
 * varies fastest.
 */
#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

void *caf_temporary(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (!memory) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]", bytes);
  }
  return memory;
}

ptrdiff_t caf_vector_at(const void *vector, int kind, ptrdiff_t i) {
  switch (kind) {
  case 1: return ((const int8_t *)vector)[i];
  case 2: return ((const int16_t *)vector)[i];
  case 4: return ((const int32_t *)vector)[i];
  case 8: return (ptrdiff_t)((const int64_t *)vector)[i];
  default: return (ptrdiff_t)((const __int128 *)vector)[i];
  }
}

/* An empty vector looks like a triplet of anything: an address, and words of the stack. */
static bool is_subscript(ptrdiff_t value) {
  return value > -((ptrdiff_t)1 << 40) && value < (ptrdiff_t)1 << 40;
}

size_t caf_triplet_count(const struct caf_vector *v) {
  const ptrdiff_t step = v->u.triplet.stride, lb = v->u.triplet.lb, ub = v->u.triplet.ub;
  if (step == 0 || !is_subscript(lb) || !is_subscript(ub) || !is_subscript(step)) return 0;
  const ptrdiff_t span = step > 0 ? ub - lb : lb - ub;
  return span < 0 ? 0 : (size_t)(span / (step > 0 ? step : -step)) + 1;
}

static void apply_vector(struct caf_section *s, unsigned d, const struct caf_vector *v,
                         const struct caf_dim *dim) {
  const ptrdiff_t unit = s->stride[d];
  if (v->nvec == 0) {
    s->count[d] = caf_triplet_count(v);
    if (s->count[d] == 0) return;
    s->base += (v->u.triplet.lb - dim->lb) * unit;
    s->stride[d] = v->u.triplet.stride * unit;
    return;
  }
  s->count[d] = v->nvec;
  s->index[d] = caf_temporary(v->nvec * sizeof *s->index[d]);
  for (size_t i = 0; i < v->nvec; i++)
    s->index[d][i] = (caf_vector_at(v->u.v.vector, v->u.v.kind, (ptrdiff_t)i) - dim->lb) * unit;
  s->indexed = true;
}

void caf_section_of(struct caf_section *s, const struct caf_desc *desc, char *base,
                    const struct caf_vector *vector) {
  s->base = base;
  s->elem_len = desc->dtype.elem_len;
  s->levels = (unsigned)desc->dtype.rank;
  s->indexed = false;
  s->flags = 0;
  const ptrdiff_t unit = caf_unit(desc, base);
  for (unsigned d = 0; d < s->levels; d++) {
    const ptrdiff_t n = desc->dim[d].ub - desc->dim[d].lb + 1;
    s->count[d] = n > 0 ? (size_t)n : 0;
    s->stride[d] = desc->dim[d].stride * unit;
    s->index[d] = NULL;
    if (vector) apply_vector(s, d, &vector[d], &desc->dim[d]);
  }
}

void caf_section_free(struct caf_section *s) {
  if (!s->indexed) return;
  for (unsigned d = 0; d < s->levels; d++) free(s->index[d]);
}

size_t caf_section_elements(const struct caf_section *s) {
  size_t n = 1;
  for (unsigned d = 0; d < s->levels; d++) n *= s->count[d];
  return n;
}

bool caf_section_contiguous(const struct caf_section *s) {
  ptrdiff_t next = (ptrdiff_t)s->elem_len;
  for (unsigned d = 0; d < s->levels; d++) {
    if (s->count[d] != 1 && (s->stride[d] != next || s->index[d])) return false;
    next *= (ptrdiff_t)s->count[d];
  }
  return !s->indexed;
}

/* Range of the bytes of a section that has elements. */
struct bounds {
  char *low, *high;
};

static struct bounds bounds_of(const struct caf_section *s) {
  struct bounds b = {s->base, s->base + s->elem_len};
  for (unsigned d = 0; d < s->levels; d++) {
    ptrdiff_t least = 0, most = (ptrdiff_t)(s->count[d] - 1) * s->stride[d];
    if (most < 0) {
      least = most;
      most = 0;
    }
    for (size_t i = 0; s->index[d] && i < s->count[d]; i++) {
      if (i == 0 || s->index[d][i] < least) least = s->index[d][i];
      if (i == 0 || s->index[d][i] > most) most = s->index[d][i];
    }
    b.low += least;
    b.high += most;
  }
  return b;
}

void caf_section_await(uint32_t rank, const struct caf_section *s) {
  if (!(caf.pending & CAF_UNDER_WAY)) {
    caf_await(rank, s->base, 1);
    return;
  }
  const struct bounds b = bounds_of(s);
  caf_await_slow(rank, b.low, (size_t)(b.high - b.low));
}

void caf_section_pending(uint32_t rank, const struct caf_section *s) {
  const struct bounds b = bounds_of(s);
  caf_pending_add(rank, b.low, (size_t)(b.high - b.low));
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Inlined with its `fn`: a loop over the first dimension within one over the others. */
ALWAYS_INLINE void walk(const struct caf_section *s, void (*fn)(void *arg, char *element),
                        void *arg) {
  size_t at[CAF_RANK_MAX] = {0};
  const size_t n = s->levels ? s->count[0] : 1;
  const ptrdiff_t stride = s->levels ? s->stride[0] : 0, *index = s->levels ? s->index[0] : NULL;
  if (caf_section_elements(s) == 0) return;
  for (;;) {
    char *p = s->base;
    for (unsigned d = 1; d < s->levels; d++)
      p += s->index[d] ? s->index[d][at[d]] : (ptrdiff_t)at[d] * s->stride[d];
    for (size_t i = 0; i < n; i++) fn(arg, p + (index ? index[i] : (ptrdiff_t)i * stride));
    unsigned d = 1;
    while (d < s->levels && ++at[d] == s->count[d]) at[d++] = 0;
    if (d >= s->levels) return;
  }
}

void caf_section_each(const struct caf_section *s, void (*fn)(void *arg, char *element),
                      void *arg) {
  walk(s, fn, arg);
}

struct pack {
  char *at;
  size_t len;
};

ALWAYS_INLINE void copy_element(struct pack *p, char *to, const char *from, size_t len) {
  memcpy(to, from, len);
  p->at += len;
}

static void pack_element(void *arg, char *element) {
  struct pack *p = arg;
  copy_element(p, p->at, element, p->len);
}

static void pack_element_8(void *arg, char *element) {
  struct pack *p = arg;
  copy_element(p, p->at, element, 8);
}

static void unpack_element(void *arg, char *element) {
  struct pack *p = arg;
  copy_element(p, element, p->at, p->len);
}

static void unpack_element_8(void *arg, char *element) {
  struct pack *p = arg;
  copy_element(p, element, p->at, 8);
}

void caf_section_pack(const struct caf_section *s, void *buffer) {
  struct pack p = {buffer, s->elem_len};
  if (s->elem_len == 8) /* an element of this size is copied inline */
    walk(s, pack_element_8, &p);
  else
    walk(s, pack_element, &p);
}

void caf_section_unpack(const struct caf_section *s, const void *buffer) {
  struct pack p = {(char *)(uintptr_t)buffer, s->elem_len};
  if (s->elem_len == 8)
    walk(s, unpack_element_8, &p);
  else
    walk(s, unpack_element, &p);
}
