/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the checker that is linked into a program.
 *
 * Owns: the pointers to what is watched, and to a thread's lines. Included by the files of this
 * folder. The compiler's calls have the names of ThreadSanitizer's run-time library (LLVM,
 * compiler-rt/lib/tsan), in whose place this archive is linked. Invariant: an access that is not
 * watched costs one comparison, one that goes on in a run four, one that was seen in this epoch
 * six.
 */
#ifndef TMB_CHK_CLIENT_H
#define TMB_CHK_CLIENT_H

#include "check/local.h"

/* Never NULL: without a checker it is one that watches nothing. */
extern const struct chk_watch *chk_watched __attribute__((visibility("hidden")));

/* Of this thread. Never NULL: before the first access that is passed on they are empty. */
extern _Thread_local struct chk_line *chk_lines __attribute__((visibility("hidden"))) CHK_FAST;

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
  if (__builtin_expect(chk_is_watched(at), 0)) chk_pass((uintptr_t)at, bytes, kind, pc);
}

/* Whether an access is in the run of its line, or makes it longer. */
static inline int chk_goes_on(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const uintptr_t key = chk_line_key(pc, kind);
  struct chk_line *const l = chk_line_of(chk_lines, key);
  if (l->key != key) return 0;
  const uintptr_t base = __atomic_load_n(&l->base, __ATOMIC_RELAXED);
  const uintptr_t now = __atomic_load_n(&l->bytes, __ATOMIC_RELAXED), at = addr - base;
  if (at == now) __atomic_store_n(&l->bytes, at + bytes, __ATOMIC_RELAXED);
  return at <= now;
}

/* As above, for bytes that do not cross a multiple of 8, or 16 at such a multiple. */
static inline void chk_tell_word(const void *at, size_t bytes, int kind, const void *pc) {
  const struct chk_watch *const w = chk_watched;
  const uintptr_t addr = (uintptr_t)at;
  if (__builtin_expect(!chk_in(&w->all, addr), 1)) return;
  if (__builtin_expect(chk_goes_on(addr, bytes, kind, pc), 1)) return;
  if (__builtin_expect(chk_in(&w->own, addr), 1)) {
    const uint32_t *const seen = &w->seen[(addr - w->own.base) / 8];
    const uint32_t need = chk_need(addr, bytes, kind);
    if (chk_has(seen[0], w->now, need) && (bytes <= 8 || chk_has(seen[1], w->now, need))) return;
  } else if (!chk_in(&w->others, addr)) {
    return;
  }
  chk_pass(addr, bytes, kind, pc);
}

#endif
