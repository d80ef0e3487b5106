/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions that wait for the acknowledgement of a gathered packet.
 *
 * Owns the lists of struct udp_told. Called by udp_small.c and udp_atomic.c, which add to a packet,
 * by udp_gather.c, which sends it, and by udp_recv.c. Calls udp_engine.c. Invariants: an operation
 * is complete when its packet is acknowledged, one with a signal when all packets before it are,
 * too; operations of one packet with the same handle and category share an entry.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

#include <stdlib.h>

static struct udp_told *told_new(struct tmb_net *e) {
  struct udp_told *t = e->spare.told;
  if (TMB_LIKELY(t != NULL)) {
    e->spare.told = t->next;
    return t;
  }
  t = malloc(sizeof *t);
  if (!t) e->up->fatal("no memory for the completion of a put");
  return t;
}

static void told_free(struct tmb_net *e, struct udp_told *t) {
  t->next = e->spare.told;
  e->spare.told = t;
}

void udp_told_add(struct tmb_net *e, struct udp_peer *p, void *op, uint32_t category, bool signal) {
  struct udp_told *last = p->gather.told ? p->gather.told_last : NULL;
  if (last && last->op == op && last->category == category && last->signal == signal) {
    last->count++;
    return;
  }
  struct udp_told *t = told_new(e);
  *t = (struct udp_told){.op = op, .category = category, .count = 1, .signal = signal};
  if (last)
    last->next = t;
  else
    p->gather.told = t;
  p->gather.told_last = t;
}

struct udp_told *udp_told_take(struct udp_peer *p, uint64_t number) {
  struct udp_told *list = p->gather.told;
  p->gather.told = p->gather.told_last = NULL;
  for (struct udp_told *t = list; t; t = t->next) t->number = number;
  return list;
}

static void tell(struct tmb_net *e, const struct udp_peer *p, struct udp_told *t) {
  udp_done_add(e, &(struct udp_done){
                      .op = t->op, .category = t->category, .peer = p->rank, .more = t->count - 1});
  told_free(e, t);
}

void udp_told_acked(struct tmb_net *e, struct udp_peer *p, struct udp_told *told) {
  while (told) {
    struct udp_told *next = told->next;
    if (told->signal) {
      told->next = p->gather.passing;
      p->gather.passing = told;
    } else {
      tell(e, p, told);
    }
    told = next;
  }
}

void udp_told_passed(struct tmb_net *e, struct udp_peer *p) {
  struct udp_told **at = &p->gather.passing;
  while (*at) {
    struct udp_told *t = *at;
    if (t->number >= p->tx.una) {
      at = &t->next;
      continue;
    }
    *at = t->next;
    tell(e, p, t);
  }
}

void udp_told_drop(struct tmb_net *e, struct udp_told **told) {
  while (*told) {
    struct udp_told *next = (*told)->next;
    told_free(e, *told);
    *told = next;
  }
}
