/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses, and the shadow of memory that remembers them.
 *
 * Owns: the declarations of shadow.c and access.c. Included by chk.h. Calls: clock.h. Invariant: a
 * granule is changed under the lock of its page.
 */
#ifndef TMB_CHK_SHADOW_H
#define TMB_CHK_SHADOW_H

#include "check/runtime/clock.h"

struct chk_range {
  uint32_t owner;
  uintptr_t addr;
  size_t bytes;
  uint32_t flags;
};

/* Record an access and compare it with others. in open: it lasts until chk_done. Returns its
 * number. */
uint64_t chk_touch(const struct chk_range *range, uint32_t site, bool open);
/* As chk_touch, for the local side of a transfer, which lasts until chk_done. Returns what stands
 * for its number. */
uint64_t chk_touch_local(const struct chk_range *range, uint32_t site);
/* Whether such a number is of memory outside of segments that no other access has met. */
#define CHK_LATER 8u /* at a time */
static inline bool chk_is_later(uint64_t number) {
  return number > UINT64_MAX - CHK_LATER;
}

/* An access that is compared, but not recorded, begins. */
void chk_meet(const struct chk_range *range);
/* Adds one more range to an access that has begun. */
void chk_touch_more(uint64_t number, const struct chk_range *range);
void chk_done(uint64_t number);

static inline struct chk_access *chk_access_at(uint64_t number) {
  if (!number) return NULL;
  struct chk_access *all = chk_at(chk.area, chk.area->where_access);
  struct chk_access *const a = &all[number & (CHK_ACCESSES - 1)];
  return __atomic_load_n(&a->number, __ATOMIC_ACQUIRE) == number ? a : NULL;
}

/* An access of this rank is complete. */
static inline void chk_close(struct chk_access *a) {
  if (a->done != CHK_OPEN) return;
  a->done = chk.clock[chk.rank];
  a->thread = chk.thread;
  a->tick = chk.tick;
  chk.open_count--;
}

/* At a barrier, before a release: which accesses of this rank it orders. After an acquire: all
 * those that what this rank has heard of orders. */
void chk_floor_give(void);
void chk_floor_take(void);
/* An access that lasts until chk_done. */
struct chk_access *chk_opened(uint32_t site, uint32_t flags);
/* The access, complete, that all share which this line makes before the next release. */
struct chk_access *chk_shared(uint32_t site, uint32_t flags);
void chk_mark(struct chk_access *a, const struct chk_range *range);
/* As chk_mark, for bytes of a page whose lock is held, and no second place. */
void chk_mark_in(struct chk_access *a, struct chk_page *p, const struct chk_range *range);
/* As chk_mark, for some granules of a page whose lock is held. in mask: the bytes of each. Between
 * two calls of chk_mark_fresh no clock changes. */
void chk_mark_fresh(void);
void chk_mark_cells(struct chk_access *a, struct chk_page *p, uintptr_t addr, uint32_t mask,
                    size_t count);
/* Compare only; nothing remembers the access. */
void chk_compare(struct chk_access *a, const struct chk_range *range);
/* Shadow of the page of an address; NULL: it has none. */
struct chk_page *chk_page_of(uint32_t owner, uintptr_t addr, bool make);
/* Pages that were used of late are at hand, with their words; no page ends. */
#define CHK_HAND 1024u /* power of two */
extern struct chk_hand {
  uint64_t key;
  struct chk_page *page;
  uint64_t *words; /* the first ones of its granules */
} chk_hand[CHK_HAND];

static inline uint64_t chk_page_key(uint32_t owner, uintptr_t addr) {
  return ((uint64_t)owner << 52 | addr / CHK_PAGE_BYTES) + 1;
}

static inline uint32_t chk_owner_of_page(const struct chk_page *p) {
  return (uint32_t)((p->key - 1) >> 52);
}

static inline uintptr_t chk_addr_of_page(const struct chk_page *p) {
  return (uintptr_t)(p->key - 1) << 12 >> 12 << 12;
}

