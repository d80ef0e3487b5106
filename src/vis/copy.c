/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies that follow a shape: loops over the two innermost dimensions, specialised by element size,
 * inside an odometer over the others.
 *
 * Owns nothing. Called by vis.c and vis_send.c. Calls memcpy. A transposition (the innermost
 * dimension of the source is the second one of the destination) is copied in tiles, so that every
 * cache line of the source is read while it is in the cache: see M. Lam, E. Rothberg, M. Wolf, The
 * Cache Performance and Optimizations of Blocked Algorithms, ASPLOS 1991,
 * doi:10.1145/106972.106981. Invariant: no recursion, no packing.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "vis/shape.h"

#include <string.h>

#define TILE_LINE 64  /* bytes of the source that a narrow side of a tile takes */
#define TILE_ROWS 128 /* elements along the other side */

/* The two innermost dimensions of a shape. */
struct rect {
  char *dst;
  const char *src;
  struct tmb_vis_dim row, column; /* row: the inner one */
};

/* Copy one row. in fixed: elem is a constant known to the compiler. */
static TMB_ALWAYS_INLINE void copy_row(const struct rect *r, size_t elem, bool fixed) {
  const ptrdiff_t to = r->row.stride[TMB_VIS_DST], from = r->row.stride[TMB_VIS_SRC];
  char *dst = r->dst;
  const char *src = r->src;
  size_t n = r->row.count;
  for (; fixed && n >= 4; n -= 4) {
    memcpy(dst, src, elem);
    memcpy(dst + to, src + from, elem);
    memcpy(dst + 2 * to, src + 2 * from, elem);
    memcpy(dst + 3 * to, src + 3 * from, elem);
    dst += 4 * to;
    src += 4 * from;
  }
  for (; n; n--) {
    if (fixed)
      memcpy(dst, src, elem);
    else
      tmb_vis_bytes(dst, src, elem);
    dst += to;
    src += from;
  }
}

static TMB_ALWAYS_INLINE void loop(const struct rect *r, size_t elem, bool fixed) {
  struct rect row = *r;
  for (size_t k = 0; k < r->column.count; k++) {
    copy_row(&row, elem, fixed);
    row.dst += r->column.stride[TMB_VIS_DST];
    row.src += r->column.stride[TMB_VIS_SRC];
  }
}

static void copy_rect(const struct rect *r, size_t elem) {
  switch (elem) {
  case 1: loop(r, 1, true); break;
  case 2: loop(r, 2, true); break;
  case 4: loop(r, 4, true); break;
  case 8: loop(r, 8, true); break;
  case 16: loop(r, 16, true); break;
  case 32: loop(r, 32, true); break;
  case 64: loop(r, 64, true); break;
  default: loop(r, elem, false);
  }
}

/* Copy a rectangle in tiles, along columns first. */
static void copy_tiled(const struct rect *r, size_t elem) {
  const size_t width = TMB_MAX(TILE_LINE / elem, (size_t)1);
  for (size_t i = 0; i < r->row.count; i += TILE_ROWS)
    for (size_t k = 0; k < r->column.count; k += width) {
      struct rect tile = *r;
      for (unsigned side = 0; side < 2; side++) {
        const ptrdiff_t skip =
            (ptrdiff_t)i * r->row.stride[side] + (ptrdiff_t)k * r->column.stride[side];
        if (side == TMB_VIS_DST)
          tile.dst += skip;
        else
          tile.src += skip;
      }
      tile.row = r->column;
      tile.row.count = TMB_MIN(r->column.count - k, width);
      tile.column = r->row;
      tile.column.count = TMB_MIN(r->row.count - i, (size_t)TILE_ROWS);
      copy_rect(&tile, elem);
    }
}

static size_t magnitude(ptrdiff_t stride) {
  return (size_t)(stride < 0 ? -stride : stride);
}

