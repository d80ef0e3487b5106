/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outgoing packets, and small operations gathered into them.
 *
 * Owns the open packet of each peer and the list of packets to be handed over. Called by the other
 * parts of the engine and by the slot am_send. Calls io. A message leaves at once if nothing is in
 * flight to its peer; else it waits in the open packet for others until that is full, what was in
 * flight has been acknowledged, or this rank polls twice without adding to it. Invariants: every
 * packet carries the newest acknowledgement; a packet that could not be handed over counts as lost.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

#include <string.h>

#define COPIED_MAX   (512u << 10) /* bytes of copied payloads that wait for one peer */
#define GATHER_BYTES 2048u        /* of an open packet, at least, if packets are as long */
#define PROBE_NS     5000000u     /* beyond the time-out, for an answer */

/* ---- packets */

struct header_parts {
  uint64_t number;
  uint32_t control;
  uint8_t flags;
};

static uint16_t ack_delay_us(const struct tmb_net *e, const struct udp_peer *p) {
  if (p->ack_due_ns == UINT64_MAX || e->now_ns <= p->come_ns) return 0;
  const uint64_t us = (e->now_ns - p->come_ns) / 1000;
  return us > UINT16_MAX ? UINT16_MAX : (uint16_t)us;
}

/* Encrypt a packet into a buffer of its own, because it may have to be retransmitted as it is. */
static void seal(struct tmb_net *e, struct udp_peer *p, struct udp_out *out, uint64_t number) {
  struct udp_header *h = (struct udp_header *)(uintptr_t)out->head;
  h->bytes = (uint16_t)(h->bytes + UDP_SEAL_TAG);
  h->flags = (uint8_t)((h->flags & ~UDP_HASHED) | UDP_SECRET);
  struct udp_buf *buf = udp_buf_get(e, h->bytes);
  memcpy(buf->data, h, sizeof *h);
  const struct udp_auth_input input = {.seq = number,
                                       .ack = p->rx.next,
                                       .control = h + 1,
                                       .tail = out->tail,
                                       .control_bytes = out->head_bytes - UDP_HEADER_BYTES,
                                       .tail_bytes = out->tail_bytes};
  udp_seal_close(e->config.cipher, p->seal.out, buf->data, &input, p->seal.count++);
  out->head = buf->data;
  out->head_bytes = h->bytes;
  out->tail = NULL;
  out->tail_bytes = 0;
  buf->next = e->loose;
  e->loose = buf;
}

/* Send a copy of the tail. The program may write to the memory of a get while it is read, and what
 * the kernel copies has to be what was hashed. */
static void copy_tail(struct tmb_net *e, struct udp_out *out) {
  struct udp_buf *buf = udp_buf_get(e, out->tail_bytes);
  out->tail = memcpy(buf->data, out->tail, out->tail_bytes);
  buf->next = e->loose;
  e->loose = buf;
}

/* Fill in the header of the packet in out->head, with what is known now, and hash it; or encrypt
 * it, which changes *out. */
static void fill_header(struct tmb_net *e, struct udp_peer *p, struct udp_out *out,
                        const struct header_parts *parts) {
  struct udp_header *h = (struct udp_header *)(uintptr_t)out->head;
  *h = (struct udp_header){.job = (uint32_t)e->job_id,
                           .src = e->rank,
                           .seq = (uint32_t)parts->number,
                           .ack = (uint32_t)p->rx.next,
                           .sack = udp_rx_sack(&p->rx, NULL, NULL),
                           .handled = p->handled,
                           .bytes = (uint16_t)(out->head_bytes + out->tail_bytes),
                           .control = (uint16_t)parts->control,
                           .flags = parts->flags,
                           .rail = (uint8_t)out->rail,
                           .ack_delay_us = ack_delay_us(e, p)};
  if (e->config.hash_payload) h->flags |= UDP_HASHED;
  struct udp_auth_input input = {.seq = parts->number,
                                 .ack = p->rx.next,
                                 .control = (const uint8_t *)out->head + sizeof *h,
                                 .control_bytes = parts->control,
                                 .tail_key = e->tail_key};
  const uint32_t copied_at = TMB_ALIGN_UP(UDP_HEADER_BYTES + parts->control, 16u);
  if (e->config.hash_payload && out->tail_bytes) {
    if (out->changes) copy_tail(e, out);
    input.tail = out->tail;
    input.tail_bytes = out->tail_bytes;
  } else if (e->config.hash_payload && out->head_bytes > copied_at) {
    input.tail = (const uint8_t *)out->head + copied_at;
    input.tail_bytes = out->head_bytes - copied_at;
  }
  if (TMB_UNLIKELY(e->config.cipher != NULL))
    seal(e, p, out, parts->number);
  else
    h->mac = udp_auth_hash(p->key_out, h, &input);
  p->unacked = 0;
  p->ack_now = false;
  p->ack_due_ns = UINT64_MAX;
  p->told = p->handled;
}

