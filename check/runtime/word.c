/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks have given to 8 bytes of memory: signals, and words of atomic operations.
 *
 * Owns: `given` of the shadow. Called by the wrappers, under chk.lock. Calls: clock.c, past.c,
 * shadow.c. Nearly all of these words were given to by one rank, which had all that was given
 * before or joins it: what it gave (past.c) is here. A put with a signal, and a join while another
 * one lasts, need an object of clock.c. Invariant: a word changes under the lock of its page.
 */
#include "check/runtime/chk.h"

/* The index of an object, in the place of a rank. */
#define OBJECT ((uint64_t)0xff << 56)

/* The word to which this rank gave a joined set of clocks. */
static struct {
  uint32_t owner;
  uintptr_t addr; /* 0: none */
} joined;

static bool is_object(uint64_t given) {
  return given >= OBJECT;
}

/* What was given to an address, in its page. */
static uint64_t *find(struct chk_page *p, uintptr_t addr) {
  return &chk_shadow_of(p)->given[addr % CHK_PAGE_BYTES / CHK_GRANULE];
}

/* Whether this rank has heard of all that was given. */
static bool covers(uint64_t given) {
  if (!given) return true;
  return is_object(given) ? chk_object_covered((uint32_t)given) : chk_covers(given);
}

/* What this rank gives to a word without an object; 0: it needs one. */
static uint64_t next_of(uint64_t was, uint32_t owner, uintptr_t addr) {
  if (CHK_LIKELY(covers(was))) return chk_give();
  const uint64_t next = is_object(was) ? 0 : chk_give_joined(was);
  if (!next) return 0;
  joined.owner = owner;
  joined.addr = addr;
  return next;
}

void chk_word_give_in(struct chk_page *p, uint32_t owner, uintptr_t addr, uint32_t site,
                      uint64_t put) {
  uint64_t *const word = find(p, addr), was = *word;
  const uint64_t next = put ? 0 : next_of(was, owner, addr);
  if (CHK_LIKELY(next)) {
    __atomic_store_n(word, next, __ATOMIC_RELEASE);
    if (is_object(was)) chk_object_end((uint32_t)was);
    return;
  }
  if (!is_object(was)) {
    const uint32_t object = chk_object_new(was ? chk_clocks_of(was) : NULL);
    if (!object) return;
    __atomic_store_n(word, OBJECT | object, __ATOMIC_RELEASE);
  }
  chk_object_give((uint32_t)*word, site, put);
}

void chk_word_give(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put) {
  struct chk_page *const p = chk_page_at(owner, addr, true);
  if (p) {
    chk_lock(&p->lock);
    chk_word_give_in(p, owner, addr, site, put);
    chk_unlock(&p->lock);
  }
  chk_given(site);
}

/* Takes what an object has. */
static void take_object(struct chk_page *p, const uint64_t *word, uint32_t site) {
  chk_lock(&p->lock);
  if (is_object(*word))
    chk_object_take((uint32_t)*word, site);
  else
    chk_hear(*word, site);
  chk_unlock(&p->lock);
}

bool chk_word_tells(uint32_t owner, uintptr_t addr) {
  struct chk_page *const p = chk_page_at(owner, addr, false);
  if (!p) return false;
  const uint64_t given = __atomic_load_n(find(p, addr), __ATOMIC_ACQUIRE);
  return joined.addr == addr || is_object(given) || !covers(given);
}

void chk_word_take(uint32_t owner, uintptr_t addr, uint32_t site) {
  struct chk_page *const p = chk_page_at(owner, addr, false);
  if (!p) return;
  const uint64_t *const word = find(p, addr);
  const uint64_t given = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  if (!given) return;
  if (CHK_UNLIKELY(is_object(given)))
    take_object(p, word, site);
  else
    chk_hear(given, site);
  if (CHK_UNLIKELY(joined.addr == addr) && joined.owner == owner) {
    chk_hear_joined();
    joined.addr = 0;
  }
  chk.synced = site;
}