/* Whether tiles pay: the source jumps from line to line along a row, and not along a column. */
static bool wants_tiles(const struct tmb_vis_shape *s) {
  return s->levels >= 2 && s->elem < TILE_LINE &&
         magnitude(s->dim[1].stride[TMB_VIS_SRC]) < TILE_LINE &&
         magnitude(s->dim[0].stride[TMB_VIS_SRC]) > magnitude(s->dim[1].stride[TMB_VIS_SRC]);
}

void tmb_vis_copy(const struct tmb_vis_shape *s, char *dst, const char *src) {
  static const struct tmb_vis_dim once = {1, {0, 0}};
  size_t index[TMB_VIS_LEVELS_MAX];
  struct rect r = {dst, src, s->levels > 0 ? s->dim[0] : once, s->levels > 1 ? s->dim[1] : once};
  const bool tiled = wants_tiles(s);
  for (uint32_t d = 2; d < s->levels; d++) index[d] = 0;
  tmb_fence_compiler();
  for (;;) {
    if (tiled)
      copy_tiled(&r, s->elem);
    else
      copy_rect(&r, s->elem);
    uint32_t d = 2;
    for (; d < s->levels; d++) {
      r.dst += s->dim[d].stride[TMB_VIS_DST];
      r.src += s->dim[d].stride[TMB_VIS_SRC];
      if (++index[d] < s->dim[d].count) break;
      r.dst -= s->dim[d].stride[TMB_VIS_DST] * (ptrdiff_t)s->dim[d].count;
      r.src -= s->dim[d].stride[TMB_VIS_SRC] * (ptrdiff_t)s->dim[d].count;
      index[d] = 0;
    }
    if (d >= s->levels) break;
  }
  tmb_fence_compiler();
}

/* ---- short analysis: the usual shapes */

/*
 * Join dimensions that are contiguous on both sides, without sorting: callers give the innermost
 * dimension first or last. Returns 1 when two dimensions are left at most, and rows are as they
 * should be for copy_rect; 0 when that takes tmb_vis_shape_make; -1 when the number of bytes
 * overflows.
 */
static int flatten(struct rect *r, size_t *elem, const struct tmb_vis_strided *in) {
  const ptrdiff_t *to = in->stride[TMB_VIS_DST], *from = in->stride[TMB_VIS_SRC];
  const size_t levels = in->levels;
  const bool outer_first = levels > 1 && magnitude(to[0]) > magnitude(to[levels - 1]);
  struct tmb_vis_dim *last = NULL; /* of the dimensions kept */
  size_t bytes = in->elemsz;
  *elem = bytes;
  for (size_t k = 0; k < levels; k++) {
    const size_t d = outer_first ? levels - 1 - k : k;
    const struct tmb_vis_dim dim = {in->count[d], {to[d], from[d]}};
    if (dim.count == 1) continue;
    if (__builtin_mul_overflow(bytes, dim.count, &bytes)) return -1;
    const ptrdiff_t end[2] = {
        last ? last->stride[TMB_VIS_DST] * (ptrdiff_t)last->count : (ptrdiff_t)*elem,
        last ? last->stride[TMB_VIS_SRC] * (ptrdiff_t)last->count : (ptrdiff_t)*elem};
    if (dim.stride[TMB_VIS_DST] == end[TMB_VIS_DST] &&
        dim.stride[TMB_VIS_SRC] == end[TMB_VIS_SRC]) {
      *(last ? &last->count : elem) *= dim.count;
    } else if (last == &r->column) {
      return 0;
    } else {
      last = last ? &r->column : &r->row;
      *last = dim;
    }
  }
  return last != &r->column ||
         (magnitude(r->column.stride[TMB_VIS_DST]) >= magnitude(r->row.stride[TMB_VIS_DST]) &&
          magnitude(r->column.stride[TMB_VIS_SRC]) >= magnitude(r->row.stride[TMB_VIS_SRC]));
}

