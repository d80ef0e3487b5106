/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that arrive: whether they are ours, their acknowledgements, their records.
 *
 * Owns the transfers of which parts have come. Called by udp_progress.c. Calls the window, core's
 * target, the operations that a packet completes or asks for, and udp_deliver.c for messages
 * delivered without the lock; none of them calls this file. A packet is checked in this order:
 * lengths, job, hash, number; one that fails is counted and dropped, and nothing of it is used
 * before. Payload of puts is copied once, from the receive buffer to its place, or by the kernel: a
 * connection asks, with the head of a packet, where the tail belongs. Invariants: each packet is
 * taken at most once; messages are delivered in the order of arrival.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The packet being processed. */
struct packet {
  uint8_t *data;
  struct udp_header h;
  uint64_t seq, ack;
  bool placed; /* its tail lies where it belongs, not in data */
};

static void refuse(struct tmb_net *e) {
  udp_count(&e->stats->refused, 1);
}

/* ---- records */

/* Signals change here, under the lock, as soon as their data are in place, so that a thread that
 * gets the report that a put with a signal is complete, and then reads the word, sees it changed.
 */
static void change_signal(struct tmb_net *e, void *addr, uint32_t op, uint64_t value) {
  if (addr) e->up->signal(addr, op, value);
  e->in.signalled = true;
}

/* Signals of one rank change in the order in which they were sent, as programs expect that mix set
 * and add on one word: one that has overtaken a lost packet waits for it. */
static void late_add(struct tmb_net *e, struct udp_peer *p, const struct udp_late *signal) {
  struct udp_late *l = malloc(sizeof *l);
  if (!l) e->up->fatal("no memory to keep a signal of rank %u", p->rank);
  struct udp_late **at = &p->in.late;
  while (*at && (*at)->number <= signal->number) at = &(*at)->next;
  *l = *signal;
  TMB_LIST_PUSH(at, l);
}

static void late_take(struct tmb_net *e, struct udp_peer *p) {
  while (p->in.late && p->in.late->number < p->rx.next) {
    struct udp_late *l = TMB_LIST_POP(&p->in.late);
    change_signal(e, l->addr, l->op, l->value);
    free(l);
  }
}

static inline void place(struct tmb_net *e, struct udp_peer *p, uint64_t addr, const void *payload,
                         uint32_t bytes) {
  if (!bytes) return;
  void *to = udp_target(e, p, addr, bytes);
  if (to && payload) memcpy(to, payload, bytes);
}

/* The payload of a record in this packet is in place; its signal changes. */
static void act_signal(struct tmb_net *e, struct udp_peer *p, uint64_t addr, uint8_t action,
                       uint64_t value) {
  const struct udp_late s = {.number = p->in.seq,
                             .addr = udp_target(e, p, addr, sizeof(uint64_t)),
                             .value = value,
                             .op = action == UDP_ACT_SET ? TMB_SIGNAL_SET : TMB_SIGNAL_ADD};
  p->answer.signal_tick = e->time.tick;
  udp_ack_quiet(e, p);
  if (p->in.seq < p->rx.next)
    change_signal(e, s.addr, s.op, s.value);
  else
    late_add(e, p, &s);
}

/* All of a transfer has come: do its action. in args: live until the batch ends; buf: of a Medium
 * that was put together, given back afterwards, or NULL. */
static void act(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                const struct udp_record *r, struct udp_buf *buf) {
  if (r->action == UDP_ACT_SET || r->action == UDP_ACT_ADD) {
    act_signal(e, p, r->signal_addr, r->action, r->signal_value);
    return;
  }
  const bool is_long = r->action == UDP_ACT_LONG;
  const bool reply = (r->flags & UDP_REPLY) != 0;
  struct udp_delivery d = {
      .peer = p,
      .buf = buf,
      .cost = reply ? 0 : udp_cost(is_long ? 0 : r->total),
      .in = udp_message_of(p, r, is_long ? TMB_AM_LONG : TMB_AM_MEDIUM, r->payload, r->total)};
  if (is_long)
    d.in.payload = r->total ? udp_target(e, p, r->addr, r->total) : (void *)(uintptr_t)r->addr;
  udp_deliver_add(e, b, &d);
}

