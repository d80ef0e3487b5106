/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignments by reference: coindexed objects with components, such as x[2]%a(2:3)%b.
 *
 * Owns nothing beyond a call. Called by compiled programs. Calls: gets of the remote pointers and
 * descriptors in between, section.c for the data. Invariants: a reference is walked from the base
 * of the coarray; an allocatable or pointer component is followed by reading its pointer, or its
 * descriptor, from the remote object; at the end stands a section, whose addresses are the owner's.
 */
#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

CAF_EXPORT void CAF(get_by_ref)(void *token, int image, struct caf_desc *dst, struct caf_ref *refs,
                                int dst_kind, int src_kind, bool may_need_tmp, bool dst_realloc,
                                int *stat, int src_type);
CAF_EXPORT void CAF(send_by_ref)(void *token, int image, struct caf_desc *src, struct caf_ref *refs,
                                 int dst_kind, int src_kind, bool may_need_tmp, bool dst_realloc,
                                 int *stat, int dst_type);
CAF_EXPORT void CAF(sendget_by_ref)(void *dst_token, int dst_image, struct caf_ref *dst_refs,
                                    void *src_token, int src_image, struct caf_ref *src_refs,
                                    int dst_kind, int src_kind, bool may_need_tmp, int *dst_stat,
                                    int *src_stat, int dst_type, int src_type);
CAF_EXPORT int CAF(is_present)(void *token, int image, struct caf_ref *refs);

/* Where a walk stands. */
struct walk {
  uint32_t rank;
  struct caf_section s;        /* addresses of the owner */
  struct caf_desc desc;        /* of the array that the next step selects from */
  const struct caf_status *to; /* NULL: the caller only asks */
};

static void read_remote(const struct walk *w, void *to, const void *from, size_t bytes) {
  caf_get(to, w->rank, from, bytes, w->s.flags);
}

/* Follow an allocatable or pointer component. Returns false when it is not there. */
static bool follow(struct walk *w, const struct caf_ref *ref) {
  void *target = NULL;
  if (ref->next && ref->next->type == CAF_REF_ARRAY) {
    read_remote(w, &w->desc, w->s.base, offsetof(struct caf_desc, dim));
    if (w->desc.base && w->desc.dtype.rank > 0 && w->desc.dtype.rank <= CAF_RANK_MAX)
      read_remote(w, w->desc.dim, w->s.base + offsetof(struct caf_desc, dim),
                  (size_t)w->desc.dtype.rank * sizeof w->desc.dim[0]);
    target = w->desc.base;
  } else {
    read_remote(w, &target, w->s.base, sizeof target);
  }
  w->s.base = target;
  w->s.flags = CAF_ANYWHERE;
  return target != NULL;
}

/* Subscripts of one dimension, counted from its first element, times `unit` bytes. */
struct range {
  ptrdiff_t start, end, stride, unit;
};

static void select_range(struct walk *w, const struct range *r) {
  struct caf_section *s = &w->s;
  const ptrdiff_t step = r->stride ? r->stride : 1;
  const ptrdiff_t n = (r->end - r->start) / step + 1;
  const bool empty = step > 0 ? r->end < r->start : r->end > r->start;
  s->base += r->start * r->unit;
  s->count[s->levels] = empty || n < 0 ? 0 : (size_t)n;
  s->stride[s->levels] = step * r->unit;
  s->index[s->levels++] = NULL;
}

static void select_vector(struct walk *w, const struct caf_ref *ref, int d, ptrdiff_t first,
                          ptrdiff_t unit) {
  struct caf_section *s = &w->s;
  const size_t n = ref->u.a.dim[d].v.nvec;
  ptrdiff_t *index = malloc((n + 1) * sizeof *index);
  for (size_t i = 0; index && i < n; i++)
    index[i] =
        (caf_vector_at(ref->u.a.dim[d].v.vector, ref->u.a.dim[d].v.kind, (ptrdiff_t)i) - first) *
        unit;
  s->count[s->levels] = index ? n : 0;
  s->stride[s->levels] = 0;
  s->index[s->levels++] = index;
  s->indexed = true;
}

/* An array of the derived type itself: subscripts are counted from 0 in elements of the array. */
static void select_static(struct walk *w, const struct caf_ref *ref) {
  const ptrdiff_t unit = (ptrdiff_t)ref->item_size;
  for (int d = 0; d < CAF_RANK_MAX && ref->u.a.mode[d] != CAF_MODE_NONE; d++) {
    if (ref->u.a.mode[d] == CAF_MODE_SINGLE) {
      w->s.base += ref->u.a.dim[d].s.start * unit;
    } else if (ref->u.a.mode[d] == CAF_MODE_VECTOR) {
      select_vector(w, ref, d, 0, unit);
    } else {
      const struct range r = {ref->u.a.dim[d].s.start, ref->u.a.dim[d].s.end,
                              ref->u.a.dim[d].s.stride, unit};
      select_range(w, &r);
    }
  }
}

