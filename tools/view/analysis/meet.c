/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: collectives, and who comes last to them.
 *
 * Owns: nothing global. Called by sums.c and critical.c. Calls: sums.c.
 * Invariants: calls of one collective belong together by team and number, where the trace has them,
 * else by name and how many calls of that name the rank has made before. A collective that the
 * rank waits for behind the call is counted by blame.c, as the wait says so.
 */
#include "view/analysis/report.h"

#include <stdlib.h>

static int by_call(const void *left, const void *right) {
  const struct view_member *a = left, *b = right;
  if (a->name != b->name) return a->name < b->name ? -1 : 1;
  if (a->detail != b->detail) return a->detail < b->detail ? -1 : 1;
  if (a->instance != b->instance) return a->instance < b->instance ? -1 : 1;
  return a->event < b->event ? -1 : a->event > b->event;
}

/* Calls without a number get one: events are sorted by track and time. */
static void number_calls(const struct view_trace *t, struct view_member *m, size_t count) {
  uint32_t *calls = view_zeroed(t->names.count, sizeof *calls);
  uint32_t *track = view_zeroed(t->names.count, sizeof *track);
  for (size_t i = 0; i < count; i++) {
    const struct view_event *e = &t->event[m[i].event];
    if (m[i].instance || m[i].name == VIEW_NONE) continue;
    if (track[m[i].name] != e->track + 1) calls[m[i].name] = 0;
    track[m[i].name] = e->track + 1;
    m[i].instance = ++calls[m[i].name];
  }
  free(calls);
  free(track);
}

struct view_member *view_members(const struct view_trace *t, size_t *count) {
  size_t n = 0;
  for (size_t i = 0; i < t->events; i++) n += t->event[i].kind == VIEW_COLLECTIVE;
  struct view_member *m = view_zeroed(n, sizeof *m);
  n = 0;
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (e->kind != VIEW_COLLECTIVE || e->duration < 0 || view_in_collective(t, i)) continue;
    m[n++] = (struct view_member){e->name, e->team, e->instance, i};
  }
  number_calls(t, m, n);
  view_sort(m, n, sizeof *m, by_call);
  *count = n;
  return m;
}

size_t view_group(const struct view_trace *t, const struct view_member *m, size_t count, size_t at,
                  uint32_t *last) {
  size_t end = at;
  *last = m[at].event;
  for (; end < count && m[end].name == m[at].name && m[end].detail == m[at].detail &&
         m[end].instance == m[at].instance;
       end++)
    if (t->event[m[end].event].start > t->event[*last].start) *last = m[end].event;
  return end;
}

struct view_meeting *view_meeting_of(const struct view_trace *t, struct view_report *r,
                                     uint32_t name) {
  for (size_t i = r->meetings; i-- > 0;)
    if (r->meeting[i].name == name) return &r->meeting[i];
  r->meeting = view_more(r->meeting, r->meetings, &r->meeting_room, sizeof *r->meeting);
  r->meeting[r->meetings] =
      (struct view_meeting){.name = name, .last = view_zeroed(t->ranks, sizeof(uint32_t))};
  return &r->meeting[r->meetings++];
}

static void add_member(const struct view_trace *t, struct view_report *r, uint32_t i,
                       uint32_t last) {
  const struct view_event *e = &t->event[i];
  const uint32_t rank = view_event_rank(t, i), culprit = view_event_rank(t, last);
  struct view_meeting *m = view_meeting_of(t, r, e->name);
  int64_t late = t->event[last].start - e->start;
  if (late > e->duration) late = e->duration;
  m->inside += e->duration;
  if (culprit == rank || late <= 0) return;
  m->waited += late;
  struct view_blame *b = view_blame_of(r, rank, culprit, VIEW_COLLECTIVE);
  const int64_t before = b->processor;
  view_add_blame(t, r, b, e, late, view_end(&t->event[last]));
  m->processor += b->processor - before;
}

static int by_inside(const void *left, const void *right) {
  const struct view_meeting *a = left, *b = right;
  return a->inside > b->inside ? -1 : a->inside < b->inside;
}

void view_find_meetings(const struct view_trace *t, struct view_report *r) {
  size_t count;
  struct view_member *m = view_members(t, &count);
  for (size_t at = 0; at < count;) {
    uint32_t last;
    const size_t end = view_group(t, m, count, at, &last);
    struct view_meeting *meeting = view_meeting_of(t, r, m[at].name);
    meeting->count++;
    if (end - at > 1) meeting->last[view_event_rank(t, last)]++;
    for (; at < end; at++) add_member(t, r, m[at].event, last);
  }
  view_sort(r->meeting, r->meetings, sizeof *r->meeting, by_inside);
  free(m);
}
