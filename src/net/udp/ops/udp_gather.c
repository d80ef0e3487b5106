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

/* Bytes of an open packet, at least, if packets are as long, and records like its first one that it
 * has room for, up to GATHER_MAX bytes. Chosen; `tombolo bench loggp` measures the gap between
 * messages. */
#define GATHER_BYTES 2048u
#define GATHER_COUNT 4u
#define GATHER_MAX   9216u
/* Bytes of payload for which a part of an operation is begun in an open packet. Chosen. */
#define PART_MIN     32u
/* Bytes of packets at least, where operations are cut into parts. Chosen. */
#define PARTS_MTU    1024u
/* Packets for a peer that are handed over together, at most, and the time from the one before it,
 * or the end of its call, in which each is full: longer where puts go to several peers in turn. A
 * call of the kernel takes as long as this. Chosen. */
#define TOGETHER     8u
#define CLOSE_NS     3000u

uint32_t udp_payload_of(uint32_t packet_bytes, const struct udp_record *r) {
  struct udp_record bare = *r;
  bare.flags |= UDP_TAIL;
  const uint32_t head = UDP_HEADER_BYTES + udp_record_bytes(&bare);
  return packet_bytes - udp_tail_at(head);
}

uint32_t udp_payload_max(const struct udp_peer *p, const struct udp_record *r) {
  return udp_payload_of(p->mtu.bytes, r);
}

/* Make a numbered packet of the open one. */
static struct udp_slot *open_make(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                                  uint8_t flags) {
  const uint32_t control = p->gather.end - UDP_HEADER_BYTES;
  if (TMB_LIKELY(udp_packet_is_lone(e, control, p->gather.tail)))
    return udp_packet_lone(e, p, p->gather.buf, p->gather.end, flags);
  return udp_packet_send(e, p, out, p->gather.buf, control, flags);
}

/* Peers to which small puts go in turn: of all since the packet before, a part is in this one. */
static uint64_t turns(const struct tmb_net *e, const struct udp_peer *p) {
  const uint64_t puts = e->peers.small_puts - p->gather.full_puts;
  return TMB_MAX(TMB_MIN(puts / TMB_MAX(p->gather.count, 1u), UDP_OUT_MAX / TOGETHER), 1u);
}

/* Send the open packet. in flags: UDP_ACK_NOW. */
static bool open_send(struct tmb_net *e, struct udp_peer *p, uint32_t reserve, uint8_t flags) {
  const struct udp_rail *rail = udp_tx_main(&p->tx);
  if (udp_tx_room(&p->tx) <= reserve || rail->in_flight >= rail->cc.window) return false;
  struct udp_out out = {.peer = p->rank,
                        .rail = p->tx.main,
                        .head = p->gather.buf->data,
                        .head_bytes = p->gather.end,
                        .tagged = true};
  if (p->gather.tail) out.head_bytes = udp_tail_at(p->gather.end) + p->gather.tail;
  const struct udp_ask ask = {.rail = out.rail, .bytes = out.head_bytes};
  const uint64_t soon_end = p->gather.soon_end, soon_ns = p->gather.soon_ns;
  if (udp_packet_asks(p, &ask)) flags |= UDP_ACK_NOW;
  const bool quiet = p->gather.quiet && !((p->gather.flags | flags) & UDP_ACK_NOW);
  struct udp_slot *slot = open_make(e, p, &out, (uint8_t)(p->gather.flags | flags));
  if (p->gather.pending) slot->pending = udp_pending_take(p, p->tx.next - 1);
  p->gather.close = udp_gather_clock(e) - p->gather.full_ns <= CLOSE_NS * turns(e, p);
  p->gather.full_ns = udp_gather_clock(e);
  p->gather.full_puts = e->peers.small_puts;
  p->gather.buf = NULL;
  p->gather.end = UDP_HEADER_BYTES;
  p->gather.tail = p->gather.count = 0;
  p->gather.flags = 0;
  if (quiet) {
    p->gather.soon_end = soon_end;
    p->gather.soon_ns = soon_ns;
  }
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
  if (r->flags & UDP_TAIL) end = udp_tail_at(end) + r->bytes;
  return !p->gather.tail && end <= limit;
}

/* The record lies in the open packet. in quiet: nobody awaits its end. */
static inline void appended(struct tmb_net *e, struct udp_peer *p, bool quiet) {
  p->gather.quiet = (p->gather.quiet || !p->gather.count) && quiet;
  p->gather.count++;
  p->gather.tick = e->time.tick;
  e->peers.waits = true;
  udp_peer_busy(e, p);
}

