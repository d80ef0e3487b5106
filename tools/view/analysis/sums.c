/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: sums by pairs of ranks.
 *
 * Owns: nothing global. Called by the parts of the analysis. Calls: names.c.
 * Invariants: tables are found by hashing until view_sort_report puts them in order.
 */
#include "base/compiler.h"
#include "view/analysis/report.h"

#include <stdlib.h>
#include <string.h>

/* Ranks fit 24 bits, kinds 8. */
static uint64_t key_of(uint32_t from, uint32_t to, uint32_t kind) {
  return (uint64_t)from << 32 | (uint64_t)to << 8 | kind;
}

struct view_blame *view_blame_of(struct view_report *r, uint32_t waiter, uint32_t culprit,
                                 uint32_t kind) {
  const uint32_t fresh = (uint32_t)r->blames;
  const uint32_t at = view_index(&r->blame_index, key_of(waiter, culprit, kind), fresh);
  if (at != fresh) return &r->blame[at];
  r->blame = view_more(r->blame, r->blames, &r->blame_room, sizeof *r->blame);
  r->blame[r->blames] = (struct view_blame){.waiter = waiter, .culprit = culprit, .kind = kind};
  return &r->blame[r->blames++];
}

struct view_delay *view_delay_of(struct view_report *r, uint32_t sender, uint32_t receiver) {
  const uint32_t fresh = (uint32_t)r->delays;
  const uint32_t at = view_index(&r->delay_index, key_of(sender, receiver, 0), fresh);
  if (at != fresh) return &r->delay[at];
  r->delay = view_more(r->delay, r->delays, &r->delay_room, sizeof *r->delay);
  r->delay[r->delays] = (struct view_delay){.sender = sender, .receiver = receiver};
  return &r->delay[r->delays++];
}

void view_top_add(struct view_top *top, uint32_t key, int64_t ns) {
  uint32_t least = 0;
  for (uint32_t i = 0; i < top->used; i++) {
    if (top->key[i] == key) {
      top->ns[i] += ns;
      return;
    }
    if (top->ns[i] < top->ns[least]) least = i;
  }
  if (top->used < VIEW_TOP)
    least = top->used++;
  else if (ns <= top->ns[least])
    return;
  top->key[least] = key;
  top->ns[least] = ns;
}

void view_top_sort(struct view_top *top) {
  for (uint32_t i = 1; i < top->used; i++)
    for (uint32_t k = i; k > 0 && top->ns[k] > top->ns[k - 1]; k--) {
      const int64_t ns = top->ns[k];
      const uint32_t key = top->key[k];
      top->ns[k] = top->ns[k - 1];
      top->key[k] = top->key[k - 1];
      top->ns[k - 1] = ns;
      top->key[k - 1] = key;
    }
}

/* The piece of a track that holds a moment, or the first behind it. */
static uint32_t piece_at(const struct view_trace *t, const struct view_track *track, int64_t at) {
  uint32_t low = track->piece, high = track->piece + track->pieces;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (t->piece[middle].end <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* For whom the event waits. */
static uint32_t waits_for(const struct view_trace *t, uint32_t event) {
  const uint32_t arrow = t->arrow_of[event];
  if (arrow != VIEW_NONE) {
    const uint32_t rank = view_event_rank(t, t->arrow[arrow].from);
    if (rank != view_event_rank(t, event)) return rank;
  }
  return t->event[event].peer;
}

void view_activity(const struct view_trace *t, uint32_t rank, int64_t from, int64_t to,
                   struct view_activity *out) {
  const uint32_t main = t->rank[rank].main;
  if (main == VIEW_NONE) return;
  const struct view_track *track = &t->track[main];
  const uint32_t end = track->piece + track->pieces;
  for (uint32_t i = piece_at(t, track, from); i < end && t->piece[i].start < to; i++) {
    const struct view_piece *p = &t->piece[i];
    const int64_t a = p->start > from ? p->start : from, b = p->end < to ? p->end : to;
    if (b <= a) continue;
    out->ns[p->state] += b - a;
    if (p->state == VIEW_COMPUTES && out->regions && p->region != VIEW_NONE)
      view_top_add(out->regions, p->region, b - a);
    if (p->state == VIEW_WAITS && out->ranks && waits_for(t, p->event) != VIEW_NONE)
      view_top_add(out->ranks, waits_for(t, p->event), b - a);
  }
}

bool view_in_collective(const struct view_trace *t, uint32_t event) {
  for (uint32_t i = t->parent[event]; i != VIEW_NONE; i = t->parent[i])
    if (t->event[i].kind == VIEW_COLLECTIVE) return true;
  return false;
}

static int by_waited(const void *left, const void *right) {
  const struct view_blame *a = left, *b = right;
  if (a->waited != b->waited) return a->waited > b->waited ? -1 : 1;
  if (a->waiter != b->waiter) return a->waiter < b->waiter ? -1 : 1;
  return a->culprit < b->culprit ? -1 : a->culprit > b->culprit;
}

static int by_delay(const void *left, const void *right) {
  const struct view_delay *a = left, *b = right;
  const int64_t x = a->handler + a->ready, y = b->handler + b->ready;
  if (x != y) return x > y ? -1 : 1;
  return a->receiver < b->receiver ? -1 : a->receiver > b->receiver;
}

void view_sort_report(struct view_report *r) {
  for (size_t i = 0; i < r->blames; i++) {
    view_top_sort(&r->blame[i].regions);
    view_top_sort(&r->blame[i].ranks);
  }
  view_sort(r->blame, r->blames, sizeof *r->blame, by_waited);
  view_sort(r->delay, r->delays, sizeof *r->delay, by_delay);
  view_top_sort(&r->path.regions);
}

void view_report_free(struct view_report *r) {
  for (size_t i = 0; i < r->meetings; i++) free(r->meeting[i].last);
  for (size_t i = 0; i < r->advices; i++) {
    free(r->advice[i].text);
    free(r->advice[i].title);
  }
  void *const owned[] = {r->share, r->crowded, r->count,     r->bytes,        r->blame,
                         r->delay, r->meeting, r->path.step, r->path.on_rank, r->advice};
  for (size_t i = 0; i < TMB_ARRAY_LEN(owned); i++) free(owned[i]);
  tmb_hash_free(&r->blame_index);
  tmb_hash_free(&r->delay_index);
}
