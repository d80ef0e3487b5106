/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank waits for which, see explain.h.
 *
 * Owns: no state. Called as explain.h says. Calls: snapshot. The set of live ranks is the least
 * fixed point of the rule in explain.h, as in the OR-AND model of deadlock (E. Knapp, Deadlock
 * detection in distributed databases, ACM Computing Surveys 19(4), 1987).
 */
#include "boot/explain/explain.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define BUSY_SHARE      4          /* a rank runs if it used more than 1/4 of the time */
#define POLLS_FRESH_NS  1000000000 /* a wait without sleep is renewed more often than this */
#define LONG_STALL_NS   UINT64_C(2000000000) /* a longer wait for such a peer is reported */
/* As LONG_STALL_NS, for a peer whose objects other ranks poll: it has packets in flight at any
 * time. */
#define LOOKS_STALL_NS  UINT64_C(3000000000)
#define LOOKED_FRESH_NS UINT64_C(5000000000) /* a rank that polls looks more often than this */

/* ---- conditions of ranks */

const struct tmb_status_wait *tmb_explain_wait(const struct tmb_snapshot *s, uint32_t rank, int i) {
  const struct tmb_status_wait *w = &s->rank[rank].status.wait[i];
  if (!w->thread || w->state == TMB_WAIT_NONE || w->kind >= TMB_WAIT_PROGRAM) return NULL;
  const bool stale = s->rank[rank].at_ns > w->at_ns + POLLS_FRESH_NS;
  if (w->state == TMB_WAIT_POLLS && stale && !w->layer.begun) return NULL;
  return w;
}

static bool waits(const struct tmb_snapshot *s, uint32_t rank) {
  for (int i = 0; i < TMB_STATUS_WAITS; i++)
    if (tmb_explain_wait(s, rank, i)) return true;
  return s->rank[rank].status.boot_since_ns != 0;
}

/* A thread that calls gexx_Poll with a time limit in a loop begins a wait each time. A wait that a
 * layer above has named goes on, whatever is done for others during it. */
static bool wait_moved(const struct tmb_status_wait *a, const struct tmb_status_wait *b) {
  if (b->layer.begun && a->layer.begun == b->layer.begun && a->thread == b->thread)
    return !tmb_explain_is_layer(b) && a->progress != b->progress;
  return a->progress != b->progress || (a->waits != b->waits && b->kind != TMB_WAIT_POLL);
}

/* Whether messages and data moved, without the network's own packets. */
static bool net_moved(const uint64_t *a, const uint64_t *b) {
  return memcmp(a, b, (TMB_STATUS_NET_BYTES_IN + 1) * sizeof *a) != 0;
}

/* Whether the rank's only wait is one that a layer above has named, and that goes on. */
static bool in_layer(const struct tmb_snapshot *s, const struct tmb_seen *a, uint32_t rank) {
  const struct tmb_status_wait *w = tmb_explain_wait(s, rank, 0);
  return w && tmb_explain_is_layer(w) && a->status.wait[0].layer.begun == w->layer.begun;
}

/* A word that is waited for has become so between the two: the rank is about to notice. in served:
 * others poll an object of this rank, which keeps its network busy. */
static bool rank_moved(const struct tmb_seen *a, const struct tmb_seen *b, bool served) {
  const struct tmb_status *x = &a->status, *y = &b->status;
  if ((b->held & ~a->held) || (!served && net_moved(x->net, y->net))) return true;
  if (a->pid != b->pid || x->boot_rounds != y->boot_rounds) return true;
  for (int i = 0; i < TMB_STATUS_WAITS; i++)
    if (!served ? wait_moved(&x->wait[i], &y->wait[i]) : x->wait[i].since_ns != y->wait[i].since_ns)
      return true;
  return memcmp(x->team, y->team, sizeof x->team) != 0;
}

/* Mark the ranks whose objects others poll, and those that poll. */
static void mark_looked_at(const struct tmb_snapshot *before, const struct tmb_snapshot *now,
                           uint8_t *mark) {
  for (uint32_t r = 0; r < now->size; r++) {
    const struct tmb_status_layer *l = &now->rank[r].status.wait[0].layer;
    if (!in_layer(now, &before->rank[r], r) || !l->polls) continue;
    mark[r] = 1; /* its own network is busy with it, too */
    if (l->home < now->size) mark[l->home] = 1;
  }
}

