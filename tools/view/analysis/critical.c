/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the critical path, the chain of work and transfers that the job's time depends
 * on.
 *
 * Owns: nothing global. Called by sums.c. Calls: meet.c, sums.c.
 * It is found backwards from the last event: along a rank's own work to the end of its last wait
 * that something ended, from there to the begin of the operation that ended it, and so on (Schmitt
 * et al., "Scalable Critical Path Analysis for Hybrid MPI-CUDA Applications", IPDPSW 2014,
 * doi:10.1109/IPDPSW.2014.103). Invariants: each step ends where the one found before begins, so
 * that the lengths add up to the length of the path.
 */
#include "view/analysis/report.h"

#include <stdlib.h>

/* The end of a wait or a collective at `end` on `rank` depends on `from` at `start`. */
struct jump {
  uint32_t rank, from, kind;
  int64_t end, start;
};

struct jumps {
  struct jump *jump;
  size_t count, room;
};

static int by_end(const void *left, const void *right) {
  const struct jump *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return a->start < b->start ? -1 : a->start > b->start;
}

static void add_jump(struct jumps *j, struct jump jump) {
  if (jump.start >= jump.end || jump.from == jump.rank || jump.from == VIEW_NONE) return;
  j->jump = view_more(j->jump, j->count, &j->room, sizeof *j->jump);
  j->jump[j->count++] = jump;
}

static void add_waits(const struct view_trace *t, const struct view_report *r, struct jumps *j) {
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    const uint32_t rank = view_event_rank(t, i), arrow = t->arrow_of[i];
    if (e->kind != VIEW_WAIT || e->duration <= 0 || e->track != t->rank[rank].main) continue;
    if (view_in_collective(t, i)) continue;
    if (arrow == VIEW_NONE) {
      if (e->by_peer && e->ended >= e->start)
        add_jump(j, (struct jump){rank, e->peer, VIEW_WAIT, view_end(e), e->ended});
      continue;
    }
    const struct view_event *from = &t->event[t->arrow[arrow].from];
    if (view_end(from) + r->typical < e->start) continue; /* the data lay there */
    add_jump(j, (struct jump){rank, view_event_rank(t, t->arrow[arrow].from), from->kind,
                              view_end(e), from->start});
  }
}

static void add_collectives(const struct view_trace *t, struct jumps *j) {
  size_t count;
  struct view_member *m = view_members(t, &count);
  for (size_t at = 0; at < count;) {
    uint32_t last;
    const size_t end = view_group(t, m, count, at, &last);
    for (; at < end; at++) {
      const struct view_event *e = &t->event[m[at].event];
      if (t->event[last].start > e->start)
        add_jump(j, (struct jump){view_event_rank(t, m[at].event), view_event_rank(t, last),
                                  VIEW_COLLECTIVE, view_end(e), t->event[last].start});
    }
  }
  free(m);
}

static void add_step(const struct view_trace *t, struct view_report *r, struct view_step s) {
  struct view_path *p = &r->path;
  if (s.end <= s.start) return;
  p->step = view_more(p->step, p->steps, &p->room, sizeof *p->step);
  p->step[p->steps++] = s;
  p->length += s.end - s.start;
  if (s.from != VIEW_NONE) {
    p->transfer += s.end - s.start;
    return;
  }
  struct view_activity did = {{0}, &p->regions, NULL};
  view_activity(t, s.rank, s.start, s.end, &did);
  for (int k = 0; k < VIEW_STATES; k++) p->state[k] += did.ns[k];
  p->on_rank[s.rank] += s.end - s.start;
}

/* The last jump of a rank that ends at `time` or before; NULL: there is none. */
static const struct jump *last_jump(const struct jumps *j, uint32_t rank, int64_t time) {
  const struct jump want = {rank, 0, 0, time, INT64_MAX};
  size_t low = 0, high = j->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (by_end(&j->jump[middle], &want) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low && j->jump[low - 1].rank == rank ? &j->jump[low - 1] : NULL;
}

void view_find_path(const struct view_trace *t, struct view_report *r) {
  struct jumps j = {NULL, 0, 0};
  uint32_t rank = 0;
  r->path.on_rank = view_zeroed(t->ranks, sizeof *r->path.on_rank);
  if (!t->ranks) return;
  add_waits(t, r, &j);
  add_collectives(t, &j);
  view_sort(j.jump, j.count, sizeof *j.jump, by_end);
  for (uint32_t i = 1; i < t->ranks; i++)
    if (r->share[i].end > r->share[rank].end) rank = i;
  int64_t time = r->share[rank].end;
  for (;;) {
    const struct jump *k = last_jump(&j, rank, time);
    const int64_t begin = k ? k->end : r->share[rank].begin;
    add_step(t, r, (struct view_step){rank, VIEW_NONE, VIEW_REGION, begin, time});
    if (!k) break;
    add_step(t, r, (struct view_step){rank, k->from, k->kind, k->start, k->end});
    rank = k->from;
    time = k->start;
  }
  free(j.jump);
}