static struct udp_parts *parts_find(struct udp_peer *p, uint32_t id) {
  struct udp_parts *t = p->in.parts;
  while (t && t->id != id) t = t->next;
  return t;
}

static struct udp_parts *parts_new(struct tmb_net *e, struct udp_peer *p,
                                   const struct udp_record *r) {
  struct udp_parts *t = calloc(1, sizeof *t);
  if (!t) e->up->fatal("no memory for a message of %" PRIu64 " bytes", r->total);
  if (r->action == UDP_ACT_MEDIUM) t->buf = udp_buf_get(e, (uint32_t)r->total);
  t->id = r->id;
  t->total = r->total;
  t->action.action = r->action;
  TMB_LIST_PUSH(&p->in.parts, t);
  return t;
}

static void parts_end(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                      struct udp_parts *t) {
  (void)TMB_LIST_REMOVE(&p->in.parts, t);
  if (t->buf) t->action.payload = t->buf->data;
  /* The arguments have to outlive this struct: it goes when the batch ends. */
  t->action.args = t->args;
  act(e, b, p, &t->action, t->buf);
  udp_batch_keep(e, b, t);
}

static void take_part(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                      const struct udp_record *r) {
  if (r->action != UDP_ACT_MEDIUM) place(e, p, r->addr, r->payload, r->bytes);
  if (r->flags & UDP_HEAD && r->bytes == r->total) {
    act(e, b, p, r, NULL);
    return;
  }
  struct udp_parts *t = parts_find(p, r->id);
  if (!t) t = parts_new(e, p, r);
  if (t->total != r->total || t->action.action != r->action || r->bytes > t->total - t->come) {
    refuse(e);
    return;
  }
  if (t->buf && r->bytes) memcpy(t->buf->data + r->addr, r->payload, r->bytes);
  t->come += r->bytes;
  if (r->flags & UDP_HEAD) {
    t->head = true;
    t->action = *r;
    if (r->nargs) memcpy(t->args, r->args, r->nargs * sizeof *t->args);
  }
  if (t->head && t->come == t->total) parts_end(e, b, p, t);
}

static void take_record(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                        const struct udp_record *r) {
  udp_count(&e->stats->bytes_in, r->bytes);
  if (r->bytes >= UDP_BULK_BYTES || r->type == UDP_PART)
    tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns);
  switch (r->type) {
  case UDP_AM: udp_deliver_message(e, b, p, r); break;
  case UDP_PUT: place(e, p, r->addr, r->payload, r->bytes); break;
  case UDP_PART: take_part(e, b, p, r); break;
  case UDP_GET: udp_get_serve(e, p, r); break;
  case UDP_ATOMIC: udp_atomic_serve(e, p, r); break;
  case UDP_DATA:
    if (!udp_get_data(e, p, r)) refuse(e);
    break;
  default: break; /* UDP_SACK: read before */
  }
}

static inline void take_short(struct tmb_net *e, struct udp_peer *p, const struct udp_short *s) {
  udp_count(&e->stats->bytes_in, s->bytes);
  place(e, p, s->addr, s->payload, s->bytes);
  if (s->action == UDP_ACT_NONE) return;
  tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns);
  act_signal(e, p, s->signal_addr, s->action, s->signal_value);
}

/* ---- packets */

/* Whether there is a tail whose hash lies behind the control part. */
static inline bool has_tag(const struct packet *k) {
  return k->h.flags & UDP_HASHED && k->h.bytes > udp_tail_at(UDP_HEADER_BYTES + k->h.control);
}

/* Of header, control part and tag. */
static bool check_hash(const struct tmb_net *e, const struct packet *k, const uint64_t key[2]) {
  struct udp_auth_input input = {.seq = k->seq,
                                 .ack = k->ack,
                                 .control = k->data + UDP_HEADER_BYTES,
                                 .control_bytes = k->h.control,
                                 .tail_key = e->tail_key};
  if (e->config.hash_payload && !(k->h.flags & UDP_HASHED)) return false;
  if (has_tag(k)) input.control_bytes += UDP_TAG_BYTES;
  return udp_auth_hash(key, &k->h, &input) == k->h.mac;
}

