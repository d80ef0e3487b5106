/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outgoing packets: header, hash, hand-over; acknowledgements.
 *
 * Owns the list of packets to be handed over. Called by the other parts of the engine. Calls io,
 * guard, the window and udp_rail.c, and nothing that takes packets in. Invariants: every packet
 * carries the newest acknowledgement; a packet that could not be handed over counts as lost.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"

#include <string.h>

/* ---- packets */

struct header_parts {
  uint64_t number;
  uint32_t control;
  uint8_t flags;
};

static uint16_t ack_delay_us(const struct tmb_net *e, const struct udp_peer *p) {
  if (p->ack.due_ns == UINT64_MAX || e->time.now_ns <= p->ack.come_ns) return 0;
  const uint64_t us = (e->time.now_ns - p->ack.come_ns) / 1000;
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
  TMB_LIST_PUSH(&e->out.loose, buf);
}

/* Send a copy of the tail. The program may write to the memory of a get while it is read, and the
 * kernel must copy the bytes that were hashed. Returns its hash. */
static uint64_t copy_tail(struct tmb_net *e, const struct udp_peer *p, struct udp_out *out) {
  struct udp_buf *buf = udp_buf_get(e, out->tail_bytes);
  const uint64_t tag =
      udp_auth_tail(p->key.out, e->tail_key, buf->data, out->tail, out->tail_bytes);
  out->tail = buf->data;
  TMB_LIST_PUSH(&e->out.loose, buf);
  return tag;
}

/* Write the hash of the tail behind the control part, which ends at `end`. Returns its bytes, 0:
 * there is no tail. */
static uint32_t add_tag(struct tmb_net *e, const struct udp_peer *p, struct udp_out *out,
                        uint32_t end) {
  uint8_t *const head = (uint8_t *)(uintptr_t)out->head;
  const uint32_t at = udp_tail_at(end);
  uint64_t tag;
  if (!out->tail_bytes && out->head_bytes <= at) return 0;
  if (out->tagged) return UDP_TAG_BYTES;
  if (!out->tail_bytes)
    tag = udp_auth_tail(p->key.out, e->tail_key, NULL, head + at, out->head_bytes - at);
  else if (out->changes)
    tag = copy_tail(e, p, out);
  else
    tag = udp_auth_tail(p->key.out, e->tail_key, NULL, out->tail, out->tail_bytes);
  memcpy(head + end, &tag, sizeof tag);
  return UDP_TAG_BYTES;
}

static inline struct udp_header header_of(const struct tmb_net *e, const struct udp_peer *p,
                                          const struct udp_out *out,
                                          const struct header_parts *parts) {
  const uint8_t hashed = e->config.hash_payload ? UDP_HASHED : 0;
  return (struct udp_header){.job = (uint32_t)e->job_id,
                             .src = e->rank,
                             .seq = (uint32_t)parts->number,
                             .ack = (uint32_t)p->rx.next,
                             .sack = udp_rx_gaps(&p->rx) ? udp_rx_sack(&p->rx, NULL, NULL) : 0,
                             .handled = p->credit.handled,
                             .bytes = (uint16_t)(out->head_bytes + out->tail_bytes),
                             .control = (uint16_t)parts->control,
                             .flags = parts->flags | hashed,
                             .rail = (uint8_t)out->rail,
                             .ack_delay_us = ack_delay_us(e, p)};
}

/* A packet carries the acknowledgement that was owed. */
static inline void ack_carried(struct udp_peer *p) {
  p->ack.packets = 0;
  p->ack.now = false;
  p->ack.due_ns = UINT64_MAX;
  p->credit.advertised = p->credit.handled;
}

/* Fill in the header of the packet in out->head, with the newest state, and hash it; or encrypt it,
 * which changes *out. */