/* The first words of its granules. */
static inline uint64_t *chk_words_of(const struct chk_page *p) {
  return chk.cells + (uint64_t)p->shadow * CHK_CELLS;
}

static inline struct chk_rest *chk_rest_of(const struct chk_page *p) {
  return chk.rests + p->shadow;
}

/* As chk_page_of, under chk.lock. */
static inline const struct chk_hand *chk_hand_of(uint32_t owner, uintptr_t addr, bool make) {
  const uint64_t key = chk_page_key(owner, addr);
  struct chk_hand *const h = &chk_hand[(key ^ (uint64_t)owner * 379) & (CHK_HAND - 1)];
  if (CHK_LIKELY(h->key == key)) return h;
  struct chk_page *const p = chk_page_of(owner, addr, make);
  if (!p) return NULL;
  *h = (struct chk_hand){key, p, chk_words_of(p)};
  return h;
}

/* As chk_hand_of; NULL: it is not at hand. */
static inline const struct chk_hand *chk_hand_here(uint32_t owner, uintptr_t addr) {
  const uint64_t key = chk_page_key(owner, addr);
  const struct chk_hand *const h = &chk_hand[(key ^ (uint64_t)owner * 379) & (CHK_HAND - 1)];
  return CHK_LIKELY(h->key == key) ? h : NULL;
}

static inline struct chk_page *chk_page_at(uint32_t owner, uintptr_t addr, bool make) {
  const struct chk_hand *const h = chk_hand_of(owner, addr, make);
  return h ? h->page : NULL;
}

/* What a rank says of itself. */
static inline struct chk_floor *chk_floor_of(uint32_t rank) {
  return (struct chk_floor *)chk_at(chk.area, chk.area->where_floor) + rank;
}

/* As chk_ahead, of the second word, if there is one. */
static inline void chk_ahead_more(const struct chk_page *p, const uint64_t *first) {
  const uint64_t part = (uint64_t)(first - chk_words_of(p)) / CHK_PART;
  __builtin_prefetch(first + (p->more[0] >> part & 1) * CHK_PLANE, 1);
}

/* Bytes, and the first word of their first granule, are about to be used: they come from memory
 * meanwhile. in here: the bytes in this process. */
static inline void chk_ahead(const struct chk_page *p, const uint64_t *first, const void *here) {
  __builtin_prefetch(first, 1);
  __builtin_prefetch(here, 1);
  __builtin_prefetch(&p->lock, 1);
  if (CHK_UNLIKELY(p->more[0])) chk_ahead_more(p, first);
}

/* What ranks have given to a granule. in words: of its page. */
static inline uint64_t *chk_given_at(uint64_t *words, uintptr_t addr) {
  return words + CHK_GIVEN + addr % CHK_PAGE_BYTES / CHK_GRANULE;
}

/* ---- cells.c: the words of a granule of a page, under the lock of the page */

/* Granules of a part get their words with an index, from 1 on, all of them 0. */
void chk_more(struct chk_page *p, uint32_t cell, uint32_t index);
/* The page is not uniform any more, but each of its parts is. */
void chk_expand(struct chk_page *p);
/* The granules of a part are not alike any more. */
void chk_expand_alike(struct chk_page *p, uint32_t part);
/* They are: they have one access alone, and no other words. Whether that is so. */
void chk_set_alike(struct chk_page *p, uint32_t part, uint64_t word);
bool chk_is_alike(const struct chk_page *p, uint32_t part, uint64_t word);
/* Enter an access of whole granules that their owner alone has accessed, so that all others there
 * are before it. Returns how many are done: the next one has words that are to be merged. */
size_t chk_enter_alone(struct chk_page *p, uint32_t i, size_t count, uint64_t word);

static inline bool chk_has_more(const struct chk_page *p, uint32_t cell, uint32_t index) {
  return p->more[index - 1] >> cell / CHK_PART & 1;
}

