/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contiguity analysis of strided transfers, see shape.h.
 *
 * Owns nothing; every function is pure. Called by vis.c and vis_check.c. Calls nothing.
 * Invariant: the set of (destination, source) element pairs is the caller's; only their order and
 * grouping change.
 */
#include "vis/shape.h"

static size_t magnitude(ptrdiff_t stride) {
  return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

/* Add one dimension in order of destination strides, walked upwards there. */
static void insert(struct tmb_vis_shape *shape, struct tmb_vis_dim d) {
  if (d.stride[TMB_VIS_DST] < 0)
    for (unsigned side = 0; side < 2; side++) {
      shape->first[side] += d.stride[side] * (ptrdiff_t)(d.count - 1);
      d.stride[side] = -d.stride[side];
    }
  uint32_t i = shape->levels++;
  for (; i > 0; i--) {
    const struct tmb_vis_dim *before = &shape->dim[i - 1];
    if (before->stride[TMB_VIS_DST] < d.stride[TMB_VIS_DST] ||
        (before->stride[TMB_VIS_DST] == d.stride[TMB_VIS_DST] &&
         magnitude(before->stride[TMB_VIS_SRC]) <= magnitude(d.stride[TMB_VIS_SRC])))
      break;
    shape->dim[i] = *before;
  }
  shape->dim[i] = d;
}

static bool follows(const struct tmb_vis_dim *d, ptrdiff_t dst, ptrdiff_t src) {
  return d->stride[TMB_VIS_DST] == dst && d->stride[TMB_VIS_SRC] == src;
}

/* Join dimensions that are contiguous on both sides. */
static void merge(struct tmb_vis_shape *shape) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < shape->levels; i++) {
    const struct tmb_vis_dim d = shape->dim[i];
    struct tmb_vis_dim *last = kept ? &shape->dim[kept - 1] : NULL;
    if (!last && follows(&d, (ptrdiff_t)shape->elem, (ptrdiff_t)shape->elem))
      shape->elem *= d.count;
    else if (last && follows(&d, last->stride[TMB_VIS_DST] * (ptrdiff_t)last->count,
                             last->stride[TMB_VIS_SRC] * (ptrdiff_t)last->count))
      last->count *= d.count;
    else
      shape->dim[kept++] = d;
  }
  shape->levels = kept;
}

/* Make dim[1] the innermost dimension of the source, if dim[0] is not. */
static void expose_transposition(struct tmb_vis_shape *shape) {
  uint32_t least = 0;
  for (uint32_t i = 1; i < shape->levels; i++)
    if (magnitude(shape->dim[i].stride[TMB_VIS_SRC]) <
        magnitude(shape->dim[least].stride[TMB_VIS_SRC]))
      least = i;
  if (least < 2) return;
  const struct tmb_vis_dim d = shape->dim[least];
  for (uint32_t i = least; i > 1; i--) shape->dim[i] = shape->dim[i - 1];
  shape->dim[1] = d;
}

int tmb_vis_shape_make(struct tmb_vis_shape *shape, const struct tmb_vis_strided *in) {
  shape->elem = shape->bytes = in->elemsz;
  shape->first[0] = shape->first[1] = 0;
  shape->levels = 0;
  if (!in->elemsz) return 0;
  for (size_t i = 0; i < in->levels; i++)
    if (!in->count[i]) {
      shape->bytes = 0;
      return 0;
    }
  for (size_t i = 0; i < in->levels; i++) {
    if (in->count[i] == 1) continue;
    if (__builtin_mul_overflow(shape->bytes, in->count[i], &shape->bytes)) return -1;
    insert(shape, (struct tmb_vis_dim){in->count[i], {in->stride[0][i], in->stride[1][i]}});
  }
  merge(shape);
  expose_transposition(shape);
  return 1;
}

void tmb_vis_shape_hull(const struct tmb_vis_shape *shape, unsigned side, ptrdiff_t *low,
                        size_t *extent) {
  *low = 0;
  *extent = shape->elem;
  for (uint32_t i = 0; i < shape->levels; i++) {
    const ptrdiff_t span = shape->dim[i].stride[side] * (ptrdiff_t)(shape->dim[i].count - 1);
    if (span < 0) *low += span;
    *extent += magnitude(span);
  }
}