bool tmb_explain_moved(const struct tmb_snapshot *before, const struct tmb_snapshot *now) {
  uint8_t *served = calloc(now->size, 1);
  bool moved = !served;
  if (served) mark_looked_at(before, now, served);
  for (uint32_t r = 0; r < now->size && !moved; r++) {
    const struct tmb_seen *a = &before->rank[r], *b = &now->rank[r];
    moved = rank_moved(a, b, served[r]) || (!served[r] && a->passed != b->passed) ||
            a->state != b->state || a->fate != b->fate;
  }
  free(served);
  return moved;
}

uint64_t tmb_explain_polls(const struct tmb_snapshot *s, uint32_t rank) {
  const struct tmb_seen *seen = &s->rank[rank];
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    const struct tmb_status_wait *w = &seen->status.wait[i];
    if (w->thread && w->state == TMB_WAIT_POLLS && w->kind == TMB_WAIT_PROGRAM &&
        seen->at_ns <= w->at_ns + POLLS_FRESH_NS)
      return 1 + seen->at_ns - TMB_MIN(w->since_ns, seen->at_ns);
  }
  return 0;
}

/* Whether this state is that of a living process. */
static bool alive(char state) {
  return state && state != 'Z' && state != 'X';
}

/* Condition of a rank that does not wait in the library. */
static enum tmb_condition outside(const struct tmb_explain *e, uint32_t rank, bool runs) {
  const struct tmb_seen *a = &e->before->rank[rank], *b = &e->now->rank[rank];
  if (tmb_explain_polls(e->now, rank) && tmb_explain_polls(e->before, rank) &&
      !rank_moved(a, b, false))
    return TMB_SEEN_POLLS;
  return runs || b->process == 'R' ? TMB_SEEN_RUNS : TMB_SEEN_SLEEPS;
}

static enum tmb_condition condition_of(const struct tmb_explain *e, uint32_t rank) {
  const struct tmb_seen *a = &e->before->rank[rank], *b = &e->now->rank[rank];
  if (TMB_FATE_IS_LOST(b->fate)) return TMB_SEEN_ENDED;
  if (!b->here) return TMB_SEEN_ELSEWHERE;
  if (!b->pid) return TMB_SEEN_ABSENT;
  if (!alive(b->process)) return TMB_SEEN_ENDED;
  if (b->process == 'T' || b->process == 't') return TMB_SEEN_STOPPED;
  const uint64_t time = b->at_ns - a->at_ns, used = b->cpu_ns - a->cpu_ns;
  const bool runs = used * BUSY_SHARE > time;
  if (!waits(e->now, rank)) return outside(e, rank, runs);
  if (rank_moved(a, b, e->looked_at[rank])) return TMB_SEEN_MOVES;
  const struct tmb_status_wait *w = tmb_explain_wait(e->now, rank, 0);
  return runs && w && w->state == TMB_WAIT_ASLEEP ? TMB_SEEN_RUNS : TMB_SEEN_WAITS;
}

/* ---- collective calls */

int tmb_explain_team(const struct tmb_snapshot *s, uint32_t rank, uint64_t uid) {
  const struct tmb_status_team *t = s->rank[rank].status.team;
  for (int i = 0; i < TMB_STATUS_TEAMS; i++)
    if (t[i].used && t[i].uid == uid) return i;
  return -1;
}

uint64_t tmb_explain_calls(const struct tmb_snapshot *s, uint32_t rank, int team,
                           const struct tmb_status_wait *w) {
  const struct tmb_status_team *t = &s->rank[rank].status.team[team];
  switch (w->kind) {
  case TMB_WAIT_BARRIER: return t->barriers;
  case TMB_WAIT_NAMED: return t->named;
  case TMB_WAIT_TEAM: return t->gathers;
  default: return t->colls;
  }
}