static inline void chk_cell_load(const struct chk_page *p, uint32_t i, uint64_t cell[CHK_SLOTS]) {
  const uint64_t *const at = chk_words_of(p) + i;
  cell[0] = at[0];
  cell[1] = CHK_UNLIKELY(chk_has_more(p, i, 1)) ? at[CHK_PLANE] : 0;
  cell[2] = CHK_UNLIKELY(chk_has_more(p, i, 2)) ? at[2 * CHK_PLANE] : 0;
}

static inline void chk_cell_store(struct chk_page *p, uint32_t i, const uint64_t cell[CHK_SLOTS]) {
  uint64_t *const at = chk_words_of(p) + i;
  at[0] = cell[0];
  for (uint32_t k = 1; k < CHK_SLOTS; k++) {
    if (CHK_LIKELY(!chk_has_more(p, i, k))) {
      if (CHK_LIKELY(!cell[k])) continue;
      chk_more(p, i, k);
    }
    at[k * CHK_PLANE] = cell[k];
  }
}

/* As chk_word_give_in, without a put. in word: of chk_given_at. */
static inline void chk_word_gives(struct chk_page *p, uint64_t *word, uint32_t owner,
                                  uintptr_t addr, uint32_t site) {
  const uint64_t next = CHK_LIKELY(chk_covers_plainly(*word)) ? chk_give() : 0;
  if (CHK_LIKELY(next))
    __atomic_store_n(word, next, __ATOMIC_RELEASE);
  else
    chk_word_give_in(p, owner, addr, site, 0);
}

/* Whether a rank that takes what a word was given hears nothing new. */
static inline bool chk_word_known(uint64_t given, uintptr_t addr) {
  return chk_covers_plainly(given) && chk_joined_word != addr;
}

static inline uint64_t chk_word(uint64_t number, uint32_t mask, uint32_t flags) {
  return number << 16 | (uint64_t)mask << 8 | (flags & 0xff);
}

/* ---- epoch.c: words that need no record. A rank of one thread makes such an access in one
 * granule, which is complete before its rank gives anything again. */

/* The word of a line, without a clock and bytes; 0: there is no room. */
uint64_t chk_epoch_of(uint32_t site, uint32_t flags);
/* What a record of it would be. in addr: of the granule. */
struct chk_access chk_epoch_access(uint64_t word, uint32_t owner, uintptr_t addr);

static inline uint64_t chk_epoch_at(uint64_t word, uint64_t clock, uint32_t mask) {
  return word | clock << CHK_EPOCH_CLOCK_SHIFT | mask << 8;
}

static inline uint64_t chk_epoch_clock(uint64_t word) {
  return word >> CHK_EPOCH_CLOCK_SHIFT & CHK_EPOCH_CLOCK;
}

static inline const struct chk_origin *chk_epoch_origin(uint64_t word) {
  return &chk.origins[(word >> 10 & 0xffc0) | (word >> 2 & 0x3f)];
}

/* Whether two words are of one line of a rank, and of the same bytes. */
static inline bool chk_epoch_same(uint64_t a, uint64_t b) {
  return ((a ^ b) & ~(CHK_EPOCH_CLOCK << CHK_EPOCH_CLOCK_SHIFT)) == 0 && (a & CHK_EPOCH);
}

/* Whether a barrier has ordered the access of a word. */
static inline bool chk_floor_covers(uint64_t word) {
  if (CHK_LIKELY(word < (chk.floor << 16 | 1))) return true;
  return (word & CHK_EPOCH) &&
         chk_epoch_clock(word) <= chk.floor_clocks[chk_epoch_origin(word)->rank];
}

/* Whether the access of a word is before all that any rank does next. */
static inline bool chk_all_met(uint64_t word) {
  if (word & CHK_EPOCH)
    return chk_epoch_clock(word) <= chk.met_clocks[chk_epoch_origin(word)->rank];
  return word >> 16 < chk.met;
}

