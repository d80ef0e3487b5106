/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided put and get: prif_get_strided, prif_put_strided, their indirect forms, and strided puts
 * with notification.
 *
 * Owns nothing. Called by programs. Calls: assignments of sections of coarray/. Invariants:
 * elements lie at the place plus the sum of i[d] * stride[d], 0 <= i[d] < extent[d], strides in
 * bytes, of any sign; the first dimension varies fastest. A stride of 0 reads one element again and
 * again; where it is written, the last value stays. All bytes are checked before any moves.
 */
#include "access/contiguous.h"

#include "sync/post.h"

/* The arguments of a call. */
struct shape {
  const struct prif_desc *remote_stride, *local_stride, *extent;
  void *buffer;
  size_t element_size;
};
#define SHAPE                                                                               \
 (&(const struct shape){remote_stride, current_image_stride, extent, *current_image_buffer, \
                        *element_size})

/* The pieces of a transfer's two sides, with the dimensions that have more than one element. */
struct pieces {
  struct caf_section remote, local; /* of equal counts */
  struct prif_span span;            /* of the remote side */
  ptrdiff_t skip;                   /* of the source, to the values that stay */
  bool empty;
};

static size_t extent_at(const struct shape *s, size_t d) {
  return *(const size_t *)prif_desc_at(s->extent, d);
}

static ptrdiff_t stride_at(const struct prif_desc *strides, size_t d) {
  return *(const ptrdiff_t *)prif_desc_at(strides, d);
}

static bool check_ranks(const struct shape *s, const struct prif_status *to) {
  const size_t rank = prif_desc_count(s->extent), remote = prif_desc_count(s->remote_stride),
               local = prif_desc_count(s->local_stride);
  if (rank == remote && rank == local && rank <= CAF_RANK_MAX) return true;
  prif_fail(
      to, PRIF_STAT_ERROR,
      "%s: sizes of extent, remote_stride and current_image_stride: %zu, %zu and %zu; they must "
      "be the same, at most %d [TMB-2230]",
      caf.statement.call, rank, remote, local, CAF_RANK_MAX);
  return false;
}

/* Adds the bytes of a dimension of the remote side to the span. Returns false when they are more
 * than any memory has. */
static bool widen(struct prif_span *span, size_t extent, ptrdiff_t stride) {
  ptrdiff_t reach;
  if (extent - 1 > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)(extent - 1), stride, &reach))
    return false;
  ptrdiff_t *end = reach < 0 ? &span->low : &span->high;
  return !__builtin_add_overflow(*end, reach, end);
}

static void add_level(struct caf_section *s, size_t count, ptrdiff_t stride) {
  s->count[s->levels] = count;
  s->stride[s->levels++] = stride;
}

/* The innermost dimensions that continue the element on both sides become part of it. */
static void join(struct pieces *p) {
  struct caf_section *r = &p->remote, *l = &p->local;
  unsigned d = 0;
  while (d < r->levels && r->stride[d] == (ptrdiff_t)r->elem_len && l->stride[d] == r->stride[d]) {
    r->elem_len *= r->count[d++];
    l->elem_len = r->elem_len;
  }
  r->levels -= d;
  l->levels -= d;
  for (unsigned i = 0; d && i < r->levels; i++) {
    r->count[i] = l->count[i] = r->count[i + d];
    r->stride[i] = r->stride[i + d];
    l->stride[i] = l->stride[i + d];
  }
}

/* Reads the arguments. into_remote: the remote side is written. Returns false after prif_fail. */
static bool read_shape(struct pieces *p, const struct shape *s, bool into_remote,
                       const struct prif_status *to) {
  if (!check_ranks(s, to)) return false;
  const size_t rank = prif_desc_count(s->extent);
  p->span = (struct prif_span){0, (ptrdiff_t)s->element_size};
  p->empty = s->element_size == 0;
  p->remote = p->local = (struct caf_section){.elem_len = s->element_size};
  for (size_t d = 0; d < rank; d++) p->empty = p->empty || extent_at(s, d) == 0;
  if (p->empty) p->span.high = 0;
  p->skip = 0;
  for (size_t d = 0; d < rank && !p->empty; d++) {
    const size_t extent = extent_at(s, d);
    const ptrdiff_t remote = stride_at(s->remote_stride, d), local = stride_at(s->local_stride, d);
    if (extent == 1) continue;
    if (!widen(&p->span, extent, remote)) {
      prif_fail(to, PRIF_STAT_ERROR,
                "%s: extent(%zu)=%zu and remote_stride(%zu)=%td: more bytes than any memory has "
                "[TMB-2229]",
                caf.statement.call, d + 1, extent, d + 1, remote);
      return false;
    }
    if ((into_remote ? remote : local) == 0) {
      p->skip += (ptrdiff_t)(extent - 1) * (into_remote ? local : remote);
      continue;
    }
    add_level(&p->remote, extent, remote);
    add_level(&p->local, extent, local);
  }
  join(p);
  return true;
}