/* in seal: the peer's, or NULL if there is none yet. */
static bool open_sealed(const struct tmb_net *e, struct packet *k, const struct udp_seal *seal) {
  const struct udp_auth_input input = {.seq = k->seq, .ack = k->ack};
  if (TMB_LIKELY(seal != NULL))
    return udp_seal_open(e->config.cipher, seal->in, k->data, &k->h, &input);
  uint8_t key[UDP_SEAL_KEY];
  udp_seal_key(e->config.cipher, e->secret, e->job_id, (const uint32_t[2]){k->h.src, e->rank}, key);
  return udp_seal_open(e->config.cipher, key, k->data, &k->h, &input);
}

/* The peer that sent an authentic packet, or NULL. */
static struct udp_peer *authentic(struct tmb_net *e, struct packet *k) {
  if (k->h.job != (uint32_t)e->job_id || k->h.src >= e->size || k->h.src == e->rank) return NULL;
  struct udp_peer *p = e->peers.of[k->h.src];
  k->seq = udp_extend(p ? p->rx.next : 1, k->h.seq);
  k->ack = udp_extend(p ? p->tx.una : 1, k->h.ack);
  if (TMB_UNLIKELY(e->config.cipher != NULL)) {
    if (!open_sealed(e, k, p ? &p->seal : NULL)) return NULL;
    return udp_peer_get(e, k->h.src);
  }
  if (TMB_LIKELY(p != NULL)) return check_hash(e, k, p->key.in) ? p : NULL;
  uint64_t key[2];
  udp_auth_key(e->secret, e->job_id, k->h.src, e->rank, key);
  return check_hash(e, k, key) ? udp_peer_get(e, k->h.src) : NULL;
}

struct acked {
  struct tmb_net *e;
  struct udp_peer *p;
};

static void on_acked(void *ctx, struct udp_slot *slot) {
  const struct acked *a = ctx;
  if (!udp_rail_is_stream(a->e, slot->rail))
    udp_mtu_passed(&a->p->mtu, slot->head_bytes + slot->tail_bytes, a->e->time.now_ns);
  a->e->in.moved = true;
  udp_buf_put(a->e, slot->buf);
  if (slot->xfer) udp_xfer_acked(a->e, a->p, slot->xfer);
  if (slot->pending) udp_pending_acked(a->e, a->p, slot->pending);
}

/* All packets below tx.una have been acknowledged. */
static inline void all_passed(struct tmb_net *e, struct udp_peer *p) {
  if (TMB_UNLIKELY(p->bulk.passing != NULL)) udp_xfer_passed(e, p);
  if (TMB_UNLIKELY(p->gather.passing != NULL)) udp_pending_passed(e, p);
}

/* in handled: of a header. */
static inline void take_credit(struct tmb_net *e, struct udp_peer *p, uint32_t handled) {
  const uint32_t back = handled - p->credit.back;
  if (!back || back > p->credit.sent - p->credit.back) return;
  p->credit.back = handled;
  e->in.moved = true;
  p->credit.starved = false;
}

static void take_ack(struct tmb_net *e, struct udp_peer *p, const struct packet *k,
                     const uint8_t *map) {
  const struct udp_ack ack = {k->ack, k->h.sack, map, k->h.ack_delay_us * (uint64_t)1000};
  struct acked ctx = {e, p};
  if (!udp_tx_ack(&p->tx, &ack, e->time.now_ns, on_acked, &ctx)) {
    refuse(e);
    return;
  }
  all_passed(e, p);
  if (k->h.sack || map || udp_tx_resent(&p->tx)) p->detect_ns = 0;
  take_credit(e, p, k->h.handled);
}

/* A number that has not come before is taken: an acknowledgement is owed. */
static inline void number_taken(struct tmb_net *e, struct udp_peer *p) {
  e->in.moved = true;
  p->ack.come_ns = e->time.now_ns;
  if (p->ack.due_ns == UINT64_MAX) p->ack.due_ns = e->time.now_ns + p->ack.delay_ns;
  p->ack.packets++;
}

