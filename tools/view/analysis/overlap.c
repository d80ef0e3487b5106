/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: how much of the time of transfers a rank computes.
 *
 * Owns: nothing global. Called by sums.c behind view_measure. Calls: view_activity.
 * Invariants: a transfer is in progress from the begin of its operation until its data are seen; if
 * they lay there before anybody looked, for the usual time of a transfer. Several transfers at a
 * time count once. Only arrows show when data are seen, so operations without one do not count.
 */
#include "view/analysis/report.h"

#include <stdlib.h>

struct flight {
  uint32_t rank;
  int64_t start, end;
};

static int by_start(const void *left, const void *right) {
  const struct flight *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return a->start < b->start ? -1 : a->start > b->start;
}

static void add(const struct view_trace *t, struct view_report *r, const struct flight *f) {
  struct view_activity did = {{0}, NULL, NULL};
  view_activity(t, f->rank, f->start, f->end, &did);
  for (int s = 0; s < VIEW_STATES; s++) r->share[f->rank].flight += did.ns[s];
  r->share[f->rank].overlapped += did.ns[VIEW_COMPUTES];
}

static bool flight_of(const struct view_trace *t, const struct view_report *r,
                      const struct view_arrow *a, struct flight *out) {
  const struct view_event *from = &t->event[a->from], *to = &t->event[a->to];
  if (!view_kind_sends(from->kind) && from->kind != VIEW_GET) return false;
  int64_t end = to->kind == VIEW_HANDLER ? to->start : view_end(to);
  const int64_t usual = view_end(from) + r->typical;
  if (to->start > view_end(from) && end > usual) end = usual;
  *out = (struct flight){view_event_rank(t, a->from), from->start, end};
  return end > from->start;
}

void view_overlap(const struct view_trace *t, struct view_report *r) {
  struct flight *f = view_zeroed(t->arrows, sizeof *f);
  size_t count = 0;
  for (size_t i = 0; i < t->arrows; i++) count += flight_of(t, r, &t->arrow[i], &f[count]);
  view_sort(f, count, sizeof *f, by_start);
  for (size_t i = 0; i < count;) {
    struct flight all = f[i];
    for (i++; i < count && f[i].rank == all.rank && f[i].start <= all.end; i++)
      if (f[i].end > all.end) all.end = f[i].end;
    add(t, r, &all);
  }
  free(f);
}