bool tmb_vis_strided_copy(char *dst, const char *src, const struct tmb_vis_strided *in) {
  static const struct tmb_vis_dim once = {1, {0, 0}};
  struct rect r = {dst, src, once, once};
  size_t elem;
  const int flat = flatten(&r, &elem, in);
  if (TMB_UNLIKELY(flat < 0)) return false;
  if (TMB_LIKELY(flat)) {
    tmb_fence_compiler();
    if (r.row.count == 1)
      tmb_vis_bytes(dst, src, elem);
    else
      copy_rect(&r, elem);
    tmb_fence_compiler();
    return true;
  }
  struct tmb_vis_shape shape;
  if (tmb_vis_shape_make(&shape, in) < 0) return false;
  tmb_vis_copy(&shape, dst + shape.first[TMB_VIS_DST], src + shape.first[TMB_VIS_SRC]);
  return true;
}

/* ---- packed ranges */

/* Offset in bytes of element number `e` of the packed order. out index: its indices in the two
 * innermost dimensions. */
static ptrdiff_t locate(const struct tmb_vis_part *p, size_t e, size_t index[2]) {
  ptrdiff_t offset = 0;
  index[0] = index[1] = 0;
  for (uint32_t d = 0; d < p->shape->levels && e; d++) {
    const struct tmb_vis_dim *dim = &p->shape->dim[d];
    const size_t i = e % dim->count;
    e /= dim->count;
    offset += (ptrdiff_t)i * dim->stride[p->side];
    if (d < 2) index[d] = i;
  }
  return offset;
}

/* Copy whole elements from element `e` on, as many as one rectangle holds. Returns how many. */
static size_t move_rect(const struct tmb_vis_part *p, size_t e, char *packed, bool unpack) {
  const struct tmb_vis_shape *s = p->shape;
  const size_t left = (size_t)(p->packed + p->nbytes - packed) / s->elem;
  size_t index[2];
  char *at = p->base + locate(p, e, index);
  const size_t columns = s->levels > 1 ? s->dim[1].count - index[1] : 1;
  size_t n = (s->levels > 0 ? s->dim[0].count : 1) - index[0], rows = 1;
  if (index[0] == 0 && left >= n)
    rows = TMB_MIN(left / n, columns);
  else
    n = TMB_MIN(n, left);
  const ptrdiff_t row = s->levels > 0 ? s->dim[0].stride[p->side] : 0;
  const ptrdiff_t column = s->levels > 1 ? s->dim[1].stride[p->side] : 0;
  const ptrdiff_t elem = (ptrdiff_t)s->elem;
  struct rect r = {unpack ? at : packed, unpack ? packed : at, {n, {elem, elem}}, {rows, {0, 0}}};
  r.row.stride[unpack ? TMB_VIS_DST : TMB_VIS_SRC] = row;
  r.column.stride[unpack ? TMB_VIS_DST : TMB_VIS_SRC] = column;
  r.column.stride[unpack ? TMB_VIS_SRC : TMB_VIS_DST] = elem * (ptrdiff_t)n;
  copy_rect(&r, s->elem);
  return n * rows;
}

static void move(const struct tmb_vis_part *p, bool unpack) {
  const size_t elem = p->shape->elem;
  char *packed = p->packed;
  const char *const end = packed + p->nbytes;
  for (size_t at = p->at; packed < end;) {
    const size_t skip = at % elem;
    const size_t left = (size_t)(end - packed);
    size_t n;
    if (skip || left < elem) {
      size_t index[2];
      char *piece = p->base + locate(p, at / elem, index) + skip;
      n = TMB_MIN(elem - skip, left);
      memcpy(unpack ? piece : packed, unpack ? packed : piece, n);
    } else {
      n = elem * move_rect(p, at / elem, packed, unpack);
    }
    packed += n;
    at += n;
  }
}

void tmb_vis_pack(const struct tmb_vis_part *part) {
  move(part, false);
}

void tmb_vis_unpack(const struct tmb_vis_part *part) {
  move(part, true);
}