/* Whether the packet is to be read: it has a number that has not come before. */
static bool take_number(struct tmb_net *e, struct udp_peer *p, const struct packet *k) {
  if (k->h.flags & UDP_ACK_NOW) udp_ack_owe(e, p);
  if (!(k->h.flags & UDP_NUMBERED)) return false;
  const enum udp_rx_verdict verdict = udp_rx_look(&p->rx, k->seq);
  udp_peer_busy(e, p);
  if (verdict != UDP_RX_NEW) {
    udp_count(&e->stats->duplicates, 1);
    udp_ack_owe(e, p);
    return false;
  }
  if (k->seq != p->rx.next || udp_rx_gaps(&p->rx)) udp_ack_owe(e, p);
  udp_rx_take(&p->rx, k->seq);
  number_taken(e, p);
  return true;
}

static void take_records(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct packet *k);

/* A piece of a longer packet, which is taken as soon as it is whole. */
static void take_piece(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                       const struct udp_record *r) {
  struct packet whole = {.seq = udp_extend(p->rx.next, r->id)};
  if (udp_rx_look(&p->rx, whole.seq) != UDP_RX_NEW) {
    udp_ack_owe(e, p);
    return;
  }
  whole.data = udp_pieces_take(e, b, p, r, whole.seq);
  if (!whole.data) return;
  if (udp_header_read(whole.data, (uint32_t)r->total, &whole.h) || whole.h.bytes != r->total)
    refuse(e);
  else if (whole.h.flags & UDP_NUMBERED)
    take_records(e, b, p, &whole);
}

/* The records of an authentic packet; those of a numbered one if it has not come before. */
static void take_records(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct packet *k) {
  const bool fresh = take_number(e, p, k);
  p->in.seq = k->seq;
  const uint32_t end = UDP_HEADER_BYTES + k->h.control;
  uint32_t at = UDP_HEADER_BYTES;
  while (at < end) {
    struct udp_record r;
    struct udp_short s;
    const uint32_t bytes = fresh ? udp_short_read(k->data + at, end - at, &s) : 0;
    if (bytes) {
      take_short(e, p, &s);
      at += bytes;
      continue;
    }
    if (udp_record_read(k->data, k->h.bytes, end, &at, &r)) {
      refuse(e);
      return;
    }
    if (k->placed && r.flags & UDP_TAIL) r.payload = NULL;
    if (r.type == UDP_SACK)
      take_ack(e, p, k, r.sack);
    else if (r.type == UDP_PROBE || r.type == UDP_ANSWER)
      udp_probe_take(e, p, &r);
    else if (fresh)
      take_record(e, b, p, &r);
    else if (r.type == UDP_PIECE && !(k->h.flags & UDP_NUMBERED))
      take_piece(e, b, p, &r);
  }
}

/* Destination of a record's payload, if it is known before the payload arrives; else NULL. */
static uint8_t *record_place(struct tmb_net *e, const struct udp_peer *p,
                             const struct udp_record *r) {
  if (r->type == UDP_DATA) return udp_get_place(e, p, r);
  if (r->type == UDP_PUT || (r->type == UDP_PART && r->action != UDP_ACT_MEDIUM))
    return e->up->target(p->rank, r->addr, r->bytes);
  return NULL;
}

/* Where the tail of an authentic packet belongs, which has not come before; NULL: nowhere yet. */
static uint8_t *tail_place(struct tmb_net *e, const struct udp_peer *p, const struct packet *k) {
  const uint32_t end = UDP_HEADER_BYTES + k->h.control;
  struct udp_record r = {0};
  if (p->lost || !(k->h.flags & UDP_NUMBERED) || udp_rx_look(&p->rx, k->seq) != UDP_RX_NEW)
    return NULL;
  for (uint32_t at = UDP_HEADER_BYTES; at < end;)
    if (udp_record_read(k->data, k->h.bytes, end, &at, &r)) return NULL;
  return r.flags & UDP_TAIL ? record_place(e, p, &r) : NULL;
}

/* Check the tail of an authentic packet, if it has a tag; it is put in its place, where that is
 * known, in the same go. A packet that came before keeps its tail: it is dropped. Returns false if
 * it is not right: its place is that of an operation that is not complete, and gets the right data
 * when the packet comes again. */
