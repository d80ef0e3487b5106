/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses that need no record: a word of the shadow has the clock of their rank, and their line.
 *
 * Owns: the origins of the area, and a table of those of this rank. Called by atomic.c, rma.c
 * and shadow.c, under chk.lock. Calls nothing. Invariants: an origin has one index in the job,
 * which never changes; a word whose rank has not given the clock in it is not covered by any other
 * one.
 */
#include "check/runtime/chk.h"

#define PLACES 1024u /* power of two */
#define TRIES  8u

static struct {
  uint32_t site, flags;
  uint32_t origin; /* 0: free */
} known[PLACES];

/* A new origin, or 0: there is no room. */
static uint32_t origin_new(uint32_t site, uint32_t flags) {
  const uint32_t index = __atomic_fetch_add(&chk.area->origins, 1, __ATOMIC_RELAXED);
  if (index >= CHK_ORIGINS) {
    __atomic_fetch_sub(&chk.area->origins, 1, __ATOMIC_RELAXED);
    return 0;
  }
  chk.origins[index] = (struct chk_origin){site, (uint16_t)chk.rank, (uint16_t)flags};
  return index;
}

static uint32_t origin_of(uint32_t site, uint32_t flags) {
  for (uint32_t i = 0; i < TRIES; i++) {
    const uint32_t at = (site * 31 + flags + i) & (PLACES - 1);
    if (known[at].origin && (known[at].site != site || known[at].flags != flags)) continue;
    if (!known[at].origin) {
      known[at].site = site;
      known[at].flags = flags;
      known[at].origin = origin_new(site, flags);
    }
    return known[at].origin;
  }
  return 0;
}

uint64_t chk_epoch_of(uint32_t site, uint32_t flags) {
  const uint64_t origin = origin_of(site, flags);
  const uint32_t both = flags & (CHK_WRITE | CHK_ATOMIC);
  return origin ? CHK_EPOCH | origin >> 6 << 16 | (origin & 0x3f) << 2 | both : 0;
}

struct chk_access chk_epoch_access(uint64_t word, uint32_t owner, uintptr_t addr) {
  const struct chk_origin *const o = chk_epoch_origin(word);
  const uint32_t mask = word >> 8 & 0xff;
  return (struct chk_access){.number = word,
                             .rank = o->rank,
                             .site = o->site,
                             .done = chk_epoch_clock(word),
                             .accept = CHK_OPEN,
                             .accept_rank = o->rank,
                             .owner = (uint16_t)owner,
                             .flags = o->flags,
                             .addr = addr / CHK_GRANULE * CHK_GRANULE +
                                     (uint32_t)__builtin_ctz(mask | 0x100),
                             .bytes = (uint32_t)__builtin_popcount(mask)};
}
