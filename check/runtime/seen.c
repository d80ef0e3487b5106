/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of this epoch in the segment of the program: the words of check/local.h.
 *
 * Owns: what is in struct chk_words. Called by local.c, and by chk_enter before a call orders or
 * accesses anything. Calls: access.c, shadow.c, words.c.
 * The client sets most words alone. chk_enter_seen goes from flagged groups to flagged parts, and
 * enters neighbours with equal words as one range. A load of bytes that were stored, too, is not
 * entered: the store is in each race that the load is in. Invariants: words become accesses under
 * chk.lock, with the clock of their epoch. All that a thread did before it synchronised with
 * another one, in any way, is in the words that the other one enters; an access within the
 * nanoseconds in which its word is entered may be lost, no more. The index of a line never changes.
 */
#include "check/runtime/chk.h"

#include <string.h>
#ifdef __SSE2__
# include <emmintrin.h>
#endif

static struct chk_words *w = &chk_words; /* of the thread that is acted for */

static const char *const names[] = {[CHK_LOAD] = "load", [CHK_STORE] = "store"};

uint32_t chk_site_of(int kind, const void *pc) {
  return chk_site(names[kind], pc);
}

static uintptr_t addr_of(uintptr_t index) {
  return chk.own.base + index * CHK_GRANULE;
}

/* Shadow of the page of a word; NULL: there is no room. Under chk.lock. */
static struct chk_page *page_of(uintptr_t index) {
  struct chk_page **const at = &chk.pages[index / CHK_WORDS_OF_PAGE];
  if (!*at) *at = chk_page_of(chk.rank, addr_of(index), true);
  return *at;
}

/* ---- lines */

/* The index of a line; 0: there is no room. Under chk.lock. */
static uint32_t line_of(int kind, const void *pc, size_t bytes) {
  for (uint32_t i = 0, at = chk_line_place(pc); i < CHK_LINE_PLACES; i++, at = chk_line_next(at)) {
    uintptr_t *const key = &w->seen[kind]->line[at];
    if (*key == (uintptr_t)pc && at) return at;
    if (*key || !at) continue;
    w->lines[kind][at] = (struct chk_line){.site = chk_site_of(kind, pc), .bytes = (uint32_t)bytes};
    __atomic_store_n(key, (uintptr_t)pc, __ATOMIC_RELEASE);
    return at;
  }
  __atomic_fetch_add(&chk.area->missed, 1, __ATOMIC_RELAXED);
  return 0;
}

/* The block of a line; 0: there is no room. */
static uint32_t block_of(int kind, uint32_t line) {
  uint8_t *const block = &w->seen[kind]->block[line];
  if (!*block && w->blocks[kind] + 1 < CHK_ENTERED) {
    w->line_of_block[kind][++w->blocks[kind]] = (uint16_t)line;
    *block = (uint8_t)w->blocks[kind];
  }
  return *block;
}

/* The line that a word names; 0: none, or its bytes are entered. */
static uint32_t line_in(int kind, uint32_t word) {
  if (word & (CHK_WHOLE | CHK_HALF)) return word & (CHK_LINES - 1);
  return w->line_of_block[kind][word >> 8];
}

/* The word of some bytes; 0: a line of which not all are needs a block, and there is none. */
static uint32_t word_of(int kind, uint32_t line, uint32_t mask) {
  if (mask == 0xff) return CHK_WHOLE | line;
  if (mask == 0x0f) return CHK_HALF | line;
  if (mask == 0xf0) return CHK_HALF | CHK_UPPER | line;
  const uint32_t block = line ? block_of(kind, line) : CHK_ENTERED;
  return block ? block << 8 | mask : 0;
}

/* The record of what a line does now. */
static struct chk_access *access_of(int kind, uint32_t line, uintptr_t addr) {
  struct chk_line *const l = &w->lines[kind][line];
  const bool same = l->clock == chk.clock[chk.rank] && l->tick == chk.tick;
  struct chk_access *a = same ? chk_access_at(l->number) : NULL;
  if (a) return a;
  a = chk_shared(l->site, chk_flags_of(kind));
  l->clock = chk.clock[chk.rank];
  l->tick = chk.tick;
  l->number = a->number;
  if (!a->bytes) {
    a->addr = addr;
    a->bytes = l->bytes;
    a->owner = (uint16_t)chk.rank;
  }
  return a;
}

