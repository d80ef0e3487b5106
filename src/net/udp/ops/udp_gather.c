/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small operations of one peer gathered into one packet.
 *
 * Owns the open packet of each peer. Called by the operations. Calls udp_send.c, udp_pending.c. An
 * operation leaves at once if nothing is in flight to its peer; else it waits in the open packet
 * for others until that is full, the packets in flight have been acknowledged, or this rank polls
 * twice without adding to it. Invariant: a packet has room for an added record, or is sent before.
 */
#include "net/udp/ops/udp_engine.h"

#include "net/plugin/progress_thread.h"

#include <string.h>

/* Bytes of an open packet, at least, if packets are as long. Chosen; `tombolo bench
 * loggp` measures the gap between messages. */
#define GATHER_BYTES 2048u
/* Packets that are handed over together, at most, and the time from the one before it, or the end
 * of its call, in which each is full. A call of the kernel takes as long as this. Chosen. */
#define TOGETHER     8u
#define CLOSE_NS     3000u

uint32_t udp_payload_of(uint32_t packet_bytes, const struct udp_record *r) {
  struct udp_record bare = *r;
  bare.flags |= UDP_TAIL;
  const uint32_t head = UDP_HEADER_BYTES + udp_record_bytes(&bare);
  return packet_bytes - TMB_ALIGN_UP(head, 16u);
}

uint32_t udp_payload_max(const struct udp_peer *p, const struct udp_record *r) {
  return udp_payload_of(p->mtu.bytes, r);
}

/* Send the open packet. in flags: UDP_ACK_NOW. */
static bool open_send(struct tmb_net *e, struct udp_peer *p, uint32_t reserve, uint8_t flags) {
  const struct udp_rail *rail = udp_tx_main(&p->tx);
  if (udp_tx_room(&p->tx) <= reserve || rail->in_flight >= rail->cc.window) return false;
  struct udp_out out = {.peer = p->rank,
                        .rail = p->tx.main,
                        .head = p->gather.buf->data,
                        .head_bytes = p->gather.end};
  if (p->gather.tail) out.head_bytes = TMB_ALIGN_UP(p->gather.end, 16u) + p->gather.tail;
  const struct udp_ask ask = {.rail = out.rail, .bytes = out.head_bytes};
  const uint64_t soon_end = p->gather.soon_end;
  if (udp_packet_asks(p, &ask)) flags |= UDP_ACK_NOW;
  const bool quiet = p->gather.quiet && !((p->gather.flags | flags) & UDP_ACK_NOW);
  struct udp_slot *slot =
      udp_packet_send(e, p, &out, p->gather.buf, p->gather.end - UDP_HEADER_BYTES,
                      (uint8_t)(p->gather.flags | flags));
  slot->pending = udp_pending_take(p, p->tx.next - 1);
  p->gather.close = e->time.now_ns - p->gather.full_ns <= CLOSE_NS;
  p->gather.full_ns = e->time.now_ns;
  p->gather.buf = NULL;
  p->gather.end = UDP_HEADER_BYTES;
  p->gather.tail = p->gather.count = 0;
  p->gather.flags = 0;
  if (quiet) p->gather.soon_end = soon_end;
  return true;
}

/* A thread that waits for a put in it waits for the acknowledgement. */
bool udp_gather_flush(struct tmb_net *e, struct udp_peer *p, uint32_t reserve) {
  return !p->gather.buf || open_send(e, p, reserve, p->gather.pending ? UDP_ACK_NOW : 0);
}

/* Whether `r`, which takes `bytes` of control part, fits into the open packet. */
static bool fits(const struct udp_peer *p, const struct udp_record *r, uint32_t bytes) {
  const uint32_t limit = TMB_MIN(p->gather.room, p->mtu.bytes);
  uint32_t end = p->gather.end + bytes;
  if (r->flags & UDP_TAIL) end = TMB_ALIGN_UP(end, 16u) + r->bytes;
  return !p->gather.tail && end <= limit;
}

/* Write `r`, which fits, into the open packet. in quiet: nobody awaits its end. */
static void append(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r, bool quiet) {
  uint32_t payload_at = 0;
  p->gather.end = udp_record_write(p->gather.buf->data, p->gather.end, r, &payload_at);
  if (r->flags & UDP_TAIL) {
    memcpy(p->gather.buf->data + payload_at, r->payload, r->bytes);
    p->gather.tail = r->bytes;
  }
  p->gather.quiet = (p->gather.quiet || !p->gather.count) && quiet;
  p->gather.count++;
  p->gather.tick = e->time.tick;
  e->peers.waits = true;
  udp_peer_busy(e, p);
}

bool udp_gather(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, uint8_t flags,
                uint32_t reserve) {
  if (r->bytes > UDP_INLINE_MAX || udp_record_bytes(r) + UDP_HEADER_BYTES > p->mtu.bytes)
    r->flags |= UDP_TAIL;
  const uint32_t bytes = udp_record_bytes(r);
  /* A full packet asks for no acknowledgement of its puts: the next one, which follows, does. */
  if (p->gather.buf && !fits(p, r, bytes)) {
    if (e->kept.threads) udp_engine_clock(e); /* udp_am_send has not */
    if (!open_send(e, p, reserve, 0)) return false;
  }
  if (!p->gather.buf) {
    if (udp_tx_room(&p->tx) <= reserve) return false;
    const uint32_t gathers = TMB_MIN(GATHER_BYTES, p->mtu.bytes);
    p->gather.buf = udp_buf_get(e, TMB_MAX(UDP_HEADER_BYTES + bytes + 16 + r->bytes, gathers));
    p->gather.room = udp_buf_bytes(p->gather.buf);
  }
  append(e, p, r, (flags & UDP_QUIET) != 0);
  p->gather.flags |= flags & UDP_ACK_NOW;
  return true;
}

bool udp_gather_join(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  if (!fits(p, r, udp_record_bytes(r))) return false;
  append(e, p, r, false);
  return true;
}

/* Whether packets wait to be handed over with those that are likely to follow at once. */
static bool holds(const struct tmb_net *e, const struct udp_peer *p) {
  return e->out.count && e->out.count < TOGETHER && p->gather.buf && p->gather.close &&
         e->config.coalesce;
}

void udp_gather_hand(struct tmb_net *e, struct udp_peer *p) {
  if (!e->out.count) return;
  if (!holds(e, p)) {
    udp_out_flush(e);
    if (p->gather.buf && !e->kept.threads) p->gather.full_ns = e->io.ops->now(e->io.state);
  } else if (!e->kept.threads) {
    tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns); /* the progress thread looks often */
    tmb_progress_thread_kick(e->helper.thread);
  }
}

void udp_gather_settle(struct tmb_net *e, struct udp_peer *p) {
  if (!e->kept.threads && (!udp_gather_waits(p) || !e->config.coalesce))
    (void)udp_gather_flush(e, p, 0);
  udp_gather_hand(e, p);
}
