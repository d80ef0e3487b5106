/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: where the time of each rank goes, traffic between ranks, and how long it takes.
 *
 * Owns: nothing global. Called by sums.c. Calls: nothing.
 * Invariants: the shares of a rank add up to its time; a message and the handler that it causes
 * are counted once, at the sender; a get counts from the peer, which has the data, to the rank.
 */
#include "view/analysis/report.h"

#include <math.h>

uint32_t view_bin(double value) {
  if (value < 1) return 0;
  const double bin = floor(2 * log2(value) + 1e-9);
  return bin < VIEW_BINS - 1 ? (uint32_t)bin : VIEW_BINS - 1;
}

static double view_bin_from(uint32_t bin) {
  return exp2(bin / 2.0);
}

double view_quantile(const struct view_histogram *h, double q) {
  double seen = 0;
  for (uint32_t b = 0; b < VIEW_BINS; b++) {
    seen += (double)h->count[b];
    if (h->count[b] && seen >= q * (double)h->total) return view_bin_from(b);
  }
  return 0;
}

static void put_in(struct view_histogram *h, double value) {
  h->count[view_bin(value)]++;
  h->total++;
  h->sum += value;
}

static void add_shares(const struct view_trace *t, struct view_report *r) {
  for (uint32_t rank = 0; rank < t->ranks; rank++) {
    struct view_share *s = &r->share[rank];
    if (t->rank[rank].main == VIEW_NONE) continue;
    const struct view_track *track = &t->track[t->rank[rank].main];
    if (!track->pieces) continue;
    s->begin = t->piece[track->piece].start;
    s->end = t->piece[track->piece + track->pieces - 1].end;
    for (uint32_t i = track->piece; i < track->piece + track->pieces; i++)
      s->ns[t->piece[i].state] += t->piece[i].end - t->piece[i].start;
  }
}

static bool moves(uint32_t kind) {
  return view_kind_sends(kind) || kind == VIEW_GET;
}

static enum view_size size_of(uint32_t kind) {
  switch (kind) {
  case VIEW_PUT:
  case VIEW_SIGNAL: return VIEW_SIZE_PUT;
  case VIEW_GET: return VIEW_SIZE_GET;
  case VIEW_MESSAGE: return VIEW_SIZE_MESSAGE;
  default: return VIEW_SIZE_OTHER;
  }
}

static void add_move(const struct view_trace *t, struct view_report *r, uint32_t i) {
  const struct view_event *e = &t->event[i];
  const uint32_t rank = view_event_rank(t, i);
  put_in(&r->size[size_of(e->kind)], (double)e->bytes);
  if (e->duration >= 0) put_in(&r->latency[VIEW_LATENCY_OPERATION], (double)e->duration);
  if (e->peer == VIEW_NONE) return;
  const uint32_t from = e->kind == VIEW_GET ? e->peer : rank;
  const uint32_t to = e->kind == VIEW_GET ? rank : e->peer;
  r->count[(size_t)from * t->ranks + to]++;
  r->bytes[(size_t)from * t->ranks + to] += e->bytes;
  r->share[from].sent_count++;
  r->share[from].sent_bytes += e->bytes;
  r->share[to].received_count++;
  r->share[to].received_bytes += e->bytes;
}

/* From the begin of an operation to who waited for it before it began, or to its handler. */
static void add_arrow(const struct view_trace *t, struct view_report *r,
                      const struct view_arrow *a) {
  const struct view_event *from = &t->event[a->from], *to = &t->event[a->to];
  const int64_t seen = to->kind == VIEW_HANDLER ? to->start : view_end(to);
  if (!view_kind_sends(from->kind) || seen < from->start) return;
  if (to->kind != VIEW_HANDLER && (to->kind != VIEW_WAIT || to->start > from->start)) return;
  put_in(&r->latency[VIEW_LATENCY_ARROW], (double)(seen - from->start));
}

void view_measure(const struct view_trace *t, struct view_report *r) {
  r->share = view_zeroed(t->ranks, sizeof *r->share);
  r->count = view_zeroed(t->ranks * t->ranks, sizeof *r->count);
  r->bytes = view_zeroed(t->ranks * t->ranks, sizeof *r->bytes);
  add_shares(t, r);
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (moves(e->kind)) add_move(t, r, i);
    if (e->kind == VIEW_WAIT && e->duration >= 0)
      put_in(&r->latency[VIEW_LATENCY_WAIT], (double)e->duration);
  }
  for (size_t i = 0; i < t->arrows; i++) add_arrow(t, r, &t->arrow[i]);
  r->typical = (int64_t)view_quantile(&r->latency[VIEW_LATENCY_ARROW], 0.5);
}
