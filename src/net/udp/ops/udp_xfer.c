/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outgoing long transfers: puts, parts of long messages, answers to gets.
 *
 * Owns struct udp_xfer. Called by udp_send.c, udp_rma.c, udp_progress.c. Calls udp_send.c. Each
 * peer has a queue; its transfers are cut into packets as the window allows, whose tails lie in the
 * source, so nothing is copied in between. The target puts each part in place before it
 * acknowledges the packet; so a transfer is complete when all its packets are acknowledged, and no
 * further message says so. Invariant: `unacked` counts the slots that refer to a transfer; it is
 * freed when it is ended and none does.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"
#include "net/plugin/progress_thread.h"

#include <stdlib.h>
#include <string.h>

/* Queue in the sending host. Chosen; tests/net/fair_test.py
 * checks the share beside TCP. */
#define HOST_MIN  98304u   /* bytes that may wait in this host: a run of packets and a half */
#define HOST_NS   3000000u /* or the bytes of so much time */
#define STANDS_NS 1500000u /* a round trip of more: a queue may stand in this host */
#define GATE_NS   1000000u /* until waiting transfers are checked again */

struct udp_xfer *udp_xfer_new(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                              const void *src, uint64_t total) {
  struct udp_xfer *x = calloc(1, sizeof *x);
  if (!x) e->up->fatal("no memory for a transfer to rank %u", p->rank);
  x->record = *r;
  x->record.payload = NULL;
  x->record.total = total;
  if (r->nargs) memcpy(x->args, r->args, r->nargs * sizeof *x->args);
  x->record.args = x->args;
  if (r->type == UDP_PART) x->record.id = ++p->bulk.next_id;
  x->src = src;
  x->total = total;
  x->category = x->local_category = UDP_NO_CATEGORY;
  return x;
}

void udp_xfer_copy(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x) {
  if (!x->total) return;
  if (x->total <= UDP_BUF_MAX) x->buf = udp_buf_get(e, (uint32_t)x->total);
  x->copy = x->buf ? x->buf->data : malloc(x->total);
  if (!x->copy) e->up->fatal("no memory to copy a message of %zu bytes", (size_t)x->total);
  memcpy(x->copy, x->src, x->total);
  x->src = x->copy;
  p->bulk.copied += x->total;
}

void udp_xfer_add(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x) {
  TMB_QUEUE_ADD(&p->bulk.first, &p->bulk.last, x);
  e->peers.waits = true;
  udp_peer_busy(e, p);
  /* The open packet goes first: signals of one rank keep their order while nothing is lost. */
  if (p->bulk.first == x && udp_gather_flush(e, p, 0)) (void)udp_xfer_push(e, p);
  /* More than the window takes, or the kernel for a connection. */
  if (p->bulk.first || udp_rail_flows(e, p)) {
    tmb_store_rlx(&e->helper.bulk_ns, e->time.now_ns);
    tmb_progress_thread_kick(e->helper.thread);
  }
}

void udp_xfer_free(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x) {
  if (x->copy) p->bulk.copied -= x->total;
  if (x->buf)
    udp_buf_put(e, x->buf);
  else
    free(x->copy);
  x->buf = NULL;
  x->copy = NULL;
  x->complete = true;
  if (!x->held) free(x);
}

void udp_xfer_hold(struct tmb_net *e, struct udp_xfer *x) {
  x->held = true;
  x->id = ++e->held.last_id;
  x->next_held = e->held.first;
  e->held.first = x;
}

struct udp_xfer *udp_xfer_held(struct tmb_net *e, uint32_t id) {
  struct udp_xfer *x = e->held.first;
  while (x && x->id != id) x = x->next_held;
  return x;
}

void udp_xfer_unhold(struct tmb_net *e, struct udp_xfer *x) {
  struct udp_xfer **at = &e->held.first;
  while (*at != x) at = &(*at)->next_held;
  *at = x->next_held;
  free(x);
}

static bool has_signal(const struct udp_xfer *x) {
  return x->record.type == UDP_PART &&
         (x->record.action == UDP_ACT_SET || x->record.action == UDP_ACT_ADD);
}

/* The target changes a signal when all packets before it have come. */
void udp_xfer_passed(struct tmb_net *e, struct udp_peer *p) {
  struct udp_xfer **at = &p->bulk.passing;
  while (*at) {
    struct udp_xfer *x = *at;
    if (x->last_number >= p->tx.una) {
      at = &x->next;
      continue;
    }
    (void)TMB_LIST_POP(at);
    udp_done_add(e, &(struct udp_done){.op = x->op, .category = x->category, .peer = p->rank});
    udp_xfer_free(e, p, x);
  }
}

void udp_xfer_acked(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x) {
  if (--x->unacked || !x->ended) return;
  udp_done_add(e, &(struct udp_done){.op = x->op, .category = x->local_category, .peer = p->rank});
  if (x->op && has_signal(x)) {
    TMB_LIST_PUSH(&p->bulk.passing, x);
    return;
  }
  udp_done_add(e, &(struct udp_done){.op = x->op, .category = x->category, .peer = p->rank});
  if (x->record.type == UDP_DATA) {
    if (x->signal)
      udp_done_add(e, &(struct udp_done){.addr = x->signal,
                                         .category = x->signal_op,
                                         .value = x->record.signal_value});
    udp_credit_back(e, p, x->cost);
  }
  udp_xfer_free(e, p, x);
}

/* Write the next part of `x` into a packet of up to `packet_bytes`. Returns the end of its control
 * part. */