/* An array with a descriptor: subscripts are those of the program. */
static void select_described(struct walk *w, const struct caf_ref *ref) {
  const ptrdiff_t len = (ptrdiff_t)ref->item_size;
  const ptrdiff_t size =
      w->desc.span < len ? len : w->desc.span; /* the span may be unset: span.c */
  for (int d = 0; d < CAF_RANK_MAX && ref->u.a.mode[d] != CAF_MODE_NONE; d++) {
    const struct caf_dim *dim = &w->desc.dim[d];
    const ptrdiff_t unit = dim->stride * size;
    const unsigned char mode = ref->u.a.mode[d];
    if (mode == CAF_MODE_SINGLE) {
      w->s.base += (ref->u.a.dim[d].s.start - dim->lb) * unit;
      continue;
    }
    if (mode == CAF_MODE_VECTOR) {
      select_vector(w, ref, d, dim->lb, unit);
      continue;
    }
    struct range r = {ref->u.a.dim[d].s.start - dim->lb, ref->u.a.dim[d].s.end - dim->lb,
                      ref->u.a.dim[d].s.stride, unit};
    if (mode == CAF_MODE_FULL || mode == CAF_MODE_OPEN_START)
      r.start = r.stride < 0 ? dim->ub - dim->lb : 0;
    if (mode == CAF_MODE_FULL || mode == CAF_MODE_OPEN_END)
      r.end = r.stride < 0 ? 0 : dim->ub - dim->lb;
    select_range(w, &r);
  }
}

/* Walk a reference from the base of the coarray. Returns false when something in between is not
 * allocated or associated. */
static bool walk_refs(struct walk *w, const struct caf_token *token, const struct caf_ref *refs) {
  w->s = (struct caf_section){.base = (char *)token->addr[w->rank]};
  if (refs && refs->type == CAF_REF_ARRAY && token->desc) {
    const size_t dims = (size_t)token->desc->dtype.rank * sizeof w->desc.dim[0];
    memcpy(&w->desc, token->desc, offsetof(struct caf_desc, dim) + dims);
  }
  for (const struct caf_ref *r = refs; r; r = r->next) {
    w->s.elem_len = r->item_size;
    if (r->type == CAF_REF_STATIC_ARRAY) {
      select_static(w, r);
    } else if (r->type == CAF_REF_ARRAY) {
      select_described(w, r);
    } else {
      w->s.base += r->u.c.offset;
      if (r->u.c.token_offset > 0 && !follow(w, r)) return false;
    }
  }
  return true;
}

/* The section that a reference names on an image. Returns false after caf_fail. */
static bool resolve(struct walk *w, const struct caf_token *token, int image,
                    const struct caf_ref *refs) {
  w->rank = caf_rank_there(token, image, w->to);
  if (w->rank == UINT32_MAX || !caf_address(token, 0, 0, w->rank, w->to)) return false;
  if (walk_refs(w, token, refs)) return true;
  caf_section_free(&w->s);
  caf_fail(
      w->to, CAF_STAT_ERROR,
      "a component of a coindexed object on image %d is not allocated or associated [TMB-2021]",
      image);
  return false;
}

/* Give an allocatable variable of this image the shape of a section. Returns false without memory.
 */
static bool reallocate(struct caf_desc *dst, const struct caf_section *s) {
  bool same = dst->base != NULL;
  size_t elements = 1;
  for (unsigned d = 0; d < s->levels; d++) {
    if (dst->dim[d].ub - dst->dim[d].lb + 1 != (ptrdiff_t)s->count[d]) same = false;
    elements *= s->count[d];
  }
  if (same) return true;
  const size_t len = dst->dtype.elem_len ? dst->dtype.elem_len : s->elem_len;
  void *memory = realloc(dst->base, elements * len + 1);
  if (!memory) return false;
  dst->base = memory;
  dst->span = (ptrdiff_t)len;
  dst->dtype.elem_len = len;
  ptrdiff_t stride = 1;
  dst->offset = 0;
  for (unsigned d = 0; d < s->levels; d++) {
    dst->dim[d] = (struct caf_dim){stride, 1, (ptrdiff_t)s->count[d]};
    dst->offset -= (size_t)stride;
    stride *= (ptrdiff_t)s->count[d];
  }
  return true;
}

