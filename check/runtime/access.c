/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses: who read or wrote which bytes, from where, and from when to when.
 *
 * Owns: the ring of accesses of the area, and a cache of the newest complete ones of this rank.
 * Called by the wrappers and by instrumented loads and stores, under chk.lock. Calls: shadow.c.
 * Invariants: an access that is complete when it is recorded is shared by all that its line makes
 * before the next release of the rank; so a loop costs one record. The ring forgets the oldest
 * access: a word of the shadow that names it is as good as empty. The local side of a transfer,
 * outside of segments, can meet accesses of this rank alone, and only until it is complete: it is
 * recorded when it meets one.
 */
#include "check/runtime/chk.h"

#include <string.h>

#define CACHED 256u  /* lines whose record is at hand; power of two */
#define GROUP  64u   /* numbers that a rank takes at once: their records fill a page */
#define BEHIND 1024u /* numbers of others after which the rest of a group is left unused */

static struct {
  uint64_t line, clock; /* site and flags */
  uint64_t act;         /* thread and tick */
  uint64_t number;
} newest[CACHED];

/* Local sides in flight that have met no other access. */
static struct {
  struct chk_range range; /* bytes 0: free */
  uint64_t number;        /* of the record, once there is one */
  uint32_t site;
} later[CHK_LATER];
static uint32_t later_count, later_met; /* in use; of these, with a record */

static uint64_t next; /* number, unless a group ends before it */

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
  chk.open_count += open;
  a->accept = CHK_OPEN;
  a->accept_rank = (uint16_t)chk.rank;
  a->accept_thread = 0;
  a->flags = (uint16_t)flags;
  a->thread = chk.thread;
  a->tick = chk.tick;
  a->bytes = 0;
  __atomic_store_n(&a->number, number, __ATOMIC_RELEASE);
  return a;
}

struct chk_access *chk_opened(uint32_t site, uint32_t flags) {
  return access_new(site, flags, true);
}

/* A new record of a line. Apart, so that the call that finds one saves no registers. */
static __attribute__((noinline)) struct chk_access *shared_new(uint32_t site, uint32_t flags,
                                                               uint32_t at) {
  struct chk_access *const a = access_new(site, flags, false);
  newest[at].line = (uint64_t)flags << 32 | site;
  newest[at].clock = chk.clock[chk.rank];
  newest[at].act = (uint64_t)chk.thread << 32 | chk.tick;
  newest[at].number = a->number;
  chk_note_ordered(a->number);
  return a;
}

struct chk_access *chk_shared(uint32_t site, uint32_t flags) {
  const uint32_t at = (site * 31 + flags) & (CACHED - 1);
  const uint64_t clock = chk.clock[chk.rank], line = (uint64_t)flags << 32 | site;
  const uint64_t act = (uint64_t)chk.thread << 32 | chk.tick;
  struct chk_access *a = NULL;
  if (newest[at].clock == clock && newest[at].line == line && newest[at].act == act)
    a = chk_access_at(newest[at].number);
  return CHK_LIKELY(a) ? a : shared_new(site, flags, at);
}

static bool overlap(uintptr_t a, size_t a_bytes, const struct chk_range *b) {
  return a - b->addr < b->bytes || b->addr - a < a_bytes;
}

/* Another access of this rank's memory begins: record the local sides that it meets. */
static void meet(const struct chk_range *range) {
  const uintptr_t addr = chk_resolve(range->addr);
  for (uint32_t i = 0; i < CHK_LATER; i++) {
    if (!later[i].range.bytes || later[i].number || !overlap(addr, range->bytes, &later[i].range))
      continue;
    struct chk_access *const a = access_new(later[i].site, later[i].range.flags, true);
    later[i].number = a->number;
    later_met++;
    chk_mark(a, &later[i].range);
  }
}

void chk_meet(const struct chk_range *range) {
  if (CHK_UNLIKELY(later_count) && range->owner == chk.rank) meet(range);
}

/* Takes a place for a local side that is recorded later. Returns 0: there is none, or others in
 * flight are recorded. */
static uint64_t take_later(const struct chk_range *range, uint32_t site) {
  if (later_count == CHK_LATER || later_met || chk.open_here != later_count) return 0;
  if (chk_segment_has((const void *)range->addr)) return 0;
  const uintptr_t addr = chk_resolve(range->addr);
  uint32_t free = 0;
  for (uint32_t i = 0; CHK_UNLIKELY(later_count) && i < CHK_LATER; i++) {
    if (!later[i].range.bytes)
      free = i;
    else if (overlap(addr, range->bytes, &later[i].range))
      return 0;
  }
  later[free].range = *range;
  later[free].range.addr = addr;
  later[free].site = site;
  later[free].number = 0;
  later_count++;
  chk_watch_buffer(range->addr, range->bytes);
  return UINT64_MAX - free;
}

static uint64_t end_later(uint64_t handle) {
  const uint32_t i = (uint32_t)(UINT64_MAX - handle);
  later[i].range.bytes = 0;
  later_count--;
  if (later[i].number) later_met--;
  return later[i].number;
}