static bool take_tail(struct tmb_net *e, const struct udp_peer *p, struct packet *k) {
  const uint32_t end = UDP_HEADER_BYTES + k->h.control, at = udp_tail_at(end);
  uint64_t right;
  if (!has_tag(k) || e->config.cipher) return true;
  if (k->h.flags & UDP_NUMBERED && udp_rx_look(&p->rx, k->seq) != UDP_RX_NEW) return true;
  if (k->placed) return false; /* udp_tail_place gives no such packet a place */
  uint8_t *const place = tail_place(e, p, k);
  memcpy(&right, k->data + end, sizeof right);
  if (udp_auth_tail(p->key.in, e->tail_key, place, k->data + at, k->h.bytes - at) != right)
    return false;
  k->placed = place != NULL;
  return true;
}

/* An authentic packet of the peer has come by `rail`. */
static inline void heard(struct tmb_net *e, struct udp_peer *p, uint32_t rail) {
  p->life.heard_ns = e->peers.heard_ns = e->time.now_ns;
  p->life.spoken = true;
  if (!udp_rail_is_stream(e, rail)) p->life.heard = true; /* else datagrams may still be lost */
  p->life.rail = rail < p->tx.rails ? rail : 0;
  p->life.asked_ns = p->life.refused_ns = 0;
}

static void take_packet(struct tmb_net *e, struct udp_batch *b, struct packet *k) {
  struct udp_peer *p = authentic(e, k);
  if (!p || (!p->lost && !take_tail(e, p, k))) {
    refuse(e);
    return;
  }
  udp_count(&e->stats->packets_in, 1);
  if (TMB_UNLIKELY(e->up->packet != NULL)) e->up->packet("received", p->rank, k->h.bytes);
  if (p->lost) return;
  heard(e, p, k->h.rail);
  const uint64_t una = p->tx.una;
  take_ack(e, p, k, NULL);
  take_records(e, b, p, k);
  if (p->tx.una != una || una == p->tx.next) p->life.vain_ns = 0;
  if (TMB_UNLIKELY(p->in.late != NULL)) late_take(e, p);
}

/* ---- the common case: a packet alone in its datagram, next in order, with one short message, that
 * acknowledges the only packet in flight, or nothing new. It passes the same checks, in one go. */

/* Whether lengths and flags are those of such a packet. in data: [bytes], aligned to 16. */
static inline bool is_lone(const struct tmb_net *e, const struct udp_header *h, uint32_t bytes) {
  const uint8_t hashed = e->config.hash_payload ? UDP_HASHED : 0;
  const uint8_t flags = UDP_NUMBERED | UDP_ACK_NOW | UDP_SECRET | hashed;
  return bytes <= UDP_HEADER_BYTES + UDP_AUTH_DIRECT && h->bytes == bytes &&
         h->control == bytes - UDP_HEADER_BYTES && h->control % 8 == 0 && !h->sack &&
         (h->flags & flags) == (UDP_NUMBERED | hashed) && h->job == (uint32_t)e->job_id &&
         h->src < e->size && h->src != e->rank && !e->config.cipher && !e->up->packet;
}

/* Whether the windows are as in the common case. in acks: packets that it acknowledges. */
static inline bool is_in_order(const struct udp_peer *p, const struct udp_header *h,
                               uint32_t acks) {
  if (p->lost || h->seq != (uint32_t)p->rx.next || udp_rx_gaps(&p->rx)) return false;
  if (acks > 1) return false;
  return acks ? udp_tx_is_lone(&p->tx) : p->tx.una == p->tx.next;
}

/* The only packet in flight is acknowledged. */
static inline void take_lone_ack(struct tmb_net *e, struct udp_peer *p,
                                 const struct udp_header *h) {
  struct udp_slot *slot = udp_tx_slot(&p->tx, p->tx.una);
  struct acked ctx = {e, p};
  on_acked(&ctx, slot);
  udp_tx_ack_lone(&p->tx, h->ack_delay_us * (uint64_t)1000, e->time.now_ns);
  all_passed(e, p);
}

/* Take the packet of a datagram in, if it is one of the common case. Returns false, with nothing
 * done, if it is another, or not right. */
