/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between lists of pieces, see list.h.
 *
 * Owns nothing. Called by vis.c and vis_am.c. Calls memcpy. Indexed transfers whose entry lengths
 * divide each other are loops over the shorter length, specialised by size; everything else walks
 * both lists piece by piece. Invariant: byte k of one side meets byte k of the other.
 */
#include "vis/list.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "vis/shape.h"

#include <string.h>

bool tmb_vis_list_bytes(const struct tmb_vis_list *list, size_t *bytes) {
  if (!list->vec) return !__builtin_mul_overflow(list->count, list->len, bytes);
  *bytes = 0;
  for (size_t i = 0; i < list->count; i++)
    if (__builtin_add_overflow(*bytes, list->vec[i].gex_len, bytes)) return false;
  return true;
}

/* Entries of `long_side` take several of the other, all of `len` bytes. */
static TMB_ALWAYS_INLINE void scatter(const struct tmb_vis_list *dst,
                                      const struct tmb_vis_list *src, size_t len, bool fixed) {
  size_t i = 0, k = 0, dst_skip = 0, src_skip = 0;
  while (i < dst->count && k < src->count) {
    char *d = tmb_vis_addr(dst, i) + dst_skip;
    const char *s = tmb_vis_addr(src, k) + src_skip;
    if (fixed)
      memcpy(d, s, len);
    else
      tmb_vis_bytes(d, s, len);
    dst_skip += len;
    src_skip += len;
    if (dst_skip == dst->len) {
      dst_skip = 0;
      i++;
    }
    if (src_skip == src->len) {
      src_skip = 0;
      k++;
    }
  }
}

static void copy_indexed(const struct tmb_vis_list *dst, const struct tmb_vis_list *src) {
  const size_t len = TMB_MIN(dst->len, src->len);
  switch (len) {
  case 1: scatter(dst, src, 1, true); break;
  case 2: scatter(dst, src, 2, true); break;
  case 4: scatter(dst, src, 4, true); break;
  case 8: scatter(dst, src, 8, true); break;
  case 16: scatter(dst, src, 16, true); break;
  case 32: scatter(dst, src, 32, true); break;
  case 64: scatter(dst, src, 64, true); break;
  default: scatter(dst, src, len, false);
  }
}

static bool divide(size_t a, size_t b) {
  return a && b && (a < b ? b % a : a % b) == 0;
}

void tmb_vis_list_copy(const struct tmb_vis_list *dst, const struct tmb_vis_list *src) {
  tmb_fence_compiler();
  if (!dst->vec && !src->vec && divide(dst->len, src->len)) {
    copy_indexed(dst, src);
  } else {
    struct tmb_vis_cursor to = {dst, 0, 0}, from = {src, 0, 0};
    char *d, *s;
    size_t room, there;
    while ((room = tmb_vis_next(&to, &d)) && (there = tmb_vis_next(&from, &s))) {
      const size_t n = TMB_MIN(room, there);
      tmb_vis_bytes(d, s, n);
      tmb_vis_skip(&to, n);
      tmb_vis_skip(&from, n);
    }
  }
  tmb_fence_compiler();
}

void tmb_vis_list_pack(struct tmb_vis_cursor *c, char *packed, size_t nbytes) {
  char *at;
  for (size_t there; nbytes && (there = tmb_vis_next(c, &at));) {
    const size_t n = TMB_MIN(there, nbytes);
    tmb_vis_bytes(packed, at, n);
    tmb_vis_skip(c, n);
    packed += n;
    nbytes -= n;
  }
}

void tmb_vis_list_unpack(struct tmb_vis_cursor *c, const char *packed, size_t nbytes) {
  char *at;
  for (size_t room; nbytes && (room = tmb_vis_next(c, &at));) {
    const size_t n = TMB_MIN(room, nbytes);
    tmb_vis_bytes(at, packed, n);
    tmb_vis_skip(c, n);
    packed += n;
    nbytes -= n;
  }
}

void tmb_vis_list_advance(struct tmb_vis_cursor *c, size_t nbytes) {
  char *at;
  for (size_t there; nbytes && (there = tmb_vis_next(c, &at));) {
    const size_t n = TMB_MIN(there, nbytes);
    tmb_vis_skip(c, n);
    nbytes -= n;
  }
}