/* Whether an access from before has races that a new one has not. in before: 0: none. in differ:
 * what the new one lacks. */
static inline bool chk_remains(uint64_t before, uint64_t word, uint64_t differ) {
  return before && ((before ^ word) & differ) && !chk_all_met(before);
}

/* Enter the word of an access in a granule, if a barrier has ordered all that is there. Returns
 * whether. A word from before goes, if each race of its access is one of the new one's, too, or if
 * nothing can race with it any more. */
static inline __attribute__((always_inline)) bool chk_enter_cell(uint64_t cell[CHK_SLOTS],
                                                                 uint64_t word) {
  const uint64_t a = cell[0], b = cell[1], d = cell[2];
  const uint64_t differ = (~word & (0xff00 | CHK_WRITE)) | (word & CHK_ATOMIC);
  const bool first = chk_remains(a, word, differ);
  if (CHK_LIKELY(!(b | d))) {
    if (CHK_UNLIKELY(!chk_floor_covers(a))) return false;
    cell[first] = word;
    return true;
  }
  if (CHK_UNLIKELY(!chk_floor_covers(a) || !chk_floor_covers(b) || !chk_floor_covers(d)))
    return false;
  const bool second = chk_remains(b, word, differ), third = chk_remains(d, word, differ);
  if (!second) cell[1] = 0;
  if (!third) cell[2] = 0;
  cell[!first ? 0 : !second ? 1 : !third ? 2 : 0] = word;
  return true;
}

/* Whether the granules of a page have words of their own here, and no others. Under its lock. */
static inline bool chk_is_plain(const struct chk_page *p, uint32_t cell) {
  const bool alike = CHK_UNLIKELY(p->alike) && (p->alike >> cell / CHK_PART & 1);
  return CHK_LIKELY(!(p->uniform | p->spills)) && CHK_LIKELY(!alike);
}

/* Enter the word of an access in a granule that is empty, or has what the same line has done to the
 * same bytes, which is before it; else at most one word, which a barrier has ordered. in at: its
 * first word. Returns whether. */
static inline bool chk_epoch_again(const struct chk_page *p, uint64_t *at, uint32_t i,
                                   uint64_t word) {
  const uint64_t same = ~(CHK_EPOCH_CLOCK << CHK_EPOCH_CLOCK_SHIFT);
  const uint64_t a = *at, b = CHK_UNLIKELY(chk_has_more(p, i, 1)) ? at[CHK_PLANE] : 0;
  if (CHK_UNLIKELY(chk_has_more(p, i, 2)) && at[2 * CHK_PLANE]) return false;
  if (CHK_LIKELY(!b)) {
    if (a && ((a ^ word) & same)) return false;
    *at = word;
    return true;
  }
  if (((b ^ word) & same) || !chk_floor_covers(a)) return false;
  at[CHK_PLANE] = word;
  return true;
}

/* Enter the word of an access, if a barrier has ordered all that is there, or nothing else is there
 * than what the same line has done. Under the lock of the page. */
static inline bool chk_epoch_enter(struct chk_page *p, const struct chk_range *range,
                                   uint64_t word) {
  const uint32_t i = range->addr % CHK_PAGE_BYTES / CHK_GRANULE;
  if (!chk_is_plain(p, i)) return false;
  if (range->owner != chk.rank) p->shared = 1;
  uint64_t cell[CHK_SLOTS];
  chk_cell_load(p, i, cell);
  const bool again = (cell[0] & CHK_EPOCH) && !((cell[0] ^ word) & ~UINT64_C(0xff00));
  if (again && !(cell[1] | cell[2]))
    cell[0] |= word;
  else if (!chk_enter_cell(cell, word))
    return false;
  chk_cell_store(p, i, cell);
  return true;
}