uint64_t chk_touch_local(const struct chk_range *range, uint32_t site) {
  const uint64_t handle = range->bytes ? take_later(range, site) : 0;
  return handle ? handle : chk_touch(range, site, true);
}

uint64_t chk_result_begin(const void *at, size_t bytes, uint32_t site) {
  if (later_count || chk.open_here || chk_segment_has(at)) return 0;
  later[0].range = (struct chk_range){chk.rank, chk_resolve((uintptr_t)at), bytes,
                                      CHK_WRITE | CHK_LOCAL | CHK_TRANSFER};
  later[0].site = site;
  later[0].number = 0;
  later_count = chk.open_here = 1;
  if (CHK_UNLIKELY(tombolo_check_watch.files) && chk.races) chk_watch_result((uintptr_t)at, bytes);
  return UINT64_MAX;
}

bool chk_result_end(uint64_t number) {
  if (number != UINT64_MAX || later_count != 1 || chk.open_here != 1 || later_met) return false;
  later[0].range.bytes = 0;
  later_count = chk.open_here = 0;
  if (CHK_UNLIKELY(tombolo_check_watch.files)) chk_watch_no_buffer();
  return true;
}

uint64_t chk_touch(const struct chk_range *range, uint32_t site, bool open) {
  if (!range->bytes) return 0;
  chk_meet(range);
  struct chk_access *const a =
      open ? access_new(site, range->flags, true) : chk_shared(site, range->flags);
  chk_mark(a, range);
  return a->number;
}

void chk_touch_more(uint64_t number, const struct chk_range *range) {
  struct chk_access *const a = chk_access_at(number);
  chk_meet(range);
  if (a && range->bytes) chk_mark(a, range);
}

void chk_done(uint64_t number) {
  if (CHK_UNLIKELY(chk_is_later(number))) number = end_later(number);
  struct chk_access *const a = chk_access_at(number);
  if (a) chk_close(a);
}

/* ---- the accesses that a barrier orders, by number */

void chk_floor_give(void) {
  struct chk_floor *const f = chk_floor_of(chk.rank);
  if (chk.open_count || chk.each_thread) return; /* of all threads it would be */
  const uint64_t more = __atomic_load_n(&chk.area->accesses, __ATOMIC_RELAXED) + GROUP;
  if (next + BEHIND < more) next = 0; /* the rest of its group would hold back the floor */
  __atomic_store_n(&f->clock, CHK_OPEN, __ATOMIC_SEQ_CST);
  __atomic_store_n(&f->number, next % GROUP ? next : more, __ATOMIC_SEQ_CST);
  __atomic_store_n(&f->clock, chk.clock[chk.rank], __ATOMIC_SEQ_CST);
}

static struct chk_met *met_of(uint32_t rank) {
  const uint64_t bytes = sizeof(struct chk_met) + chk.ranks * sizeof(uint64_t);
  return chk_at(chk.area, chk.area->where_met + rank * bytes);
}

/* Say what this rank has met, and look what all ranks have. What they say may be old, and stays
 * true. */
static void meet_all(void) {
  struct chk_met *const own = met_of(chk.rank);
  __atomic_store_n(&own->number, chk.floor, __ATOMIC_RELEASE);
  for (uint32_t r = 0; r < chk.ranks; r++)
    __atomic_store_n(&own->clock[r], chk.floor_clocks[r], __ATOMIC_RELEASE);
  chk.met = UINT64_MAX;
  memset(chk.met_clocks, 0xff, chk.ranks * sizeof *chk.met_clocks);
  for (uint32_t q = 0; q < chk.ranks; q++) {
    const struct chk_met *const m = met_of(q);
    const uint64_t number = __atomic_load_n(&m->number, __ATOMIC_ACQUIRE);
    if (chk.met > number) chk.met = number;
    for (uint32_t r = 0; r < chk.ranks; r++) {
      const uint64_t clock = __atomic_load_n(&m->clock[r], __ATOMIC_ACQUIRE);
      if (chk.met_clocks[r] > clock) chk.met_clocks[r] = clock;
    }
  }
}

void chk_floor_take(void) {
  uint64_t least = UINT64_MAX;
  if (chk.each_thread) return; /* one of them has heard */
  for (uint32_t r = 0; r < chk.ranks; r++) {
    struct chk_floor *const f = chk_floor_of(r);
    const uint64_t clock = __atomic_load_n(&f->clock, __ATOMIC_SEQ_CST);
    const uint64_t number = __atomic_load_n(&f->number, __ATOMIC_SEQ_CST);
    if (clock <= chk.clock[r] && __atomic_load_n(&f->clock, __ATOMIC_SEQ_CST) == clock)
      chk.floors[r] = number, chk.floor_clocks[r] = clock;
    if (least > chk.floors[r]) least = chk.floors[r];
  }
  chk.floor = least;
  if (chk.ranks <= CHK_MET_RANKS) meet_all();
}
