/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory whose loads and stores are watched: segments, buffers of transfers, second places of both.
 *
 * Owns: the tables of segments and of second places. Called by the wrappers, and by what records
 * accesses. Calls: words.c. Invariants: a range of tombolo_check_watch never covers more than what
 * is watched, in any thread; it is of bytes of this process.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#define RANGES  64u /* segments of this process whose local side is watched */
#define ALIASES 64u

static struct { uintptr_t base, bytes; } ranges[RANGES];
static uint32_t range_count;
static gasnet_seginfo_t *segments;

static struct chk_extent lasting; /* of `others`, without buffers */
static uint32_t strict_threads;   /* of this rank, in strict accesses */

/* Make an extent cover more. Another thread sees none that is too wide. */
static void widen(struct chk_extent *e, uintptr_t more, size_t more_bytes) {
  if (!more_bytes) return;
  if (CHK_LIKELY(!e->bytes)) {
    e->base = more;
    __atomic_store_n(&e->bytes, more_bytes, __ATOMIC_RELEASE);
    return;
  }
  const uintptr_t end = e->base + e->bytes, more_end = more + more_bytes;
  const uintptr_t first = e->base < more ? e->base : more;
  e->bytes = 0;
  e->base = first;
  e->bytes = (end > more_end ? end : more_end) - first;
}

static void watch(uintptr_t base, size_t bytes) {
  widen(&tombolo_check_watch.others, base, bytes);
  chk_near_others();
}

void chk_watch_buffer(uintptr_t base, size_t bytes) {
  if (tombolo_check_watch.files && chk.races && !chk_segment_has((const void *)base))
    watch(base, bytes);
}

void chk_watch_result(uintptr_t base, size_t bytes) {
  watch(base, bytes);
}

void chk_watch_no_buffer(void) {
  if (!tombolo_check_watch.files) return;
  tombolo_check_watch.others = lasting;
  if (strict_threads || chk.each_thread)
    watch(chk.own.base, chk.own.bytes);
  else
    chk_near_others();
}

static void watch_for_long(uintptr_t base, size_t bytes) {
  if (!chk.races) return;
  widen(&lasting, base, bytes);
  watch(base, bytes);
}

/* The first segment has words, if there is address space for them. */
static void watch_segment(uintptr_t base, size_t bytes) {
  if (!chk.races) return;
  if (!chk_own_begin(base, bytes)) watch_for_long(base, bytes);
  if (chk.each_thread) chk_watch_each();
}

/* ---- strict accesses */

void chk_watch_each(void) {
  const bool each = strict_threads || chk.each_thread;
  if (each) watch(chk.own.base, chk.own.bytes);
  tombolo_check_watch.own.bytes = each ? 0 : chk.own.bytes;
  chk_near_all();
}

void chk_watch_strict(bool begins) {
  if (!chk.own.bytes) return;
  strict_threads += begins ? 1 : UINT32_MAX;
  chk_watch_each();
}

/* ---- memory, also of other ranks, that is at a second place */

static struct {
  uintptr_t at, bytes, memory;
  uint32_t owner;
} aliases[ALIASES];
static uint32_t alias_count;

/* Whether there is more memory than the segment that has words. */
static void more_memory(void) {
  chk.more = alias_count || range_count > (chk.own.bytes ? 1u : 0u);
}

uint32_t chk_owner_any(uintptr_t *addr) {
  for (uint32_t i = 0; i < __atomic_load_n(&alias_count, __ATOMIC_ACQUIRE); i++) {
    if (*addr - aliases[i].at >= aliases[i].bytes) continue;
    *addr += aliases[i].memory - aliases[i].at;
    return aliases[i].owner;
  }
  return chk.rank;
}

uintptr_t chk_resolve_any(uintptr_t addr) {
  uintptr_t memory = addr;
  return chk_owner_any(&memory) == chk.rank ? memory : addr;
}

static bool has_alias(uintptr_t at) {
  const uint32_t count = __atomic_load_n(&alias_count, __ATOMIC_ACQUIRE);
  uint32_t i = 0;
  while (i < count && aliases[i].at != at) i++;
  return i < count || count == ALIASES;
}

void gexx_check_alias(gex_Rank_t rank, const void *at, size_t bytes, const void *memory) {
  if (!chk_on() || has_alias((uintptr_t)at)) return;
  chk_guard();
  if (!has_alias((uintptr_t)at)) {
    aliases[alias_count].owner = rank;
    aliases[alias_count].at = (uintptr_t)at;
    aliases[alias_count].bytes = bytes;
    aliases[alias_count].memory = (uintptr_t)memory;
    __atomic_store_n(&alias_count, alias_count + 1, __ATOMIC_RELEASE);
    more_memory();
    watch_for_long((uintptr_t)at, bytes);
  }
  chk_unguard();
}

/* ---- segments */

void chk_segment_add(uintptr_t base, uintptr_t bytes) {
  if (!chk.area || range_count == RANGES) return;
  ranges[range_count].base = base;
  ranges[range_count].bytes = bytes;
  range_count++;
  watch_segment(base, bytes);
  more_memory();
  chk_near_forget();
}

void chk_segment_remove(uintptr_t base) {
  uint32_t i = 0;
  while (i < range_count && ranges[i].base != base) i++;
  if (i < range_count) ranges[i] = ranges[--range_count];
  if (chk.own.bytes && chk.own.base == base) chk_own_end();
  more_memory();
  chk_near_forget();
}

bool chk_segment_has_any(const void *at) {
  const uintptr_t addr = chk_resolve((uintptr_t)at);
  for (uint32_t i = 0; i < range_count; i++)
    if (addr - ranges[i].base < ranges[i].bytes) return true;
  return false;
}

gasnet_seginfo_t *chk_segments(void) {
  return segments;
}

void chk_segments_set(gasnet_seginfo_t *all) {
  segments = all;
}
