/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit: the cost of requests that a peer accepts and has not handled.
 *
 * Owns the counts of cost in struct udp_peer. Called by whatever sends or has handled a request.
 * Calls udp_peer.c and the window. Invariant: requests sent and not handled cost no more than
 * config.credit, but for a single one (tmb_net_credit).
 */
#include "net/udp/ops/udp_engine.h"

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
  if (p->ack.due_ns == UINT64_MAX) p->ack.due_ns = e->time.now_ns + UDP_ACK_DELAY_NS;
  udp_peer_busy(e, p);
}
