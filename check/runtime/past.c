/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank gives in one word: its clocks, which stay at hand for those who take it.
 *
 * Owns: the clocks that a rank keeps of its past. Called by clock.c and word.c, under chk.lock.
 * Calls nothing. A rank and its clock stand for its clocks at that time, which anybody has who has
 * heard of that clock. Others find them in the past of that rank. What a rank gives together with
 * clocks of which it has not heard is joined: it stands for what is found there, no less. So is
 * what a thread gives, where each has heard of other clocks. Invariants: a rank gives one set of
 * clocks at each number of its own clock, of which its acting thread has heard; who finds that a
 * past is forgotten takes the maximum of all, so that a race may be missed, and none is reported
 * falsely; at most one joined set is not heard of by its own rank.
 */
#include "check/runtime/chk.h"

#include <string.h>

_Static_assert(CHK_PAST_MOST == 1 << (56 - CHK_GIVEN_BITS) && CHK_PAST_RANKS == 0xff,
               "a word has 64 bits");

uint64_t chk_joined;

/* [rank] the newest of what each has given that this rank has heard of; 0: none yet. */
static uint64_t newest_of[CHK_PAST_RANKS];

static uint32_t rank_of(uint64_t given) {
  return (uint32_t)(given >> 56);
}

static uint64_t clock_of(uint64_t given) {
  return given & CHK_GIVEN_CLOCK;
}

/* Clocks of its past. */
struct kept {
  struct chk_past *at;
  struct chk_clocks clocks;
};

static struct kept kept_at(uint32_t rank, uint64_t index) {
  struct chk_area *const a = chk.area;
  const uint64_t at = rank * (a->past_count + 1) + index;
  struct chk_past *const past = (void *)((char *)chk_at(a, a->where_past) + at * a->past_bytes);
  return (struct kept){past, {past->clock, chk_ticks_at(a, a->where_past_tick, at)}};
}

static struct kept past_of(uint32_t rank, uint64_t number) {
  return kept_at(rank, number & (chk.area->past_count - 1));
}

/* The maximum of the clocks that it has kept. */
static struct chk_clocks most_of(uint32_t rank) {
  return kept_at(rank, chk.area->past_count).clocks;
}

/* What this rank gives next is another set of clocks. */
static inline void changes(void) {
  chk.changed = true;
  chk.gives = CHK_GIVES_ANEW;
}

void chk_heard(struct chk_clocks clocks, uint32_t site) {
  if (CHK_UNLIKELY(chk.each_thread)) chk_thread_hears(&clocks);
  for (uint32_t r = 0; r < chk.ranks; r++) {
    if (clocks.rank[r] <= chk.clock[r]) continue;
    chk.clock[r] = clocks.rank[r];
    chk.heard[r] = site;
    changes();
  }
  for (uint32_t i = 0, end = chk_columns(); i < end; i++) {
    if (clocks.tick[i] <= chk.ticks[i]) continue;
    chk.ticks[i] = clocks.tick[i];
    changes();
  }
}

/* ---- give */

