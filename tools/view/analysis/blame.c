/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: who waits for whom, and why.
 *
 * Owns: nothing global. Called by sums.c. Calls: sums.c.
 * A wait that an operation ended is late until the operation began; processor.c divides the rest.
 * The sender's activity in the late part is the reason. The terms are those of Wolf and Mohr,
 * "Automatic performance analysis of hybrid MPI/OpenMP applications" (2003),
 * doi:10.1016/S1383-7621(03)00102-4, for one-sided operations.
 */
#include "view/analysis/report.h"

/* The cause that ended a wait. */
struct cause {
  uint32_t culprit, kind; /* the rank, and the kind of event */
  int64_t began;          /* VIEW_MARK: not known */
  int64_t ready;          /* from then on the waiter could go on; INT64_MAX: not known */
  bool own;               /* the waiter's own operation */
};

static struct cause cause_of(const struct view_trace *t, uint32_t wait) {
  const struct view_event *e = &t->event[wait];
  const uint32_t arrow = t->arrow_of[wait], rank = view_event_rank(t, wait);
  if (arrow != VIEW_NONE) {
    const struct view_event *from = &t->event[t->arrow[arrow].from];
    const uint32_t sender = view_event_rank(t, t->arrow[arrow].from);
    const bool own = sender == rank; /* the peer may still have to do something */
    return (struct cause){own ? from->peer : sender, from->kind, from->start,
                          own ? INT64_MAX : view_end(from), own};
  }
  const bool known = e->by_peer && e->ended != VIEW_MARK;
  return (struct cause){e->peer, VIEW_WAIT, known ? e->ended : VIEW_MARK,
                        known ? e->ended : INT64_MAX, false};
}

/* A wait for a collective that was begun before. */
static void add_meeting(const struct view_trace *t, struct view_report *r, uint32_t wait,
                        int64_t late, int64_t processor) {
  const struct view_arrow *a = &t->arrow[t->arrow_of[wait]];
  struct view_meeting *m = view_meeting_of(t, r, t->event[a->from].name);
  m->inside += t->event[wait].duration;
  m->waited += late;
  m->processor += processor;
}

static void add_wait(const struct view_trace *t, struct view_report *r, uint32_t i) {
  const struct view_event *e = &t->event[i];
  const struct cause c = cause_of(t, i);
  const uint32_t rank = view_event_rank(t, i);
  if (c.culprit == VIEW_NONE || c.culprit == rank) {
    r->unexplained++;
    r->unexplained_ns += e->duration;
    return;
  }
  struct view_blame *b = view_blame_of(r, rank, c.culprit, c.kind);
  const int64_t before = b->processor;
  int64_t late = c.began == VIEW_MARK || c.began < e->start ? 0 : c.began - e->start;
  if (late > e->duration) late = e->duration;
  b->own += c.own;
  view_add_blame(t, r, b, e, late, c.ready);
  if (c.kind == VIEW_COLLECTIVE) add_meeting(t, r, i, late, b->processor - before);
}

/* A message whose receiver computes instead of running its handler, or data that nobody takes. */
static void add_delay(const struct view_trace *t, struct view_report *r,
                      const struct view_arrow *a) {
  const struct view_event *from = &t->event[a->from], *to = &t->event[a->to];
  const uint32_t sender = view_event_rank(t, a->from), receiver = view_event_rank(t, a->to);
  const int64_t there = view_end(from) + r->typical;
  if (sender == receiver || to->start <= there || !view_kind_sends(from->kind)) return;
  if (to->kind == VIEW_WAIT) {
    struct view_delay *d = view_delay_of(r, sender, receiver);
    d->count++;
    d->ready += to->start - there;
    return;
  }
  if (to->kind != VIEW_HANDLER) return;
  struct view_activity did = {{0}, NULL, NULL};
  view_activity(t, receiver, there, to->start, &did);
  if (did.ns[VIEW_COMPUTES] <= 0) return;
  struct view_delay *d = view_delay_of(r, sender, receiver);
  d->count++;
  d->handler += did.ns[VIEW_COMPUTES];
}

void view_find_waits(const struct view_trace *t, struct view_report *r) {
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (e->kind != VIEW_WAIT || e->duration < 0 || view_in_collective(t, i)) continue;
    if (t->parent[i] != VIEW_NONE && t->event[t->parent[i]].kind == VIEW_WAIT) continue;
    add_wait(t, r, i);
  }
  for (size_t i = 0; i < t->arrows; i++) add_delay(t, r, &t->arrow[i]);
}
