/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the parts of a wait, and waits for a processor.
 *
 * Owns: nothing global. Called by analyse.c, blame.c and meet.c. Calls: sums.c.
 * A wait is late until the other rank begins the operation that ends it. When the operation has
 * ended, the waiter can go on at once if both share memory and the waiter has a processor. Where a
 * host has more ranks than processors, a longer time behind that end is a wait for a processor. All
 * that remains is transfer. Invariant: the parts add up to the wait.
 */
#include "view/analysis/report.h"

void view_find_crowded(const struct view_trace *t, struct view_report *r) {
  r->crowded = view_zeroed(t->ranks, sizeof *r->crowded);
  for (uint32_t i = 0; i < t->ranks; i++) {
    uint32_t neighbours = 0;
    for (uint32_t k = 0; k < t->ranks; k++) neighbours += t->rank[k].host == t->rank[i].host;
    r->crowded[i] = t->rank[i].processors && neighbours > t->rank[i].processors;
  }
}

/* Time in which the waiter had no processor. */
static int64_t without_processor(const struct view_trace *t, const struct view_report *r,
                                 const struct view_blame *b, const struct view_event *e,
                                 int64_t ready) {
  const int64_t from = ready > e->start ? ready : e->start, part = view_end(e) - from;
  const bool near = t->rank[b->waiter].host == t->rank[b->culprit].host;
  return near && r->crowded[b->waiter] && part > VIEW_WAKE_NS ? part : 0;
}

void view_add_blame(const struct view_trace *t, const struct view_report *r, struct view_blame *b,
                    const struct view_event *e, int64_t late, int64_t ready) {
  const int64_t processor = without_processor(t, r, b, e, ready);
  b->count++;
  b->waited += e->duration;
  b->late += late;
  b->processor += processor;
  b->transfer += e->duration - late - processor;
  if (!late) return;
  b->late_count++;
  struct view_activity did = {{0}, &b->regions, &b->ranks};
  view_activity(t, b->culprit, e->start, e->start + late, &did);
  for (int s = 0; s < VIEW_STATES; s++) b->while_late[s] += did.ns[s];
}