static void out_add(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                    struct udp_slot *slot) {
  e->out[e->out_count] = *out;
  e->out_slot[e->out_count] = slot;
  e->out_peer[e->out_count] = p;
  if (++e->out_count == UDP_OUT_MAX) udp_out_flush(e);
}

void udp_out_flush(struct tmb_net *e) {
  if (!e->out_count) return;
  const uint32_t taken = e->io.ops->send(e->io.state, e->out, e->out_count);
  for (uint32_t i = taken; i < e->out_count; i++) {
    if (e->out_slot[i]) udp_tx_unsent(&e->out_peer[i]->tx, e->out_slot[i]);
    e->dirty = true;
  }
  udp_count(&e->stats->packets_out, taken);
  if (TMB_UNLIKELY(e->up->packet != NULL))
    for (uint32_t i = 0; i < taken; i++)
      e->up->packet("sent", e->out[i].peer, e->out[i].head_bytes + e->out[i].tail_bytes);
  e->out_count = 0;
  while (e->loose) {
    struct udp_buf *next = e->loose->next;
    udp_buf_put(e, e->loose);
    e->loose = next;
  }
}

struct udp_slot *udp_packet_send(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                                 struct udp_buf *buf, uint32_t control, uint8_t flags) {
  const uint64_t number = p->tx.next;
  struct udp_slot *slot = udp_tx_take(&p->tx);
  slot->buf = buf;
  slot->tail = out->tail;
  slot->head_bytes = out->head_bytes;
  slot->tail_bytes = out->tail_bytes;
  slot->flags = flags;
  slot->rail = (uint8_t)out->rail;
  struct udp_out made = *out;
  fill_header(e, p, &made, &(struct header_parts){number, control, flags | UDP_NUMBERED});
  udp_tx_sent(&p->tx, slot, e->now_ns);
  udp_peer_busy(e, p);
  out_add(e, p, &made, slot);
  if (TMB_UNLIKELY(p->alone_tick == e->tick)) udp_ack_answered(p);
  return slot;
}

/* The length of packets has changed. */
static void set_packet_bytes(const struct tmb_net *e, struct udp_peer *p) {
  for (uint32_t r = 0; r < e->io.rails; r++) p->tx.rail[r].cc.packet_bytes = p->mtu.bytes;
}

void udp_packet_resend(struct tmb_net *e, struct udp_peer *p, uint64_t number) {
  struct udp_slot *slot = udp_tx_slot(&p->tx, number);
  const struct udp_header *h = (const struct udp_header *)(const void *)slot->buf->data;
  struct udp_out out = {.peer = p->rank,
                        .rail = udp_rail_again(e, p, slot),
                        .head = slot->buf->data,
                        .head_bytes = slot->head_bytes,
                        .tail = slot->tail,
                        .tail_bytes = slot->tail_bytes,
                        .changes = true}; /* it may have been refused because of that */
  const uint32_t bytes = slot->head_bytes + slot->tail_bytes;
  if (TMB_UNLIKELY(udp_mtu_lost(&p->mtu, bytes, slot->tries, slot->sent_ns))) {
    set_packet_bytes(e, p);
    udp_mtu_want(&p->mtu, e->now_ns);
  }
  if (TMB_UNLIKELY(bytes > p->mtu.bytes)) out.way = UDP_WAY_CUT;
  const uint8_t flags = slot->flags | UDP_NUMBERED | UDP_ACK_NOW;
  fill_header(e, p, &out, &(struct header_parts){number, h->control, flags});
  slot->rail = (uint8_t)out.rail;
  udp_tx_sent(&p->tx, slot, e->now_ns);
  udp_count(&e->stats->retransmits, 1);
  if (TMB_UNLIKELY(e->up->packet != NULL)) e->up->packet("resent", p->rank, bytes);
  out_add(e, p, &out, slot);
}

