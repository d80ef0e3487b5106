/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shadow of memory: for each 8 bytes, the accesses that may still be part of a race.
 *
 * Owns: pages and page table of the area. Called by access.c, under chk.lock. A page is found by
 * owner and address; neighbouring pages lie side by side in the table. Each granule has CHK_SLOTS
 * words. An access takes the place of one that is ordered before it and of which it hides all, or
 * that all ranks have met (access.c), else an empty one, else that of one before it, else any.
 * Where no barrier has ordered that one, it is spilled: the page keeps CHK_SPILLS of these. Then a
 * race may be missed, and none is reported falsely. Where the words are: cells.c. Invariant: words
 * change under the lock of their page.
 */
#include "check/runtime/chk.h"

#include <string.h>

#define PART      CHK_PART
#define FEW_BYTES 64u /* granules that are compared one by one */

/* An access that is compared with the words of a range; verdicts about the last accesses met. */
struct compare {
  struct chk_access *now;
  uint32_t flags;
  bool enters; /* else it is only compared */
  bool shares; /* others than the owner may be in a race with it */
  bool alone;  /* the page is not shared */
  bool raced;  /* or a word was spilled: neighbours are not like this granule */
  struct chk_page *page;
  uint64_t met[2];
  bool ordered[2];
};

struct chk_hand chk_hand[CHK_HAND];