/* ---- an epoch ends */

typedef uint64_t two __attribute__((vector_size(16)));

static inline two eight_at(const uint16_t *word) {
  two v;
  memcpy(&v, word, sizeof v);
  return v;
}

/* Mask of the words, of 8, that differ from `wide`. */
static inline two differ(const uint16_t *word, two wide) {
  return eight_at(word) ^ wide;
}

/* As equal_to, for more than three words. */
static __attribute__((noinline)) uint32_t equal_to_many(const uint16_t *word, uint32_t at,
                                                        uint32_t end) {
  const uint16_t first = word[at];
  const uint64_t four = first * UINT64_C(0x0001000100010001);
  const two wide = {four, four};
  for (; at + 32 <= end; at += 32) {
    const uint16_t *const w32 = word + at;
    const two other = (differ(w32, wide) | differ(w32 + 8, wide)) |
                      (differ(w32 + 16, wide) | differ(w32 + 24, wide));
    if (other[0] | other[1]) break;
  }
  for (; at + 8 <= end; at += 8) {
    const two other = differ(word + at, wide);
    if (other[0] | other[1]) break;
  }
  while (at < end && word[at] == first) at++;
  return at;
}

/* The end of equal words. */
static inline uint32_t equal_to(const uint16_t *word, uint32_t at, uint32_t end) {
  const uint16_t first = word[at];
  for (uint32_t few = at + 4; at < few; at++)
    if (at == end || word[at] != first) return at;
  return at == end || word[at] != first ? at : equal_to_many(word, at, end);
}

/* As next_set, where some words are not set. */
static __attribute__((noinline)) uint32_t next_set_far(const uint16_t *word, uint32_t at,
                                                       uint32_t end) {
  for (; at + 32 <= end; at += 32) {
    const uint16_t *const w32 = word + at;
    const two some =
        (eight_at(w32) | eight_at(w32 + 8)) | (eight_at(w32 + 16) | eight_at(w32 + 24));
    if (some[0] | some[1]) break;
  }
  for (; at + 8 <= end; at += 8) {
    const two some = eight_at(word + at);
    if (some[0] | some[1]) break;
  }
  while (at < end && !word[at]) at++;
  return at;
}

/* The first word from one on that is set; end: there is none. */
static inline uint32_t next_set(const uint16_t *word, uint32_t at, uint32_t end) {
  for (const uint32_t few = at + 4; at < few; at++)
    if (at == end || word[at]) return at;
  return next_set_far(word, at, end);
}

static inline void fill(uint16_t *word, size_t count, uint16_t value) {
  const uint64_t four = value * UINT64_C(0x0001000100010001);
  const two eight = {four, four};
  for (; count >= 8; count -= 8, word += 8) memcpy(word, &eight, sizeof eight);
  if (count & 4) memcpy(word, &four, sizeof four), word += 4;
  if (count & 2) memcpy(word, &four, sizeof four / 2), word += 2;
  if (count & 1) *word = value;
}

/* What is entered: words of one kind, and the record of the last one. */
struct entering {
  int kind;
  uint32_t line; /* 0: none yet */
  struct chk_access *record;
};

/* Enter neighbours with equal words, under the lock of their page. */
static inline void enter(struct entering *e, uint32_t word, struct chk_page *p, uintptr_t index,
                         size_t count) {
  const uint32_t line = line_in(e->kind, word);
  if (!line || !w->lines[e->kind][line].site) return;
  const uintptr_t addr = addr_of(index);
  if (line != e->line) e->record = access_of(e->kind, line, addr);
  e->line = line;
  chk_mark_cells(e->record, p, addr, chk_mask_of(word), count);
}

