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

uintptr_t chk_joined_word;
static uint32_t joined_owner; /* of that word */

static bool is_object(uint64_t given) {
  return given >= CHK_GIVEN_OBJECT;
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
  joined_owner = owner;
  chk_joined_word = addr;
  return next;
}

void chk_word_give_in(struct chk_page *p, uint32_t owner, uintptr_t addr, uint32_t site,
                      uint64_t put) {
  uint64_t *const word = chk_given_at(chk_words_of(p), addr), was = *word;
  const uint64_t next = put ? 0 : next_of(was, owner, addr);
  if (CHK_LIKELY(next)) {
    __atomic_store_n(word, next, __ATOMIC_RELEASE);
    if (is_object(was)) chk_object_end((uint32_t)was);
    return;
  }
  if (!is_object(was)) {
    const uint32_t object = chk_object_new(was);
    if (!object) return;
    __atomic_store_n(word, CHK_GIVEN_OBJECT | object, __ATOMIC_RELEASE);
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

void chk_word_take(uint32_t owner, uintptr_t addr, uint32_t site) {
  struct chk_page *const p = chk_page_at(owner, addr, false);
  if (!p) return;
  const uint64_t *const word = chk_given_at(chk_words_of(p), addr);
  const uint64_t given = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  if (!given) return;
  if (CHK_UNLIKELY(is_object(given)))
    take_object(p, word, site);
  else
    chk_hear(given, site);
  if (CHK_UNLIKELY(chk_joined_word == addr) && joined_owner == owner) {
    chk_hear_joined();
    chk_joined_word = 0;
  }
  chk.synced = site;
}
