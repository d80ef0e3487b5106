/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the events of a trace in order, nested, with arrows, and cut into pieces.
 *
 * Owns: nothing global. Called by view.c behind the last view_load. Calls: guess.c.
 * Invariants: an event that lasts longer than the one around it counts only up to that one's end;
 * ranks are sorted by number; the main track of a rank is the one with most operations and waits.
 */
#include "base/compiler.h"
#include "view/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define BACK     4u /* events before the last one that are tried, too */
#define ROUNDING 2  /* ns: an arrow's end may be rounded otherwise than that of its event */

static int by_place(const void *left, const void *right) {
  const struct view_event *a = left, *b = right;
  if (a->track != b->track) return a->track < b->track ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->duration != b->duration) return a->duration > b->duration ? -1 : 1;
  return 0;
}

static int by_id(const void *left, const void *right) {
  const struct view_point *a = left, *b = right;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->sends != b->sends) return a->sends ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

/* ---- times and places */

static void set_zero(struct view_trace *t) {
  int64_t last = INT64_MIN;
  t->zero = INT64_MAX;
  for (size_t i = 0; i < t->events; i++) {
    if (t->event[i].start < t->zero) t->zero = t->event[i].start;
    if (view_end(&t->event[i]) > last) last = view_end(&t->event[i]);
  }
  if (!t->events) t->zero = last = 0;
  t->span = last - t->zero;
  for (size_t i = 0; i < t->events; i++) {
    t->event[i].start -= t->zero;
    if (t->event[i].ended != VIEW_MARK) t->event[i].ended -= t->zero;
  }
  for (size_t i = 0; i < t->points; i++) t->point[i].at -= t->zero;
}

struct order {
  uint32_t number, index, thread;
};