struct chk_page *chk_page_of(uint32_t owner, uintptr_t addr, bool make) {
  const uint64_t key = chk_page_key(owner, addr);
  struct chk_page *table = chk_at(chk.area, chk.area->where_table);
  const uint64_t group = (key >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
  uint64_t at = (group << 8 | (key & 255)) & (CHK_PAGES - 1);
  for (uint32_t tries = 0; tries < 4096; tries++, at = (at + 256 + (tries & 1)) & (CHK_PAGES - 1)) {
    struct chk_page *const p = &table[at];
    uint64_t seen = __atomic_load_n(&p->key, __ATOMIC_ACQUIRE);
    if (!seen && !make) return NULL;
    if (!seen && __atomic_compare_exchange_n(&p->key, &seen, key, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
      const uint32_t index = __atomic_fetch_add(&chk.area->pages, 1, __ATOMIC_RELAXED);
      if (index >= CHK_PAGES) break;
      p->uniform = 1;
      __atomic_store_n(&p->shadow, index, __ATOMIC_RELEASE);
      return p;
    }
    if (seen != key) continue;
    while (!__atomic_load_n(&p->shadow, __ATOMIC_ACQUIRE))
      if (__atomic_load_n(&chk.area->pages, __ATOMIC_RELAXED) >= CHK_PAGES) return NULL;
    return p;
  }
  __atomic_fetch_add(&chk.area->missed, 1, __ATOMIC_RELAXED);
  return NULL;
}

/* Whether a complete access of this rank is before what its acting thread does. Memory outside of
 * segments is freed and allocated, in an order that is not known. */
static bool own_ordered(const struct chk_access *a) {
  if (!chk.thread || chk_thread_ordered(a)) return true;
  return a->owner == chk.rank && !chk_segment_has((const void *)a->addr);
}

static inline uint64_t heard_of(uint32_t rank) {
  return CHK_UNLIKELY(chk.each_thread) ? chk_thread_heard(rank) : chk.clock[rank];
}

static bool is_ordered(const struct chk_access *a) {
  if (a->accept != CHK_OPEN && chk_accepted(a)) return true;
  if (a->rank == chk.rank && chk.in_order && !(a->flags & CHK_LOCAL)) return true;
  if (a->done == CHK_OPEN) return false;
  if (a->rank == chk.rank) return own_ordered(a);
  return CHK_UNLIKELY(a->thread) ? chk_thread_heard_of(a) : heard_of(a->rank) >= a->done;
}

/* Whether an access is ordered before the one that is compared. */
static bool before(struct compare *c, const struct chk_access *a) {
  for (int i = 0; i < 2; i++)
    if (c->met[i] == a->number) return c->ordered[i];
  c->met[1] = c->met[0];
  c->ordered[1] = c->ordered[0];
  c->met[0] = a->number;
  c->ordered[0] = is_ordered(a);
  if (c->ordered[0] && !(a->number & CHK_EPOCH)) chk_note_ordered(a->number);
  return c->ordered[0];
}

/* The new value of a shadow word after the access is entered in its granule. */
enum { KEEP, HIDDEN, MERGE };

/* True if each race of the access that is ordered before is one of the compared access, too. */
static inline bool is_hidden(const struct compare *c, uint64_t word, uint32_t mask) {
  const bool stronger = ((c->flags & CHK_WRITE) || !(word & CHK_WRITE)) &&
                        (!(c->flags & CHK_ATOMIC) || (word & CHK_ATOMIC));
  return stronger && ((word >> 8 & 0xff) & ~mask) == 0;
}

/* Compare with the access of one word. in,out mask: bytes of the access in the granule. */
static int compare_word(struct compare *c, uint64_t word, const struct chk_access *a,
                        uint32_t *mask, uintptr_t addr) {
  const uint32_t its_mask = word >> 8 & 0xff,
                 flags = (word & CHK_EPOCH ? a->flags : (uint32_t)word) & 0xff;
  if (a == c->now) {
    if (flags != (c->flags & 0xff)) return KEEP;
    *mask |= its_mask;
    return MERGE;
  }
  if (!(its_mask & *mask)) return KEEP;
  const bool conflict = ((flags | c->flags) & CHK_WRITE) && !(flags & c->flags & CHK_ATOMIC);
  const bool first = before(c, a);
  if (conflict && !first) {
    c->raced = true;
    chk_race(a, flags, c->now, addr);
  }
  return first && is_hidden(c, word, *mask) ? HIDDEN : KEEP;
}

/* As stays, of a word that has no record. */
static __attribute__((noinline)) bool epoch_stays(struct compare *c, uint64_t word, uint32_t *mask,
                                                  uintptr_t addr) {
  const struct chk_access a = chk_epoch_access(word, c->now->owner, addr), *const now = c->now;
  const bool same = a.rank == now->rank && a.site == now->site && a.flags == c->flags;
  if (same && a.done == now->done) { /* more of the same access */
    *mask |= word >> 8 & 0xff;
    return false;
  }
  return compare_word(c, word, &a, mask, addr) == KEEP;
}

/* Compare with one word of a granule. Returns whether it stays. */
static inline bool stays(struct compare *c, uint64_t word, uint32_t *mask, uintptr_t addr) {
  if (!word) return false;
  if (chk_floor_covers(word)) return !chk_all_met(word) && !is_hidden(c, word, *mask);
  if (word & CHK_EPOCH) return epoch_stays(c, word, mask, addr);
  const struct chk_access *const a = chk_access_at(word >> 16);
  return a && compare_word(c, word, a, mask, addr) == KEEP;
}

/* Whether the access of a word is known to be before what this rank does. */
static bool known_before(uint64_t word) {
  if (!(word & CHK_EPOCH)) return chk_known_ordered(word >> 16);
  const uint32_t rank = chk_epoch_origin(word)->rank;
  return rank == chk.rank || heard_of(rank) >= chk_epoch_clock(word);
}

/* Whether all words of a granule but one are of accesses that are known to be before. A transfer
 * may have begun since that word was entered. */
static bool is_alone(const uint64_t cell[CHK_SLOTS], uint64_t mine) {
  for (uint32_t i = 0; i < CHK_SLOTS; i++)
    if (cell[i] && cell[i] != mine && !known_before(cell[i])) return false;
  return true;
}

/* The word of the access in a granule of which it has all. */
static inline uint64_t mine_of(const struct compare *c) {
  return chk_word(c->now->number, 0xff, c->flags);
}

/* Whether a barrier has ordered an access. The floors of ranks differ by some numbers. */
static bool is_below_floor(uint64_t word) {
  if (chk_floor_covers(word)) return true;
  const struct chk_access *const a = word & CHK_EPOCH ? NULL : chk_access_at(word >> 16);
  return !a ? !(word & CHK_EPOCH) : a->number < chk.floors[a->rank];
}

/* The word of a full granule that an access takes: one with which fewer accesses to come can race.
 * Those that a barrier has ordered are before what most ranks do, others that are known to be
 * before are so for this rank: the oldest of them, of which more ranks have heard. */
static uint32_t given_up(const struct compare *c, const uint64_t cell[CHK_SLOTS]) {
  uint32_t place = (uint32_t)(c->now->number % CHK_SLOTS);
  uint64_t oldest = UINT64_MAX;
  for (uint32_t i = 0; i < CHK_SLOTS; i++) {
    const uint64_t number = cell[i] & CHK_EPOCH ? 0 : cell[i] >> 16; /* they go first */
    if (is_below_floor(cell[i])) return i;
    if (number >= oldest || !known_before(cell[i])) continue;
    oldest = number;
    place = i;
  }
  return place;
}

/* ---- words that found no room in their granules */

/* Whether the page keeps the same word of neighbours already, which get this granule, too. */
static bool spills_beside(struct chk_rest *s, uint64_t word, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < CHK_SPILLS; i++) {
    struct chk_spill *const e = &s->spill[i];
    if (e->word != word || e->first + e->count != first) continue;
    e->count = (uint16_t)(e->count + count);
    return true;
  }
  return false;
}

/* A word of `count` granules is given up. */
static void spill(struct compare *c, uint64_t word, uintptr_t addr, uint32_t count) {
  struct chk_rest *const s = chk_rest_of(c->page);
  const uint32_t first = addr % CHK_PAGE_BYTES / CHK_GRANULE;
  c->raced = true;
  if (spills_beside(s, word, first, count)) return;
  uint32_t i = 0;
  while (i < CHK_SPILLS && s->spill[i].word) i++;
  if (i == CHK_SPILLS) i = s->oldest++ % CHK_SPILLS;
  s->spill[i] = (struct chk_spill){word, (uint16_t)first, (uint16_t)count};
  c->page->spills = 1;
}

/* Compare with one granule, and enter the access there. in span: granules that have these words. */
static void compare_any(struct compare *c, uint64_t cell[CHK_SLOTS], uint32_t mask, uintptr_t addr,
                        uint32_t span) {
  const uint64_t mine = chk_word(c->now->number, mask, c->flags);
  uint32_t place = CHK_SLOTS;
  if ((cell[0] == mine || cell[1] == mine || cell[2] == mine) && is_alone(cell, mine)) return;
  for (uint32_t i = 0; i < CHK_SLOTS; i++) {
    if (stays(c, cell[i], &mask, addr) || !c->enters) continue;
    cell[i] = 0;
    if (place > i) place = i;
  }
  if (!c->enters) return;
  if (place == CHK_SLOTS) {
    place = given_up(c, cell);
    if (!is_below_floor(cell[place])) spill(c, cell[place], addr, span);
  }
  cell[place] = chk_word(c->now->number, mask, c->flags);
}

/* As compare_any. Most often a barrier has ordered all words. */
static inline void compare_span(struct compare *c, uint64_t cell[CHK_SLOTS], uint32_t mask,
                                uintptr_t addr, uint32_t span) {
  if (CHK_UNLIKELY(!c->enters || !chk_enter_cell(cell, chk_word(c->now->number, mask, c->flags))))
    compare_any(c, cell, mask, addr, span);
}

static inline uint32_t cell_of(uintptr_t addr) {
  return addr % CHK_PAGE_BYTES / CHK_GRANULE;
}

/* As compare_span, of one granule, which is not alike with others. */
static inline void compare_cell(struct compare *c, uint32_t mask, uintptr_t addr) {
  uint64_t cell[CHK_SLOTS];
  chk_cell_load(c->page, cell_of(addr), cell);
  compare_span(c, cell, mask, addr, 1);
  if (c->enters) chk_cell_store(c->page, cell_of(addr), cell);
}

/* Bytes of a granule that a range has. */
static uint32_t mask_in(uintptr_t granule, uintptr_t addr, size_t bytes) {
  const uintptr_t from = addr > granule ? addr - granule : 0, end = addr + bytes - granule;
  return 0xffu << from & 0xffu >> (end < CHK_GRANULE ? CHK_GRANULE - end : 0);
}

/* Compare with a spilled word that a range of its page has met; that may end it. in each: bytes of
 * each granule. */
static void compare_spill(struct compare *c, struct chk_spill *e, uintptr_t addr, size_t bytes,
                          uint32_t each) {
  if (is_below_floor(e->word)) {
    e->word = 0;
    return;
  }
  const uint32_t first = cell_of(addr), last = cell_of(addr + bytes - 1);
  const uint32_t from = e->first > first ? e->first : first, its_last = e->first + e->count - 1u;
  const uint32_t to = its_last < last ? its_last : last;
  const uintptr_t page = addr - addr % CHK_PAGE_BYTES;
  bool hidden = from == e->first && to == its_last;
  c->raced = false;
  for (uint32_t i = from; i <= to && !c->raced; i++) {
    const uintptr_t at = page + i * CHK_GRANULE;
    const uint32_t mine = mask_in(at, addr, bytes) & each;
    uint32_t mask = mine;
    const bool stay = stays(c, e->word, &mask, at);
    hidden = hidden && !stay && !((e->word >> 8 & 0xff) & ~mine);
    if (i > from && i + 1 < to) i = to - 1; /* all those between are alike */
  }
  if (hidden && c->enters) e->word = 0;
}

static void compare_spills(struct compare *c, struct chk_page *p, uintptr_t addr, size_t bytes,
                           uint32_t each) {
  struct chk_rest *const s = chk_rest_of(p);
  const uint32_t first = cell_of(addr), last = cell_of(addr + bytes - 1);
  bool some = false;
  for (uint32_t i = 0; i < CHK_SPILLS; i++) {
    struct chk_spill *const e = &s->spill[i];
    if (!e->word) continue;
    if (e->first <= last && e->first + e->count > first) compare_spill(c, e, addr, bytes, each);
    some = some || e->word;
  }
  p->spills = some;
}

/* Before each comparison with bytes of a page, whose lock is held. */
static inline void begin_page(struct compare *c, struct chk_page *p, uintptr_t addr, size_t bytes,
                              uint32_t each) {
  c->page = p;
  if (CHK_UNLIKELY(p->spills)) compare_spills(c, p, addr, bytes, each);
}

/* The granules of an address's part have words of their own. */
static inline void expand_part(struct chk_page *p, uintptr_t addr) {
  const uint32_t part = cell_of(addr) / PART;
  if (CHK_UNLIKELY(p->alike >> part & 1)) chk_expand_alike(p, part);
}

/* Words before and after an access was compared. Neighbours often have the same words, and then
 * change alike. */
struct change {
  bool known;
  uint64_t old[CHK_SLOTS], new[CHK_SLOTS];
};

/* Granules of a part that have the words of a change alter alike. Returns how many. */
static inline size_t change_alike(const struct chk_page *p, uint32_t i, size_t count,
                                  const struct change *c) {
  uint64_t *const first = chk_words_of(p) + i, *const second = first + CHK_PLANE,
                  *const third = second + CHK_PLANE;
  const bool two = chk_has_more(p, i, 1), three = chk_has_more(p, i, 2);
  const bool fits = (two || !(c->old[1] | c->new[1])) && (three || !(c->old[2] | c->new[2]));
  size_t k = 0;
  for (; fits && k < count && first[k] == c->old[0]; k++) {
    if ((two && second[k] != c->old[1]) || (three && third[k] != c->old[2])) break;
    first[k] = c->new[0];
    if (two) second[k] = c->new[1];
    if (three) third[k] = c->new[2];
  }
  return k;
}

/* As compare_span, of words of whole granules that come after those of a change. */
static inline void compare_next(struct compare *c, struct change *last, uint64_t cell[CHK_SLOTS],
                                uintptr_t addr, uint32_t span) {
  _Static_assert(CHK_SLOTS == 3, "the comparison below is of three words");
  const uint64_t *const old = last->old;
  if (last->known && cell[0] == old[0] && cell[1] == old[1] && cell[2] == old[2]) {
    memcpy(cell, last->new, sizeof last->new);
    return;
  }
  c->raced = false;
  memcpy(last->old, cell, sizeof last->old);
  compare_span(c, cell, 0xff, addr, span);
  memcpy(last->new, cell, sizeof last->new);
  last->known = !c->raced; /* each race counts */
}

/* Compare with the words of whole granules of a part, which are not alike with others. */
static void compare_cells(struct compare *c, size_t count, uintptr_t addr) {
  struct chk_page *const p = c->page;
  const uint64_t mine = mine_of(c);
  struct change last = {.known = false};
  for (size_t i = 0; i < count; i++) {
    const uint32_t at = cell_of(addr) + (uint32_t)i;
    const size_t done = c->alone     ? chk_enter_alone(p, at, count - i, mine)
                        : last.known ? change_alike(p, at, count - i, &last)
                                     : 0;
    if (done) {
      i += done - 1;
      continue;
    }
    uint64_t cell[CHK_SLOTS];
    chk_cell_load(p, at, cell);
    compare_next(c, &last, cell, addr + i * CHK_GRANULE, 1);
    if (c->enters) chk_cell_store(p, at, cell);
  }
}

/* A write of a part of whose granules each has words of its own. */
static void write_part(struct compare *c, struct chk_page *p, uintptr_t addr) {
  const uint32_t part = cell_of(addr) / PART;
  if (!c->alone) compare_cells(c, PART, addr);
  if (c->alone || chk_is_alike(p, part, mine_of(c))) chk_set_alike(p, part, mine_of(c));
}

/* The first parts of a range of whole granules in one page, which are alike each. Returns how many.
 */
static size_t compare_parts(struct compare *c, struct chk_page *p, uintptr_t addr, size_t count) {
  const uint32_t part = cell_of(addr) / PART;
  const uint32_t others = ~(p->alike >> part);
  const size_t alike = others ? (size_t)__builtin_ctz(others) : CHK_PARTS;
  const size_t parts = alike < count / PART ? alike : count / PART;
  struct change last = {.known = false};
  for (uint32_t i = part; i < part + parts; i++, addr += PART * CHK_GRANULE)
    compare_next(c, &last, chk_rest_of(p)->part[i], addr, PART);
  return parts;
}

/* Whole granules of one part. */
static void compare_some(struct compare *c, struct chk_page *p, uintptr_t addr, size_t count) {
  expand_part(p, addr);
  compare_cells(c, count, addr);
}

/* Whole granules of a page. */
static void compare_granules(struct compare *c, struct chk_page *p, uintptr_t addr, size_t count) {
  const bool writes = c->enters && (c->flags & CHK_WRITE);
  while (count) {
    const size_t left = PART - cell_of(addr) % PART;
    size_t some = left < count ? left : count;
    const bool whole = some == PART;
    const size_t parts = whole ? compare_parts(c, p, addr, count) : 0;
    if (parts)
      some = parts * PART;
    else if (whole && writes)
      write_part(c, p, addr);
    else
      compare_some(c, p, addr, some);
    addr += some * CHK_GRANULE;
    count -= some;
  }
}

/* Some bytes of a page. */
static void compare_page(struct compare *c, struct chk_page *p, uintptr_t addr, size_t bytes) {
  const uintptr_t end = addr + bytes;
  const bool whole = bytes == CHK_PAGE_BYTES;
  if (whole && p->uniform) {
    compare_span(c, chk_rest_of(p)->whole, 0xff, addr, CHK_CELLS);
    return;
  }
  chk_expand(p);
  while (addr < end) {
    const uint32_t first = addr % CHK_GRANULE, most = CHK_GRANULE - first;
    size_t count = end - addr < most ? end - addr : most;
    if (count == CHK_GRANULE) {
      count = (end - addr) / CHK_GRANULE * CHK_GRANULE;
      compare_granules(c, p, addr, count / CHK_GRANULE);
    } else {
      expand_part(p, addr);
      compare_cell(c, ((1u << count) - 1) << first, addr);
    }
    addr += count;
  }
  if (whole && c->enters && (c->flags & CHK_WRITE)) {
    p->uniform = 1;
    memset(chk_rest_of(p)->whole, 0, sizeof chk_rest_of(p)->whole);
    chk_rest_of(p)->whole[0] = mine_of(c);
  }
}

/* A range in one granule of a page whose lock is held. */
static void compare_granule(struct compare *c, struct chk_page *p, uintptr_t addr, size_t bytes) {
  const uint32_t mask = ((1u << bytes) - 1) << addr % CHK_GRANULE;
  chk_expand(p);
  expand_part(p, addr);
  compare_cell(c, mask, addr);
}

/* Whether all accesses of a page are before those to come of its owner. */
static inline bool is_of_one(const struct chk_page *p) {
  return !p->shared && !chk.each_thread;
}

/* The part of a range that lies in one page. */
static void compare_in(struct compare *c, uint32_t owner, uintptr_t addr, size_t bytes) {
  struct chk_page *const p = chk_page_at(owner, addr, c->enters);
  if (!p) return;
  chk_lock(&p->lock);
  if (c->shares) p->shared = 1;
  c->alone = c->enters && is_of_one(p);
  begin_page(c, p, addr, bytes, 0xff);
  if (addr % CHK_GRANULE + bytes <= CHK_GRANULE)
    compare_granule(c, p, addr, bytes);
  else
    compare_page(c, p, addr, bytes);
  chk_unlock(&p->lock);
}

static void compare_range(struct compare *c, const struct chk_range *range) {
  c->shares = c->enters && chk_shares(c->now, range);
  uintptr_t addr = range->addr;
  const uintptr_t end = addr + range->bytes;
  while (addr < end) {
    const uintptr_t left = CHK_PAGE_BYTES - addr % CHK_PAGE_BYTES;
    const size_t bytes = end - addr < left ? end - addr : left;
    compare_in(c, range->owner, addr, bytes);
    addr += bytes;
  }
}

void chk_mark(struct chk_access *a, const struct chk_range *range) {
  struct compare c = {.now = a, .flags = range->flags, .enters = true};
  struct chk_range real = *range;
  if (range->flags & CHK_LOCAL) real.addr = chk_resolve(range->addr);
  a->addr = real.addr;
  a->bytes = real.bytes;
  a->owner = (uint16_t)real.owner;
  if (a->done == CHK_OPEN && (range->flags & CHK_LOCAL)) chk_watch_buffer(real.addr, real.bytes);
  compare_range(&c, &real);
}

void chk_mark_in(struct chk_access *a, struct chk_page *p, const struct chk_range *range) {
  struct compare c = {.now = a, .flags = range->flags, .enters = true};
  const uintptr_t addr = range->addr;
  const size_t bytes = range->bytes;
  a->addr = addr;
  a->bytes = bytes;
  a->owner = (uint16_t)range->owner;
  if (chk_shares(a, range)) p->shared = 1;
  begin_page(&c, p, addr, bytes, 0xff);
  if (addr % CHK_GRANULE + bytes <= CHK_GRANULE) {
    compare_granule(&c, p, addr, bytes);
  } else if (bytes <= FEW_BYTES && (addr | bytes) % CHK_GRANULE == 0) {
    for (uintptr_t at = addr; at < addr + bytes; at += CHK_GRANULE)
      compare_granule(&c, p, at, CHK_GRANULE);
  } else {
    c.alone = is_of_one(p);
    compare_page(&c, p, addr, bytes);
  }
}

/* The words of granules before and after an access of whole ones that is entered in many. */
#define STATES 4u /* power of two */
static struct {
  struct compare c;
  uint64_t number;
  uint32_t known, last; /* number of them */
  struct change state[STATES];
} marking;

void chk_mark_fresh(void) {
  marking.number = 0;
}

static struct compare *compare_of(struct chk_access *a) {
  if (marking.number == a->number) return &marking.c;
  marking.c = (struct compare){.now = a, .flags = a->flags, .enters = true};
  marking.number = a->number;
  marking.known = 0;
  return &marking.c;
}

/* As compare_span of a whole granule, whose words others have often had. */
static inline void enter_known(uint64_t cell[CHK_SLOTS], uintptr_t addr) {
  for (uint32_t i = 0; i < STATES && i < marking.known; i++) {
    const uint64_t *const old = marking.state[(marking.last + i) % STATES].old;
    if (cell[0] != old[0] || cell[1] != old[1] || cell[2] != old[2]) continue;
    marking.last = (marking.last + i) % STATES;
    memcpy(cell, marking.state[marking.last].new, CHK_SLOTS * sizeof *cell);
    return;
  }
  uint64_t old[CHK_SLOTS];
  memcpy(old, cell, sizeof old);
  marking.c.raced = false;
  compare_span(&marking.c, cell, 0xff, addr, 1);
  if (marking.c.raced) return; /* each race counts */
  marking.last = marking.known++ % STATES;
  marking.state[marking.last].known = true;
  memcpy(marking.state[marking.last].old, old, sizeof old);
  memcpy(marking.state[marking.last].new, cell, sizeof old);
}

/* As compare_cell of a whole granule, whose words others have often had. */
static inline void compare_known(uintptr_t addr) {
  uint64_t cell[CHK_SLOTS];
  chk_cell_load(marking.c.page, cell_of(addr), cell);
  enter_known(cell, addr);
  chk_cell_store(marking.c.page, cell_of(addr), cell);
}
void chk_mark_cells(struct chk_access *a, struct chk_page *p, uintptr_t addr, uint32_t mask,
                    size_t count) {
  struct compare *const c = compare_of(a);
  const uint64_t mine = mine_of(c);
  c->alone = is_of_one(p);
  begin_page(c, p, addr, count * CHK_GRANULE, mask);
  if (mask == 0xff && count >= PART) {
    compare_page(c, p, addr, count * CHK_GRANULE);
    return;
  }
  chk_expand(p);
  for (const uintptr_t end = addr + count * CHK_GRANULE; addr < end; addr += CHK_GRANULE) {
    expand_part(p, addr);
    if (mask == 0xff && !c->alone && marking.known &&
        change_alike(p, cell_of(addr), 1, &marking.state[marking.last]))
      continue;
    if (c->alone && mask == 0xff && chk_enter_alone(p, cell_of(addr), 1, mine)) continue;
    if (mask == 0xff && !c->alone)
      compare_known(addr);
    else
      compare_cell(c, mask, addr);
  }
}

void chk_compare(struct chk_access *a, const struct chk_range *range) {
  struct compare c = {.now = a, .flags = range->flags};
  compare_range(&c, range);
}
