/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote atomic operations, performed where packets are received.
 *
 * Owns nothing. Called through the slot of udp.c, and from udp_recv.c. Calls core's upcall
 * `atomic`, udp_rma.c, udp_small.c. The owner of the word performs an operation when its packet
 * comes, in a poll or in the progress thread, so it ends while the owner computes. A packet is
 * taken once, and so is each operation. An operation whose value is asked for is answered like a
 * get; another one is complete, like a small put, when its packet is acknowledged. Invariant: the
 * upcall is atomic towards the owner's processor and other ranks of its host.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

static int ask(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
               const struct tmb_net_atomic *a) {
  r->flags = UDP_REPLY;
  return udp_get_ask(
      e, p, r,
      &(struct udp_get){
          .op = a->op, .local = a->result, .total = a->bytes, .category = a->category});
}

static int send_posted(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                       const struct tmb_net_atomic *a) {
  if (!udp_gather(e, p, r, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  if (a->op) udp_pending_add(e, p, a->op, a->category, false);
  udp_count(&e->stats->sent, 1);
  return 0;
}

int udp_atomic(struct tmb_net *e, const struct tmb_net_atomic *atomic) {
  udp_engine_lock(e);
  int rc = 0;
  struct udp_peer *p = udp_peer_get(e, atomic->peer);
  struct udp_record r = {.type = UDP_ATOMIC,
                         .opcode = atomic->opcode,
                         .dt = atomic->dt,
                         .operand = {atomic->operand[0], atomic->operand[1]},
                         .addr = (uint64_t)(uintptr_t)atomic->remote,
                         .total = atomic->bytes};
  if (TMB_LIKELY(!p->lost)) {
    rc = atomic->result ? ask(e, p, &r, atomic) : send_posted(e, p, &r, atomic);
    udp_small_settle(e, p, 0, rc);
  }
  udp_engine_unlock(e);
  return rc;
}

/* Send the value before back: in a packet with others, or later, where the window is full. */
static void answer(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                   const uint64_t *old) {
  struct udp_record data = {
      .type = UDP_DATA, .id = r->id, .bytes = (uint32_t)r->total, .payload = old};
  if (!p->bulk.first && udp_gather(e, p, &data, 0, 0)) {
    udp_credit_back(e, p, udp_cost(0));
    return;
  }
  data.bytes = 0;
  struct udp_xfer *x = udp_xfer_new(e, p, &data, old, r->total);
  x->cost = udp_cost(0);
  udp_xfer_copy(e, p, x);
  udp_xfer_add(e, p, x);
}

void udp_atomic_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  const struct tmb_net_atomic atomic = {.opcode = r->opcode,
                                        .dt = r->dt,
                                        .bytes = (uint32_t)r->total,
                                        .operand = {r->operand[0], r->operand[1]}};
  uint64_t old = 0;
  void *word = udp_target(e, p, r->addr, r->total);
  if (!word) return;
  if (!e->up->atomic(word, &atomic, &old))
    e->up->fatal("rank %u asks for atomic operation 0x%x on data type 0x%x, which does not exist",
                 p->rank, r->opcode, r->dt);
  else if (r->flags & UDP_REPLY)
    answer(e, p, r, &old);
}