/* Copy the tail to its place in the open packet, and hash it in the same go. */
static void add_tail(const struct tmb_net *e, const struct udp_peer *p, const struct udp_record *r,
                     uint32_t at) {
  uint8_t *const data = p->gather.buf->data;
  if (!e->config.hash_payload || e->config.cipher) {
    memcpy(data + at, r->payload, r->bytes);
    return;
  }
  const uint64_t tag = udp_auth_tail(p->key.out, e->tail_key, data + at, r->payload, r->bytes);
  memcpy(data + p->gather.end, &tag, sizeof tag);
}

/* Write `r`, which fits, into the open packet. in quiet: nobody awaits its end. */
static void append(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r, bool quiet) {
  uint32_t payload_at = 0;
  p->gather.last = p->gather.end;
  p->gather.end = udp_record_write(p->gather.buf->data, p->gather.end, r, &payload_at);
  if (r->flags & UDP_TAIL) {
    add_tail(e, p, r, payload_at);
    p->gather.tail = r->bytes;
  }
  appended(e, p, quiet);
}

/* Open a packet. in bytes: of the control part of its first record; tail: of its tail. */
static void open_new(struct tmb_net *e, struct udp_peer *p, uint32_t bytes, uint32_t tail) {
  const uint32_t several = TMB_MAX(GATHER_BYTES, UDP_HEADER_BYTES + GATHER_COUNT * bytes);
  const uint32_t gathers = TMB_MIN(TMB_MIN(several, GATHER_MAX), p->mtu.bytes);
  p->gather.buf = udp_buf_get(e, TMB_MAX(UDP_HEADER_BYTES + bytes + tail, gathers));
  p->gather.room = udp_buf_bytes(p->gather.buf);
}

bool udp_gather_first(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                      uint32_t reserve) {
  if (p->gather.buf || udp_tx_room(&p->tx) <= reserve) return false;
  open_new(e, p, UDP_HEADER_BYTES, 0);
  p->gather.last = UDP_HEADER_BYTES;
  p->gather.end = udp_message_write(p->gather.buf->data, r);
  appended(e, p, false);
  return true;
}

bool udp_gather(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, uint8_t flags,
                uint32_t reserve) {
  if (r->bytes > UDP_COPY_MAX || udp_record_bytes(r) + UDP_HEADER_BYTES > p->mtu.bytes)
    r->flags |= UDP_TAIL;
  const uint32_t bytes = udp_record_bytes(r);
  /* A full packet asks for no acknowledgement of its puts: the next one, which follows, does. */
  if (p->gather.buf && !fits(p, r, bytes)) {
    if (e->kept.threads) udp_engine_clock(e); /* udp_am_send has not */
    if (!open_send(e, p, reserve, 0)) return false;
  }
  if (!p->gather.buf) {
    if (udp_tx_room(&p->tx) <= reserve) return false;
    open_new(e, p, bytes, r->flags & UDP_TAIL ? udp_tail_at(0) + r->bytes : 0);
  }
  append(e, p, r, (flags & UDP_QUIET) != 0);
  p->gather.flags |= flags & UDP_ACK_NOW;
  return true;
}

/* Bytes of a packet of parts. */
static uint32_t parts_packet(const struct udp_peer *p) {
  return TMB_MIN(p->mtu.bytes, GATHER_MAX);
}

/* Payload of a part `r` that the open packet has room for; a multiple of 8. */
static uint32_t part_room(const struct udp_peer *p, const struct udp_record *r) {
  const uint32_t limit = TMB_MIN(p->gather.room, parts_packet(p));
  const uint32_t used = p->gather.end + udp_record_bytes(r);
  if (p->gather.tail || limit < used) return 0;
  return TMB_ALIGN_DOWN(limit - used, 8u);
}

/* Packets that parts of `total` bytes take at most, the open packet included. */
static uint64_t parts_packets(const struct udp_peer *p, uint64_t total) {
  const uint32_t fields = UDP_HEADER_BYTES + UDP_RECORD_MAX - UDP_INLINE_MAX;
  return total / (parts_packet(p) - fields) + 2;
}

/* Fill the open packet up: the kernel takes packets of one length together. It may be longer than
 * packets are now: the path has become narrower. */
