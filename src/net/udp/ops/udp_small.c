/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small puts, with or without a signal, which share packets and acknowledgements.
 *
 * Owns the measure of how close they follow one another. Called by udp_rma.c and udp_atomic.c.
 * Calls udp_gather.c, udp_pending.c. The first two puts of a burst leave at once, as a lone one
 * does: a program may compute for long after them. Of longer ones more do. Further ones that follow
 * closely are gathered, until the packet is full or the client polls; if it does not, the progress
 * thread sends them within about a millisecond. The clock, which decides whether puts are close, is
 * read for each sixteenth put of a burst. Invariant: the source of a put is free when the call
 * returns.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"
#include "net/plugin/progress_thread.h"

/* Chosen; `tombolo bench loggp` measures their effect. */
#define DENSE_NS      1000u /* between two puts of a burst, at most */
#define DENSE_FIRST   2u    /* puts of a burst that leave at once */
#define DENSE_LONG    8u  /* of more than UDP_INLINE_MAX bytes: few are started before computing */
#define BLIND_PUTS    15u /* puts of a burst between two readings of the clock */
#define TURNS_MAX     64u /* puts, to all peers, between two of a burst to one */
/* Bytes that are copied and hashed in a nanosecond, at least. Chosen. */
#define COPIED_PER_NS 4u

static void add_payload(struct udp_record *r, const struct tmb_rma *rma) {
  r->bytes = (uint32_t)rma->nbytes;
  r->payload = rma->local;
  r->total = rma->nbytes;
  if (r->type == UDP_PART) r->flags |= UDP_HEAD;
}

/* The put lies in the open packet. in passes: it is complete when all packets up to its last have
 * come. */
static void gathered(struct tmb_net *e, struct udp_peer *p, const struct tmb_rma *rma,
                     bool passes) {
  if (!rma->op) return;
  udp_pending_add(e, p, rma->op, rma->category, passes);
  if (rma->report_local)
    udp_done_add(
        e, &(struct udp_done){.op = rma->op, .category = rma->local_category, .peer = p->rank});
}

int udp_small_parts(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                    const struct tmb_rma *rma) {
  struct udp_record whole = *r;
  whole.total = rma->nbytes;
  if (!udp_gather_parts(e, p, &whole, rma->local, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  gathered(e, p, rma, true);
  return 0;
}

int udp_small_put(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                  const struct tmb_rma *rma) {
  add_payload(r, rma);
  if (r->type == UDP_PUT && udp_gather_splits(p, r, 0)) return udp_small_parts(e, p, r, rma);
  if (!udp_gather(e, p, r, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  gathered(e, p, rma, r->type == UDP_PART);
  return 0;
}

/* Puts of a burst that leave at once. in nbytes: of the last one. */
static uint32_t first_ones(uint64_t nbytes) {
  return nbytes > UDP_INLINE_MAX ? DENSE_LONG : DENSE_FIRST;
}

/* A put is compared with the last one to the same peer. Puts to other peers lie between the two. */
static bool is_close(const struct tmb_net *e, const struct udp_peer *p, uint64_t nbytes) {
  const uint64_t turns = e->peers.small_puts + 1 - p->gather.small_puts;
  const uint64_t copied_ns = TMB_MIN(nbytes, (uint64_t)UDP_PACKET_MAX) / COPIED_PER_NS;
  const uint64_t since_ns = udp_gather_clock(e) - p->gather.small_ns;
  return since_ns <= (DENSE_NS + copied_ns) * TMB_MIN(turns, (uint64_t)TURNS_MAX);
}

/* A put was made at the time that the clock shows. */
static void note_time(struct tmb_net *e, struct udp_peer *p) {
  p->gather.small_puts = e->peers.small_puts;
  p->gather.small_ns = udp_gather_clock(e);
  p->gather.blind = 0;
}

/* The client has not polled, and the progress thread has not sent anything, since the last put. */
static bool goes_on(const struct tmb_net *e, const struct udp_peer *p, uint64_t nbytes) {
  const struct udp_gather *g = &p->gather;
  return g->buf && g->dense >= first_ones(nbytes) && g->tick == e->time.tick &&
         p->tx.una != p->tx.next && !p->lost && !p->bulk.first;
}

bool udp_small_join(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  struct udp_peer *p = e->peers.of[rma->peer];
  if (!p || rma->nbytes > UDP_COPY_MAX || !goes_on(e, p, rma->nbytes)) return false;
  if (p->gather.blind == BLIND_PUTS) {
    udp_engine_clock(e);
    if (!is_close(e, p, rma->nbytes)) return false;
  }
  struct udp_short s = {.addr = (uint64_t)(uintptr_t)rma->remote,
                        .payload = rma->local,
                        .bytes = (uint32_t)rma->nbytes,
                        .action = UDP_ACT_NONE};
  if (signal) {
    s.action = udp_action_of(signal);
    s.signal_addr = (uint64_t)(uintptr_t)signal->addr;
    s.signal_value = signal->value;
  }
  if (!udp_gather_join(e, p, &s)) return false;
  gathered(e, p, rma, signal != NULL);
  e->peers.small_puts++;
  if (p->gather.blind++ == BLIND_PUTS) note_time(e, p);
  udp_count(&e->stats->sent, 1);
  udp_count(&e->stats->bytes_out, rma->nbytes);
  return true;
}

void udp_small_settle(struct tmb_net *e, struct udp_peer *p, uint64_t nbytes, int rc) {
  if (e->peers.full_ns) e->time.handed_ns += udp_gather_clock(e) - e->peers.full_ns;
  p->gather.dense = is_close(e, p, nbytes) ? p->gather.dense + 1 : 0;
  e->peers.small_puts++;
  note_time(e, p);
  const bool lone = p->gather.dense < first_ones(nbytes) || p->tx.una == p->tx.next;
  if (!e->kept.threads && (lone || !e->config.coalesce)) (void)udp_gather_flush(e, p, 0);
  udp_gather_hand(e, p, true);
  e->peers.full_ns = rc == TMB_AGAIN ? udp_gather_clock(e) : 0;
  if (!p->gather.buf || p->gather.count > 1) return;
  tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns); /* the progress thread looks often */
  tmb_progress_thread_kick(e->helper.thread);
}
