/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small puts, with or without a signal, which share packets and acknowledgements.
 *
 * Owns the measure of how close they follow one another. Called by udp_rma.c and udp_atomic.c.
 * Calls udp_gather.c, udp_pending.c. The first two puts of a burst leave at once, as a lone one
 * does: a program may compute for long after them. Further ones that follow closely are gathered,
 * until the packet is full or the client polls; if it does not, the progress thread sends them
 * within about a millisecond. Invariant: the source of a put is free when the call returns.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"
#include "net/plugin/progress_thread.h"

/* Measured 2026-11-24 by `tombolo bench loggp`: a put of 8 bytes in a burst takes 0.17 us, not 4.1.
 */
#define DENSE_NS    1000u /* between two puts of a burst, at most */
#define DENSE_FIRST 2u    /* puts of a burst that leave at once */

int udp_small_put(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                  const struct tmb_rma *rma) {
  r->bytes = (uint32_t)rma->nbytes;
  r->payload = rma->local;
  r->total = rma->nbytes;
  if (r->type == UDP_PART) r->flags |= UDP_HEAD;
  if (!udp_gather(e, p, r, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  if (rma->op) udp_pending_add(e, p, rma->op, rma->category, r->type == UDP_PART);
  if (rma->op && rma->report_local)
    udp_done_add(
        e, &(struct udp_done){.op = rma->op, .category = rma->local_category, .peer = p->rank});
  return 0;
}

/* Time passes while packets are handed over: the next put is compared with the end of that. */
void udp_small_settle(struct tmb_net *e, struct udp_peer *p) {
  p->gather.dense = e->time.now_ns - p->gather.small_ns <= DENSE_NS ? p->gather.dense + 1 : 0;
  const bool lone = p->gather.dense < DENSE_FIRST || p->tx.una == p->tx.next;
  if (!e->kept.threads && (lone || !e->config.coalesce)) (void)udp_gather_flush(e, p, 0);
  const bool sends = e->out.count > 0;
  udp_out_flush(e);
  p->gather.small_ns = sends ? e->io.ops->now(e->io.state) : e->time.now_ns;
  if (!p->gather.buf || p->gather.count > 1) return;
  tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns); /* the progress thread looks often */
  tmb_progress_thread_kick(e->helper.thread);
}
