/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the checker that is linked into a program.
 *
 * Owns: the pointer to what is watched. Included by the files of this folder. The compiler's calls
 * have the names of ThreadSanitizer's run-time library (LLVM, compiler-rt/lib/tsan), in whose place
 * this archive is linked. Invariant: an access that is not watched costs three comparisons.
 */
#ifndef TMB_CHK_CLIENT_H
#define TMB_CHK_CLIENT_H

#include "check/local.h"

/* Never NULL: without a checker it is one that watches nothing. */
extern const struct chk_watch *chk_watched __attribute__((visibility("hidden")));

static inline int chk_is_watched(const void *at) {
  const uintptr_t addr = (uintptr_t)at;
  const struct chk_watch *const w = chk_watched;
  return addr - w->range[0].base < w->range[0].bytes ||
         addr - w->range[1].base < w->range[1].bytes || addr - w->range[2].base < w->range[2].bytes;
}

/* Tell the checker of an access. */
static inline void chk_tell(const void *at, size_t bytes, int kind, const void *pc) {
  if (__builtin_expect(chk_is_watched(at), 0)) chk_watched->access((uintptr_t)at, bytes, kind, pc);
}

#endif
