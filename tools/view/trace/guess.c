/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: arrows that a trace does not have.
 *
 * Owns: nothing global. Called by arrange.c. Calls: libc.
 * Invariants: a guess starts at the last operation of the named rank towards this one that began
 * before the wait ended, or before the handler began. It may name a later operation than the one
 * that ended the wait, never an earlier one: lateness may come out too large. The page says how
 * many arrows are guessed.
 */
#include "view/trace/trace.h"

#include <stdlib.h>

struct sent {
  uint32_t rank, peer, event;
  int64_t start;
};

static int by_pair(const void *left, const void *right) {
  const struct sent *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return a->event < b->event ? -1 : a->event > b->event;
}

/* The last operation of `want`'s pair up to its start; VIEW_NONE: there is none. */
static uint32_t last_of(const struct sent *sent, size_t count, const struct sent *want) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (by_pair(&sent[middle], want) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low || sent[low - 1].rank != want->rank || sent[low - 1].peer != want->peer)
    return VIEW_NONE;
  return sent[low - 1].event;
}

/* All operations that go to a peer, sorted. */
static struct sent *all_sent(const struct view_trace *t, size_t *count) {
  size_t room = 0;
  for (size_t i = 0; i < t->events; i++) room += view_kind_sends(t->event[i].kind);
  struct sent *sent = view_zeroed(room, sizeof *sent);
  *count = 0;
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (view_kind_sends(e->kind) && e->peer != VIEW_NONE)
      sent[(*count)++] = (struct sent){view_event_rank(t, i), e->peer, i, e->start};
  }
  view_sort(sent, *count, sizeof *sent, by_pair);
  return sent;
}

/* Whether the file says who ended a wait, or sent a message, but has no arrow. */
static bool lacks_arrow(const struct view_trace *t, uint32_t i) {
  const struct view_event *e = &t->event[i];
  if (t->arrow_of[i] != VIEW_NONE || e->peer == VIEW_NONE || e->peer == view_event_rank(t, i))
    return false;
  return e->kind == VIEW_HANDLER || (e->kind == VIEW_WAIT && e->by_peer);
}

void view_guess_arrows(struct view_trace *t) {
  size_t count;
  struct sent *sent = all_sent(t, &count);
  for (uint32_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (!lacks_arrow(t, i)) continue;
    int64_t until = e->kind == VIEW_WAIT ? view_end(e) : e->start;
    if (e->ended != VIEW_MARK && e->ended < until) until = e->ended;
    const struct sent want = {e->peer, view_event_rank(t, i), VIEW_NONE, until};
    const uint32_t from = last_of(sent, count, &want);
    if (from == VIEW_NONE) continue;
    view_add_arrow(t, from, i);
    t->guessed++;
  }
  free(sent);
}
