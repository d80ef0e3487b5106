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

#include <string.h>

#define CHK_LIKELY(x) __builtin_expect(!!(x), 1)

/* Never NULL: without a checker it is one that watches nothing. */
extern const struct chk_watch *chk_watched __attribute__((visibility("hidden")));

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

/* The word after an access of 4 bytes that it does not name yet, or 0: the checker makes it. */
static inline uint32_t chk_after_half(uint32_t was, uint32_t half, uint32_t line) {
  if (!was) return half | line;
  return was == ((half ^ CHK_UPPER) | line) ? CHK_WHOLE | line : 0;
}

/* The word after an access of less than 4 bytes that it does not name yet, or 0. */
static inline uint32_t chk_after_bytes(uint32_t was, uint32_t need, uint32_t block) {
  if (!block || (was && was >> 8 != block)) return 0;
  return block << 8 | (was & 0xff) | need;
}

/* An access of at most 8 bytes, which do not cross a multiple of 8, at an offset in the segment.
 * Returns whether the checker need not be notified. */
static inline int chk_sees(struct chk_seen *s, uintptr_t offset, size_t bytes, const void *pc) {
  const uintptr_t index = offset / 8;
  const uint32_t was = __atomic_load_n(&s->word[index], __ATOMIC_RELAXED);
  const uint32_t half = CHK_HALF | (uint32_t)(offset & 4) << 11;
  const uint32_t need = ((1u << bytes % 8) - 1) << offset % 8;
  if ((int16_t)was < 0) return 1;
  if (bytes == 8 && was) return 0;
  if (bytes == 4 && (was & (CHK_HALF | CHK_UPPER)) == half) return 1;
  if (bytes < 4 && !(need & ~chk_mask_of(was))) return 1;
  const uint32_t line = chk_line_place(pc);
  if (s->line[line] != (uintptr_t)pc) return 0;
  uint32_t now = CHK_WHOLE | line;
  if (bytes == 4) now = chk_after_half(was, half, line);
  if (bytes < 4) now = chk_after_bytes(was, need, s->block[line]);
  if (!now) return 0;
  __atomic_store_n(&s->word[index], (uint16_t)now, __ATOMIC_RELAXED);
  chk_flag(s, index);
  return 1;
}

/* An access of 16 bytes at a multiple of 8. Returns whether the checker need not be notified. */
static inline int chk_sees_two(struct chk_seen *s, uintptr_t offset, const void *pc) {
  const uintptr_t index = offset / 8;
  const uint32_t both = CHK_WHOLE | CHK_WHOLE << 16, line = chk_line_place(pc);
  uint32_t words;
  memcpy(&words, &s->word[index], sizeof words);
  if ((words & both) == both) return 1;
  if (words || s->line[line] != (uintptr_t)pc) return 0;
  if (index % CHK_WORDS_OF_PART == CHK_WORDS_OF_PART - 1) return 0; /* two parts to flag */
  words = both | line | line << 16;
  memcpy(&s->word[index], &words, sizeof words);
  chk_flag(s, index);
  return 1;
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

#endif