static void fill_header(struct tmb_net *e, struct udp_peer *p, struct udp_out *out,
                        const struct header_parts *parts) {
  struct udp_header *h = (struct udp_header *)(uintptr_t)out->head;
  *h = header_of(e, p, out, parts);
  struct udp_auth_input input = {.seq = parts->number,
                                 .ack = p->rx.next,
                                 .control = (const uint8_t *)out->head + sizeof *h,
                                 .control_bytes = parts->control,
                                 .tail_key = e->tail_key};
  if (TMB_UNLIKELY(e->config.cipher != NULL)) {
    seal(e, p, out, parts->number);
  } else {
    if (e->config.hash_payload)
      input.control_bytes += add_tag(e, p, out, UDP_HEADER_BYTES + parts->control);
    h->mac = udp_auth_hash(p->key.out, h, &input);
  }
  ack_carried(p);
}

static void out_add(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                    struct udp_slot *slot) {
  e->out.packet[e->out.count] = *out;
  e->out.slot[e->out.count] = slot;
  e->out.peer[e->out.count] = p;
  const uint32_t bytes = slot && slot->tail_bytes ? out->head_bytes + out->tail_bytes : 0;
  e->out.tails += bytes;
  if (++e->out.count == UDP_OUT_MAX || e->out.tails + bytes > UDP_RUN_BYTES) udp_out_flush(e);
}

/* Packets of a peer next to each other, in the order in which they were made: the kernel takes them
 * in one message. */
static void out_sort(struct udp_outbox *out) {
  for (uint32_t i = 1; i < out->count; i++) {
    uint32_t at = i;
    while (at && out->peer[at - 1] != out->peer[i]) at--;
    if (!at || at == i) continue;
    const struct udp_out packet = out->packet[i];
    struct udp_peer *const peer = out->peer[i];
    struct udp_slot *const slot = out->slot[i];
    memmove(out->packet + at + 1, out->packet + at, (i - at) * sizeof *out->packet);
    memmove(out->peer + at + 1, out->peer + at, (i - at) * sizeof(struct udp_peer *));
    memmove(out->slot + at + 1, out->slot + at, (i - at) * sizeof(struct udp_slot *));
    out->packet[at] = packet;
    out->peer[at] = peer;
    out->slot[at] = slot;
  }
}

void udp_out_flush(struct tmb_net *e) {
  if (!e->out.count) return;
  if (e->out.count > 2) out_sort(&e->out);
  const uint32_t taken = e->io.ops->send(e->io.state, e->out.packet, e->out.count);
  e->out.full = taken < e->out.count;
  for (uint32_t i = taken; i < e->out.count; i++) {
    if (e->out.slot[i]) udp_tx_unsent(&e->out.peer[i]->tx, e->out.slot[i]);
    e->peers.dirty = true;
  }
  udp_count(&e->stats->packets_out, taken);
  if (TMB_UNLIKELY(e->up->packet != NULL))
    for (uint32_t i = 0; i < taken; i++)
      e->up->packet("sent", e->out.packet[i].peer,
                    e->out.packet[i].head_bytes + e->out.packet[i].tail_bytes);
  e->out.count = 0;
  e->out.tails = 0;
  while (e->out.loose) {
    struct udp_buf *next = e->out.loose->next;
    udp_buf_put(e, e->out.loose);
    e->out.loose = next;
  }
}

void udp_out_held(struct tmb_net *e) {
  for (uint32_t i = 0; i < e->out.count; i++)
    if (e->out.slot[i]) e->out.slot[i]->sent_ns = e->time.now_ns;
  udp_out_flush(e);
}

/* Count how often packets have followed soon. */
static void soon_set(struct udp_peer *p, uint8_t soon) {
  p->answer.soon = soon;
  p->ack.delay_ns = soon >= UDP_ANSWERS_SURE ? UDP_ANSWER_NS : UDP_ACK_DELAY_NS;
}

/* A packet follows one in state quiet or owed: counts whether it was soon enough to carry the
 * acknowledgement. */