/* As chk_enter_cell, of a granule in memory. */
static inline bool chk_enter_at(struct chk_page *p, uint32_t i, uint64_t word) {
  uint64_t cell[CHK_SLOTS];
  chk_cell_load(p, i, cell);
  if (!chk_enter_cell(cell, word)) return false;
  chk_cell_store(p, i, cell);
  return true;
}

/* Whether others than the owner may be in a race with an access. */
static inline bool chk_shares(const struct chk_access *a, const struct chk_range *range) {
  return range->owner != a->rank || a->done == CHK_OPEN || (range->flags & CHK_ATOMIC);
}

/* As chk_mark_in, if a barrier has ordered all that is there, and granules are not alike. Returns
 * false: it has not entered all. */
static inline __attribute__((always_inline)) bool
chk_mark_few(struct chk_access *a, struct chk_page *p, const struct chk_range *range) {
  const uintptr_t addr = range->addr;
  const uint32_t bytes = (uint32_t)range->bytes, first = addr % CHK_GRANULE;
  const uint32_t i = addr % CHK_PAGE_BYTES / CHK_GRANULE,
                 last = (uint32_t)(addr + bytes - 1) % CHK_PAGE_BYTES / CHK_GRANULE;
  const bool alike = (p->alike >> i / CHK_PART | p->alike >> last / CHK_PART) & 1;
  if (CHK_UNLIKELY(p->uniform || p->spills || alike)) return false;
  a->addr = addr;
  a->bytes = bytes;
  a->owner = (uint16_t)range->owner;
  if (chk_shares(a, range)) p->shared = 1;
  const uint32_t mask = i == last ? ((1u << bytes) - 1) << first : 0xff;
  const uint64_t word = chk_word(a->number, mask, range->flags);
  if (CHK_LIKELY(i == last)) return chk_enter_at(p, i, word);
  if ((first | bytes) % CHK_GRANULE || last > i + 1) return false;
  return chk_enter_at(p, i, word) && chk_enter_at(p, last, word);
}

/* ---- delay.c: complete accesses of this rank, in one page each, that are entered before its clock
 * changes, all together. chk.guard does so if there are any. */
#define CHK_DELAYED 16u /* at a time */
extern struct chk_delayed {
  struct chk_page *page;
  uint64_t *first; /* of its granule */
  uint64_t word;   /* of the access; 0: it needs a record; then: */
  uintptr_t addr;
  uint32_t site;
  uint16_t bytes, flags;
} chk_delayed[CHK_DELAYED];
extern uint32_t chk_delayed_count;
void chk_enter_delayed(void);
/* One that is not delayed, in a process of several threads. */
void chk_enter_once(const struct chk_delayed *d);

/* Whether all that is to be done before a call is to enter these, or nothing. */
static inline bool chk_may_delay(void) {
  return !chk.guard || chk_delayed_count;
}

/* The next one, whose record, if it needs one, the caller fills in. */
static inline struct chk_delayed *chk_delay(struct chk_page *page, uint32_t owner, uint64_t *first,
                                            uint64_t word) {
  struct chk_delayed *const d = &chk_delayed[chk_delayed_count];
  if (CHK_UNLIKELY(!page->shared) && owner != chk.rank)
    __atomic_store_n(&page->shared, 1, __ATOMIC_RELAXED);
  d->page = page;
  d->first = first;
  d->word = word;
  return d;
}

static inline void chk_delay_end(void) {
  chk.guard = chk_enter_delayed;
  if (CHK_UNLIKELY(++chk_delayed_count == CHK_DELAYED)) chk_enter_delayed();
}

/* An order that holds once holds for ever. */
static inline void chk_note_ordered(uint64_t number) {
  __atomic_store_n(&chk.ordered[number & (CHK_NOTED - 1)], number, __ATOMIC_RELAXED);
}

static inline bool chk_known_ordered(uint64_t number) {
  return number < chk.floor ||
         __atomic_load_n(&chk.ordered[number & (CHK_NOTED - 1)], __ATOMIC_RELAXED) == number;
}

#endif
