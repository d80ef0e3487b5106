/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses: who read or wrote which bytes, from where, and from when to when.
 *
 * Owns: the ring of accesses of the area, and a cache of the newest complete ones of this rank.
 * Called by the wrappers and by instrumented loads and stores, under chk.lock. Calls: shadow.c.
 * Invariants: an access that is complete when it is recorded is shared by all that its line makes
 * before the next release of the rank; so a loop costs one record. The ring forgets the oldest
 * access: a word of the shadow that names it is as good as empty.
 */
#include "check/runtime/chk.h"

#define CACHED 256u /* lines whose record is at hand; power of two */
#define GROUP  16u  /* numbers that a rank takes at once */

static struct {
  uint32_t site, flags;
  uint64_t number, clock;
} newest[CACHED];

static uint64_t next;       /* number, unless a group ends before it */
static uint32_t open_count; /* accesses of this rank that are not complete */

/* The next number; the counter of all ranks gives them in groups. Under chk.lock. */
static uint64_t next_number(void) {
  if (next % GROUP == 0)
    next = __atomic_fetch_add(&chk.area->accesses, GROUP, __ATOMIC_RELAXED) + GROUP;
  return next++;
}

static struct chk_access *access_new(uint32_t site, uint32_t flags, bool open) {
  const uint64_t number = next_number();
  struct chk_access *all = chk_at(chk.area, chk.area->where_access);
  struct chk_access *const a = &all[number & (CHK_ACCESSES - 1)];
  __atomic_store_n(&a->number, 0, __ATOMIC_RELEASE);
  a->rank = chk.rank;
  a->site = site;
  a->done = open ? CHK_OPEN : chk.clock[chk.rank];
  open_count += open;
  a->accept = CHK_OPEN;
  a->accept_rank = chk.rank;
  a->flags = flags;
  a->after = chk.synced;
  a->bytes = 0;
  __atomic_store_n(&a->number, number, __ATOMIC_RELEASE);
  return a;
}

struct chk_access *chk_shared(uint32_t site, uint32_t flags) {
  const uint32_t at = (site * 31 + flags) & (CACHED - 1);
  const uint64_t clock = chk.clock[chk.rank];
  struct chk_access *a = NULL;
  if (newest[at].site == site && newest[at].flags == flags && newest[at].clock == clock)
    a = chk_access_at(newest[at].number);
  if (a) return a;
  a = access_new(site, flags, false);
  newest[at].site = site;
  newest[at].flags = flags;
  newest[at].clock = clock;
  newest[at].number = a->number;
  chk_note_ordered(a->number);
  return a;
}

uint64_t chk_touch(const struct chk_range *range, uint32_t site, bool open) {
  if (!range->bytes) return 0;
  struct chk_access *const a =
      open ? access_new(site, range->flags, true) : chk_shared(site, range->flags);
  chk_mark(a, range);
  return a->number;
}

void chk_touch_more(uint64_t number, const struct chk_range *range) {
  struct chk_access *const a = chk_access_at(number);
  if (a && range->bytes) chk_mark(a, range);
}

void chk_done(uint64_t number) {
  struct chk_access *const a = chk_access_at(number);
  if (!a || a->done != CHK_OPEN) return;
  a->done = chk.clock[chk.rank];
  open_count--;
}

/* ---- the accesses that a barrier orders, by number */

static struct chk_floor *floor_of(uint32_t rank) {
  return (struct chk_floor *)chk_at(chk.area, chk.area->where_floor) + rank;
}

void chk_floor_give(void) {
  struct chk_floor *const f = floor_of(chk.rank);
  if (open_count) return;
  const uint64_t more = __atomic_load_n(&chk.area->accesses, __ATOMIC_RELAXED) + GROUP;
  __atomic_store_n(&f->clock, CHK_OPEN, __ATOMIC_SEQ_CST);
  __atomic_store_n(&f->number, next % GROUP ? next : more, __ATOMIC_SEQ_CST);
  __atomic_store_n(&f->clock, chk.clock[chk.rank], __ATOMIC_SEQ_CST);
}

void chk_floor_take(void) {
  uint64_t least = UINT64_MAX;
  for (uint32_t r = 0; r < chk.ranks; r++) {
    struct chk_floor *const f = floor_of(r);
    const uint64_t clock = __atomic_load_n(&f->clock, __ATOMIC_SEQ_CST);
    const uint64_t number = __atomic_load_n(&f->number, __ATOMIC_SEQ_CST);
    if (clock <= chk.clock[r] && __atomic_load_n(&f->clock, __ATOMIC_SEQ_CST) == clock)
      chk.floors[r] = number;
    if (least > chk.floors[r]) least = chk.floors[r];
  }
  chk.floor = least;
}