static bool lone_take(struct tmb_net *e, struct udp_batch *b, const uint8_t *data, uint32_t bytes) {
  const struct udp_header *h = (const struct udp_header *)(const void *)data;
  struct udp_record r;
  if (bytes < UDP_HEADER_BYTES || !is_lone(e, h, bytes)) return false;
  struct udp_peer *p = e->peers.of[h->src];
  if (!p) return false;
  const uint32_t acks = h->ack - (uint32_t)p->tx.una;
  if (!is_in_order(p, h, acks) || !udp_message_read(data, bytes, &r)) return false;
  const struct udp_auth_input input = {.seq = p->rx.next,
                                       .ack = p->tx.una + acks,
                                       .control = h + 1,
                                       .control_bytes = h->control,
                                       .tail_key = e->tail_key};
  if (udp_auth_hash(p->key.in, h, &input) != h->mac) return false;
  udp_count(&e->stats->packets_in, 1);
  udp_count(&e->stats->bytes_in, r.bytes);
  heard(e, p, h->rail);
  if (acks) take_lone_ack(e, p, h);
  take_credit(e, p, h->handled);
  p->life.vain_ns = 0;
  udp_peer_busy(e, p);
  udp_rx_take_next(&p->rx);
  number_taken(e, p);
  udp_deliver_message(e, b, p, &r);
  return true;
}

void udp_datagram_take(struct tmb_net *e, struct udp_batch *b, uint8_t *data, uint32_t bytes) {
  while (bytes) {
    struct packet k = {.data = data};
    if (udp_header_read(data, bytes, &k.h)) {
      refuse(e);
      return;
    }
    if (TMB_UNLIKELY((uintptr_t)data % 16)) k.data = udp_batch_copy(e, b, data, k.h.bytes);
    const uint32_t taken = k.h.bytes; /* opening it takes the tag off */
    take_packet(e, b, &k);
    data += taken;
    bytes -= taken;
  }
}

/* Whether a record needs nothing of its packet once it has been taken in. */
static bool is_passing(const struct udp_record *r) {
  if (r->type == UDP_PUT || r->type == UDP_DATA || r->type == UDP_SACK) return true;
  if (r->type != UDP_PART) return false;
  return !(r->flags & UDP_HEAD) || r->action == UDP_ACT_SET || r->action == UDP_ACT_ADD;
}

bool udp_packet_lends(const void *placer, const uint8_t *packet, uint32_t bytes) {
  const struct tmb_net *e = placer;
  struct udp_header h;
  if (bytes < UDP_BULK_BYTES || e->config.cipher || udp_header_read(packet, bytes, &h))
    return false;
  const uint32_t end = UDP_HEADER_BYTES + h.control;
  for (uint32_t at = UDP_HEADER_BYTES; at < end;) {
    struct udp_record r;
    if (udp_record_read(packet, h.bytes, end, &at, &r) || !is_passing(&r)) return false;
  }
  return true;
}

uint8_t *udp_tail_place(void *placer, const uint8_t *head, uint32_t bytes) {
  struct tmb_net *e = placer;
  struct packet k = {.data = (uint8_t *)(uintptr_t)head};
  memcpy(&k.h, head, sizeof k.h);
  if (e->config.cipher || e->config.hash_payload || k.h.flags & UDP_HASHED) return NULL;
  if (k.h.control % 8 || UDP_HEADER_BYTES + (uint32_t)k.h.control > bytes || k.h.src >= e->size ||
      !e->peers.of[k.h.src])
    return NULL;
  const struct udp_peer *p = authentic(e, &k);
  return p ? tail_place(e, p, &k) : NULL;
}

void udp_batch_take(struct tmb_net *e, struct udp_batch *b) {
  for (uint32_t i = 0; i < b->in.count; i++) {
    struct packet k = {.data = b->in.memory + (size_t)i * UDP_DATAGRAM_MAX, .placed = true};
    if (b->in.lent >> i & 1) k.data = b->in.at[i];
    if (!(b->in.placed >> i & 1)) {
      if (TMB_LIKELY(lone_take(e, b, k.data, b->in.bytes[i]))) continue;
      udp_datagram_take(e, b, k.data, b->in.bytes[i]);
      continue;
    }
    memcpy(&k.h, k.data, sizeof k.h);
    take_packet(e, b, &k);
  }
}