void udp_ack_owe(struct tmb_net *e, struct udp_peer *p) {
  if (!p->ack_now) p->ack_tick = e->tick;
  p->ack_now = true;
  udp_peer_busy(e, p);
}

/* ---- acknowledgements of signals
 *
 * Whoever puts a signal may wait for its completion, so it is acknowledged at once, but a client
 * that answers each signal with an operation of its own would send two packets for one. So where
 * the last few were answered before the next call of progress, the acknowledgement waits for the
 * answer, until that call or the progress thread's look; when no answer came, the next go at once
 * again. */

void udp_ack_answered(struct udp_peer *p) {
  p->alone_tick = UINT64_MAX;
  if (p->answers < UDP_ANSWERS_SURE) p->answers++;
}

bool udp_ack_hopes(const struct tmb_net *e, struct udp_peer *p) {
  if (TMB_LIKELY(p->signal_tick != e->tick)) return false;
  if (p->answers < UDP_ANSWERS_SURE || !p->ack_now || p->ack_tick != e->tick) return false;
  p->hoped_tick = e->tick;
  return true;
}

void udp_ack_alone(const struct tmb_net *e, struct udp_peer *p) {
  if (p->hoped_tick == p->ack_tick) p->answers = 0;
  p->hoped_tick = UINT64_MAX;
  if (p->signal_tick == e->tick) p->alone_tick = e->tick;
}

bool udp_packet_asks(struct udp_peer *p, const struct udp_ask *ask) {
  const struct udp_rail *rail = &p->tx.rail[ask->rail];
  const uint64_t window = rail->cc.window;
  const bool stops = ask->stops || rail->in_flight + 2 * ask->bytes > window;
  const bool asked = p->asked >= p->tx.una;
  p->unasked += ask->bytes;
  if (!ask->ends && !(stops && !asked) && p->unasked < window / UDP_ASKS) return false;
  p->unasked = 0;
  p->asked = p->tx.next;
  return true;
}

void udp_ack_send(struct tmb_net *e, struct udp_peer *p, uint8_t flags) {
  struct udp_buf *buf = udp_buf_get(e, UDP_HEADER_BYTES + UDP_RECORD_MAX);
  uint8_t map[UDP_SACK_BYTES];
  bool more = false;
  uint32_t end = UDP_HEADER_BYTES;
  if (udp_rx_sack(&p->rx, map, &more) && more)
    end =
        udp_record_write(buf->data, end, &(struct udp_record){.type = UDP_SACK, .sack = map}, NULL);
  struct udp_out out = {
      .peer = p->rank, .rail = p->heard_rail, .head = buf->data, .head_bytes = end};
  fill_header(e, p, &out, &(struct header_parts){p->tx.next, end - UDP_HEADER_BYTES, flags});
  buf->next = e->loose;
  e->loose = buf;
  out_add(e, p, &out, NULL);
}

/* ---- the search for the length of packets */

/* Send a packet without a number, whose control part ends at `end`. */
static void send_loose(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                       const struct udp_out *made, uint32_t end) {
  struct udp_out out = *made;
  fill_header(e, p, &out, &(struct header_parts){p->tx.next, end - UDP_HEADER_BYTES, 0});
  buf->next = e->loose;
  e->loose = buf;
  out_add(e, p, &out, NULL);
}

void udp_probe_send(struct tmb_net *e, struct udp_peer *p, uint32_t bytes, uint32_t id,
                    uint32_t rail) {
  struct udp_record r = {.type = UDP_PROBE, .flags = UDP_TAIL, .id = id, .addr = rail};
  r.bytes = udp_payload_max(p, &r) + bytes - p->mtu.bytes;
  struct udp_buf *buf = udp_buf_get(e, bytes);
  memset(buf->data, 0, bytes);
  const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
  const struct udp_out out = {
      .peer = p->rank, .rail = rail, .head = buf->data, .head_bytes = bytes, .way = UDP_WAY_ALONE};
  send_loose(e, p, buf, &out, end);
}

