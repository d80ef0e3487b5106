/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks of hosts, corrected by causes and effects.
 *
 * Owns: no process state. Called by set.c. Calls: libc. A comparison of two clocks by round trips
 * is as wrong as the fastest round trip was slow, which under load is longer than a message takes.
 * A cause begins before its effect, so each arrow between two hosts bounds the
 * difference of their clocks: shift[to] <= shift[from] + (end - begin), where a shift is subtracted
 * from the times of a host. The largest shifts that are not above 0 are found as shortest paths are
 * (Bellman and Ford). The true clocks fulfil all of it, so no shift is beyond the errors of two
 * hosts. Invariant: items of one host keep their distances.
 */
#include "boot/trace/set.h"

#include "base/error.h"

#include <stdlib.h>

/* Time at which the effect can first be seen: where the arrow ends. */
static int64_t seen_ns(const struct tmb_trace_item *effect) {
  return effect->event->kind == TMB_TRACE_HANDLER ? effect->begin_ns : effect->end_ns;
}

/* One look at all arrows. Returns whether a shift has changed. */
static bool relax(const struct tmb_trace_set *set, int64_t *shift) {
  bool changed = false;
  for (uint32_t i = 0; i < set->items; i++) {
    const struct tmb_trace_item *effect = &set->item[i];
    if (effect->cause == TMB_TRACE_NO_ITEM) continue;
    const struct tmb_trace_item *cause = &set->item[effect->cause];
    const uint32_t from = set->rank[cause->rank].host, to = set->rank[effect->rank].host;
    const int64_t between = seen_ns(effect) - cause->begin_ns;
    if (from == to || between < -tmb_trace_doubt_ns(set, from, to)) continue;
    if (shift[to] <= shift[from] + between) continue;
    shift[to] = shift[from] + between;
    changed = true;
  }
  return changed;
}

/* Move the items; the first event of the job begins at 0 again. */
static void apply(struct tmb_trace_set *set, const int64_t *shift) {
  int64_t first = INT64_MAX;
  for (uint32_t i = 0; i < set->items; i++) {
    struct tmb_trace_item *item = &set->item[i];
    item->begin_ns -= shift[set->rank[item->rank].host];
    item->end_ns -= shift[set->rank[item->rank].host];
    first = TMB_MIN(first, item->begin_ns);
  }
  for (uint32_t i = 0; i < set->items; i++) {
    set->item[i].begin_ns -= first;
    set->item[i].end_ns -= first;
  }
}

int tmb_trace_align(struct tmb_trace_set *set) {
  if (set->hosts < 2) return TMB_OK;
  int64_t *shift = calloc(set->hosts, sizeof *shift);
  if (!shift) return TMB_E_NOMEM;
  uint32_t rounds = 0;
  while (relax(set, shift) && ++rounds < set->hosts) continue;
  if (rounds) apply(set, shift);
  free(shift);
  return TMB_OK;
}