static bool has_missing(const struct tmb_status_wait *w) {
  for (int i = 0; i < TMB_STATUS_MISSING; i++)
    if (w->missing[i]) return true;
  return false;
}

/* Whether a member had not shown its data when this wait was described. It may have come since: a
 * rank that sleeps for a collective is woken by the last one only. */
static bool is_missing(const struct tmb_status_wait *w, uint32_t member) {
  return member < 64 * TMB_STATUS_MISSING && (w->missing[member / 64] >> member % 64 & 1);
}

bool tmb_explain_in_call(const struct tmb_snapshot *s, uint32_t rank, uint64_t uid,
                         const struct tmb_status_wait *w) {
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    const struct tmb_status_wait *v = tmb_explain_wait(s, rank, i);
    if (v && v->kind == w->kind && v->number == w->number && v->team < TMB_STATUS_TEAMS &&
        s->rank[rank].status.team[v->team].uid == uid)
      return true;
  }
  return false;
}

/* Mark the members that have not called, else those that have and are not waiting in the call, else
 * ranks that could not be seen. */
static void mark_call(const struct tmb_explain *e, uint32_t rank, const struct tmb_status_wait *w,
                      uint8_t *mark) {
  const struct tmb_snapshot *s = e->now;
  if (w->team >= TMB_STATUS_TEAMS) return;
  const uint64_t uid = s->rank[rank].status.team[w->team].uid;
  const bool rows = has_missing(w);
  bool any = false;
  for (uint32_t pass = 0; pass < 2 && !any; pass++)
    for (uint32_t r = 0; r < s->size; r++) {
      const int at = tmb_explain_team(s, r, uid);
      if (at < 0 || r == rank) continue;
      const uint32_t member = s->rank[r].status.team[at].rank;
      const bool inside = tmb_explain_in_call(s, r, uid, w);
      const bool missing =
          rows ? is_missing(w, member) && !inside : tmb_explain_calls(s, r, at, w) < w->number;
      const bool wanted = pass ? e->condition[r] != TMB_SEEN_ENDED && !inside : missing;
      mark[r] = wanted;
      any = any || wanted;
    }
  for (uint32_t r = 0; r < s->size && !any; r++) mark[r] = e->condition[r] == TMB_SEEN_ELSEWHERE;
}

/* Ranks that have not come to a round of the bootstrap. */
static void mark_round(const struct tmb_explain *e, uint32_t rank, uint8_t *mark) {
  const struct tmb_snapshot *s = e->now;
  for (uint32_t r = 0; r < s->size; r++)
    mark[r] = s->rank[r].status.boot_rounds < s->rank[rank].status.boot_rounds;
}

/* ---- needs of waits */

bool tmb_explain_holds(const struct tmb_snapshot *s, uint32_t rank,
                       const struct tmb_status_wait *w) {
  return s->rank[rank].held >> (w - s->rank[rank].status.wait) & 1;
}

/* Mark the ranks that hold an object of the layer above. Returns whether there are any. */
static bool mark_holders(const struct tmb_explain *e, uint64_t object_id, uint8_t *mark) {
  bool any = false;
  for (uint32_t r = 0; r < e->now->size; r++)
    for (int i = 0; i < TMB_STATUS_HELD && object_id; i++)
      if (e->now->rank[r].status.held[i] == object_id) {
        mark[r] = 1;
        any = true;
      }
  return any;
}

/* Mark those that must act, where the layer above says so and they are known. */
static bool mark_layer(const struct tmb_explain *e, const struct tmb_status_wait *w,
                       uint8_t *mark) {
  const struct tmb_status_layer *l = &w->layer;
  if (!tmb_explain_is_layer(w) || l->needs == TMB_LAYER_ANY) return false;
  if (l->needs == TMB_LAYER_HOLDER && mark_holders(e, l->object_id, mark)) return true;
  if (l->peer < e->now->size) mark[l->peer] = 1;
  return l->peer < e->now->size;
}

