/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a job that is replayed stands still, so that what this rank waits for will not come.
 *
 * Owns: what a thread saw of the ranks when it looked last. Called by waits of order.c and
 * words.c. Calls: log.c. Each rank writes in the area how many calls it has begun and how many
 * events it has taken, and whether it is in a call; steps of loops that wait are counted apart. The
 * job stands still if in LOOKS looks no rank has moved, and each was in a call or in such a loop.
 * A rank whose first thread computes is in neither: it may still write what is waited for.
 * Invariant: a look in which a rank did not run says nothing.
 */
#include "replay/runtime/rpl.h"

#include <stdlib.h>
#include <time.h>

#define LOOK_NS 5000000u /* between two looks, at least */
#define LOOKS   20u

static _Thread_local struct {
  uint64_t event;         /* of this thread */
  uint64_t at_ns;         /* of the last look */
  uint32_t looks;         /* in which all waited, since a rank has moved */
  struct rpl_stand *last; /* [ranks] */
} seen;

uint64_t rpl_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Look at a rank. Returns whether it waits; in out moved: set if it has moved since the last look.
 */
static bool look(uint32_t rank, bool *moved) {
  const struct rpl_stand *const s = &rpl.area->rank[rank].stand;
  const struct rpl_stand now = {__atomic_load_n(&s->moves, __ATOMIC_RELAXED),
                                __atomic_load_n(&s->steps, __ATOMIC_RELAXED),
                                __atomic_load_n(&s->inside, __ATOMIC_RELAXED)};
  const struct rpl_stand last = seen.last[rank];
  seen.last[rank] = now;
  *moved |= now.moves != last.moves;
  return now.inside || now.steps != last.steps;
}

bool rpl_still(void) {
  const uint64_t now = rpl_now_ns();
  if (now - seen.at_ns < LOOK_NS) return false;
  if (!seen.last) seen.last = calloc(rpl.ranks, sizeof *seen.last);
  if (!seen.last) abort();
  seen.at_ns = now;
  bool moved = seen.event != rpl_log_number(), all = true;
  seen.event = rpl_log_number();
  for (uint32_t r = 0; r < rpl.ranks; r++)
    if (!look(r, &moved) && r != rpl.rank) all = false;
  if (moved)
    seen.looks = 0;
  else if (all)
    seen.looks++;
  return seen.looks >= LOOKS;
}