/* Enter neighbours that were loaded, without the bytes that were stored, too. */
static inline void enter_loads(struct entering *e, uint32_t word, struct chk_page *p,
                               uintptr_t index, uint32_t count) {
  const uint16_t *const stored = &w->seen[CHK_STORE]->word[index];
  const uint32_t mask = chk_mask_of(word);
  for (uint32_t i = 0, end; i < count; i = end) {
    end = equal_to(stored, i, count);
    if (mask & ~chk_mask_of(stored[i])) enter(e, word, p, index + i, end - i);
  }
}

#define ALL_FLAGS UINT64_C(0x0101010101010101) /* of 8 parts */

/* Which words of a part are set, a bit each. */
static inline uint64_t set_in_part(const uint16_t *word) {
  uint64_t set = 0;
#ifdef __SSE2__
  const __m128i none = _mm_setzero_si128();
  for (int i = 0; i < 4; i++) {
    const __m128i *const at = (const __m128i *)(const void *)(word + 16 * i);
    const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(at), none);
    const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(at + 1), none);
    const uint32_t empty = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
    set |= (uint64_t)(~empty & 0xffff) << 16 * i;
  }
#else
  for (uint32_t i = 0; i < CHK_WORDS_OF_PART; i++) set |= (uint64_t)(word[i] != 0) << i;
#endif
  return set;
}
_Static_assert(CHK_WORDS_OF_PART == 64, "a bit each");

/* Enter words from one to another, of whole parts, and clear them. in p: NULL: there is no room. */
static void enter_words(struct entering *e, struct chk_page *p, uintptr_t from, uintptr_t to) {
  uint16_t *const all = &w->seen[e->kind]->word[from];
  const uint32_t count = (uint32_t)(to - from);
  uint64_t set = set_in_part(all);
  for (uint32_t i = 0, part = 0;;) {
    if (i / CHK_WORDS_OF_PART != part) {
      part = i / CHK_WORDS_OF_PART;
      if (i >= count) return;
      set = set_in_part(all + part * CHK_WORDS_OF_PART);
    }
    const uint64_t left = set >> i % CHK_WORDS_OF_PART;
    if (!left) {
      i = (part + 1) * CHK_WORDS_OF_PART;
      continue;
    }
    i += (uint32_t)__builtin_ctzll(left);
    const uint16_t word = all[i];
    const uint32_t end = equal_to(all, i, count);
    fill(all + i, end - i, 0);
    if (p && e->kind == CHK_LOAD)
      enter_loads(e, word, p, from + i, end - i);
    else if (p)
      enter(e, word, p, from + i, end - i);
    i = end;
  }
}

/* Enter the words of some parts of a page. in flags: a byte of each part, 0 or 1. */
static void enter_page(struct entering *e, uintptr_t page, uint64_t flags) {
  const uintptr_t index = page * CHK_WORDS_OF_PAGE;
  struct chk_page *const p = page_of(index);
  if (p) chk_lock(&p->lock);
  while (flags) {
    const uint32_t first = (uint32_t)__builtin_ctzll(flags) / 8;
    const uint64_t clear = ~flags & ALL_FLAGS & UINT64_MAX << 8 * first;
    const uint32_t end = clear ? (uint32_t)__builtin_ctzll(clear) / 8 : CHK_PARTS_OF_PAGE;
    enter_words(e, p, index + first * CHK_WORDS_OF_PART, index + end * CHK_WORDS_OF_PART);
    if (!clear) break;
    flags &= UINT64_MAX << 8 * end;
  }
  if (p) chk_unlock(&p->lock);
}

/* Eight flags, which are cleared; 0: none was set. */
static uint64_t take_flags(uint8_t *flag) {
  chk_flags8 *const eight = (chk_flags8 *)(void *)flag;
  const uint64_t some = __atomic_load_n(eight, __ATOMIC_RELAXED);
  if (!some) return 0;
  if (CHK_UNLIKELY(chk.threads)) return __atomic_exchange_n(eight, 0, __ATOMIC_ACQ_REL);
  *eight = 0;
  return some;
}

