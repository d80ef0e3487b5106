/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small puts, with or without a signal, which share packets and acknowledgements.
 *
 * Owns the lists of operations that wait for the acknowledgement of a gathered packet. Called by
 * udp_rma.c, udp_atomic.c, udp_send.c, udp_recv.c. Calls udp_send.c. The first two puts of a burst
 * leave at once, as a lone one does: a program may compute for long after them. Further ones that
 * follow closely are gathered, until the packet is full or the client polls; if it does not, the
 * progress thread sends them within about a millisecond. Invariants: a put is complete when its
 * packet is acknowledged, one with a signal when all packets before it are, too; puts of one packet
 * with the same operation and category share an entry.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"
#include "net/plugin/progress_thread.h"

#include <stdlib.h>

#define DENSE_NS    1000u /* between two puts of a burst, at most */
#define DENSE_FIRST 2u    /* puts of a burst that leave at once */

/* ---- who waits for a packet */

static struct udp_told *told_new(struct tmb_net *e) {
  struct udp_told *t = e->free_told;
  if (TMB_LIKELY(t != NULL)) {
    e->free_told = t->next;
    return t;
  }
  t = malloc(sizeof *t);
  if (!t) e->up->fatal("no memory for the completion of a put");
  return t;
}

static void told_free(struct tmb_net *e, struct udp_told *t) {
  t->next = e->free_told;
  e->free_told = t;
}

void udp_told_add(struct tmb_net *e, struct udp_peer *p, void *op, uint32_t category, bool signal) {
  struct udp_told *last = p->open_told ? p->open_told_last : NULL;
  if (last && last->op == op && last->category == category && last->signal == signal) {
    last->count++;
    return;
  }
  struct udp_told *t = told_new(e);
  *t = (struct udp_told){.op = op, .category = category, .count = 1, .signal = signal};
  if (last)
    last->next = t;
  else
    p->open_told = t;
  p->open_told_last = t;
}

struct udp_told *udp_told_take(struct udp_peer *p, uint64_t number) {
  struct udp_told *list = p->open_told;
  p->open_told = p->open_told_last = NULL;
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
      told->next = p->told_passing;
      p->told_passing = told;
    } else {
      tell(e, p, told);
    }
    told = next;
  }
}

void udp_told_passed(struct tmb_net *e, struct udp_peer *p) {
  struct udp_told **at = &p->told_passing;
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

/* ---- puts */

int udp_small_put(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                  const struct tmb_rma *rma) {
  r->bytes = (uint32_t)rma->nbytes;
  r->payload = rma->local;
  r->total = rma->nbytes;
  if (r->type == UDP_PART) r->flags |= UDP_HEAD;
  if (!udp_gather(e, p, r, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  if (rma->op) udp_told_add(e, p, rma->op, rma->category, r->type == UDP_PART);
  if (rma->op && rma->tell_local)
    udp_done_add(
        e, &(struct udp_done){.op = rma->op, .category = rma->local_category, .peer = p->rank});
  return 0;
}

/* Time passes while packets are handed over: the next put is compared with the end of that. */
void udp_small_settle(struct tmb_net *e, struct udp_peer *p) {
  p->dense = e->now_ns - p->small_ns <= DENSE_NS ? p->dense + 1 : 0;
  const bool lone = p->dense < DENSE_FIRST || p->tx.una == p->tx.next;
  if (!e->delivering && (lone || !e->config.coalesce)) (void)udp_gather_flush(e, p, 0);
  const bool sends = e->out_count > 0;
  udp_out_flush(e);
  p->small_ns = sends ? e->io.ops->now(e->io.state) : e->now_ns;
  if (!p->open || p->open_count > 1) return;
  tmb_store_rlx(&e->bulk_ns, e->now_ns); /* the progress thread looks often */
  tmb_progress_thread_kick(e->thread);
}
