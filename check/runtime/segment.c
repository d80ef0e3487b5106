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

#include <tombolo/check_hook.h>

#include <string.h>
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

/* Bytes of an access in its first granule. */
static size_t in_granule(uintptr_t addr, uintptr_t end) {
  const size_t most = CHK_GRANULE - addr % CHK_GRANULE;
  return end - addr < most ? end - addr : most;
}

/* The bytes of a range that are in the segment that has `seen`. */
static size_t own_bytes(uintptr_t addr, size_t bytes) {
  const struct chk_extent *const own = &tombolo_check_watch.own;
  if (addr - own->base >= own->bytes) return 0;
  const size_t most = own->bytes - (addr - own->base);
  return bytes < most ? bytes : most;
}

static uint32_t *seen_at(uintptr_t addr) {
  const struct chk_watch *const w = &tombolo_check_watch;
  return &w->seen[(addr - w->own.base) / CHK_GRANULE];
}

/* Four words of `seen`: of a range, all have the same bits to be set. */
typedef uint32_t four __attribute__((vector_size(16)));

static four load_four(const uint32_t *at) {
  four v;
  memcpy(&v, at, sizeof v);
  return v;
}

static void seen_granules(uint32_t *word, size_t count, uint32_t need, uint32_t epoch_bits) {
  const uint32_t set = need | epoch_bits;
  for (; count >= 4; count -= 4, word += 4) {
    const four v = load_four(word);
    const four new = (v & (four)(((v ^ epoch_bits) & 0xffff0000u) == 0)) | set;
    memcpy(word, &new, sizeof new);
  }
  for (; count; count--, word++) *word = (*word ^ epoch_bits) >> 16 ? set : *word | set;
}

static bool all_seen(const uint32_t *word, size_t count, uint32_t need, uint32_t now) {
  for (; count >= 4; count -= 4, word += 4) {
    const four wrong = (load_four(word) ^ now) & (0xffff0000u | need);
    if (wrong[0] | wrong[1] | wrong[2] | wrong[3]) return false;
  }
  for (; count; count--, word++)
    if (!chk_has(*word, now, need)) return false;
  return true;
}

/* Granules of a range from its first one on that are accessed alike: one in part, or whole ones. */
static size_t alike(uintptr_t addr, uintptr_t end) {
  return in_granule(addr, end) == CHK_GRANULE ? (end - addr) / CHK_GRANULE : 1;
}

void chk_seen(uintptr_t addr, size_t bytes, int kind, uint32_t epoch) {
  for (const uintptr_t end = addr + own_bytes(addr, bytes); addr < end;) {
    const size_t first = in_granule(addr, end), count = alike(addr, end);
    const uint32_t need = chk_need(addr, first, kind);
    seen_granules(seen_at(addr), count, need | need >> 8, epoch & 0xffff0000u);
    addr += first * count;
  }
}

bool chk_all_seen(uintptr_t addr, size_t bytes, int kind) {
  if (own_bytes(addr, bytes) < bytes) return false;
  for (const uintptr_t end = addr + bytes; addr < end;) {
    const size_t first = in_granule(addr, end), count = alike(addr, end);
    if (!all_seen(seen_at(addr), count, chk_need(addr, first, kind), tombolo_check_watch.now))
      return false;
    addr += first * count;
  }
  return true;
}

static size_t own_pages_bytes(uintptr_t segment_bytes) {
  return (segment_bytes / CHK_PAGE_BYTES + 2) * sizeof *chk.own_pages;
}

/* Address space that costs memory only where it is written; NULL: there is none. */
static void *reserve(size_t bytes) {
  void *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* The first segment has the words of `seen`, if there is address space for them. */
static void watch_segment(uintptr_t base, size_t bytes) {
  struct chk_watch *const w = &tombolo_check_watch;
  if (!chk.races) return;
  const bool has_words = !w->own.bytes && base % CHK_GRANULE == 0;
  void *const at = has_words ? reserve(seen_bytes(bytes)) : NULL;
  void *const pages = at ? reserve(own_pages_bytes(bytes)) : NULL;
  if (!pages) {
    if (at) munmap(at, seen_bytes(bytes));
    watch_for_long(base, bytes);
    return;
  }
  chk.own_pages = pages;
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
    const size_t pages = own_pages_bytes(w->own.bytes);
    w->own.bytes = 0;
    munmap(w->seen, bytes);
    munmap(chk.own_pages, pages);
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
