/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`.
 *
 * Owns: the strict access of a thread. Called by check/client through tombolo_check_watch. Calls:
 * seen.c, access.c and shadow.c. Loads and stores of a segment are recorded, because other ranks
 * reach it: those of the segment that has words by seen.c, at the end of their epoch. Those of
 * other memory are compared with the buffers of transfers in flight, and not recorded. Invariant:
 * the calls here come for what the client cannot settle.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

/* A load or store outside of segments, while buffers are in use. */
static void compare_buffer(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const struct chk_range range = {chk.rank, addr, bytes, chk_flags_of(kind)};
  chk_guard();
  chk_meet(&range);
  chk_unguard();
  if (bytes <= CHK_PAGE_BYTES && !chk_page_of(chk.rank, addr, false) &&
      !chk_page_of(chk.rank, addr + bytes - 1, false))
    return;
  chk_guard();
  struct chk_access a = {.rank = chk.rank,
                         .site = chk_site_of(kind, pc),
                         .done = chk.clock[chk.rank],
                         .accept = CHK_OPEN,
                         .flags = (uint16_t)range.flags,
                         .addr = addr,
                         .bytes = bytes,
                         .owner = (uint16_t)chk.rank,
                         .thread = chk.thread,
                         .tick = chk.tick};
  chk_compare(&a, &range);
  chk_unguard();
}

/* ---- strict accesses of UPC */

static _Thread_local CHK_FAST struct {
  uint32_t site, owner;
  uintptr_t word; /* of the owner; 0: none yet */
} strict;

void chk_strict_word(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put) {
  strict.word = addr;
  strict.owner = owner;
  strict.site = site;
  if (chk_strict_how & GEXX_CHECK_GIVE) chk_word_give(owner, addr, site, put);
}

void gexx_check_strict(int how) {
  const bool takes = strict.word && (chk_strict_how & GEXX_CHECK_TAKE);
  if (takes || ((chk_strict_how || how) && chk_on())) {
    chk_enter();
    if (takes) chk_word_take(strict.owner, strict.word, strict.site);
    if (!chk_strict_how != !how) chk_watch_strict(how != 0);
    chk_exit();
  }
  strict.word = 0;
  chk_strict_how = chk_on() ? how : 0;
  chk_mine.bytes = 0;
}

/* A load or store of a segment that is strict. */
static void strict_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  chk_enter();
  const uint32_t site = chk_site_of(kind, pc), flags = chk_flags_of(kind) | CHK_ATOMIC;
  (void)chk_touch(&(struct chk_range){chk.rank, addr, bytes, flags}, site, false);
  chk_strict_word(chk.rank, addr, site, 0);
  chk_exit();
}

/* ---- loads and stores */

static uint32_t flags_of(uint32_t owner, int kind) {
  return owner == chk.rank ? chk_flags_of(kind) : chk_flags_of(kind) & ~(uint32_t)CHK_LOCAL;
}

/* An access to a segment that has no words, or is another rank's: a store to a word of that gives
 * to it, where puts do. */
static void any_segment(uint32_t owner, uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const bool gives = owner != chk.rank && kind == CHK_STORE && chk.words && bytes <= 8;
  if (gives)
    chk_enter();
  else
    chk_guard();
  const uint32_t site = chk_site_of(kind, pc), flags = flags_of(owner, kind);
  struct chk_access *const a = chk_shared(site, flags);
  chk_mark(a, &(struct chk_range){owner, addr, bytes, flags});
  if (gives) chk_word_give(owner, addr, site, 0);
  chk_exit();
}

void gexx_check_access(gex_Rank_t rank, const void *memory, size_t bytes, int writes) {
  if (!chk_on() || !chk.races) return;
  chk_guard();
  const uint32_t flags = flags_of(rank, writes ? CHK_STORE : CHK_LOAD);
  (void)chk_touch(&(struct chk_range){rank, (uintptr_t)memory, bytes, flags},
                  chk_site("access", __builtin_return_address(0)), false);
  chk_exit();
}

static void on_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (!bytes) return;
  const uint32_t owner = chk_owner_of(&addr);
  if (CHK_UNLIKELY(owner != chk.rank))
    any_segment(owner, addr, bytes, kind, pc);
  else if (!chk_segment_has((const void *)addr))
    compare_buffer(addr, bytes, kind, pc);
  else if (CHK_UNLIKELY(chk_strict_how))
    strict_access(addr, bytes, kind, pc);
  else if (CHK_LIKELY(addr - chk.own.base < chk.own.bytes))
    chk_see(addr, bytes, kind, pc);
  else
    any_segment(owner, addr, bytes, kind, pc);
}

/* ---- atomic operations of the program: as those of the library, see am.c */

static void atomic_begin(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (kind == CHK_STORE) chk_order_give(addr);
  const uint32_t owner = chk_owner_of(&addr);
  if (owner == chk.rank && !chk_segment_has((const void *)addr)) return;
  chk_enter();
  const uint32_t site = chk_site("atomic operation", pc),
                 flags = flags_of(owner, kind) | CHK_ATOMIC;
  (void)chk_touch(&(struct chk_range){owner, addr, bytes, flags}, site, false);
  if (kind == CHK_STORE) chk_word_give(owner, addr, site, 0);
  chk_exit();
}

static void atomic_end(uintptr_t addr, int kind, const void *pc) {
  (void)kind;
  chk_order_take(addr);
  const uint32_t owner = chk_owner_of(&addr);
  if (owner == chk.rank && !chk_segment_has((const void *)addr)) return;
  chk_enter();
  chk_word_take(owner, addr, chk_site("atomic operation", pc));
  chk_exit();
}

/* A volatile access is about to happen: threads of a rank wait for others with these. */
static void on_volatile(uintptr_t addr, int kind) {
  if (kind == CHK_STORE)
    chk_order_give(addr);
  else if (chk_take_next != addr)
    chk_order_take(addr);
  chk_take_next = addr;
  chk_mine.bytes = 0;
}

void chk_local_start(void) {
  tombolo_check_watch.changes = on_volatile;
  tombolo_check_watch.settles = chk_settles;
  tombolo_check_watch.access = on_access;
  tombolo_check_watch.run = chk_run;
  tombolo_check_watch.run_in_copy = chk_run_in_copy;
  tombolo_check_watch.runs_end = chk_runs_end;
  tombolo_check_watch.atomic_begin = atomic_begin;
  tombolo_check_watch.atomic_end = atomic_end;
}
