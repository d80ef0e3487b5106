/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`.
 *
 * Owns: each thread's lines and pages at hand. Called by check/client through tombolo_check_watch.
 * Calls: access.c and shadow.c. Loads and stores of a segment are recorded, because other ranks
 * reach it. Those of other memory are compared with the buffers of transfers in flight, and not
 * recorded. Invariants: the fast path takes no lock, and enters an access only where each other one
 * is known to be before it; all else takes the slow path, under chk.lock. Two accesses within the
 * same nanoseconds may so miss each other; those of a later epoch do not.
 */
#include "check/runtime/chk.h"

#include "check/local.h"

#include <tombolo/check_hook.h>

#define LINES 512u /* of a thread, at hand; power of two */
#define PAGES 256u
/* The checker is loaded at start, so that its threads' variables have a fixed place. */
#define FAST  __attribute__((tls_model("initial-exec")))

struct line {
  uintptr_t key; /* return address and kind */
  uint64_t clock, number;
  const struct chk_access *access;
};

static _Thread_local FAST struct line lines[LINES];
static _Thread_local FAST struct {
  uintptr_t page; /* + 1 */
  struct chk_page *shadow;
} pages[PAGES];

static const char *const names[] = {[CHK_LOAD] = "load", [CHK_STORE] = "store"};

static uint32_t flags_of(int kind) {
  return kind == CHK_STORE ? CHK_WRITE | CHK_LOCAL : CHK_LOCAL;
}

/* Neighbouring pages lie side by side; arrays of a power of two apart do not meet. */
static inline uintptr_t place_of(uintptr_t page) {
  return (page ^ page >> 7 ^ page >> 14) & (PAGES - 1);
}

static __attribute__((noinline)) struct chk_page *find_page(uintptr_t addr) {
  const uintptr_t page = addr / CHK_PAGE_BYTES, at = place_of(page);
  struct chk_page *const shadow = chk_page_of(chk.rank, addr, true);
  if (!shadow) return NULL;
  pages[at].page = page + 1;
  pages[at].shadow = shadow;
  return shadow;
}

static inline struct chk_page *page_at_hand(uintptr_t addr) {
  const uintptr_t page = addr / CHK_PAGE_BYTES, at = place_of(page);
  return CHK_LIKELY(pages[at].page == page + 1) ? pages[at].shadow : find_page(addr);
}

/* Enter an access in its granule, where all others there are known to be before it. */
static inline bool enter(uint64_t cell[CHK_SLOTS], uint64_t number, uint32_t mask, uint32_t flags) {
  int place = -1;
  for (int i = 0; i < (int)CHK_SLOTS; i++) {
    const uint64_t word = cell[i];
    const uint32_t its_mask = word >> 8 & 0xff;
    if (!word) {
      if (place < 0) place = i;
      continue;
    }
    if (word >> 16 == number) {
      mask |= its_mask;
    } else {
      if (!(its_mask & mask)) continue;
      if (!chk_known_ordered(word >> 16)) return false;
      const bool stronger = (flags & CHK_WRITE) || !(word & CHK_WRITE);
      if (!stronger || (its_mask & ~mask)) continue;
    }
    if (place >= 0) cell[place] = 0;
    place = i;
  }
  if (place >= 0) cell[place] = chk_word(number, mask, flags);
  return place >= 0;
}

static inline uintptr_t line_key(const void *pc, int kind) {
  return (uintptr_t)pc << 1 | (uintptr_t)kind;
}

/* The fast path: within one page. */
static bool enter_all(const struct line *l, uintptr_t addr, size_t bytes, uint32_t flags) {
  const uintptr_t end = addr + bytes;
  struct chk_page *const p = page_at_hand(addr);
  if (!p || p->uniform || (addr ^ (end - 1)) / CHK_PAGE_BYTES) return false;
  while (addr < end) {
    const uint32_t first = addr % CHK_GRANULE, most = CHK_GRANULE - first;
    const uint32_t count = end - addr < most ? (uint32_t)(end - addr) : most;
    const uint32_t mask = ((1u << count) - 1) << first;
    if (!enter(p->cell[addr % CHK_PAGE_BYTES / CHK_GRANULE], l->number, mask, flags)) return false;
    addr += count;
  }
  return true;
}

/* Make the record of a line. */
static __attribute__((noinline)) void make_line(struct line *l, uintptr_t addr, size_t bytes,
                                                int kind, const void *pc) {
  pthread_mutex_lock(&chk.lock);
  struct chk_access *const a = chk_shared(chk_site(names[kind], pc), flags_of(kind));
  if (!a->bytes) {
    a->addr = addr;
    a->bytes = bytes;
    a->owner = chk.rank;
  }
  *l = (struct line){line_key(pc, kind), chk.clock[chk.rank], a->number, a};
  pthread_mutex_unlock(&chk.lock);
}

/* The record of a line. */
static inline struct line *line_of(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const uintptr_t key = line_key(pc, kind);
  struct line *const l = &lines[(key ^ key >> 11) & (LINES - 1)];
  if (CHK_UNLIKELY(l->key != key ||
                   l->clock != __atomic_load_n(&chk.clock[chk.rank], __ATOMIC_RELAXED) ||
                   l->access->number != l->number))
    make_line(l, addr, bytes, kind, pc);
  return l;
}

/* A load or store outside of segments, while buffers are in use. */
static void compare_buffer(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (bytes <= CHK_PAGE_BYTES && !chk_page_of(chk.rank, addr, false) &&
      !chk_page_of(chk.rank, addr + bytes - 1, false))
    return;
  pthread_mutex_lock(&chk.lock);
  struct chk_access a = {.rank = chk.rank,
                         .site = chk_site(names[kind], pc),
                         .done = chk.clock[chk.rank],
                         .accept = CHK_OPEN,
                         .flags = flags_of(kind),
                         .addr = addr,
                         .bytes = bytes,
                         .owner = chk.rank,
                         .after = chk.synced};
  chk_compare(&a, &(struct chk_range){chk.rank, addr, bytes, a.flags});
  pthread_mutex_unlock(&chk.lock);
}

/* ---- strict accesses of UPC */

static _Thread_local FAST struct {
  int how;
  uint64_t key; /* of the word */
  uint32_t site;
} strict;

bool chk_strict(void) {
  return strict.how != 0;
}

void chk_strict_word(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put) {
  strict.key = chk_key(CHK_KEY_WORD, owner, addr & ~(uintptr_t)7);
  strict.site = site;
  if (strict.how & GEXX_CHECK_GIVE) chk_release(strict.key, site, put);
}

void gexx_check_strict(int how) {
  if (strict.key && (strict.how & GEXX_CHECK_TAKE)) {
    pthread_mutex_lock(&chk.lock);
    chk_acquire(strict.key, strict.site);
    pthread_mutex_unlock(&chk.lock);
  }
  strict.key = 0;
  strict.how = chk_on() ? how : 0;
  if (strict.how) chk_next_epoch();
}

/* A load or store of a segment that is strict. */
static void strict_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  pthread_mutex_lock(&chk.lock);
  const uint32_t site = chk_site(names[kind], pc), flags = flags_of(kind) | CHK_ATOMIC;
  (void)chk_touch(&(struct chk_range){chk.rank, addr, bytes, flags}, site, false);
  chk_strict_word(chk.rank, addr, site, 0);
  pthread_mutex_unlock(&chk.lock);
}

/* ---- loads and stores */

/* Any load or store. */
static __attribute__((noinline)) void any_access(uintptr_t addr, size_t bytes, int kind,
                                                 const void *pc) {
  if (!bytes) return;
  addr = chk_resolve(addr);
  if (!chk_segment_has((const void *)addr)) {
    compare_buffer(addr, bytes, kind, pc);
    return;
  }
  if (CHK_UNLIKELY(strict.how)) {
    strict_access(addr, bytes, kind, pc);
    return;
  }
  const uint32_t epoch = tombolo_check_watch.now; /* another thread may begin the next one */
  const struct line *const l = line_of(addr, bytes, kind, pc);
  if (CHK_UNLIKELY(!enter_all(l, addr, bytes, flags_of(kind)))) {
    pthread_mutex_lock(&chk.lock);
    struct chk_access *const a = chk_access_at(l->number);
    if (a) chk_mark(a, &(struct chk_range){chk.rank, addr, bytes, a->flags});
    pthread_mutex_unlock(&chk.lock);
  }
  chk_seen(addr, bytes, kind, epoch);
}

/* At most 8 bytes of the segment, in one granule, on the fast path. Returns whether it is done. */
static inline bool on_word(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  struct chk_watch *const w = &tombolo_check_watch;
  const uint32_t epoch = w->now; /* another thread may begin the next one */
  const uint32_t need = chk_need(addr, bytes, kind), first = addr % CHK_GRANULE;
  struct chk_page *const p = page_at_hand(addr);
  if (!p || p->uniform) return false;
  uint64_t *const cell = p->cell[addr % CHK_PAGE_BYTES / CHK_GRANULE];
  const uint64_t number = line_of(addr, bytes, kind, pc)->number;
  if (!enter(cell, number, ((1u << bytes) - 1) << first, flags_of(kind))) return false;
  uint32_t *const seen = &w->seen[(addr - w->own.base) / CHK_GRANULE];
  const uint32_t was = *seen;
  *seen = ((was ^ epoch) >> 16 ? epoch & 0xffff0000u : was) | need | need >> 8;
  return true;
}

static void on_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const struct chk_extent *const own = &tombolo_check_watch.own;
  if (CHK_LIKELY(addr - own->base < own->bytes && addr % CHK_GRANULE + bytes <= CHK_GRANULE) &&
      !strict.how && bytes && on_word(addr, bytes, kind, pc))
    return;
  any_access(addr, bytes, kind, pc);
}

/* ---- atomic operations of the program: as those of the library, see am.c */

static void atomic_begin(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (!chk_segment_has((const void *)addr)) return;
  pthread_mutex_lock(&chk.lock);
  const uint32_t site = chk_site("atomic operation", pc);
  (void)chk_touch(&(struct chk_range){chk.rank, addr, bytes, flags_of(kind) | CHK_ATOMIC}, site,
                  false);
  if (kind == CHK_STORE)
    chk_release(chk_key(CHK_KEY_WORD, chk.rank, addr & ~(uintptr_t)7), site, 0);
  pthread_mutex_unlock(&chk.lock);
}

static void atomic_end(uintptr_t addr, int kind, const void *pc) {
  (void)kind;
  if (!chk_segment_has((const void *)addr)) return;
  pthread_mutex_lock(&chk.lock);
  chk_acquire(chk_key(CHK_KEY_WORD, chk.rank, addr & ~(uintptr_t)7),
              chk_site("atomic operation", pc));
  pthread_mutex_unlock(&chk.lock);
}

void chk_local_start(void) {
  tombolo_check_watch.access = on_access;
  tombolo_check_watch.atomic_begin = atomic_begin;
  tombolo_check_watch.atomic_end = atomic_end;
}