enum tmb_needs tmb_explain_needs(const struct tmb_explain *e, uint32_t rank,
                                 const struct tmb_status_wait *w, uint8_t *mark) {
  const uint32_t size = e->now->size;
  memset(mark, 0, size);
  if (tmb_explain_holds(e->now, rank, w)) return TMB_NEEDS_ALL;
  if (mark_layer(e, w, mark)) return TMB_NEEDS_ALL;
  switch (w->kind) {
  case TMB_WAIT_BARRIER:
  case TMB_WAIT_NAMED:
  case TMB_WAIT_TEAM:
  case TMB_WAIT_COLLECTIVE: mark_call(e, rank, w, mark); return TMB_NEEDS_ALL;
  case TMB_WAIT_OPERATION:
  case TMB_WAIT_SEND:
  case TMB_WAIT_NOTIFICATION:
  case TMB_WAIT_LOSS:
  case TMB_WAIT_SHRINK:
    if (w->peer >= size) break;
    mark[w->peer] = 1;
    return TMB_NEEDS_ALL;
  case TMB_WAIT_LOCK: return TMB_NEEDS_ALL;
  default: break;
  }
  memset(mark, 1, size);
  mark[rank] = 0;
  return TMB_NEEDS_ANY;
}

/* Whether the marked ranks can do the needed step. */
static bool can_end(const struct tmb_explain *e, enum tmb_needs needs, const uint8_t *mark) {
  uint32_t marked = 0, live = 0;
  for (uint32_t r = 0; r < e->now->size; r++) {
    marked += mark[r];
    live += mark[r] && e->live[r];
  }
  return needs == TMB_NEEDS_ANY ? live > 0 : marked && live == marked;
}

static bool may_go_on(const struct tmb_explain *e, uint32_t rank, uint8_t *mark) {
  if (e->condition[rank] == TMB_SEEN_POLLS) {
    memset(mark, 1, e->now->size);
    mark[rank] = 0;
    return can_end(e, TMB_NEEDS_ANY, mark);
  }
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    const struct tmb_status_wait *w = tmb_explain_wait(e->now, rank, i);
    if (w && can_end(e, tmb_explain_needs(e, rank, w, mark), mark)) return true;
  }
  if (!e->now->rank[rank].status.boot_since_ns) return false;
  mark_round(e, rank, mark);
  return can_end(e, TMB_NEEDS_ALL, mark);
}

/* ---- the network */

bool tmb_explain_asks(const struct tmb_snapshot *s, uint32_t rank, uint32_t *peer,
                      uint64_t *silent_ns) {
  const struct tmb_seen *seen = &s->rank[rank];
  const uint64_t *net = seen->status.net, looked = net[TMB_STATUS_NET_LOOKED_NS];
  const uint64_t heard = net[TMB_STATUS_NET_STALLED_HEARD_NS];
  if (!net[TMB_STATUS_NET_STALLED] || net[TMB_STATUS_NET_STALLED] > s->size) return false;
  if (seen->at_ns > looked + LOOKED_FRESH_NS) return false;
  *peer = (uint32_t)net[TMB_STATUS_NET_STALLED] - 1;
  *silent_ns = looked > heard ? looked - heard : 0;
  return true;
}

bool tmb_explain_stalled(const struct tmb_snapshot *s, uint32_t rank, uint32_t *peer,
                         uint64_t *silent_ns) {
  return tmb_explain_asks(s, rank, peer, silent_ns) &&
         *silent_ns >= TMB_EXPLAIN_STALL_MS * UINT64_C(1000000);
}

/* Mark the ranks between which packets are in flight again and again: should the network come
 * back, both may go on. A peer that is stopped or has ended will not answer. */
static void mark_coming(struct tmb_explain *e) {
  uint32_t peer;
  uint64_t silent_ns;
  for (uint32_t r = 0; r < e->now->size; r++) {
    if (e->condition[r] == TMB_SEEN_ENDED || !tmb_explain_asks(e->now, r, &peer, &silent_ns))
      continue;
    /* Polls of an object keep a packet in flight at any time: one without an answer yet means
     * nothing. */
    if (e->looked_at[r] && e->looked_at[peer] && silent_ns < LOOKS_STALL_NS) continue;
    e->coming[peer] = 1;
    if (e->condition[peer] != TMB_SEEN_ENDED && e->condition[peer] != TMB_SEEN_STOPPED)
      e->coming[r] = 1;
  }
}

