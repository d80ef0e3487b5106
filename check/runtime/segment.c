/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory whose loads and stores are watched: segments, buffers of transfers, second places of both.
 *
 * Owns: tombolo_check_watch with the epoch of this rank, and the tables of segments and of second
 * places. Called by the wrappers, and by what records accesses. Calls nothing. Invariants: a range
 * never covers more than what is watched, in any thread; it is of bytes of this process.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include "check/local.h"

#include <tombolo/check_hook.h>

#include <sys/mman.h>

#define RANGES  64u /* segments of this process whose local side is watched */
#define ALIASES 64u

static struct { uintptr_t base, bytes; } ranges[RANGES];
static uint32_t range_count;
static gasnet_seginfo_t *segments;

__attribute__((visibility("default"))) struct chk_watch tombolo_check_watch = {
    .size = sizeof(struct chk_watch)};

static struct chk_extent lasting; /* of `others`, without buffers */

/* Make an extent cover more. Another thread sees none that is too wide. */
static void widen(struct chk_extent *e, uintptr_t more, size_t more_bytes) {
  const uintptr_t end = e->bytes ? e->base + e->bytes : 0, more_end = more + more_bytes;
  const uintptr_t first = e->bytes && e->base < more ? e->base : more;
  if (!more_bytes) return;
  e->bytes = 0;
  e->base = first;
  e->bytes = (end > more_end ? end : more_end) - first;
}

static void watch(uintptr_t base, size_t bytes) {
  widen(&tombolo_check_watch.others, base, bytes);
  widen(&tombolo_check_watch.all, base, bytes);
}

void chk_watch_buffer(uintptr_t base, size_t bytes) {
  if (chk.races && !chk_segment_has((const void *)base)) watch(base, bytes);
}

void chk_watch_no_buffer(void) {
  struct chk_watch *const w = &tombolo_check_watch;
  w->others = lasting;
  w->all = lasting;
  widen(&w->all, w->own.base, w->own.bytes);
}

static void watch_for_long(uintptr_t base, size_t bytes) {
  if (!chk.races) return;
  widen(&lasting, base, bytes);
  watch(base, bytes);
}

/* ---- epochs */

static size_t seen_bytes(uintptr_t segment_bytes) {
  return (segment_bytes / CHK_GRANULE + 2) * sizeof(uint32_t);
}

void chk_next_epoch(void) {
  struct chk_watch *const w = &tombolo_check_watch;
  if ((w->now += 1u << 16) >> 16) return;
  if (w->own.bytes) madvise(w->seen, seen_bytes(w->own.bytes), MADV_DONTNEED);
  w->now += 1u << 16;
}

void chk_seen(uintptr_t addr, size_t bytes, int kind, uint32_t epoch) {
  struct chk_watch *const w = &tombolo_check_watch;
  const uintptr_t end = addr + bytes;
  const uint32_t epoch_bits = epoch & 0xffff0000u;
  while (addr < end && addr - w->own.base < w->own.bytes) {
    const size_t most = CHK_GRANULE - addr % CHK_GRANULE;
    const size_t count = end - addr < most ? end - addr : most;
    uint32_t *const word = &w->seen[(addr - w->own.base) / CHK_GRANULE];
    const uint32_t was = *word, need = chk_need(addr, count, kind);
    *word = ((was ^ epoch_bits) >> 16 ? epoch_bits : was) | need | need >> 8;
    addr += count;
  }
}

/* The first segment has the words of `seen`, if there is address space for them. */
static void watch_segment(uintptr_t base, size_t bytes) {
  struct chk_watch *const w = &tombolo_check_watch;
  if (!chk.races) return;
  void *const at = w->own.bytes || base % CHK_GRANULE
                       ? MAP_FAILED
                       : mmap(NULL, seen_bytes(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    watch_for_long(base, bytes);
    return;
  }
  w->seen = at;
  w->now = 1u << 16 | 0xffff;
  widen(&w->own, base, bytes);
  widen(&w->all, base, bytes);
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
  watch_for_long((uintptr_t)at, bytes);
}

/* ---- segments */

void chk_segment_add(uintptr_t base, uintptr_t bytes) {
  if (!chk.area || range_count == RANGES) return;
  ranges[range_count].base = base;
  ranges[range_count].bytes = bytes;
  range_count++;
  watch_segment(base, bytes);
}

void chk_segment_remove(uintptr_t base) {
  struct chk_watch *const w = &tombolo_check_watch;
  uint32_t i = 0;
  while (i < range_count && ranges[i].base != base) i++;
  if (i < range_count) ranges[i] = ranges[--range_count];
  if (w->own.bytes && w->own.base == base) {
    const size_t bytes = seen_bytes(w->own.bytes);
    w->own.bytes = 0;
    munmap(w->seen, bytes);
  }
}

bool chk_segment_has(const void *at) {
  const struct chk_extent *const own = &tombolo_check_watch.own;
  if ((uintptr_t)at - own->base < own->bytes) return true;
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
