/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the checker that is linked into a program.
 *
 * Owns: the pointer to what is watched. Included by the files of this folder. The compiler's calls
 * have the names of ThreadSanitizer's run-time library (LLVM, compiler-rt/lib/tsan), in whose place
 * this archive is linked. Invariant: an access that is not watched costs one comparison, one that
 * was seen in this epoch three.
 */
#ifndef TMB_CHK_CLIENT_H
#define TMB_CHK_CLIENT_H

#include "check/local.h"

/* Never NULL: without a checker it is one that watches nothing. */
extern const struct chk_watch *chk_watched __attribute__((visibility("hidden")));

static inline int chk_in(const struct chk_extent *e, uintptr_t addr) {
  return addr - e->base < e->bytes;
}

static inline int chk_is_watched(const void *at) {
  const struct chk_watch *const w = chk_watched;
  return chk_in(&w->own, (uintptr_t)at) || chk_in(&w->others, (uintptr_t)at);
}

/* Tell the checker of an access of any size and alignment. */
static inline void chk_tell(const void *at, size_t bytes, int kind, const void *pc) {
  if (__builtin_expect(chk_is_watched(at), 0)) chk_watched->access((uintptr_t)at, bytes, kind, pc);
}

/* As above, for bytes that do not cross a multiple of 8, or 16 at such a multiple. */
static inline void chk_tell_word(const void *at, size_t bytes, int kind, const void *pc) {
  const struct chk_watch *const w = chk_watched;
  const uintptr_t addr = (uintptr_t)at;
  if (__builtin_expect(!chk_in(&w->all, addr), 1)) return;
  if (__builtin_expect(chk_in(&w->own, addr), 1)) {
    const uint32_t *const seen = &w->seen[(addr - w->own.base) / 8];
    const uint32_t need = chk_need(addr, bytes, kind);
    if (chk_has(seen[0], w->now, need) && (bytes <= 8 || chk_has(seen[1], w->now, need))) return;
  } else if (!chk_in(&w->others, addr)) {
    return;
  }
  w->access(addr, bytes, kind, pc);
}

#endif