/* Whether nothing is in flight to any rank, nor lies in its queues. */
static bool is_idle(const struct tmb_snapshot *s) {
  for (uint32_t r = 0; r < s->size; r++) {
    const struct tmb_seen *seen = &s->rank[r];
    const uint64_t *net = seen->status.net;
    if (seen->queued[0] + seen->queued[1] || net[TMB_STATUS_NET_UNACKED] ||
        net[TMB_STATUS_NET_QUEUED])
      return false;
  }
  return true;
}

static bool live_by_itself(const struct tmb_explain *e, uint32_t rank) {
  const enum tmb_condition c = e->condition[rank];
  if (c == TMB_SEEN_POLLS) return !e->polls_wait || !e->idle;
  if (c == TMB_SEEN_WAITS) return e->coming[rank];
  return c != TMB_SEEN_ENDED && c != TMB_SEEN_STOPPED;
}

static bool is_waiting(const struct tmb_explain *e, uint32_t rank) {
  return e->condition[rank] == TMB_SEEN_WAITS || e->condition[rank] == TMB_SEEN_POLLS;
}

/* The verdict, once the live ranks are known. A suspended rank hangs if any rank waits. */
static enum tmb_verdict judge(const struct tmb_explain *e) {
  uint32_t count[TMB_SEEN_COUNT] = {0}, hung = 0, coming = 0, unheard = 0, peer;
  uint64_t silent_ns;
  for (uint32_t r = 0; r < e->now->size; r++) {
    const bool waits_here = e->condition[r] == TMB_SEEN_WAITS;
    count[e->condition[r]]++;
    hung += is_waiting(e, r) && !e->live[r];
    coming += waits_here && e->coming[r];
    unheard += waits_here && tmb_explain_stalled(e->now, r, &peer, &silent_ns) &&
               silent_ns >= LONG_STALL_NS;
  }
  const uint32_t busy = count[TMB_SEEN_RUNS] + count[TMB_SEEN_SLEEPS] + count[TMB_SEEN_ABSENT] +
                        count[TMB_SEEN_ELSEWHERE] + coming;
  const uint32_t polling = count[TMB_SEEN_POLLS];
  if (hung) return TMB_VERDICT_HANG;
  if (unheard || count[TMB_SEEN_ELSEWHERE] == e->now->size) return TMB_VERDICT_BUSY;
  if (count[TMB_SEEN_MOVES]) return TMB_VERDICT_PROGRESS;
  if (polling && !busy) return TMB_VERDICT_BUSY;
  return count[TMB_SEEN_WAITS] && busy + polling ? TMB_VERDICT_BUSY : TMB_VERDICT_PROGRESS;
}

int tmb_explain(struct tmb_explain *e, const struct tmb_snapshot *before,
                const struct tmb_snapshot *now, bool polls_wait) {
  const uint32_t size = now->size;
  uint8_t *const bytes = calloc(size, 5);
  if (!bytes) return TMB_E_NOMEM;
  *e = (struct tmb_explain){.before = before,
                            .now = now,
                            .polls_wait = polls_wait,
                            .idle = is_idle(now),
                            .condition = bytes,
                            .live = bytes + size,
                            .coming = bytes + 2 * (size_t)size,
                            .looked_at = bytes + 3 * (size_t)size};
  uint8_t *const mark = bytes + 4 * (size_t)size;
  mark_looked_at(before, now, e->looked_at);
  for (uint32_t r = 0; r < size; r++) e->condition[r] = (uint8_t)condition_of(e, r);
  mark_coming(e);
  for (uint32_t r = 0; r < size; r++) e->live[r] = live_by_itself(e, r);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t r = 0; r < size; r++) {
      if (e->live[r] || !is_waiting(e, r) || !may_go_on(e, r, mark)) continue;
      e->live[r] = 1;
      changed = true;
    }
  }
  e->verdict = judge(e);
  return TMB_OK;
}

void tmb_explain_free(struct tmb_explain *e) {
  free(e->condition); /* and the others, which lie behind it */
  e->condition = e->live = e->coming = e->looked_at = NULL;
}
