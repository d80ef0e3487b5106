/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses that wait until the words of their granules have come from memory.
 *
 * Owns: the blocking puts and gets, done here, that are not in the shadow yet. Called by rma.c, and
 * as chk.guard before all else that a call does here. Calls: shadow.c. A process of one thread
 * alone has any. Invariants: its clock does not change between such an access and its entry, so
 * that nobody can be ordered after it, and what it is compared with is what it raced with then; a
 * page is shared from the access on.
 */
#include "check/runtime/chk.h"

struct chk_delayed chk_delayed[CHK_DELAYED];
uint32_t chk_delayed_count;

/* Enters an access that has no record. Under the lock of the page. */
static __attribute__((noinline)) void enter_word(const struct chk_delayed *d) {
  struct chk_page *const p = d->page;
  const struct chk_origin *const o = chk_epoch_origin(d->word);
  const uint32_t i = (uint32_t)(d->first - chk_words_of(p)), mask = d->word >> 8 & 0xff;
  const struct chk_range range = {
      chk_owner_of_page(p), chk_addr_of_page(p) + i * CHK_GRANULE + (uint32_t)__builtin_ctz(mask),
      (size_t)__builtin_popcount(mask), o->flags};
  if (!chk_epoch_enter(p, &range, d->word)) chk_mark_in(chk_shared(o->site, o->flags), p, &range);
}

/* One that has a record. Under the lock of the page. */
static __attribute__((noinline)) void enter_record(const struct chk_delayed *d) {
  const struct chk_range range = {chk_owner_of_page(d->page), d->addr, d->bytes, d->flags};
  struct chk_access *const a = chk_shared(d->site, d->flags);
  if (!chk_mark_few(a, d->page, &range)) chk_mark_in(a, d->page, &range);
}

static inline __attribute__((always_inline)) void enter(const struct chk_delayed *d) {
  struct chk_page *const p = d->page;
  const uint32_t i = (uint32_t)(d->first - chk_words_of(p));
  chk_lock(&p->lock);
  if (CHK_UNLIKELY(!d->word))
    enter_record(d);
  else if (CHK_UNLIKELY(!chk_is_plain(p, i) || !chk_epoch_again(p, d->first, i, d->word)))
    enter_word(d);
  chk_unlock(&p->lock);
}

void chk_enter_delayed(void) {
  const struct chk_delayed *const end = &chk_delayed[chk_delayed_count];
  chk_delayed_count = 0;
  chk.guard = NULL;
  for (const struct chk_delayed *d = chk_delayed; d < end; d++) enter(d);
}

void chk_enter_once(const struct chk_delayed *d) {
  enter(d);
}
