/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests between two ranks of a neighbourhood: what each of them gives, in the order of sending.
 *
 * Owns: the queues of the area. Called by am.c, under chk.lock. Calls: past.c. There is one queue
 * for each ordered pair of ranks. The sender writes what a request gives behind what the others
 * gave; the target takes the oldest one before it runs a handler, so neither looks the request up.
 * Shared memory keeps the order of requests of one thread. Other messages are left to clock.c:
 * those of a process with several threads, between neighbourhoods, replies, and Longs. Invariants:
 * what a rank gives has a greater clock each time, so a place whose clock is not greater than the
 * last one that was taken is empty; once a request was left to clock.c, all later ones of its queue
 * are; the target compares the form of a request, so that no other message takes its place.
 */
#include "check/runtime/chk.h"

#include <stdlib.h>

/* The queues of this rank and another one; private. */
static struct pair {
  struct chk_queue *to, *from; /* NULL: there is none */
  uint64_t sent, room;         /* to: requests so far, and so many at most */
  uint64_t taken, clock;       /* from: requests so far, and the clock of the last one */
} * pairs;                     /* [ranks], or NULL */

static struct chk_queue *queue_of(uint32_t from, uint32_t to) {
  struct chk_queue *const all = chk_at(chk.area, chk.area->where_queue);
  return &all[(size_t)from * chk.ranks + to];
}

static struct chk_request *place(struct chk_queue *q, uint64_t number) {
  return &q->request[number & (CHK_QUEUE - 1)];
}

void chk_queues_start(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count;
  if (chk.ranks > CHK_PAST_RANKS) return;
  pairs = calloc(chk.ranks, sizeof *pairs);
  gex_System_QueryNbrhdInfo(&info, &count, NULL);
  for (gex_Rank_t i = 0; pairs && i < count; i++) {
    const uint32_t rank = info[i].gex_jobrank;
    if (rank == chk.rank) continue;
    pairs[rank].to = queue_of(chk.rank, rank);
    pairs[rank].from = queue_of(rank, chk.rank);
    pairs[rank].room = CHK_QUEUE;
  }
}

/* Whether the target has taken requests since it was last asked. */
static bool has_room(struct pair *p) {
  p->room = __atomic_load_n(&p->to->taken, __ATOMIC_ACQUIRE) + CHK_QUEUE;
  return p->sent < p->room;
}

bool chk_queue_give(uint32_t to, uint64_t form) {
  struct pair *const p = pairs ? &pairs[to] : NULL;
  if (!p || !p->to) return false;
  const bool full = p->sent == p->room && !has_room(p);
  const uint64_t given = full || chk.threads ? 0 : chk_give();
  if (CHK_UNLIKELY(!given)) {
    p->to = NULL;
    return false;
  }
  struct chk_request *const r = place(p->to, p->sent++);
  r->form = form;
  __atomic_store_n(&r->given, given, __ATOMIC_RELEASE);
  return true;
}

void chk_queue_unsend(uint32_t to) {
  struct pair *const p = &pairs[to];
  if (p->to) __atomic_store_n(&place(p->to, --p->sent)->given, 0, __ATOMIC_RELEASE);
}

bool chk_queue_take(uint32_t from, uint64_t form, uint32_t site) {
  struct pair *const p = pairs ? &pairs[from] : NULL;
  if (!p || !p->from) return false;
  const struct chk_request *const r = place(p->from, p->taken);
  const uint64_t given = __atomic_load_n(&r->given, __ATOMIC_ACQUIRE);
  if ((given & CHK_GIVEN_CLOCK) <= p->clock || r->form != form) return false;
  p->clock = given & CHK_GIVEN_CLOCK;
  chk_hear(given, site);
  if (++p->taken % (CHK_QUEUE / 4) == 0)
    __atomic_store_n(&p->from->taken, p->taken, __ATOMIC_RELEASE);
  return true;
}
