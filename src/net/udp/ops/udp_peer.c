/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers: state made when a pair talks, the list of those that have something to do, and credit.
 *
 * Owns struct udp_peer. Called by the other parts of the engine. Calls the window and guard. A peer
 * is made by the first packet to it or by the first authentic packet from it. Invariant: a peer
 * that owes something, or is owed something, is in the busy list.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/atomic.h"
#include "base/error.h"

#include <stdlib.h>

static void open_stream_rail(const struct tmb_net *e, struct udp_rail *rail) {
  udp_cc_open(&rail->cc, e->config.stream_bytes);
  rail->rto_min_ns = UDP_STREAM_RTO_NS;
}

struct udp_peer *udp_peer_get(struct tmb_net *e, uint32_t rank) {
  struct udp_peer *p = e->peers.of[rank];
  if (TMB_LIKELY(p != NULL)) return p;
  p = calloc(1, sizeof *p);
  if (!p || udp_tx_open(&p->tx, e->config.packet_bytes, e->io.rails + e->io.has_stream))
    e->up->fatal("no memory for the window of rank %u", rank);
  if (e->io.has_stream) open_stream_rail(e, &p->tx.rail[e->io.rails]);
  p->rank = rank;
  p->rx.next = 1;
  udp_mtu_open(&p->mtu, e->config.base_bytes, e->config.packet_bytes);
  if (e->config.begins_long) p->mtu.bytes = p->mtu.most;
  for (uint32_t r = 0; e->config.rto_min_ns && r < e->io.rails; r++)
    p->tx.rail[r].rto_min_ns = e->config.rto_min_ns;
  p->ack.due_ns = UINT64_MAX;
  p->ack.delay_ns = UDP_ACK_DELAY_NS;
  p->answer.signal_tick = p->answer.alone_tick = p->answer.delayed_ack_tick = UINT64_MAX;
  p->detect_ns = UINT64_MAX;
  p->life.heard_ns = e->time.now_ns;
  p->gather.end = UDP_HEADER_BYTES;
  udp_auth_key(e->secret, e->job_id, e->rank, rank, p->key.out);
  udp_auth_key(e->secret, e->job_id, rank, e->rank, p->key.in);
  if (e->config.cipher) {
    udp_seal_key(e->config.cipher, e->secret, e->job_id, (const uint32_t[2]){e->rank, rank},
                 p->seal.out);
    udp_seal_key(e->config.cipher, e->secret, e->job_id, (const uint32_t[2]){rank, e->rank},
                 p->seal.in);
  }
  tmb_store_rel(&e->peers.of[rank], p); /* udp_peer_explain reads it without the lock */
  return p;
}

void udp_peer_busy(struct tmb_net *e, struct udp_peer *p) {
  e->peers.dirty = true;
  if (p->busy) return;
  p->busy = true;
  p->next_busy = e->peers.busy;
  e->peers.busy = p;
}

void udp_ack_owe(struct tmb_net *e, struct udp_peer *p) {
  if (!p->ack.now) p->ack.tick = e->time.tick;
  p->ack.now = true;
  udp_peer_busy(e, p);
}

/* ---- credit: the cost of requests that a peer accepts and has not handled
 *
 * Requests sent and not handled cost no more than config.credit, but for a single one
 * (tmb_net_credit). */

/* One request is always possible. Acknowledgements that carry credit are not retransmitted when
 * they are lost, so a rank that waits for credit requests an update. */
bool udp_credit(struct tmb_net *e, struct udp_peer *p, uint32_t cost, bool by_thread) {
  const uint32_t used = p->credit.sent - p->credit.back;
  if (TMB_LIKELY(tmb_net_credit(used, cost, e->config.credit, by_thread))) return true;
  if (!p->credit.starved) {
    p->credit.starved = true;
    p->credit.asks = 0;
    p->credit.ask_ns = e->time.now_ns + udp_tx_rto(udp_tx_main(&p->tx));
    udp_peer_busy(e, p);
  }
  return false;
}

void udp_credit_back(struct tmb_net *e, struct udp_peer *p, uint32_t cost) {
  p->credit.handled += cost;
  if (p->lost || p->credit.handled == p->credit.advertised) return;
  const uint32_t quarter = e->config.credit / 4;
  if (p->credit.handled - p->credit.advertised >= (quarter ? quarter : 1)) udp_ack_owe(e, p);
  if (p->ack.due_ns == UINT64_MAX) p->ack.due_ns = e->time.now_ns + p->ack.delay_ns;
  udp_peer_busy(e, p);
}
