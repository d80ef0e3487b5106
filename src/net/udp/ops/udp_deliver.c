/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are delivered, without the engine's lock.
 *
 * Owns batches, and messages that came while they were not served. Called by udp_recv.c, which adds
 * to a batch, and udp_progress.c, which runs it. Calls core: up->am. A batch's entries point into
 * its receive memory, so nothing is copied before a handler runs. Invariants: a batch belongs to
 * one call of progress; kept messages go before new ones; the cost of a request goes back to its
 * sender's credit after its handler has run, so the kept messages are bounded by the credit.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define LIST_FIRST   64u         /* entries; of kept messages, delivered in one call; chosen */
#define COPIES_BYTES (64u << 10) /* of a block of copied packets, at least; chosen */

void udp_batch_free(struct udp_batch *b) {
  free(b->in.memory);
  free(b->list);
  free(b);
}

struct udp_batch *udp_batch_get(struct tmb_net *e) {
  struct udp_batch *b = TMB_LIST_POP(&e->spare.batches);
  if (TMB_LIKELY(b != NULL)) return b;
  b = calloc(1, sizeof *b);
  if (!b) e->up->fatal("no memory to receive");
  b->in.memory = aligned_alloc(64, (size_t)UDP_BATCH * UDP_DATAGRAM_MAX);
  b->list = calloc(LIST_FIRST, sizeof *b->list);
  b->capacity = LIST_FIRST;
  if (!b->in.memory || !b->list) e->up->fatal("no memory to receive");
  b->in.place = e->in.tail_place;
  b->in.lends = e->in.packet_lends;
  b->in.placer = e;
  return b;
}

void udp_batch_end(struct udp_batch *b) {
  b->count = 0;
  b->in.placed = b->in.lent = 0;
  b->copies_left = 0;
  while (b->kept) {
    struct udp_kept *k = TMB_LIST_POP(&b->kept);
    free(k->memory);
    free(k);
  }
}

void udp_batch_put(struct tmb_net *e, struct udp_batch *b) {
  udp_batch_end(b);
  TMB_LIST_PUSH(&e->spare.batches, b);
}

void udp_batch_keep(struct tmb_net *e, struct udp_batch *b, void *memory) {
  struct udp_kept *k = malloc(sizeof *k);
  if (!k) e->up->fatal("no memory to receive");
  k->memory = memory;
  TMB_LIST_PUSH(&b->kept, k);
}

uint8_t *udp_batch_copy(struct tmb_net *e, struct udp_batch *b, const uint8_t *data,
                        uint32_t bytes) {
  const uint32_t room = TMB_ALIGN_UP(bytes, 64u);
  if (room > b->copies_left) {
    b->copies_left = TMB_MAX(room, COPIES_BYTES);
    b->copies = aligned_alloc(64, b->copies_left);
    if (!b->copies) e->up->fatal("no memory to receive");
    udp_batch_keep(e, b, b->copies);
  }
  uint8_t *copy = memcpy(b->copies, data, bytes);
  b->copies += room;
  b->copies_left -= room;
  return copy;
}

void udp_deliver_add(struct tmb_net *e, struct udp_batch *b, const struct udp_delivery *d) {
  if (b->count == b->capacity) {
    struct udp_delivery *more = realloc(b->list, 2 * b->capacity * sizeof *more);
    if (!more) e->up->fatal("no memory for %u messages", 2 * b->capacity);
    b->list = more;
    b->capacity *= 2;
  }
  b->list[b->count++] = *d;
}

void udp_deliver_message(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct udp_record *r) {
  static const TMB_ALIGNED(16) char empty[16]; /* handlers get an address of no bytes, too */
  const bool reply = (r->flags & UDP_REPLY) != 0;
  const bool medium = (r->flags & UDP_MEDIUM) != 0;
  const struct udp_delivery d = {.peer = p,
                                 .cost = reply ? 0 : udp_cost(r->bytes),
                                 .in = udp_message_of(p, r, medium ? TMB_AM_MEDIUM : TMB_AM_SHORT,
                                                      r->bytes ? r->payload : empty, r->bytes)};
  udp_deliver_add(e, b, &d);
}

/* Whether `serve` covers an entry. in by_thread: the progress thread may deliver it. */
static bool is_served(const struct udp_delivery *d, int serve, bool by_thread) {
  if (serve == TMB_SERVE_THREAD) return by_thread;
  return (serve & (d->in.is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS)) != 0;
}

/* Keep an entry: its own copy of arguments and payload. */
static void keep(struct tmb_net *e, const struct udp_delivery *d, bool by_thread) {
  const bool copies = d->in.category == TMB_AM_MEDIUM && d->in.nbytes;
  struct udp_held *h = malloc(sizeof *h + (copies ? d->in.nbytes : 0));
  if (!h) e->up->fatal("no memory to keep a message of %zu bytes", d->in.nbytes);
  h->delivery = *d;
  h->delivery.memory = h;
  h->delivery.buf = NULL;
  if (d->in.nargs) memcpy(h->args, d->in.args, d->in.nargs * sizeof *h->args);
  h->delivery.in.args = h->args;
  if (copies) h->delivery.in.payload = memcpy(h->payload, d->in.payload, d->in.nbytes);
  free(d->memory);
  if (d->buf) udp_buf_put(e, d->buf);
  h->by_thread = by_thread;
  if (by_thread) e->kept.by_thread++;
  TMB_QUEUE_ADD(&e->kept.first, &e->kept.last, h);
}

bool udp_deliver_kept(struct tmb_net *e, struct udp_batch *b, int serve) {
  struct udp_held *list = e->kept.first;
  e->kept.first = e->kept.last = NULL;
  for (struct udp_held *h; (h = TMB_LIST_POP(&list)) != NULL;)
    if (b->count < LIST_FIRST && is_served(&h->delivery, serve, h->by_thread)) {
      if (h->by_thread) e->kept.by_thread--;
      udp_deliver_add(e, b, &h->delivery);
    } else {
      TMB_QUEUE_ADD(&e->kept.first, &e->kept.last, h);
    }
  return b->count == LIST_FIRST;
}

void udp_deliver_hold(struct tmb_net *e, struct udp_batch *b, int serve) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    const bool by_thread = tmb_net_by_thread(e->thread_now, &b->list[i].in);
    if (is_served(&b->list[i], serve, by_thread))
      b->list[left++] = b->list[i];
    else
      keep(e, &b->list[i], by_thread);
  }
  b->count = left;
}

void udp_deliver_run(const struct udp_batch *b, void (*am)(const struct tmb_am_in *in)) {
  for (uint32_t i = 0; i < b->count; i++) am(&b->list[i].in);
}

void udp_deliver_credit(struct tmb_net *e, struct udp_batch *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    struct udp_delivery *d = &b->list[i];
    if (d->cost) udp_credit_back(e, d->peer, d->cost);
    udp_count(&e->stats->received, 1);
    free(d->memory);
    if (d->buf) udp_buf_put(e, d->buf);
  }
}
