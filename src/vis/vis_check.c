/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse checks of non-contiguous transfers, for debug clients.
 *
 * Owns nothing. Called by vis.c. Calls: core/check.h. Overlap: of lists exactly, by sorting the
 * destination; of strided destinations when some dimension or pair of dimensions meets itself; of
 * strided source and destination when their first elements meet or both are one piece. Invariants:
 * each function either returns or ends the process with one message; addresses are final, so
 * offsets have become addresses.
 */
#include "base/compiler.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "vis/vis.h"

#include <gasnet_vis.h>
#include <stdlib.h>

#define VIS_FLAGS                                                                             \
 (GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | \
  GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |              \
  GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |             \
  GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_NEVER_SELF |             \
  GEX_FLAG_PEER_NEVER_NBRHD)

static const char *side_name(const struct tmb_vis *v, unsigned side) {
  if (v->strided) return side == TMB_VIS_DST ? "dstaddr" : "srcaddr";
  return side == TMB_VIS_DST ? "dstlist" : "srclist";
}

void tmb_vis_check_call(const struct tmb_vis *v, bool blocking) {
  tmb_check_context_at(v->call);
  tmb_check_flags(v->call, v->flags, VIS_FLAGS);
  tmb_check_seg_flags(v->call, v->flags);
  if ((v->flags & GEX_FLAG_ENABLE_LEAF_LC) && (v->is_get || blocking))
    tmb_advise(TMB_ADVICE_FLAGS,
               "%s: argument flags is 0x%x: GEX_FLAG_ENABLE_LEAF_LC is for PutNB and PutNBI",
               v->call, v->flags);
  if (!v->completion.handler) return;
  if (v->is_get)
    tmb_fatal_nopos(
        "%s: peer completion handler %u is armed, which only a put takes; start the put "
        "first, or disarm with gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0)",
        v->call, v->completion.handler);
  if (v->flags & GEX_FLAG_IMMEDIATE)
    tmb_fatal_nopos("%s: argument flags is 0x%x: a put with an armed peer completion handler (%u) "
                    "must not be GEX_FLAG_IMMEDIATE",
                    v->call, v->flags, v->completion.handler);
}

void tmb_vis_check_totals(const struct tmb_vis *v, size_t dst, size_t src) {
  if (dst != src)
    tmb_fatal_nopos(
        "%s: arguments dstlist and srclist: %zu entries of %zu bytes in all against %zu "
        "entries of %zu bytes; both sides must have the same total",
        v->call, v->list[TMB_VIS_DST].count, dst, v->list[TMB_VIS_SRC].count, src);
}

/* ---- one contiguous piece */

static void check_piece(const struct tmb_vis *v, unsigned side, const void *addr, size_t nbytes) {
  if (side == tmb_vis_remote(v)) {
    if (!(v->flags & (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)))
      tmb_check_remote(v->call, side_name(v, side), v->tm, v->rank, addr, nbytes);
    return;
  }
  gex_Flags_t flags = v->flags;
  if ((flags & GEX_FLAG_SELF_SEG_OFFSET) || tmb_mk_device(v->tm->ep->segment))
    flags = (flags & ~GEX_FLAG_SELF_SEG_OFFSET) |
            GEX_FLAG_SELF_SEG_BOUND; /* offsets have become addresses */
  tmb_check_local_ep(
      &(struct tmb_local_range){v->call, side_name(v, side), v->tm->ep, addr, nbytes, flags});
}

/* Whether both sides are in this process's address space as they are. */
static bool is_self(const struct tmb_vis *v) {
  return tmb_jobrank(v->tm, v->rank) == tmb_job.rank;
}

/* ---- strided */

/* Whether steps of a and b lead to one place, or closer than an element. */
static bool meets(const struct tmb_vis_dim *a, const struct tmb_vis_dim *b) {
  const size_t da = (size_t)a->stride[TMB_VIS_DST], db = (size_t)b->stride[TMB_VIS_DST];
  return db % da == 0 && db / da < a->count;
}

