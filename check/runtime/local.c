/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`.
 *
 * Owns: the strict access of a thread. Called by check/client through tombolo_check_watch. Calls:
 * run.c, access.c and shadow.c. Loads and stores of a segment are recorded, because other ranks
 * reach it. Those of other memory are compared with the buffers of transfers in flight, and not
 * recorded. Invariants: the fast path takes no lock, and enters an access only where each other one
 * is known to be before it; all else takes the slow path, under chk.lock. Two accesses within the
 * same nanoseconds may so miss each other; those of a later epoch do not.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#define MANY 64u /* bytes of an access that is compared as a whole */

static __attribute__((noinline)) struct chk_page *find_page(struct chk_page **at, uintptr_t addr) {
  struct chk_page *const page = chk_page_of(chk.rank, addr, true);
  __atomic_store_n(at, page, __ATOMIC_RELAXED);
  return page;
}

/* Shadow of the page of an address in the segment that has `seen`; NULL: there is no room. */
static inline struct chk_page *own_page(uintptr_t addr) {
  const uintptr_t base = tombolo_check_watch.own.base;
  struct chk_page **const at = &chk.own_pages[addr / CHK_PAGE_BYTES - base / CHK_PAGE_BYTES];
  struct chk_page *const page = __atomic_load_n(at, __ATOMIC_RELAXED);
  return CHK_LIKELY(page != NULL) ? page : find_page(at, addr);
}

/* The record of the line that makes an access. */
static inline struct chk_line *line_of(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const uintptr_t key = chk_line_key(pc, kind);
  struct chk_line *const l = chk_line_of(chk_thread_lines, key);
  if (CHK_UNLIKELY(!chk_line_holds(l, key))) {
    const struct chk_range range = {chk.rank, addr, bytes, chk_flags_of(kind)};
    chk_line_renew(l, &range, kind, pc);
  }
  return l;
}

/* A line has accessed a word of the segment: where it goes on in order, its next ones are a run. */
static inline void goes_on(struct chk_line *l, uintptr_t addr, size_t bytes) {
  const bool in_order = l->next == addr;
  l->next = addr + bytes;
  if (!in_order)
    l->in_order = l->in_order == CHK_IN_ORDER ? CHK_IN_ORDER - 1 : 0;
  else if (l->in_order == CHK_IN_ORDER || ++l->in_order == CHK_IN_ORDER)
    chk_run_begin(l, l->next);
}

static inline bool is_own(uintptr_t addr) {
  const struct chk_extent *const own = &tombolo_check_watch.own;
  return addr - own->base < own->bytes;
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

/* The fast path: within one page. */
static bool enter_all(const struct chk_line *l, uintptr_t addr, size_t bytes, uint32_t flags) {
  const uintptr_t end = addr + bytes;
  if (bytes > MANY || !is_own(addr) || (addr ^ (end - 1)) / CHK_PAGE_BYTES) return false;
  struct chk_page *const p = own_page(addr);
  if (!p || p->uniform) return false;
  while (addr < end) {
    const uint32_t first = addr % CHK_GRANULE, most = CHK_GRANULE - first;
    const uint32_t count = end - addr < most ? (uint32_t)(end - addr) : most;
    const uint32_t mask = ((1u << count) - 1) << first;
    if (!enter(p->cell[addr % CHK_PAGE_BYTES / CHK_GRANULE], l->number, mask, flags)) return false;
    addr += count;
  }
  return true;
}

/* A load or store outside of segments, while buffers are in use. */
static void compare_buffer(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (bytes <= CHK_PAGE_BYTES && !chk_page_of(chk.rank, addr, false) &&
      !chk_page_of(chk.rank, addr + bytes - 1, false))
    return;
  pthread_mutex_lock(&chk.lock);
  struct chk_access a = {.rank = chk.rank,
                         .site = chk_site_of(kind, pc),
                         .done = chk.clock[chk.rank],
                         .accept = CHK_OPEN,
                         .flags = chk_flags_of(kind),
                         .addr = addr,
                         .bytes = bytes,
                         .owner = chk.rank,
                         .after = chk.synced};
  chk_compare(&a, &(struct chk_range){chk.rank, addr, bytes, a.flags});
  pthread_mutex_unlock(&chk.lock);
}

/* ---- strict accesses of UPC */

static _Thread_local CHK_FAST struct {
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
  const bool takes = strict.key && (strict.how & GEXX_CHECK_TAKE);
  if (takes || (how && chk_on())) {
    chk_enter();
    if (takes) chk_acquire(strict.key, strict.site);
    if (how) chk_next_epoch();
    chk_exit();
  }
  strict.key = 0;
  strict.how = chk_on() ? how : 0;
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
  if (chk_all_seen(addr, bytes, kind)) return;
  const uint32_t epoch = tombolo_check_watch.now; /* another thread may begin the next one */
  const struct chk_line *const l = line_of(addr, bytes, kind, pc);
  if (CHK_UNLIKELY(!enter_all(l, addr, bytes, chk_flags_of(kind)))) {
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
  struct chk_page *const p = own_page(addr);
  if (CHK_UNLIKELY(!p || p->uniform)) return false;
  uint64_t *const cell = p->cell[addr % CHK_PAGE_BYTES / CHK_GRANULE];
  struct chk_line *const l = line_of(addr, bytes, kind, pc);
  const uint32_t flags = chk_flags_of(kind);
  const uint32_t mask = bytes == CHK_GRANULE ? 0xff : ((1u << bytes) - 1) << addr % CHK_GRANULE;
  if (mask != 0xff || p->shared || !chk_enter_alone(cell, chk_word(l->number, 0xff, flags)))
    if (!enter(cell, l->number, mask, flags)) return false;
  uint32_t *const seen = &w->seen[(addr - w->own.base) / CHK_GRANULE];
  const uint32_t was = *seen, stored = kind == CHK_STORE ? mask << 8 : 0;
  *seen = ((was ^ epoch) >> 16 ? epoch & 0xffff0000u : was) | stored | mask;
  goes_on(l, addr, bytes);
  return true;
}

static struct chk_line *on_access(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (CHK_UNLIKELY(!is_own(addr) || addr % CHK_GRANULE + bytes > CHK_GRANULE || strict.how ||
                   !bytes || !on_word(addr, bytes, kind, pc)))
    any_access(addr, bytes, kind, pc);
  return chk_thread_lines;
}

/* ---- atomic operations of the program: as those of the library, see am.c */

static void atomic_begin(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (!chk_segment_has((const void *)addr)) return;
  chk_enter();
  const uint32_t site = chk_site("atomic operation", pc);
  (void)chk_touch(&(struct chk_range){chk.rank, addr, bytes, chk_flags_of(kind) | CHK_ATOMIC}, site,
                  false);
  if (kind == CHK_STORE)
    chk_release(chk_key(CHK_KEY_WORD, chk.rank, addr & ~(uintptr_t)7), site, 0);
  chk_exit();
}

static void atomic_end(uintptr_t addr, int kind, const void *pc) {
  (void)kind;
  if (!chk_segment_has((const void *)addr)) return;
  chk_enter();
  chk_acquire(chk_key(CHK_KEY_WORD, chk.rank, addr & ~(uintptr_t)7),
              chk_site("atomic operation", pc));
  chk_exit();
}

void chk_local_start(void) {
  tombolo_check_watch.access = on_access;
  tombolo_check_watch.atomic_begin = atomic_begin;
  tombolo_check_watch.atomic_end = atomic_end;
}