uint64_t udp_probe_push(struct tmb_net *e, struct udp_peer *p) {
  if (TMB_UNLIKELY(p->tx.rails > 1)) udp_rail_ask(e, p);
  if (TMB_LIKELY(p->mtu.due_ns > e->now_ns)) return p->mtu.due_ns;
  const struct udp_rail *rail = udp_tx_main(&p->tx);
  const uint64_t wait_ns = udp_tx_rto(rail) + PROBE_NS;
  if (rail->timeouts) { /* nothing passes: that says nothing about lengths */
    p->mtu.due_ns = e->now_ns + wait_ns;
    return p->mtu.due_ns;
  }
  const uint32_t bytes = udp_mtu_next(&p->mtu, e->now_ns, wait_ns);
  if (!bytes) return UINT64_MAX;
  udp_probe_send(e, p, bytes, p->mtu.id, p->tx.main);
  return p->mtu.due_ns;
}

static void answer(struct tmb_net *e, struct udp_peer *p, const struct udp_record *probe) {
  const struct udp_record r = {.type = UDP_ANSWER, .id = probe->id, .addr = probe->addr};
  struct udp_buf *buf = udp_buf_get(e, UDP_HEADER_BYTES + UDP_RECORD_MAX);
  const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
  const struct udp_out out = {
      .peer = p->rank, .rail = p->heard_rail, .head = buf->data, .head_bytes = end};
  send_loose(e, p, buf, &out, end);
  e->dirty = true;
}

void udp_probe_take(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  if (r->type == UDP_PROBE)
    answer(e, p, r);
  else if (r->id & UDP_RAIL_ASKED)
    udp_rail_answered(p, (uint32_t)r->addr, r->id & ~UDP_RAIL_ASKED);
  else if (udp_mtu_answered(&p->mtu, r->id, e->now_ns))
    set_packet_bytes(e, p);
}

/* ---- gathering */

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
  struct udp_out out = {
      .peer = p->rank, .rail = p->tx.main, .head = p->open->data, .head_bytes = p->open_end};
  if (p->open_tail) out.head_bytes = TMB_ALIGN_UP(p->open_end, 16u) + p->open_tail;
  const struct udp_ask ask = {.rail = out.rail, .bytes = out.head_bytes};
  if (udp_packet_asks(p, &ask)) flags |= UDP_ACK_NOW;
  struct udp_slot *slot = udp_packet_send(e, p, &out, p->open, p->open_end - UDP_HEADER_BYTES,
                                          (uint8_t)(p->open_flags | flags));
  slot->told = udp_told_take(p, p->tx.next - 1);
  p->open = NULL;
  p->open_end = UDP_HEADER_BYTES;
  p->open_tail = p->open_count = 0;
  p->open_flags = 0;
  return true;
}

/* Whoever waits for a put in it waits for the acknowledgement. */
bool udp_gather_flush(struct tmb_net *e, struct udp_peer *p, uint32_t reserve) {
  return !p->open || open_send(e, p, reserve, p->open_told ? UDP_ACK_NOW : 0);
}

/* Whether `r`, which takes `bytes` of control part, fits into the open packet. */
static bool fits(const struct tmb_net *e, const struct udp_peer *p, const struct udp_record *r,
                 uint32_t bytes) {
  const uint32_t limit = TMB_MIN(udp_buf_bytes(e, p->open), p->mtu.bytes);
  uint32_t end = p->open_end + bytes;
  if (r->flags & UDP_TAIL) end = TMB_ALIGN_UP(end, 16u) + r->bytes;
  return !p->open_tail && end <= limit;
}

