/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory whose loads and stores are watched: segments, buffers of transfers, second places of both.
 *
 * Owns: tombolo_check_watch, and the tables of segments and of second places. Called by the
 * wrappers, and by what records accesses. Calls nothing. Invariants: a range never covers more than
 * what is watched, in any thread; it is of bytes of this process.
 */
#include "check/runtime/chk.h"

#include "check/local.h"

#include <tombolo/check_hook.h>

#define RANGES  64u /* segments of this process whose local side is watched */
#define ALIASES 64u

static struct { uintptr_t base, bytes; } ranges[RANGES];
static uint32_t range_count;
static gasnet_seginfo_t *segments;

__attribute__((visibility("default"))) struct chk_watch tombolo_check_watch = {
    .size = sizeof(struct chk_watch)};

/* Make a range cover another one. */
static void widen(int which, uintptr_t more, size_t more_bytes) {
  uintptr_t *const base = &tombolo_check_watch.range[which].base;
  uintptr_t *const bytes = &tombolo_check_watch.range[which].bytes;
  if (!chk.races || !more_bytes) return;
  const uintptr_t end = *bytes ? *base + *bytes : 0, more_end = more + more_bytes;
  const uintptr_t first = *bytes && *base < more ? *base : more;
  *bytes = 0; /* another thread sees no range that is too wide */
  *base = first;
  *bytes = (end > more_end ? end : more_end) - first;
}

void chk_watch_buffer(uintptr_t base, size_t bytes) {
  if (!chk_segment_has((const void *)base)) widen(CHK_WATCH_BUFFERS, base, bytes);
}

void chk_watch_no_buffer(void) {
  tombolo_check_watch.range[CHK_WATCH_BUFFERS].bytes = 0;
}

/* ---- memory that is at a second place */

static struct { uintptr_t at, bytes, memory; } aliases[ALIASES];
static uint32_t alias_count;

uintptr_t chk_resolve(uintptr_t addr) {
  for (uint32_t i = 0; i < alias_count; i++)
    if (addr - aliases[i].at < aliases[i].bytes) return addr - aliases[i].at + aliases[i].memory;
  return addr;
}

void gexx_check_alias(const void *at, size_t bytes, const void *memory) {
  if (!chk_on() || alias_count == ALIASES) return;
  aliases[alias_count].at = (uintptr_t)at;
  aliases[alias_count].bytes = bytes;
  aliases[alias_count++].memory = (uintptr_t)memory;
  widen(CHK_WATCH_ALIASES, (uintptr_t)at, bytes);
}

/* ---- segments */

void chk_segment_add(uintptr_t base, uintptr_t bytes) {
  if (!chk.area || range_count == RANGES) return;
  ranges[range_count].base = base;
  ranges[range_count].bytes = bytes;
  range_count++;
  widen(CHK_WATCH_SEGMENTS, base, bytes);
}

void chk_segment_remove(uintptr_t base) {
  uint32_t i = 0;
  while (i < range_count && ranges[i].base != base) i++;
  if (i < range_count) ranges[i] = ranges[--range_count];
}

bool chk_segment_has(const void *at) {
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