/* Whether one of 64 flags is set. */
static inline bool any_flag(const uint8_t *flag) {
  two a, b, c, d;
  memcpy(&a, flag, sizeof a);
  memcpy(&b, flag + 16, sizeof b);
  memcpy(&c, flag + 32, sizeof c);
  memcpy(&d, flag + 48, sizeof d);
  const two all = (a | b) | (c | d);
  return (all[0] | all[1]) != 0;
}

static void enter_group(struct entering *e, uintptr_t group) {
  uint8_t *const part = w->seen[e->kind]->part;
  for (uintptr_t i = 0; i < CHK_PAGES_OF_GROUP; i++) {
    const uintptr_t page = group * CHK_PAGES_OF_GROUP + i;
    uint8_t *const flag = &part[page * CHK_PARTS_OF_PAGE];
    if (i % 8 == 0 && !any_flag(flag)) {
      i += 7;
      continue;
    }
    const uint64_t flags = take_flags(flag);
    if (!flags) continue;
    __builtin_prefetch(chk.pages[page + 1], 1);
    enter_page(e, page, flags);
  }
}

static void set_runs(struct chk_run *first);
static void end_runs(struct chk_run **first);

/* Enter the words of `w`. */
static __attribute__((noinline)) void enter_all(void) {
  const uintptr_t groups = chk.own.bytes / CHK_PAGE_BYTES / CHK_PAGES_OF_GROUP + 1;
  chk_mark_fresh();
  for (int kind = 0; kind < 2 && chk.own.bytes; kind++) {
    struct entering e = {.kind = kind};
    for (uintptr_t g = 0; g < groups; g += 8) {
      if (g % 64 == 0 && !any_flag(&w->seen[kind]->group[g])) {
        g += 56;
        continue;
      }
      const uint64_t flags = take_flags(&w->seen[kind]->group[g]);
      for (uintptr_t i = 0; flags && i < 8; i++)
        if (((const uint8_t *)&flags)[i]) enter_group(&e, g + i);
    }
  }
}

/* Enter the words of the thread that is acted for. Its runs end if it is this one. */
void chk_enter_own(void) {
  if (!chk.own.bytes || !chk.self->words) return;
  w = chk.self->words;
  if (chk.self == chk_me)
    end_runs(&chk.self->runs);
  else
    set_runs(chk.self->runs);
  if (!chk_has_none(w)) enter_all();
  w = &chk_words;
}

static void enter_each_thread(void) {
  struct chk_thread *const self = chk.self;
  struct chk_thread *t;
  for (uint32_t i = 0; (t = chk_thread_at(i)); i++) {
    (void)chk_act_for(t);
    chk_enter_own();
  }
  (void)chk_act_for(self);
}

void chk_enter_any(void) {
  if (chk.runs) end_runs(&chk.runs);
  if (chk.each_thread)
    enter_each_thread();
  else if (!chk_has_none(w))
    enter_all();
}

_Static_assert(CHK_PARTS_OF_PAGE == 8 && CHK_PAGES_OF_GROUP % 8 == 0 && CHK_GROUPS % 64 == 0,
               "eight flags, and 64, at once");
_Static_assert(offsetof(struct chk_seen, group) % 8 == 0 &&
                   offsetof(struct chk_seen, part) % 8 == 0,
               "eight flags at once");

/* ---- accesses that the client cannot settle */

/* Enter some bytes of a granule now. */
static void enter_now(int kind, uint32_t line, uint32_t mask, uintptr_t index) {
  struct chk_page *const p = line ? page_of(index) : NULL;
  if (!p) return;
  chk_lock(&p->lock);
  chk_mark_fresh();
  chk_mark_cells(access_of(kind, line, addr_of(index)), p, addr_of(index), mask, 1);
  chk_unlock(&p->lock);
}

