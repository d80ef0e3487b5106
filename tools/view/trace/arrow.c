/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the list of arrows between events.
 *
 * Owns: nothing global. Called by arrange.c and guess.c. Calls nothing. Invariants: `arrow_of` of
 * an event names the arrow to it whose begin is the latest.
 */
#include "view/trace/trace.h"

void view_add_arrow(struct view_trace *t, uint32_t from, uint32_t to) {
  uint32_t *last = &t->arrow_of[to];
  t->arrow = view_more(t->arrow, t->arrows, &t->arrow_room, sizeof *t->arrow);
  t->arrow[t->arrows] = (struct view_arrow){from, to};
  if (*last == VIEW_NONE || t->event[t->arrow[*last].from].start <= t->event[from].start)
    *last = (uint32_t)t->arrows;
  t->arrows++;
}