void CAF(get_by_ref)(void *token, int image, struct caf_desc *dst, struct caf_ref *refs,
                     int dst_kind, int src_kind, bool may_need_tmp, bool dst_realloc, int *stat,
                     int src_type) {
  CAF_STATEMENT("get");
  (void)may_need_tmp;
  const struct caf_status to = {.stat = stat};
  struct walk w = {.to = &to};
  if (!resolve(&w, token, image, refs)) return;
  /* gfortran 11 to 14 do not ask for this where the left side is a component */
  const bool allocates = (dst_realloc || !dst->base) && w.s.levels > 0;
  if (allocates && !reallocate(dst, &w.s)) {
    caf_section_free(&w.s);
    caf_fail(&to, CAF_STAT_ERROR,
             "out of memory for an assignment to an allocatable variable [TMB-0001]");
    return;
  }
  struct caf_section into;
  caf_section_of(&into, dst, dst->base, NULL);
  const size_t have = caf_section_elements(&w.s), room = caf_section_elements(&into);
  if (w.s.levels > 0 && have != room) {
    caf_section_free(&w.s);
    caf_fail(&to, CAF_STAT_ERROR,
             "%zu values of a coindexed object are assigned to %zu elements: gfortran does not "
             "allocate a component on the left again: deallocate it first [TMB-2068]",
             have, room);
    return;
  }
  const struct caf_elem into_elem = {dst->dtype.type, dst_kind, dst->dtype.elem_len};
  const struct caf_elem from_elem = {src_type, src_kind, w.s.elem_len};
  caf_assign_local(&into, &into_elem, w.rank, &w.s, &from_elem);
  caf_section_free(&w.s);
  caf_ok(stat);
}

void CAF(send_by_ref)(void *token, int image, struct caf_desc *src, struct caf_ref *refs,
                      int dst_kind, int src_kind, bool may_need_tmp, bool dst_realloc, int *stat,
                      int dst_type) {
  CAF_STATEMENT("put");
  (void)may_need_tmp;
  (void)dst_realloc; /* the shape of a coindexed variable may not change (F2018 10.2.1.2) */
  const struct caf_status to = {.stat = stat};
  struct walk w = {.to = &to};
  if (!resolve(&w, token, image, refs)) return;
  struct caf_section from;
  caf_section_of(&from, src, src->base, NULL);
  const struct caf_elem from_elem = {src->dtype.type, src_kind, src->dtype.elem_len};
  const struct caf_elem into_elem = {dst_type, dst_kind, w.s.elem_len};
  const size_t have = caf_section_elements(&from), want = caf_section_elements(&w.s);
  if (from.levels > 0 && have != want)
    caf_fail(&to, CAF_STAT_ERROR,
             "%zu values are assigned to %zu elements of a coindexed variable, which keeps its "
             "shape [TMB-2020]",
             have, want);
  else
    caf_assign_remote(w.rank, &w.s, &into_elem, &from, &from_elem);
  caf_section_free(&w.s);
  if (from.levels == 0 || have == want) caf_ok(stat);
}

void CAF(sendget_by_ref)(void *dst_token, int dst_image, struct caf_ref *dst_refs, void *src_token,
                         int src_image, struct caf_ref *src_refs, int dst_kind, int src_kind,
                         bool may_need_tmp, int *dst_stat, int *src_stat, int dst_type,
                         int src_type) {
  CAF_STATEMENT("put");
  (void)may_need_tmp;
  const struct caf_status dst_to = {.stat = dst_stat}, src_to = {.stat = src_stat};
  struct walk into = {.to = &dst_to}, from = {.to = &src_to};
  if (!resolve(&from, src_token, src_image, src_refs)) return;
  if (resolve(&into, dst_token, dst_image, dst_refs)) {
    const struct caf_elem into_elem = {dst_type, dst_kind, into.s.elem_len};
    const struct caf_elem from_elem = {src_type, src_kind, from.s.elem_len};
    caf_relay(into.rank, &into.s, &into_elem, from.rank, &from.s, &from_elem);
    caf_section_free(&into.s);
    caf_ok(dst_stat);
    caf_ok(src_stat);
  }
  caf_section_free(&from.s);
}

int CAF(is_present)(void *token, int image, struct caf_ref *refs) {
  const struct caf_status none = {0};
  struct walk w = {.rank = caf_rank(image, &none), .to = NULL};
  const struct caf_token *t = token;
  if (!t || w.rank >= t->ranks || !t->addr[w.rank]) return 0;
  const bool there = walk_refs(&w, t, refs);
  caf_section_free(&w.s);
  return there;
}