/* An access of some bytes of a granule. Where several lines have accessed it, they are entered. */
static void see_granule(int kind, uint32_t line, uint32_t mask, uintptr_t index) {
  struct chk_seen *const s = w->seen[kind];
  const uint32_t was = s->word[index], had = chk_mask_of(was);
  if (!(mask & ~had)) return;
  const uint32_t by = line_in(kind, was);
  uint32_t now = !was || by == line ? word_of(kind, line, had | mask) : 0;
  if (!now) {
    enter_now(kind, by, had, index);
    enter_now(kind, line, mask, index);
    now = word_of(kind, 0, had | mask);
  }
  __atomic_store_n(&s->word[index], (uint16_t)now, __ATOMIC_RELAXED);
  chk_flag(s, index);
}

/* The first word from one on that is not of a whole granule. */
static size_t next_open(const uint16_t *word, size_t at, size_t end) {
  const uint64_t four = CHK_WHOLE * UINT64_C(0x0001000100010001);
  for (; at + 32 <= end; at += 32) {
    const uint16_t *const w32 = word + at;
    const two all = (eight_at(w32) & eight_at(w32 + 8)) & (eight_at(w32 + 16) & eight_at(w32 + 24));
    if ((all[0] & all[1] & four) != four) break;
  }
  for (; at + 8 <= end; at += 8) {
    const two all = eight_at(word + at);
    if ((all[0] & all[1] & four) != four) break;
  }
  while (at < end && (word[at] & CHK_WHOLE)) at++;
  return at;
}

/* Accesses of whole granules. */
static void see_granules(int kind, uint32_t line, uintptr_t index, size_t count) {
  struct chk_seen *const s = w->seen[kind];
  uint16_t *const word = &s->word[index];
  for (size_t i = 0; (i = next_open(word, i, count)) < count;) {
    if (word[i]) {
      see_granule(kind, line, 0xff, index + i++);
      continue;
    }
    const size_t end = next_set(word, (uint32_t)i, (uint32_t)count);
    fill(word + i, end - i, (uint16_t)(CHK_WHOLE | line));
    for (uintptr_t at = index + i; at < index + end; at = (at | (CHK_WORDS_OF_PART - 1)) + 1)
      chk_flag(s, at);
    i = end;
  }
}

/* Accesses of some bytes from a place in the segment on. */
static void see(int kind, uint32_t line, uintptr_t from, size_t bytes) {
  const uintptr_t left = chk.own.bytes - from, end = from + (bytes < left ? bytes : left);
  for (uintptr_t at = from; at < end;) {
    const uint32_t first = at % CHK_GRANULE, most = CHK_GRANULE - first;
    const uint32_t count = end - at < most ? (uint32_t)(end - at) : most;
    if (count == CHK_GRANULE) {
      see_granules(kind, line, at / CHK_GRANULE, (end - at) / CHK_GRANULE);
      at += (end - at) / CHK_GRANULE * CHK_GRANULE;
      continue;
    }
    see_granule(kind, line, ((1u << count) - 1) << first, at / CHK_GRANULE);
    at += count;
  }
}

int chk_settles(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const struct chk_words *const words = chk_me->words;
  if (!words || chk_take_next || chk_strict_how) return 0;
  chk_mine.base = chk.own.base;
  chk_mine.bytes = chk.own.bytes;
  for (int i = 0; i < 2; i++) {
    chk_mine.seen[i] = words->seen[i];
    chk_mine.word[i] = words->seen[i]->word;
  }
  return chk_settled(&chk_mine, addr, bytes, kind, pc);
}

void chk_see(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  if (CHK_UNLIKELY(chk.each_thread) && chk_settles(addr, bytes, kind, pc)) return;
  chk_guard();
  if (chk.each_thread && !chk.self->words) chk.self->words = chk_words_new();
  if (chk.each_thread) w = chk.self->words;
  if (w)
    see(kind, line_of(kind, pc, bytes), addr - chk.own.base, bytes);
  else
    __atomic_fetch_add(&chk.area->missed, 1, __ATOMIC_RELAXED);
  w = &chk_words;
  chk_unguard();
}

/* ---- runs */

static int kind_of(const struct chk_run *run) {
  return run->how & CHK_RUN_STORES ? CHK_STORE : CHK_LOAD;
}