static void fill_up(struct udp_peer *p) {
  const uint32_t limit = TMB_MIN(p->gather.room, parts_packet(p)), end = p->gather.end;
  if (p->gather.tail || !p->gather.count || end >= limit) return;
  const uint32_t rest = TMB_ALIGN_DOWN(limit - end, 8u);
  udp_record_pad(p->gather.buf->data + p->gather.last, end - p->gather.last, rest);
  p->gather.end += rest;
}

bool udp_parts_are(const struct udp_peer *p, uint64_t total) {
  return total <= UDP_COPY_MAX && !p->bulk.first && p->mtu.bytes >= PARTS_MTU &&
         parts_packets(p, total) * parts_packet(p) <= p->tx.rail[p->tx.main].cc.window;
}

bool udp_gather_splits(const struct udp_peer *p, const struct udp_record *r, uint32_t least) {
  struct udp_record part = *r;
  part.bytes = 0;
  return p->gather.buf && part_room(p, &part) >= TMB_MAX(least, PART_MIN) &&
         !fits(p, r, udp_record_bytes(r)) && udp_parts_are(p, r->bytes);
}

bool udp_gather_parts(struct tmb_net *e, struct udp_peer *p, const struct udp_record *whole,
                      const void *src, uint8_t flags, uint32_t reserve) {
  const struct udp_rail *rail = udp_tx_main(&p->tx);
  const uint64_t total = whole->total, packets = parts_packets(p, total);
  struct udp_record r = *whole;
  r.bytes = 0;
  if (udp_tx_room(&p->tx) <= reserve + packets ||
      rail->in_flight + packets * parts_packet(p) > rail->cc.window)
    return false;
  if (r.type == UDP_PART) {
    r.flags |= UDP_HEAD;
    r.id = ++p->bulk.next_id;
  }
  if (e->kept.threads) udp_engine_clock(e); /* udp_am_send has not */
  for (uint64_t sent = 0; sent < total; sent += r.bytes, r.addr += r.bytes, r.bytes = 0) {
    const uint64_t left = total - sent;
    if (p->gather.buf && part_room(p, &r) < TMB_MIN(left, (uint64_t)PART_MIN)) {
      fill_up(p);
      (void)open_send(e, p, reserve, 0);
    }
    if (!p->gather.buf) open_new(e, p, parts_packet(p), 0);
    r.bytes = (uint32_t)TMB_MIN(left, (uint64_t)part_room(p, &r));
    r.payload = (const uint8_t *)src + sent;
    append(e, p, &r, (flags & UDP_QUIET) != 0);
    p->gather.flags |= flags & UDP_ACK_NOW;
    r.flags &= (uint8_t)~UDP_HEAD;
  }
  return true;
}

bool udp_gather_join(struct tmb_net *e, struct udp_peer *p, const struct udp_short *s) {
  const uint32_t end = p->gather.end, bytes = udp_short_bytes(s);
  if (p->gather.tail || end + bytes > TMB_MIN(p->gather.room, p->mtu.bytes)) return false;
  udp_short_write(p->gather.buf->data + end, s);
  p->gather.last = end;
  p->gather.end = end + bytes;
  appended(e, p, false);
  return true;
}

/* Packets for the peer that are made and not handed over. */
static uint32_t made_for(const struct tmb_net *e, const struct udp_peer *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->out.count; i++) count += e->out.peer[i] == p;
  return count;
}

/* Whether packets wait to be handed over with those that are likely to follow at once. */
static bool holds(const struct tmb_net *e, const struct udp_peer *p) {
  return p->gather.buf && p->gather.close && e->config.coalesce && made_for(e, p) < TOGETHER;
}

void udp_gather_hand(struct tmb_net *e, struct udp_peer *p, bool bursts) {
  if (!e->out.count) return;
  if (!holds(e, p)) {
    udp_out_flush(e);
    if ((bursts || p->gather.buf) && !e->kept.threads)
      e->time.handed_ns += e->io.ops->now(e->io.state) - e->time.now_ns;
  } else if (!e->kept.threads) {
    tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns); /* the progress thread looks often */
    tmb_progress_thread_kick(e->helper.thread);
  }
}

void udp_gather_settle(struct tmb_net *e, struct udp_peer *p) {
  if (!e->kept.threads && (!udp_gather_waits(e, p) || !e->config.coalesce))
    (void)udp_gather_flush(e, p, 0);
  udp_gather_hand(e, p, false);
}
