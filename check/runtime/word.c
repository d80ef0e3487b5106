/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks have given to 8 bytes of memory: signals, and words of atomic operations.
 *
 * Owns: `given` of the shadow, and the clocks that a rank keeps of its past. Called by the
 * wrappers, under chk.lock. Calls: clock.c, shadow.c. Nearly all of these words were given to by
 * one rank that had all that was given before: then its rank and clock stand for its clocks at that
 * time, which anybody has who has heard of that clock. Others find them in the past of that rank. A
 * word to which ranks have given without knowledge of each other, or a put with a signal, has an
 * object of clock.c. Invariants: a word changes under the lock of its page; a rank gives one set of
 * clocks at each number of its own clock; who finds that a past is forgotten takes the newest, so
 * that a race may be missed, and none is reported falsely.
 */
#include "check/runtime/chk.h"

#include <string.h>

/* A word: rank, index in its past, number of its clock; or the index of an object. */
#define OBJECT     ((uint64_t)0xff << 56)
#define CLOCK_BITS 40
#define CLOCK_MASK ((UINT64_C(1) << CLOCK_BITS) - 1)
#define TRIES      (1u << 16) /* to read what another rank writes */

_Static_assert(CHK_PAST_MOST == 1 << (56 - CLOCK_BITS) && CHK_PAST_RANKS == 0xff,
               "a word has 64 bits");

static bool is_object(uint64_t word) {
  return word >= OBJECT;
}

static uint32_t rank_of(uint64_t word) {
  return (uint32_t)(word >> 56);
}

static uint64_t clock_of(uint64_t word) {
  return word & CLOCK_MASK;
}

static struct chk_past *past_of(uint32_t rank, uint64_t number) {
  const uint64_t count = chk.area->past_count, at = rank * count + (number & (count - 1));
  return (struct chk_past *)(void *)((char *)chk_at(chk.area, chk.area->where_past) +
                                     at * chk.area->past_bytes);
}

/* ---- clocks of before */

/* What this rank gives now; 0: it needs an object. */
static uint64_t mine(void) {
  const uint64_t clock = chk.clock[chk.rank];
  if (!chk.area->past_count || clock > CLOCK_MASK) return 0;
  if (chk.changed) {
    struct chk_past *const p = past_of(chk.rank, ++chk.past);
    __atomic_store_n(&p->since, 0, __ATOMIC_SEQ_CST);
    for (uint32_t r = 0; r < chk.ranks; r++)
      __atomic_store_n(&p->clock[r], chk.clock[r], __ATOMIC_RELAXED);
    __atomic_store_n(&p->since, clock, __ATOMIC_SEQ_CST);
    __atomic_store_n(&chk_floor_of(chk.rank)->past, chk.past, __ATOMIC_RELEASE);
    chk.changed = false;
  }
  return (uint64_t)chk.rank << 56 | (chk.past & (CHK_PAST_MOST - 1)) << CLOCK_BITS | clock;
}

/* Copies clocks of a rank. Returns whether they are those of this number of its clock. */
static bool copy_past(const struct chk_past *p, uint64_t clock, uint64_t into[]) {
  const uint64_t since = __atomic_load_n(&p->since, __ATOMIC_SEQ_CST);
  if (!since || since > clock) return false;
  for (uint32_t r = 0; r < chk.ranks; r++)
    into[r] = __atomic_load_n(&p->clock[r], __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return __atomic_load_n(&p->since, __ATOMIC_SEQ_CST) == since;
}

/* The clocks that a word stands for. */
static const uint64_t *clocks_of(uint64_t word) {
  static uint64_t clocks[CHK_PAST_RANKS];
  const uint32_t rank = rank_of(word);
  bool found = copy_past(past_of(rank, word >> CLOCK_BITS), clock_of(word), clocks);
  for (uint32_t i = 0; !found && i < TRIES; i++) {
    const uint64_t newest = __atomic_load_n(&chk_floor_of(rank)->past, __ATOMIC_ACQUIRE);
    found = copy_past(past_of(rank, newest), CHK_OPEN, clocks);
  }
  if (!found) memset(clocks, 0, sizeof clocks); /* the rank has died */
  clocks[rank] = clock_of(word);
  return clocks;
}

/* ---- words */

/* The word of an address, in its page. */
static uint64_t *find(struct chk_page *p, uintptr_t addr) {
  return &chk_shadow_of(p)->given[addr % CHK_PAGE_BYTES / CHK_GRANULE];
}

/* Whether this rank has heard of all that was given. */
static bool covers(uint64_t word) {
  if (!word) return true;
  return is_object(word) ? chk_object_covered((uint32_t)word)
                         : chk.clock[rank_of(word)] >= clock_of(word);
}

static void give(uint64_t *word, uint32_t site, uint64_t put) {
  const uint64_t was = *word, now = !put && covers(was) ? mine() : 0;
  if (now) {
    *word = now;
    if (is_object(was)) chk_object_end((uint32_t)was);
    return;
  }
  if (!is_object(was)) {
    const uint32_t object = chk_object_new(was ? clocks_of(was) : NULL);
    if (!object) return;
    *word = OBJECT | object;
  }
  chk_object_give((uint32_t)*word, site, put);
}

void chk_word_give(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put) {
  struct chk_page *const p = chk_page_at(owner, addr, true);
  if (p) {
    chk_lock(&p->lock);
    give(find(p, addr), site, put);
    chk_unlock(&p->lock);
  }
  chk_given(site);
}

void chk_word_take(uint32_t owner, uintptr_t addr, uint32_t site) {
  struct chk_page *const p = chk_page_at(owner, addr, false);
  if (!p) return;
  chk_lock(&p->lock);
  const uint64_t word = *find(p, addr);
  if (is_object(word))
    chk_object_take((uint32_t)word, site);
  else if (word && !covers(word))
    chk_heard(clocks_of(word), site);
  if (word) chk.synced = site;
  chk_unlock(&p->lock);
}
