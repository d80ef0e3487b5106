/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between lists of pieces, see list.h.
 *
 * Owns nothing. Called by vis.c and vis_send.c. Calls memcpy. Indexed transfers whose entry lengths
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

/* Entry lengths that divide each other: pieces of `len` bytes, the shorter one. */
static TMB_ALWAYS_INLINE void scatter(const struct tmb_vis_list *dst,
                                      const struct tmb_vis_list *src, size_t len, bool fixed) {
  const uintptr_t to = dst->shift, from = src->shift;
  void *const *const dst_addr = dst->addr, *const *const src_addr = src->addr;
  const size_t dst_pieces = dst->len / len, src_pieces = src->len / len;
  const size_t entries = TMB_MAX(dst_pieces, src_pieces);
  const size_t count = TMB_MIN(dst->count * dst_pieces, src->count * src_pieces);
  for (size_t i = 0, k = 0; k < count; i++)
    for (size_t part = 0; part < entries && k < count; part++, k++) {
      const size_t d = dst_pieces > 1 ? i : k, s = src_pieces > 1 ? i : k;
      char *at = (char *)((uintptr_t)dst_addr[d] + to) + (dst_pieces > 1 ? part * len : 0);
      const char *of = (char *)((uintptr_t)src_addr[s] + from) + (src_pieces > 1 ? part * len : 0);
      if (fixed)
        memcpy(at, of, len);
      else
        tmb_vis_bytes(at, of, len);
    }
}

/* Equal entry lengths. */
static TMB_ALWAYS_INLINE void pair(const struct tmb_vis_list *dst, const struct tmb_vis_list *src,
                                   size_t len, bool fixed) {
  const uintptr_t to = dst->shift, from = src->shift;
  void *const *d = dst->addr, *const *s = src->addr;
  if (dst->len != src->len) {
    scatter(dst, src, len, fixed);
    return;
  }
  const size_t count = TMB_MIN(dst->count, src->count);
  for (size_t i = 0; i < count; i++) {
    char *at = (char *)((uintptr_t)d[i] + to);
    const char *of = (char *)((uintptr_t)s[i] + from);
    if (fixed)
      memcpy(at, of, len);
    else
      tmb_vis_bytes(at, of, len);
  }
}

static void copy_indexed(const struct tmb_vis_list *dst, const struct tmb_vis_list *src) {
  const size_t len = TMB_MIN(dst->len, src->len);
  switch (len) {
  case 1: pair(dst, src, 1, true); break;
  case 2: pair(dst, src, 2, true); break;
  case 4: pair(dst, src, 4, true); break;
  case 8: pair(dst, src, 8, true); break;
  case 16: pair(dst, src, 16, true); break;
  case 32: pair(dst, src, 32, true); break;
  case 64: pair(dst, src, 64, true); break;
  default: pair(dst, src, len, false);
  }
}

static bool divide(size_t a, size_t b) {
  return a && b && (a < b ? b % a : a % b) == 0;
}

/* Copy piece by piece from where the cursors stand, until one list ends. */
static TMB_NOINLINE void walk(struct tmb_vis_cursor to, struct tmb_vis_cursor from) {
  char *d, *s;
  size_t room = tmb_vis_next(&to, &d), there = tmb_vis_next(&from, &s);
  while (room && there) {
    const size_t n = TMB_MIN(room, there);
    tmb_vis_bytes(d, s, n);
    d += n;
    s += n;
    room -= n;
    there -= n;
    if (!room) {
      to.index++;
      room = tmb_vis_next(&to, &d);
    }
    if (!there) {
      from.index++;
      there = tmb_vis_next(&from, &s);
    }
  }
}

void tmb_vis_vector_copy(const gex_Memvec_t *dst, size_t dst_count, const gex_Memvec_t *src,
                         size_t src_count, uintptr_t dst_shift, uintptr_t src_shift) {
  const size_t count = TMB_MIN(dst_count, src_count);
  size_t i = 0;
  tmb_fence_compiler();
  for (; i < count; i++) {
    const size_t len = src[i].gex_len;
    if (TMB_UNLIKELY(dst[i].gex_len != len)) break;
    tmb_vis_bytes((char *)((uintptr_t)dst[i].gex_addr + dst_shift),
                  (const char *)((uintptr_t)src[i].gex_addr + src_shift), len);
  }
  if (TMB_UNLIKELY(i < dst_count && i < src_count)) {
    const struct tmb_vis_list to = {.vec = dst, .count = dst_count, .shift = dst_shift};
    const struct tmb_vis_list from = {.vec = src, .count = src_count, .shift = src_shift};
    walk((struct tmb_vis_cursor){&to, i, 0}, (struct tmb_vis_cursor){&from, i, 0});
  }
  tmb_fence_compiler();
}

void tmb_vis_list_copy(const struct tmb_vis_list *dst, const struct tmb_vis_list *src) {
  tmb_fence_compiler();
  if (dst->vec && src->vec)
    tmb_vis_vector_copy(dst->vec, dst->count, src->vec, src->count, dst->shift, src->shift);
  else if (!dst->vec && !src->vec && divide(dst->len, src->len))
    copy_indexed(dst, src);
  else
    walk((struct tmb_vis_cursor){dst, 0, 0}, (struct tmb_vis_cursor){src, 0, 0});
  tmb_fence_compiler();
}

/* Copy nbytes between the entries of the list from the cursor on and packed memory. Expanded for
 * each direction. */
static TMB_ALWAYS_INLINE void carry(struct tmb_vis_cursor *c, char *packed, size_t nbytes,
                                    bool to_list) {
  char *at;
  for (size_t there; nbytes && (there = tmb_vis_next(c, &at));) {
    const size_t n = TMB_MIN(there, nbytes);
    tmb_vis_bytes(to_list ? at : packed, to_list ? packed : at, n);
    tmb_vis_skip(c, n);
    packed += n;
    nbytes -= n;
  }
}

void tmb_vis_list_pack(struct tmb_vis_cursor *c, char *packed, size_t nbytes) {
  carry(c, packed, nbytes, false);
}

void tmb_vis_list_unpack(struct tmb_vis_cursor *c, const char *packed, size_t nbytes) {
  carry(c, (char *)(uintptr_t)packed, nbytes, true);
}

void tmb_vis_list_advance(struct tmb_vis_cursor *c, size_t nbytes) {
  char *at;
  for (size_t there; nbytes && (there = tmb_vis_next(c, &at));) {
    const size_t n = TMB_MIN(there, nbytes);
    tmb_vis_skip(c, n);
    nbytes -= n;
  }
}
