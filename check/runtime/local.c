/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`.
 *
 * Owns: each thread's lines and pages at hand. Called by check/client through tombolo_check_watch.
 * Calls: access.c and shadow.c. Loads and stores of a segment are recorded, because other ranks
 * reach it. Those of other memory are compared with the buffers of transfers in flight, and not
 * recorded. Invariants: the short way takes the lock of a page alone, and enters an access only
 * where each other one is known to be before it; all else goes the long way, under chk.lock.
 */
#include "check/runtime/chk.h"

#include "check/local.h"

#include <tombolo/check_hook.h>

#define LINES   512u /* of a thread, at hand; power of two */
#define PAGES   64u
#define OWN     1024u /* power of two */
/* The checker is loaded at start, so that its threads' variables have a fixed place. */
#define FAST    __attribute__((tls_model("initial-exec")))

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

static struct chk_page *page_at_hand(uintptr_t addr) {
  const uintptr_t page = addr / CHK_PAGE_BYTES, at = page & (PAGES - 1);
  if (CHK_UNLIKELY(pages[at].page != page + 1)) {
    struct chk_page *const shadow = chk_page_of(chk.rank, addr, true);
    if (!shadow) return NULL;
    pages[at].page = page + 1;
    pages[at].shadow = shadow;
  }
  return pages[at].shadow;
}

/* Enter an access in its granule, where all others there are known to be before it. */
static bool enter(uint64_t cell[CHK_SLOTS], uint64_t number, uint32_t mask, uint32_t flags) {
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

/* Records of this process, and when they were made. */
static struct { uint64_t number, clock; } own[OWN];

/* Whether an access needs no entry in its granule: it is there, or one of this rank since its last
 * release, which is in every race that this one is in (FastTrack's same epoch), but for those with
 * transfers that have begun since. */
static bool is_there(const uint64_t cell[CHK_SLOTS], uint64_t mine, uint64_t clock) {
  bool found = false;
  for (uint32_t i = 0; i < CHK_SLOTS; i++) {
    const uint64_t word = __atomic_load_n(&cell[i], __ATOMIC_RELAXED), number = word >> 16;
    if (!word) continue;
    if (!chk_known_ordered(number)) return false;
    const bool covers = !((mine & ~word) & (0xff00 | CHK_WRITE));
    const uint64_t at = number & (OWN - 1);
    found = found || word == mine || (covers && own[at].number == number && own[at].clock == clock);
  }
  return found;
}

/* The short way: within one page. */
static bool enter_all(const struct line *l, uintptr_t addr, size_t bytes, uint32_t flags) {
  const uintptr_t end = addr + bytes;
  const uint64_t number = l->number;
  struct chk_page *const p = page_at_hand(addr);
  if (!p || (addr ^ (end - 1)) / CHK_PAGE_BYTES) return false;
  bool locked = false, all = true;
  while (all && addr < end) {
    const uint32_t first = addr % CHK_GRANULE, most = CHK_GRANULE - first;
    const uint32_t count = end - addr < most ? (uint32_t)(end - addr) : most;
    const uint32_t mask = ((1u << count) - 1) << first;
    uint64_t *const cell = p->cell[addr % CHK_PAGE_BYTES / CHK_GRANULE];
    addr += count;
    if (!locked && !p->uniform && is_there(cell, chk_word(number, mask, flags), l->clock)) continue;
    if (!locked && __atomic_exchange_n(&p->lock, 1u, __ATOMIC_ACQUIRE)) return false;
    locked = true;
    all = !p->uniform && enter(cell, number, mask, flags);
  }
  if (locked) chk_unlock(&p->lock);
  return all;
}

/* The record of a line. */
static struct line *line_of(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const uintptr_t key = (uintptr_t)pc << 1 | (uintptr_t)kind;
  struct line *const l = &lines[(key ^ key >> 11) & (LINES - 1)];
  if (l->key == key && l->clock == __atomic_load_n(&chk.clock[chk.rank], __ATOMIC_RELAXED) &&
      l->access->number == l->number)
    return l;
  pthread_mutex_lock(&chk.lock);
  struct chk_access *const a = chk_shared(chk_site(names[kind], pc), flags_of(kind));
  if (!a->bytes) {
    a->addr = addr;
    a->bytes = bytes;
    a->owner = chk.rank;
  }
  *l = (struct line){key, chk.clock[chk.rank], a->number, a};
  own[a->number & (OWN - 1)].number = a->number;
  own[a->number & (OWN - 1)].clock = l->clock;
  pthread_mutex_unlock(&chk.lock);
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

static void on_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
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
  const struct line *const l = line_of(addr, bytes, kind, pc);
  if (CHK_LIKELY(enter_all(l, addr, bytes, flags_of(kind)))) return;
  pthread_mutex_lock(&chk.lock);
  struct chk_access *const a = chk_access_at(l->number);
  if (a) chk_mark(a, &(struct chk_range){chk.rank, addr, bytes, a->flags});
  pthread_mutex_unlock(&chk.lock);
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