static void answer_quiet(const struct tmb_net *e, struct udp_peer *p) {
  struct udp_answering *a = &p->answer;
  const uint64_t since_ns = a->quiet_ns ? a->quiet_ns : a->owed_ns;
  if (e->time.now_ns - since_ns > UDP_ANSWER_NS)
    soon_set(p, a->soon / 2);
  else if (a->soon < UDP_ANSWERS_MOST)
    soon_set(p, a->soon + 1);
  a->quiet_ns = a->owed_ns = 0;
}

/* The client has answered a signal that had been acknowledged alone. */
static void ack_answered(struct udp_peer *p) {
  p->answer.alone_tick = UINT64_MAX;
  if (p->answer.count < UDP_ANSWERS_SURE) p->answer.count++;
}

/* A numbered packet has been made. */
static inline void packet_made(struct tmb_net *e, struct udp_peer *p) {
  if (TMB_UNLIKELY(p->answer.alone_tick == e->time.tick)) ack_answered(p);
  p->gather.soon_end = p->tx.next;
  p->gather.soon_ns = e->time.now_ns + udp_tx_main(&p->tx)->srtt_ns + 2 * UDP_ACK_DELAY_NS;
  if (p->answer.quiet_ns || p->answer.owed_ns) answer_quiet(e, p);
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
  udp_tx_sent(&p->tx, slot, e->time.now_ns);
  udp_peer_busy(e, p);
  out_add(e, p, &made, slot);
  packet_made(e, p);
  return slot;
}

struct udp_slot *udp_packet_lone(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                                 uint32_t end, uint8_t flags) {
  const struct header_parts parts = {p->tx.next, end - UDP_HEADER_BYTES, flags | UDP_NUMBERED};
  struct udp_slot *slot = udp_tx_take(&p->tx);
  slot->buf = buf;
  slot->head_bytes = end;
  slot->flags = flags;
  slot->rail = (uint8_t)p->tx.main;
  struct udp_out *out = &e->out.packet[0];
  *out =
      (struct udp_out){.peer = p->rank, .rail = p->tx.main, .head = buf->data, .head_bytes = end};
  struct udp_header *h = (struct udp_header *)(void *)buf->data;
  *h = header_of(e, p, out, &parts);
  const struct udp_auth_input input = {.seq = parts.number,
                                       .ack = p->rx.next,
                                       .control = h + 1,
                                       .control_bytes = parts.control,
                                       .tail_key = e->tail_key};
  h->mac = udp_auth_hash(p->key.out, h, &input);
  ack_carried(p);
  udp_tx_sent(&p->tx, slot, e->time.now_ns);
  udp_peer_busy(e, p);
  e->out.slot[0] = slot;
  e->out.peer[0] = p;
  e->out.count = 1;
  packet_made(e, p);
  return slot;
}

void udp_packet_again(struct tmb_net *e, struct udp_peer *p, struct udp_slot *slot, uint64_t number,
                      struct udp_out *out) {
  const struct udp_header *h = (const struct udp_header *)(const void *)slot->buf->data;
  const uint8_t flags = slot->flags | UDP_NUMBERED | UDP_ACK_NOW;
  fill_header(e, p, out, &(struct header_parts){number, h->control, flags});
  udp_tx_sent(&p->tx, slot, e->time.now_ns);
  out_add(e, p, out, slot);
}