static int by_number(const void *left, const void *right) {
  const struct order *a = left, *b = right;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

/* Ranks by number, tracks by rank and thread. */
static void sort_ranks(struct view_trace *t) {
  const size_t most = t->ranks > t->tracks ? t->ranks : t->tracks;
  struct order *order = view_zeroed(most, sizeof *order);
  uint32_t *place = view_zeroed(most, sizeof *place);
  struct view_rank *ranks = view_zeroed(t->ranks, sizeof *ranks);
  struct view_track *tracks = view_zeroed(t->tracks, sizeof *tracks);
  for (uint32_t i = 0; i < t->ranks; i++) order[i] = (struct order){t->rank[i].number, i, 0};
  view_sort(order, t->ranks, sizeof *order, by_number);
  for (uint32_t i = 0; i < t->ranks; i++) {
    ranks[i] = t->rank[order[i].index];
    place[order[i].index] = i;
  }
  for (uint32_t i = 0; i < t->tracks; i++) {
    t->track[i].rank = place[t->track[i].rank];
    order[i] = (struct order){t->track[i].rank, i, t->track[i].thread};
  }
  view_sort(order, t->tracks, sizeof *order, by_number);
  for (uint32_t i = 0; i < t->tracks; i++) {
    tracks[i] = t->track[order[i].index];
    place[order[i].index] = i;
  }
  for (size_t i = 0; i < t->events; i++) t->event[i].track = place[t->event[i].track];
  for (size_t i = 0; i < t->points; i++) t->point[i].track = place[t->point[i].track];
  free(t->rank);
  free(t->track);
  free(order);
  free(place);
  t->rank = ranks;
  t->track = tracks;
  t->rank_room = t->ranks;
  t->track_room = t->tracks;
}

/* The rank that has this number; VIEW_NONE: none has. */
static uint32_t view_rank_of(const struct view_trace *t, uint32_t number) {
  size_t low = 0, high = t->ranks;
  if (number == VIEW_NONE) return VIEW_NONE;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (t->rank[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < t->ranks && t->rank[low].number == number ? (uint32_t)low : VIEW_NONE;
}

/* Peers are numbers in the file and indices from now on. */
static void find_tracks(struct view_trace *t) {
  for (uint32_t i = 0; i < t->events; i++) {
    struct view_event *e = &t->event[i];
    struct view_track *track = &t->track[e->track];
    if (track->count++ == 0) track->first = i;
    e->peer = view_rank_of(t, e->peer);
  }
}

static void choose_main(struct view_trace *t) {
  uint32_t *weight = view_zeroed(t->tracks, sizeof *weight);
  for (size_t i = 0; i < t->events; i++)
    if (t->event[i].kind != VIEW_HANDLER && t->event[i].kind != VIEW_PACKET)
      weight[t->event[i].track]++;
  for (uint32_t i = 0; i < t->tracks; i++) {
    struct view_rank *r = &t->rank[t->track[i].rank];
    if (r->main == VIEW_NONE || weight[i] > weight[r->main]) r->main = i;
  }
  free(weight);
}

/* ---- nesting and pieces */

struct nest {
  uint32_t event;
  int64_t end;
  uint32_t region; /* name of the innermost region */
};

struct nesting {
  struct view_trace *t;
  struct nest *stack;
  size_t depth, room;
  int64_t at; /* up to which there are pieces */
};

static void cut(struct nesting *n, int64_t end) {
  struct view_trace *t = n->t;
  if (end <= n->at) return;
  const struct nest *top = n->depth ? &n->stack[n->depth - 1] : NULL;
  t->piece = view_more(t->piece, t->pieces, &t->piece_room, sizeof *t->piece);
  t->piece[t->pieces++] = (struct view_piece){
      .start = n->at,
      .end = end,
      .event = top ? top->event : VIEW_NONE,
      .region = top ? top->region : VIEW_NONE,
      .state = (uint8_t)(top ? view_state_of(t->event[top->event].kind) : VIEW_COMPUTES)};
  n->at = end;
}

static void leave_until(struct nesting *n, int64_t time) {
  while (n->depth && n->stack[n->depth - 1].end <= time) {
    cut(n, n->stack[n->depth - 1].end);
    n->depth--;
  }
}

static void enter(struct nesting *n, uint32_t index) {
  struct view_event *e = &n->t->event[index];
  leave_until(n, e->start);
  const struct nest *top = n->depth ? &n->stack[n->depth - 1] : NULL;
  n->t->parent[index] = top ? top->event : VIEW_NONE;
  e->depth = (uint8_t)(n->depth < 255 ? n->depth : 255);
  if (e->duration < 0 || e->kind == VIEW_PACKET) return;
  cut(n, e->start);
  const bool names = e->kind == VIEW_REGION || e->kind == VIEW_STATEMENT;
  struct nest next = {.event = index,
                      .end = view_end(e),
                      .region = names ? e->name
                                : top ? top->region
                                      : VIEW_NONE};
  if (top && next.end > top->end) next.end = top->end;
  n->stack = view_more(n->stack, n->depth, &n->room, sizeof *n->stack);
  n->stack[n->depth++] = next;
}

static void nest_all(struct view_trace *t) {
  struct nesting n = {.t = t};
  t->parent = view_zeroed(t->events, sizeof *t->parent);
  for (uint32_t i = 0; i < t->tracks; i++) {
    struct view_track *track = &t->track[i];
    track->piece = (uint32_t)t->pieces;
    n.at = track->count ? t->event[track->first].start : 0;
    for (uint32_t k = 0; k < track->count; k++) enter(&n, track->first + k);
    leave_until(&n, INT64_MAX);
    track->pieces = (uint32_t)t->pieces - track->piece;
  }
  free(n.stack);
}

/* ---- arrows */

/* Whether an event is of a kind that arrows of this direction join. */
static bool joins(const struct view_event *e, bool sends) {
  if (sends) return view_kind_sends(e->kind);
  return e->kind == VIEW_WAIT || e->kind == VIEW_HANDLER || e->kind == VIEW_COLLECTIVE;
}

/* The event around a moment: the innermost one that joins, else the innermost one. An event that
 * begins at the very moment at which the one before it ends is not taken for that one. */
static uint32_t event_around(const struct view_trace *t, const struct view_point *p) {
  const struct view_track *track = &t->track[p->track];
  uint32_t low = track->first, high = track->first + track->count, found = VIEW_NONE;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (t->event[middle].start <= p->at)
      low = middle + 1;
    else
      high = middle;
  }
  for (uint32_t back = 0; back < BACK && low > track->first + back; back++) {
    for (uint32_t i = low - 1 - back; i != VIEW_NONE; i = t->parent[i]) {
      if (view_end(&t->event[i]) + ROUNDING < p->at) continue;
      if (joins(&t->event[i], p->sends)) return i;
      if (found == VIEW_NONE) found = i;
    }
  }
  if (found == VIEW_NONE && !p->sends && !p->encloses && low < track->first + track->count)
    return low; /* "f" without "bp": the next event */
  return found;
}

static void bind_arrows(struct view_trace *t) {
  t->arrow_of = view_zeroed(t->events, sizeof *t->arrow_of);
  for (size_t i = 0; i < t->events; i++) t->arrow_of[i] = VIEW_NONE;
  view_sort(t->point, t->points, sizeof *t->point, by_id);
  for (size_t i = 0; i < t->points; i++) {
    if (!t->point[i].sends) continue;
    const uint32_t from = event_around(t, &t->point[i]);
    for (size_t k = i + 1; k < t->points && t->point[k].id == t->point[i].id; k++) {
      if (t->point[k].sends || from == VIEW_NONE) continue;
      const uint32_t to = event_around(t, &t->point[k]);
      if (to != VIEW_NONE && to != from) view_add_arrow(t, from, to);
    }
  }
}

void view_arrange(struct view_trace *t) {
  set_zero(t);
  sort_ranks(t);
  view_sort(t->event, t->events, sizeof *t->event, by_place);
  find_tracks(t);
  choose_main(t);
  nest_all(t);
  bind_arrows(t);
  view_guess_arrows(t);
}

void view_trace_free(struct view_trace *t) {
  void *const owned[] = {t->event, t->track, t->rank,   t->arrow,
                         t->piece, t->point, t->parent, t->arrow_of};
  view_names_free(&t->names);
  for (size_t i = 0; i < TMB_ARRAY_LEN(owned); i++) free(owned[i]);
  tmb_hash_free(&t->rank_by_pid);
  tmb_hash_free(&t->track_by_ids);
}