bool udp_gather(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, uint8_t flags,
                uint32_t reserve) {
  if (r->bytes > UDP_INLINE_MAX || udp_record_bytes(r) + UDP_HEADER_BYTES > p->mtu.bytes)
    r->flags |= UDP_TAIL;
  const uint32_t bytes = udp_record_bytes(r);
  /* A full packet asks for no acknowledgement of its puts: the next one, which follows, does. */
  if (p->open && !fits(e, p, r, bytes) && !open_send(e, p, reserve, 0)) return false;
  if (!p->open) {
    if (udp_tx_room(&p->tx) <= reserve) return false;
    const uint32_t gathers = TMB_MIN(GATHER_BYTES, p->mtu.bytes);
    p->open = udp_buf_get(e, TMB_MAX(UDP_HEADER_BYTES + bytes + 16 + r->bytes, gathers));
  }
  uint32_t payload_at = 0;
  p->open_end = udp_record_write(p->open->data, p->open_end, r, &payload_at);
  if (r->flags & UDP_TAIL) {
    memcpy(p->open->data + payload_at, r->payload, r->bytes);
    p->open_tail = r->bytes;
  }
  p->open_flags |= flags;
  p->open_count++;
  p->open_tick = e->tick;
  udp_peer_busy(e, p);
  return true;
}

void udp_gather_settle(struct tmb_net *e, struct udp_peer *p) {
  if (!e->delivering && (p->tx.una == p->tx.next || !e->config.coalesce))
    (void)udp_gather_flush(e, p, 0);
  udp_out_flush(e);
}

/* ---- messages */

/* One request is always possible. Acknowledgements that carry credit are not retransmitted when
 * they are lost, so a rank that waits for credit requests an update. */
bool udp_credit(struct tmb_net *e, struct udp_peer *p, uint32_t cost) {
  const uint32_t used = p->cost_sent - p->cost_back;
  if (TMB_LIKELY(used == 0 || used + cost <= e->config.credit)) return true;
  if (!p->starved) {
    p->starved = true;
    p->starved_asks = 0;
    p->starved_ns = e->now_ns + udp_tx_rto(udp_tx_main(&p->tx));
    udp_peer_busy(e, p);
  }
  return false;
}

/* A Medium that does not fit into a packet: copied, then sent in parts. */
static int send_parts(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                      const struct tmb_am_out *out) {
  if (p->copied && p->copied + out->nbytes > COPIED_MAX * (out->is_reply ? 2u : 1u))
    return TMB_AGAIN;
  r->type = UDP_PART;
  r->action = UDP_ACT_MEDIUM;
  r->flags &= UDP_REPLY;
  struct udp_xfer *x = udp_xfer_new(e, p, r, out->src, out->nbytes);
  udp_xfer_copy(e, p, x);
  udp_xfer_add(e, p, x);
  return 0;
}

static int send_locked(struct tmb_net *e, struct udp_peer *p, struct tmb_am_out *out) {
  const uint32_t cost = out->is_reply ? 0 : udp_cost(out->nbytes);
  out->lacks = TMB_LACKS_CREDIT;
  if (cost && !udp_credit(e, p, cost)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_WINDOW;
  struct udp_record r = {.type = UDP_AM,
                         .handler = out->handler,
                         .nargs = out->nargs,
                         .route = out->route,
                         .args = out->args};
  if (out->is_reply) r.flags |= UDP_REPLY;
  if (out->category == TMB_AM_MEDIUM) {
    r.flags |= UDP_MEDIUM;
    r.bytes = (uint32_t)out->nbytes;
    r.payload = out->src;
  }
  if (r.bytes > udp_payload_max(p, &r)) {
    const int rc = send_parts(e, p, &r, out);
    if (rc) return rc;
  } else if (!udp_gather(e, p, &r, 0, out->is_reply ? 0 : UDP_REPLY_SLOTS)) {
    return TMB_AGAIN;
  }
  p->cost_sent += cost;
  udp_count(&e->stats->sent, 1);
  udp_count(&e->stats->bytes_out, r.bytes);
  return 0;
}

int udp_am_send(struct tmb_net *e, struct tmb_am_out *out) {
  udp_engine_lock(e);
  struct udp_peer *p = udp_peer_get(e, out->peer);
  int rc = 0;
  if (TMB_LIKELY(!p->lost)) {
    rc = send_locked(e, p, out);
    udp_gather_settle(e, p);
  }
  udp_engine_unlock(e);
  return rc;
}