/* ---- the acknowledgement that this rank owes a peer
 *
 * Every packet to the peer carries it, and the state is `none` again. Without such a packet:
 *
 * state    entered when                            fields set               sent alone
 * none     -                                       due_ns UINT64_MAX        never
 * lazy     numbered packet received                due_ns ack.delay_ns      at due_ns, or after
 *                                                                           UDP_ACK_EVERY
 * now      requested; gap or duplicate             now, tick                in this call
 * delayed  now, by a signal of this call, and      delayed_ack_tick         in the next call of
 *          answer.count is UDP_ANSWERS_SURE                                 progress
 * quiet    signal whose end nobody awaits, and     quiet_ns,                at due_ns
 *          answer.soon >= UDP_ANSWERS_SURE         due_ns UDP_ANSWER_NS
 * owed     such a signal, answer.soon is less      owed_ns, now             in this call
 *
 * answer.count counts signals in a row that the client answered before the next call of progress;
 * a delayed acknowledgement sent alone sets it to 0. answer.soon counts packets that followed a
 * quiet signal, or a lazy acknowledgement that was sent alone, within UDP_ANSWER_NS; a miss halves
 * it. From UDP_ANSWERS_SURE on, ack.delay_ns is UDP_ANSWER_NS, else UDP_ACK_DELAY_NS. All save a
 * packet where the answer can carry the acknowledgement, and cost at most one delay where no answer
 * comes: a client that computes for longer would let the sender's time-out pass. */

bool udp_ack_delayed(const struct tmb_net *e, struct udp_peer *p) {
  if (TMB_LIKELY(p->answer.signal_tick != e->time.tick)) return false;
  if (p->answer.count < UDP_ANSWERS_SURE || !p->ack.now || p->ack.tick != e->time.tick)
    return false;
  p->answer.delayed_ack_tick = e->time.tick;
  return true;
}

void udp_ack_quiet(struct tmb_net *e, struct udp_peer *p) {
  struct udp_answering *a = &p->answer;
  if (p->ack.now) return;
  if (a->soon < UDP_ANSWERS_SURE) {
    a->owed_ns = e->time.now_ns;
    udp_ack_owe(e, p);
    return;
  }
  if (!a->quiet_ns) a->quiet_ns = e->time.now_ns;
  if (p->ack.packets == 1) p->ack.due_ns = e->time.now_ns + UDP_ANSWER_NS;
}

/* A lazy or quiet acknowledgement is due, and no packet has followed. */
static void ack_late(const struct tmb_net *e, struct udp_peer *p) {
  struct udp_answering *a = &p->answer;
  if (a->quiet_ns || p->ack.delay_ns == UDP_ANSWER_NS)
    soon_set(p, a->soon / 2);
  else if (!a->owed_ns)
    a->owed_ns = e->time.now_ns - UDP_ACK_DELAY_NS;
  a->quiet_ns = 0;
}

void udp_ack_alone(const struct tmb_net *e, struct udp_peer *p) {
  if (!p->ack.now && p->ack.packets < UDP_ACK_EVERY) ack_late(e, p);
  if (p->answer.delayed_ack_tick == p->ack.tick) p->answer.count = 0;
  p->answer.delayed_ack_tick = UINT64_MAX;
  if (p->answer.signal_tick == e->time.tick) p->answer.alone_tick = e->time.tick;
}

bool udp_packet_asks(struct udp_peer *p, const struct udp_ask *ask) {
  const struct udp_rail *rail = &p->tx.rail[ask->rail];
  const uint64_t window = rail->cc.window;
  const bool stops = ask->stops || rail->in_flight + 2 * ask->bytes > window;
  const bool asked = p->ask.asked >= p->tx.una;
  p->ask.unasked += ask->bytes;
  if (!ask->ends && !(stops && !asked) && p->ask.unasked < window / UDP_ASKS) return false;
  p->ask.unasked = 0;
  p->ask.asked = p->tx.next;
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
      .peer = p->rank, .rail = p->life.rail, .head = buf->data, .head_bytes = end};
  fill_header(e, p, &out, &(struct header_parts){p->tx.next, end - UDP_HEADER_BYTES, flags});
  TMB_LIST_PUSH(&e->out.loose, buf);
  out_add(e, p, &out, NULL);
}

void udp_loose_send(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                    const struct udp_out *made, uint32_t end) {
  struct udp_out out = *made;
  fill_header(e, p, &out, &(struct header_parts){p->tx.next, end - UDP_HEADER_BYTES, 0});
  TMB_LIST_PUSH(&e->out.loose, buf);
  out_add(e, p, &out, NULL);
}
