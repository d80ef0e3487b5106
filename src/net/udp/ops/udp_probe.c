/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: the lengths of packets, and the rails, that reach a peer.
 *
 * Owns nothing. Called by udp_progress.c and udp_recv.c. Calls udp_send.c, udp_rail.c and the
 * search in window. A probe is a packet without a number; its answer names it. Invariant: a lost
 * probe costs nothing but time.
 */
#include "net/udp/ops/udp_engine.h"

#include <string.h>

#define PROBE_NS 5000000u /* beyond the time-out, for an answer; chosen */

/* Send a packet of so many bytes that asks for an answer. */
static void probe_send(struct tmb_net *e, struct udp_peer *p, uint32_t bytes, uint32_t id,
                       uint32_t rail) {
  struct udp_record r = {.type = UDP_PROBE, .flags = UDP_TAIL, .id = id, .addr = rail};
  r.bytes = udp_payload_max(p, &r) + bytes - p->mtu.bytes;
  struct udp_buf *buf = udp_buf_get(e, bytes);
  memset(buf->data, 0, bytes);
  const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
  const struct udp_out out = {.peer = p->rank,
                              .rail = rail,
                              .head = buf->data,
                              .head_bytes = bytes,
                              .mode = UDP_SEND_ALONE};
  udp_loose_send(e, p, buf, &out, end);
}

/* Ask whether more rails can be used, where that would help. */
static void ask_rails(struct tmb_net *e, struct udp_peer *p) {
  if (!p->bulk.first && !udp_tx_main(&p->tx)->timeouts) return;
  for (uint32_t r = 0; r < p->tx.rails; r++)
    if (udp_rail_ask(e, p, r)) probe_send(e, p, p->mtu.bytes, UDP_RAIL_ASKED | p->mtu.bytes, r);
}

uint64_t udp_probe_push(struct tmb_net *e, struct udp_peer *p) {
  if (TMB_UNLIKELY(p->tx.rails > 1)) ask_rails(e, p);
  if (TMB_LIKELY(p->mtu.due_ns > e->time.now_ns)) return p->mtu.due_ns;
  const struct udp_rail *rail = udp_tx_main(&p->tx);
  const uint64_t wait_ns = udp_tx_rto(rail) + PROBE_NS;
  if (rail->timeouts) { /* nothing passes: that says nothing about lengths */
    p->mtu.due_ns = e->time.now_ns + wait_ns;
    return p->mtu.due_ns;
  }
  const uint32_t bytes = udp_mtu_next(&p->mtu, e->time.now_ns, wait_ns);
  if (!bytes) return UINT64_MAX;
  probe_send(e, p, bytes, p->mtu.id, p->tx.main);
  return p->mtu.due_ns;
}

static void answer(struct tmb_net *e, struct udp_peer *p, const struct udp_record *probe) {
  const struct udp_record r = {.type = UDP_ANSWER, .id = probe->id, .addr = probe->addr};
  struct udp_buf *buf = udp_buf_get(e, UDP_HEADER_BYTES + UDP_RECORD_MAX);
  const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
  const struct udp_out out = {
      .peer = p->rank, .rail = p->life.rail, .head = buf->data, .head_bytes = end};
  udp_loose_send(e, p, buf, &out, end);
  e->peers.dirty = true;
}

void udp_probe_take(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  if (r->type == UDP_PROBE)
    answer(e, p, r);
  else if (r->id & UDP_RAIL_ASKED)
    udp_rail_answered(p, (uint32_t)r->addr, r->id & ~UDP_RAIL_ASKED);
  else if (udp_mtu_answered(&p->mtu, r->id, e->time.now_ns))
    udp_rail_set_bytes(e, p);
}