static void check_dst_overlap(const struct tmb_vis *v) {
  const struct tmb_vis_shape *s = v->shape;
  for (uint32_t i = 0; i < s->levels; i++) {
    const ptrdiff_t stride = s->dim[i].stride[TMB_VIS_DST];
    if (stride < (ptrdiff_t)s->elem)
      tmb_fatal_nopos("%s: argument dststrides: destinations overlap: pieces of %zu bytes are %td "
                      "bytes apart",
                      v->call, s->elem, stride);
    for (uint32_t k = 0; k < s->levels; k++)
      if (k != i && meets(&s->dim[k], &s->dim[i]))
        tmb_fatal_nopos("%s: argument dststrides: destinations overlap: %zu steps of %td bytes "
                        "reach or pass one step of %td bytes",
                        v->call, s->dim[k].count - 1, s->dim[k].stride[TMB_VIS_DST], stride);
  }
}

static void check_strided(const struct tmb_vis *v) {
  for (unsigned side = 0; side < 2; side++) {
    ptrdiff_t low;
    size_t extent;
    tmb_vis_shape_hull(v->shape, side, &low, &extent);
    check_piece(v, side, v->base[side] ? v->base[side] + low : NULL, extent);
  }
  check_dst_overlap(v);
  if (v->flags & (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)) return;
  tmb_check_overlap(v->call, tmb_jobrank(v->tm, v->rank), v->base[TMB_VIS_DST],
                    v->base[TMB_VIS_SRC], v->shape->elem);
}

/* ---- lists */

struct span {
  uintptr_t start, end;
};

static int by_start(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

/* The destination in order of addresses; the caller frees. out count: pieces that are not empty. */
static struct span *sorted_dst(const struct tmb_vis *v, size_t *count) {
  const struct tmb_vis_list *dst = &v->list[TMB_VIS_DST];
  struct span *spans = malloc(dst->count * sizeof *spans);
  if (!spans) tmb_fatal("out of memory for checking %zu destinations", dst->count);
  *count = 0;
  for (size_t i = 0; i < dst->count; i++) {
    const uintptr_t start = (uintptr_t)tmb_vis_addr(dst, i);
    if (tmb_vis_len(dst, i)) spans[(*count)++] = (struct span){start, start + tmb_vis_len(dst, i)};
  }
  qsort(spans, *count, sizeof *spans, by_start);
  return spans;
}

/* First span that ends after `start`. */
static size_t find(const struct span *spans, size_t count, uintptr_t start) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (spans[middle].end > start)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void check_list_overlap(const struct tmb_vis *v) {
  size_t count;
  struct span *spans = sorted_dst(v, &count);
  for (size_t i = 1; i < count; i++)
    if (spans[i].start < spans[i - 1].end)
      tmb_fatal_nopos(
          "%s: argument dstlist: destinations overlap: %zu bytes at %p and %zu bytes at "
          "%p",
          v->call, (size_t)(spans[i - 1].end - spans[i - 1].start), (void *)spans[i - 1].start,
          (size_t)(spans[i].end - spans[i].start), (void *)spans[i].start);
  const struct tmb_vis_list *src = &v->list[TMB_VIS_SRC];
  for (size_t i = 0; is_self(v) && i < src->count; i++) {
    const uintptr_t start = (uintptr_t)tmb_vis_addr(src, i), end = start + tmb_vis_len(src, i);
    const size_t k = find(spans, count, start);
    if (start < end && k < count && spans[k].start < end)
      tmb_fatal_nopos("%s: arguments dstlist and srclist overlap: %zu bytes at %p are source and "
                      "destination",
                      v->call, (size_t)(end - start), (void *)start);
  }
  free(spans);
}

static void check_lists(const struct tmb_vis *v) {
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = 0; i < v->list[side].count; i++)
      check_piece(v, side, tmb_vis_addr(&v->list[side], i), tmb_vis_len(&v->list[side], i));
  check_list_overlap(v);
}

static void check_never(const struct tmb_vis *v) {
  if (!(v->flags & (GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD))) return;
  const uint32_t jobrank = tmb_jobrank(v->tm, v->rank);
  const bool near =
      (v->flags & GEX_FLAG_PEER_NEVER_NBRHD) && tmb_nbrhd_of(jobrank) == tmb_nbrhd_of(tmb_job.rank);
  if (jobrank == tmb_job.rank || near)
    tmb_fatal_nopos("%s: argument flags is 0x%x, which promises that rank %u is not %s, but it is",
                    v->call, v->flags, v->rank,
                    jobrank == tmb_job.rank ? "this process" : "in this neighbourhood");
}

void tmb_vis_check_ranges(const struct tmb_vis *v) {
  check_never(v);
  if (v->strided)
    check_strided(v);
  else
    check_lists(v);
}
