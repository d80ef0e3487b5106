/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions that wait for the acknowledgement of a gathered packet.
 *
 * Owns the lists of struct udp_pending. Called by udp_small.c and udp_atomic.c, which add to a
 * packet, by udp_gather.c, which sends it, and by udp_recv.c. Calls udp_engine.c. Invariants: an
 * operation is complete when its packet is acknowledged, one with a signal when all packets before
 * it are, too; operations of one packet with equal handle and category share an entry.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"

#include <stdlib.h>

static struct udp_pending *pending_new(struct tmb_net *e) {
  struct udp_pending *t = TMB_LIST_POP(&e->spare.pending);
  if (TMB_LIKELY(t != NULL)) return t;
  t = malloc(sizeof *t);
  if (!t) e->up->fatal("no memory for the completion of a put");
  return t;
}

static void pending_free(struct tmb_net *e, struct udp_pending *t) {
  TMB_LIST_PUSH(&e->spare.pending, t);
}

void udp_pending_add(struct tmb_net *e, struct udp_peer *p, void *op, uint32_t category,
                     bool signal) {
  struct udp_pending *last = p->gather.pending ? p->gather.pending_last : NULL;
  if (last && last->op == op && last->category == category && last->signal == signal) {
    last->count++;
    return;
  }
  struct udp_pending *t = pending_new(e);
  *t = (struct udp_pending){.op = op, .category = category, .count = 1, .signal = signal};
  TMB_QUEUE_ADD(&p->gather.pending, &p->gather.pending_last, t);
}

struct udp_pending *udp_pending_take(struct udp_peer *p, uint64_t number) {
  struct udp_pending *list = p->gather.pending;
  p->gather.pending = p->gather.pending_last = NULL;
  for (struct udp_pending *t = list; t; t = t->next) t->number = number;
  return list;
}

static void complete(struct tmb_net *e, const struct udp_peer *p, struct udp_pending *t) {
  udp_done_add(e, &(struct udp_done){
                      .op = t->op, .category = t->category, .peer = p->rank, .more = t->count - 1});
  pending_free(e, t);
}

void udp_pending_acked(struct tmb_net *e, struct udp_peer *p, struct udp_pending *pending) {
  for (struct udp_pending *t; (t = TMB_LIST_POP(&pending)) != NULL;)
    if (t->signal)
      TMB_LIST_PUSH(&p->gather.passing, t);
    else
      complete(e, p, t);
}

void udp_pending_passed(struct tmb_net *e, struct udp_peer *p) {
  struct udp_pending **at = &p->gather.passing;
  while (*at) {
    struct udp_pending *t = *at;
    if (t->number >= p->tx.una) {
      at = &t->next;
      continue;
    }
    complete(e, p, TMB_LIST_POP(at));
  }
}

void udp_pending_drop(struct tmb_net *e, struct udp_pending **pending) {
  while (*pending) pending_free(e, TMB_LIST_POP(pending));
}
