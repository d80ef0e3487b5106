/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the checker that is linked into a program.
 *
 * Owns: the pointer to what is watched. Included by the files of this folder. The compiler's calls
 * have the names of ThreadSanitizer's run-time library (LLVM, compiler-rt/lib/tsan), in whose place
 * this archive is linked. Invariant: an access that is not watched, or that was seen in this epoch,
 * costs two comparisons; the first one in an epoch of a line that is known calls nothing.
 */
#ifndef TMB_CHK_CLIENT_H
#define TMB_CHK_CLIENT_H

#include "check/local.h"

#define CHK_LIKELY(x) __builtin_expect(!!(x), 1)

/* Never NULL: without a checker it is one that watches nothing. */
extern const struct chk_watch *chk_watched __attribute__((visibility("hidden")));

/* NULL: there is no record or replay. */
extern chk_replay_fn *chk_replay __attribute__((visibility("hidden")));

/* Tells the checker. The last thing that a caller does, so that its fast path saves no register. */
void chk_pass(uintptr_t addr, size_t bytes, int kind, const void *pc)
    __attribute__((visibility("hidden")));

static inline int chk_in(const struct chk_extent *e, uintptr_t addr) {
  return addr - e->base < e->bytes;
}

static inline int chk_is_watched(const void *at) {
  const struct chk_watch *const w = chk_watched;
  return chk_in(&w->own, (uintptr_t)at) || chk_in(&w->others, (uintptr_t)at);
}

/* Tell the checker of an access of any size and alignment. */
static inline void chk_tell(const void *at, size_t bytes, int kind, const void *pc) {
  if (chk_is_watched(at)) chk_pass((uintptr_t)at, bytes, kind, pc);
}

/* As chk_tell, for bytes that do not cross a multiple of 8, or 16 at a multiple of 8. */
static inline void chk_tell_word(const void *at, size_t bytes, int kind, const void *pc) {
  const struct chk_watch *const w = chk_watched;
  const uintptr_t addr = (uintptr_t)at, offset = addr - w->own.base;
  if (CHK_LIKELY(offset < w->own.bytes)) {
    struct chk_seen *const s = w->seen[kind];
    if (bytes == 16 ? chk_sees_two(s, offset, pc) : chk_sees(s, offset, bytes, pc)) return;
  } else if (!chk_in(&w->others, addr)) {
    return;
  }
  chk_pass(addr, bytes, kind, pc);
}

/* As chk_tell, for 2 to 16 bytes at any place: vectors of float lie at multiples of 4. */
static inline void chk_tell_any(const void *at, size_t bytes, int kind, const void *pc) {
  const uintptr_t addr = (uintptr_t)at;
  if (addr % 8 + bytes <= 8 || (bytes == 16 && addr % 8 == 0)) {
    chk_tell_word(at, bytes, kind, pc);
  } else if (addr % 4 == 0 && bytes % 4 == 0) {
    uintptr_t part = addr;
    if (part % 8) chk_tell_word((const void *)part, 4, kind, pc), part += 4;
    for (; addr + bytes - part >= 8; part += 8) chk_tell_word((const void *)part, 8, kind, pc);
    if (part < addr + bytes) chk_tell_word((const void *)part, 4, kind, pc);
  } else {
    chk_tell(at, bytes, kind, pc);
  }
}

/* As chk_tell_any, for a volatile access. */
static inline void chk_tell_volatile(const void *at, size_t bytes, int kind, const void *pc) {
  chk_tell_any(at, bytes, kind, pc);
  if (chk_watched->threads) chk_watched->changes((uintptr_t)at, kind);
}

#endif