/* Keeps what is given now, and more; NULL: none. */
static void keep(const struct chk_clocks *more) {
  const struct chk_clocks known = chk_known_clocks(), most = most_of(chk.rank);
  const struct kept p = past_of(chk.rank, ++chk.past);
  __atomic_store_n(&p.at->since, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t r = 0; r < chk.ranks; r++) {
    const uint64_t own = known.rank[r], its = more ? more->rank[r] : 0,
                   clock = its > own ? its : own;
    __atomic_store_n(&p.clocks.rank[r], clock, __ATOMIC_RELAXED);
    if (clock > most.rank[r]) __atomic_store_n(&most.rank[r], clock, __ATOMIC_RELAXED);
  }
  for (uint32_t i = 0, end = chk_columns(); i < end; i++) {
    const uint32_t own = known.tick[i], its = more ? more->tick[i] : 0,
                   tick = its > own ? its : own;
    __atomic_store_n(&p.clocks.tick[i], tick, __ATOMIC_RELAXED);
    if (tick > most.tick[i]) __atomic_store_n(&most.tick[i], tick, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&p.at->since, chk.clock[chk.rank], __ATOMIC_RELEASE);
  chk.changed = more != NULL;
  chk.gives = CHK_GIVES_ANEW;
}

/* Whether the acting thread has heard of other clocks than those that were kept last. */
static bool is_another(void) {
  const struct chk_clocks known = chk_known_clocks(), last = past_of(chk.rank, chk.past).clocks;
  for (uint32_t r = 0; r < chk.ranks; r++)
    if (r != chk.rank && known.rank[r] != last.rank[r]) return true;
  return memcmp(known.tick, last.tick, chk_columns() * sizeof *last.tick) != 0;
}

/* This rank hears of the joined set. */
static void hear_joined(void) {
  chk_heard(past_of(chk.rank, chk_joined).clocks, chk.synced);
  chk_joined = 0;
}

static uint64_t given(uint64_t is_joined) {
  if (CHK_UNLIKELY(chk.each_thread)) {
    chk_thread_tells();
    is_joined = CHK_GIVEN_JOINED; /* who has heard of a later clock may not have heard of this */
  }
  return (uint64_t)chk.rank << 56 | (chk.past & (CHK_PAST_MOST - 1)) << CHK_GIVEN_BITS | is_joined |
         chk.clock[chk.rank];
}

uint64_t chk_give_any(void) {
  if (!chk.area->past_count || chk.clock[chk.rank] > CHK_GIVEN_CLOCK) return 0;
  if (CHK_UNLIKELY(chk_joined) && chk.past + 1 - chk_joined > chk.area->past_count / 2)
    hear_joined();
  if (chk.changed || (chk.each_thread && is_another())) keep(NULL);
  const uint64_t now = given(0);
  if (!chk_joined && !chk.each_thread) chk.gives = now - chk.clock[chk.rank];
  return now;
}

uint64_t chk_give_joined(uint64_t was) {
  if (chk_joined || !chk.area->past_count || chk.clock[chk.rank] > CHK_GIVEN_CLOCK) return 0;
  const struct chk_clocks more = chk_clocks_of(was);
  keep(&more);
  chk_joined = chk.past;
  return given(CHK_GIVEN_JOINED);
}

/* ---- take */

/* Copies clocks of a rank. Returns whether they are those of this number of its clock. */
static void copy_clocks(struct chk_clocks from, struct chk_clocks into) {
  for (uint32_t r = 0; r < chk.ranks; r++)
    into.rank[r] = __atomic_load_n(&from.rank[r], __ATOMIC_RELAXED);
  for (uint32_t i = 0, end = chk_columns(); i < end; i++)
    into.tick[i] = __atomic_load_n(&from.tick[i], __ATOMIC_RELAXED);
}

static bool copy_past(struct kept p, uint64_t clock, struct chk_clocks into) {
  const uint64_t since = __atomic_load_n(&p.at->since, __ATOMIC_ACQUIRE);
  if (!since || since > clock) return false;
  copy_clocks(p.clocks, into);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&p.at->since, __ATOMIC_RELAXED) == since;
}

struct chk_clocks chk_clocks_of(uint64_t given) {
  static uint64_t clocks[CHK_PAST_RANKS];
  static uint32_t ticks[CHK_COLUMNS];
  const struct chk_clocks into = {clocks, ticks};
  const uint32_t rank = rank_of(given);
  if (!copy_past(past_of(rank, given >> CHK_GIVEN_BITS), clock_of(given), into)) /* forgotten */
    copy_clocks(most_of(rank), into);
  clocks[rank] = clock_of(given);
  return into;
}

bool chk_covers(uint64_t given) {
  if (CHK_UNLIKELY((given & CHK_GIVEN_JOINED) || chk.each_thread))
    return chk_knows_clocks(chk_clocks_of(given));
  return chk.clock[rank_of(given)] >= clock_of(given);
}

/* Whether a rank had heard of no others between two sets of clocks that it gave. It keeps at most
 * one set for each number of its clock. */
static bool is_of_same(uint64_t was, uint64_t given) {
  return (was ^ given) >> CHK_GIVEN_BITS == 0 && !((was | given) & CHK_GIVEN_JOINED) &&
         clock_of(given) - clock_of(was) < chk.area->past_count / 2;
}

void chk_hear(uint64_t given, uint32_t site) {
  const uint32_t rank = rank_of(given);
  if (CHK_UNLIKELY(chk.each_thread)) {
    chk_heard(chk_clocks_of(given), site);
  } else if (!chk_covers(given)) {
    if (is_of_same(newest_of[rank], given)) {
      chk.clock[rank] = clock_of(given);
      chk.heard[rank] = site;
      changes();
    } else {
      chk_heard(chk_clocks_of(given), site);
    }
    newest_of[rank] = given;
  }
}

void chk_hear_joined(void) {
  if (chk_joined) hear_joined();
}