static size_t bytes_of(const struct chk_run *run) {
  return run->how & ~CHK_RUN_STORES;
}

/* Whether some bytes of a run are too few. */
static bool is_short(const struct chk_run *run, size_t bytes) {
  return bytes < (chk.threads ? CHK_RUN_LOCKED : CHK_RUN_LEAST) * bytes_of(run);
}

/* The end of a run; another thread may make it longer meanwhile. */
static uintptr_t next_of(const struct chk_run *run) {
  return run->listed ? __atomic_load_n(run->at, __ATOMIC_RELAXED) : run->first;
}

/* The words of a run are set, where it is in the segment. It goes on. */
static void set_run(struct chk_run *run) {
  const uintptr_t next = next_of(run), first = run->first;
  const size_t bytes = next - first;
  if (!bytes) return;
  if (!is_short(run, bytes)) run->tries = CHK_RUN_TRIES;
  if (first - chk.own.base < chk.own.bytes)
    see(kind_of(run), run->word & (CHK_LINES - 1), first - chk.own.base, bytes);
  run->first = next;
}

static void set_runs(struct chk_run *first) {
  for (struct chk_run *r = first; r; r = r->more) set_run(r);
}

static void end_runs(struct chk_run **first) {
  for (struct chk_run *r = *first; r; r = r->more) {
    set_run(r);
    *r->at = r->first = 0;
    r->listed = 0;
  }
  *first = NULL;
}

/* An access that does not make its run longer. in,out all: the runs of its thread. */
static void run_anew(struct chk_run **all, struct chk_run *run, const struct chk_place *place) {
  const int kind = kind_of(run);
  const uintptr_t addr = place->addr, from = addr - chk.own.base;
  const bool own = from < chk.own.bytes;
  if (own && !run->word) run->word = (uint16_t)line_of(kind, place->pc, bytes_of(run)) | CHK_WHOLE;
  if (is_short(run, next_of(run) - run->first)) { /* the first of a loop, or it goes anywhere */
    if (run->tries) run->tries--;
    set_runs(*all);
  } else {
    set_run(run);
  }
  run->at = place->next;
  *run->at = run->first = 0;
  if (run->tries) {
    run->first = addr;
    *run->at = addr + bytes_of(run);
    if (!run->listed) run->more = *all, *all = run, run->listed = 1;
  } else if (own) {
    see(kind, run->word & (CHK_LINES - 1), from, bytes_of(run));
  }
}

void chk_run(const struct chk_place *place) {
  chk_guard();
  if (chk.threads) place->run->tries = 0;
  run_anew(&chk.runs, place->run, place);
  chk_unguard();
}

int chk_run_in_copy(const struct chk_near *near, intptr_t *copy, const struct chk_place *place) {
  if (!chk_me->name || chk_strict_how || place->addr - chk.own.base >= chk.own.bytes) return 0;
  chk_guard();
  struct chk_thread *const t = chk.self;
  const bool first = *copy == 0, lives = t->state == CHK_RUNS || t->state == CHK_DETACHED;
  if (!t->words) t->words = chk_words_new();
  const bool may = t->words && lives && (!first || chk_copy_new(near, copy));
  struct chk_place p = *place;
  if (may && first) {
    p.run = (struct chk_run *)(void *)((char *)p.run + *copy);
    if (p.next == &place->run->next) p.next = &p.run->next;
  }
  if (may) {
    w = t->words;
    run_anew(&t->runs, p.run, &p);
    w = &chk_words;
  }
  chk_unguard();
  return may;
}

void chk_runs_end(void) {
  struct chk_thread *t;
  chk_guard();
  end_runs(&chk.runs);
  for (uint32_t i = 0; (t = chk_thread_at(i)); i++) {
    if (!t->runs) continue;
    w = t->words;
    set_runs(t->runs);
    w = &chk_words;
  }
  chk_unguard();
}

void chk_runs_never(void) {
  chk_runs_end();
  chk.threads = true;
  chk.guard = chk_guard_all;
}