/* Finds both sides. Returns false after prif_fail. */
static bool find(struct pieces *p, struct prif_place *place, const struct prif_where *where,
                 const struct shape *s, bool into_remote, const struct prif_status *to) {
  if (!read_shape(p, s, into_remote, to)) return false;
  const size_t bytes = p->empty ? 0 : p->remote.elem_len;
  if (!prif_find_slow(place, where, p->span, to) || !prif_has_buffer(s->buffer, bytes, to))
    return false;
  if (!into_remote) place->at += p->skip;
  p->remote.base = place->at;
  p->local.base = p->empty ? NULL : (char *)s->buffer + (into_remote ? p->skip : 0);
  return true;
}

static struct caf_elem elem_of(const struct pieces *p) {
  return (struct caf_elem){CAF_DERIVED, 0, p->remote.elem_len};
}

static void get(const struct prif_where *where, const struct shape *s,
                const struct prif_status *to) {
  struct pieces p;
  struct prif_place place;
  if (!find(&p, &place, where, s, false, to)) return;
  const struct caf_elem elem = elem_of(&p);
  if (!p.empty && p.remote.levels == 0)
    prif_get_bytes(&place, p.local.base, elem.len);
  else if (!p.empty)
    caf_assign_local(&p.local, &elem, place.rank, &p.remote, &elem);
  prif_finish(place.rank, to);
}

static void move_out(const struct pieces *p, const struct prif_place *place) {
  const struct caf_elem elem = elem_of(p);
  if (!p->empty && p->remote.levels == 0)
    prif_put_bytes(place, p->local.base, elem.len);
  else if (!p->empty)
    caf_assign_remote(place->rank, &p->remote, &elem, &p->local, &elem);
}

static void put(const struct prif_where *where, const struct shape *s,
                const struct prif_status *to) {
  struct pieces p;
  struct prif_place place;
  if (!find(&p, &place, where, s, true, to)) return;
  move_out(&p, &place);
  prif_finish(place.rank, to);
}

static void put_with(const struct prif_where *where, const struct shape *s,
                     const struct prif_where *notify, const struct prif_status *to) {
  struct pieces p;
  struct prif_place place, count;
  if (!find(&p, &place, where, s, true, to) || !prif_find_word(&count, notify, to)) return;
  if (p.empty || p.remote.levels == 0) {
    prif_put_notify(&place, p.local.base, p.empty ? 0 : p.remote.elem_len, count.at);
  } else {
    move_out(&p, &place);
    if (!caf_is_near(place.rank)) caf_complete(); /* the data are visible before the count */
    caf_post(place.rank, count.at);
  }
  prif_finish(place.rank, to);
}

void PRIF(get_strided)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_get_strided");
  get(PRIF_WHERE, SHAPE, PRIF_TO);
}

void PRIF(put_strided)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided");
  put(PRIF_WHERE, SHAPE, PRIF_TO);
}

void PRIF(get_strided_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_get_strided_indirect");
  get(PRIF_WHERE_AT(remote_ptr), SHAPE, PRIF_TO);
}

void PRIF(put_strided_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided_indirect");
  put(PRIF_WHERE_AT(remote_ptr), SHAPE, PRIF_TO);
}

void PRIF(put_strided_with_notify)(PRIF_VARIABLE, PRIF_STRIDES, PRIF_NOTIFY, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided_with_notify");
  put_with(PRIF_WHERE, SHAPE, PRIF_WHERE_NOTIFY, PRIF_TO);
}

void PRIF(put_strided_with_notify_indirect)(PRIF_VARIABLE, PRIF_STRIDES, const intptr_t *notify_ptr,
                                            PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided_with_notify_indirect");
  put_with(PRIF_WHERE, SHAPE, PRIF_WHERE_AT(notify_ptr), PRIF_TO);
}

void PRIF(put_strided_indirect_with_notify)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES, PRIF_NOTIFY,
                                            PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided_indirect_with_notify");
  put_with(PRIF_WHERE_AT(remote_ptr), SHAPE, PRIF_WHERE_NOTIFY, PRIF_TO);
}

void PRIF(put_strided_indirect_with_notify_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_STRIDES,
                                                     const intptr_t *notify_ptr, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_strided_indirect_with_notify_indirect");
  put_with(PRIF_WHERE_AT(remote_ptr), SHAPE, PRIF_WHERE_AT(notify_ptr), PRIF_TO);
}