static uint32_t write_part(struct udp_xfer *x, uint32_t packet_bytes, struct udp_buf *buf,
                           struct udp_out *out) {
  struct udp_record r = x->record;
  if (!x->begun && r.type == UDP_PART) r.flags |= UDP_HEAD;
  const uint64_t left = x->total - x->sent;
  const uint32_t most = udp_payload_of(packet_bytes, &r);
  r.bytes = left < most ? (uint32_t)left : most;
  r.addr += x->sent;
  r.payload = x->src + x->sent;
  if (r.bytes &&
      (r.bytes > UDP_INLINE_MAX || UDP_HEADER_BYTES + udp_record_bytes(&r) > packet_bytes))
    r.flags |= UDP_TAIL;
  const uint32_t end = udp_record_write(buf->data, UDP_HEADER_BYTES, &r, NULL);
  out->head = buf->data;
  out->head_bytes = end;
  if (r.flags & UDP_TAIL) {
    out->head_bytes = udp_tail_at(end);
    memset(buf->data + end, 0, out->head_bytes - end);
    out->tail = r.payload;
    out->tail_bytes = r.bytes;
  }
  x->begun = true;
  x->sent += r.bytes;
  x->ended = x->sent == x->total;
  return end;
}

/* Whether the packet just written asks for an acknowledgement: where somebody waits for the end of
 * the transfer, or the window fills. */
static bool asks(struct udp_peer *p, const struct udp_xfer *x, uint32_t rail, uint64_t bytes) {
  const struct udp_ask ask = {.rail = rail,
                              .bytes = bytes,
                              .stops = udp_tx_room(&p->tx) <= UDP_XFER_SLOTS + 1,
                              .ends = x->ended && (x->op || x->held || x->signal)};
  return udp_packet_asks(p, &ask);
}

/* Returns its bytes. */
static uint64_t push_packet(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x,
                            uint32_t rail) {
  struct udp_buf *buf = udp_buf_get(e, UDP_HEADER_BYTES + UDP_RECORD_MAX + 32);
  const bool changes = x->record.type == UDP_DATA && x->total <= UDP_COPY_MAX;
  struct udp_out out = {.peer = p->rank, .rail = rail, .changes = changes};
  struct udp_cc *cc = &p->tx.rail[rail].cc;
  const bool streams = udp_rail_is_stream(e, rail);
  const uint32_t packet_bytes = streams ? e->config.stream_bytes : p->mtu.bytes;
  const uint32_t end = write_part(x, packet_bytes, buf, &out);
  const uint64_t bytes = out.head_bytes + out.tail_bytes;
  const uint8_t flags = asks(p, x, rail, bytes) ? UDP_ACK_NOW : 0;
  x->unacked++;
  struct udp_slot *slot = udp_packet_send(e, p, &out, buf, end - UDP_HEADER_BYTES, flags);
  slot->xfer = x;
  if (TMB_UNLIKELY(p->mtu.bytes < p->mtu.most) && !x->ended && !streams)
    udp_mtu_want(&p->mtu, e->time.now_ns);
  x->last_number = p->tx.next - 1;
  if (udp_cc_paced(cc)) udp_cc_pace(cc, bytes, e->time.now_ns, p->tx.rail[rail].srtt_ns);
  p->bulk.run += (uint32_t)bytes;
  p->bulk.bytes += bytes;
  if (streams) p->bulk.streamed += bytes;
  return bytes;
}

/* Bytes of transfers that may be handed over now. Our bytes in a queue of this host are kept
 * about as few as TCP keeps its own there: else a link that has a queue would be ours, for nothing
 * is lost there before it is full. Where round trips are short no queue stands. */
static uint64_t host_takes(const struct tmb_net *e, struct udp_peer *p) {
  const struct udp_rail *rail = &p->tx.rail[p->bulk.rail];
  if (udp_rail_streams(e, p)) return UINT64_MAX; /* TCP sees to it */
  if (rail->srtt_ns <= STANDS_NS || !e->io.ops->waiting) return UINT64_MAX;
  const uint64_t waits = e->io.ops->waiting(e->io.state, p->rank, p->bulk.rail);
  if (waits >= HOST_MIN) p->bulk.fills_link = true;
  if (rail->srtt_ns <= HOST_NS) return UINT64_MAX;
  if (rail->in_flight < HOST_MIN) return HOST_MIN;
  const uint64_t window =
      TMB_MIN(rail->cc.window, (uint64_t)(UDP_WINDOW - UDP_XFER_SLOTS) * p->mtu.bytes);
  const uint64_t most = TMB_MAX(window * HOST_NS / rail->srtt_ns, (uint64_t)HOST_MIN);
  return waits < most ? most - waits : 0;
}

uint64_t udp_xfer_push(struct tmb_net *e, struct udp_peer *p) {
  uint64_t room = p->bulk.first ? host_takes(e, p) : 0;
  e->out.full = false;
  while (p->bulk.first) {
    struct udp_xfer *x = p->bulk.first;
    if (!room) {
      udp_out_flush(e);
      room = host_takes(e, p);
      if (!room) return e->time.now_ns + GATE_NS; /* or an acknowledgement comes before */
    }
    uint64_t due_ns = UINT64_MAX;
    if (udp_tx_room(&p->tx) <= UDP_XFER_SLOTS) return UINT64_MAX;
    const uint32_t rail = udp_rail_bulk(e, p, &due_ns);
    if (rail == UDP_NO_RAIL) return due_ns;
    const uint64_t bytes = push_packet(e, p, x, rail);
    room -= TMB_MIN(room, bytes);
    if (x->ended) (void)TMB_LIST_POP(&p->bulk.first);
    if (TMB_UNLIKELY(e->out.full)) return e->time.now_ns; /* the kernel has taken no more */
  }
  return UINT64_MAX;
}
