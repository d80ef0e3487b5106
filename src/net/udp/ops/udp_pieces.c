/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in pieces: a numbered packet that is longer than the path to the peer carries.
 *
 * Owns the packets of which pieces have come. Called by udp_send.c and udp_recv.c. Calls
 * udp_engine.c. A numbered packet keeps its length for good, but the path may become narrower, a
 * connection may carry no packet of this length whole, and datagrams that routers divide get lost
 * where one part does. So such a packet is divided here. Each piece is a record of a packet without
 * a number, which is hashed or encrypted as any other; its payload is a part of the control part,
 * which a hash always covers. So the whole needs no hash of its own. Pieces of several
 * transmissions fit together. Invariant: only packets of the receive window are kept, so their
 * memory is bounded.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Transmissions of a packet before its pieces follow. Chosen, not measured. */
#define TRIES      4u

#define SEEN_BYTES (UDP_DATAGRAM_MAX / UDP_PIECE_STEP / 8)

/* A packet of which pieces have come. */
struct udp_pieces {
  struct udp_pieces *next;
  uint64_t number;
  uint32_t total, come;
  uint8_t seen[SEEN_BYTES];       /* bit i: the bytes from i * UDP_PIECE_STEP on have come */
  TMB_ALIGNED(16) uint8_t data[]; /* [total] */
};

/* Bytes of a packet that carries a piece. */
static uint32_t piece_packet(const struct udp_peer *p, const struct udp_slot *slot) {
  return slot->tries >= TRIES ? TMB_MIN(p->mtu.bytes, UDP_MTU_BASE - UDP_SEAL_TAG) : p->mtu.bytes;
}

bool udp_pieces_due(const struct tmb_net *e, const struct udp_peer *p, const struct udp_slot *slot,
                    uint32_t rail) {
  const uint32_t bytes = slot->head_bytes + slot->tail_bytes;
  return !udp_rail_is_stream(e, rail) && bytes > piece_packet(p, slot);
}

/* The packet in one place, with a plain header. */
static struct udp_buf *packet_copy(struct tmb_net *e, const struct udp_slot *slot,
                                   uint64_t number) {
  const uint32_t bytes = slot->head_bytes + slot->tail_bytes;
  struct udp_buf *buf = udp_buf_get(e, bytes);
  memcpy(buf->data, slot->buf->data, slot->head_bytes);
  if (slot->tail_bytes) memcpy(buf->data + slot->head_bytes, slot->tail, slot->tail_bytes);
  struct udp_header *h = (struct udp_header *)(void *)buf->data;
  *h = (struct udp_header){.job = (uint32_t)e->job_id,
                           .src = e->rank,
                           .seq = (uint32_t)number,
                           .bytes = (uint16_t)bytes,
                           .control = h->control,
                           .flags = slot->flags | UDP_NUMBERED | UDP_ACK_NOW};
  return buf;
}

void udp_pieces_send(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot,
                     uint64_t number) {
  struct udp_buf *whole = packet_copy(e, slot, number);
  struct udp_record r = {
      .type = UDP_PIECE, .id = (uint32_t)number, .total = slot->head_bytes + slot->tail_bytes};
  const uint32_t limit = piece_packet(p, slot) - UDP_HEADER_BYTES - udp_record_bytes(&r);
  const uint32_t most = TMB_ALIGN_DOWN(limit, UDP_PIECE_STEP);
  while (r.addr < r.total) {
    r.bytes = (uint32_t)TMB_MIN(r.total - r.addr, (uint64_t)most);
    r.payload = whole->data + r.addr;
    struct udp_buf *buf = udp_buf_get(e, UDP_HEADER_BYTES + udp_record_bytes(&r));
    const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
    const struct udp_out out = {
        .peer = p->rank, .rail = slot->rail, .head = buf->data, .head_bytes = end};
    udp_loose_send(e, p, buf, &out, end);
    r.addr += r.bytes;
  }
  udp_buf_put(e, whole);
}

/* Forget packets that have come whole otherwise. */
static void drop_old(struct udp_peer *p) {
  for (struct udp_pieces **at = &p->in.pieces; *at;) {
    struct udp_pieces *t = *at;
    if (udp_rx_look(&p->rx, t->number) == UDP_RX_NEW) {
      at = &t->next;
      continue;
    }
    free(TMB_LIST_POP(at));
  }
}

static struct udp_pieces *pieces_get(struct tmb_net *e, struct udp_peer *p, uint64_t number,
                                     uint64_t total) {
  struct udp_pieces *t = p->in.pieces;
  while (t && t->number != number) t = t->next;
  if (t) return t->total == total ? t : NULL;
  drop_old(p);
  t = calloc(1, sizeof *t + total);
  if (!t) e->up->fatal("no memory for a packet of rank %u that comes in pieces", p->rank);
  t->number = number;
  t->total = (uint32_t)total;
  TMB_LIST_PUSH(&p->in.pieces, t);
  return t;
}

/* Note bytes from `at` on, and count those that are new. */
static void note(struct udp_pieces *t, uint32_t at, uint32_t bytes) {
  for (const uint32_t end = at + bytes; at < end; at += UDP_PIECE_STEP) {
    uint8_t *seen = &t->seen[at / UDP_PIECE_STEP / 8];
    const uint8_t bit = (uint8_t)(1u << at / UDP_PIECE_STEP % 8);
    if (!(*seen & bit)) t->come += TMB_MIN(UDP_PIECE_STEP, t->total - at);
    *seen |= bit;
  }
}

uint8_t *udp_pieces_take(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct udp_record *r, uint64_t number) {
  struct udp_pieces *t = pieces_get(e, p, number, r->total);
  if (!t || !r->bytes) return NULL;
  memcpy(t->data + r->addr, r->payload, r->bytes);
  note(t, (uint32_t)r->addr, r->bytes);
  if (t->come < t->total) return NULL;
  (void)TMB_LIST_REMOVE(&p->in.pieces, t);
  udp_batch_keep(e, b, t);
  return t->data;
}

void udp_pieces_free(struct udp_peer *p) {
  while (p->in.pieces) free(TMB_LIST_POP(&p->in.pieces));
}
