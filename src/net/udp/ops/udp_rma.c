/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put, get, both with a signal, and Long messages.
 *
 * Owns the table of gets whose data have not all come. Called through the slots of udp.c; gets are
 * served from udp_recv.c. Calls udp_send.c for short operations, udp_xfer.c for the rest. A put of
 * up to UDP_COPY_MAX bytes is copied into packets, and its source is free at once; a longer one is
 * sent from where it lies, unless somebody awaits the end of its source. A put with a signal is one
 * message: the signal travels with the first part, and the target changes it when the last has
 * come. Invariant: data of a get are placed by the requester's own table, so the owner cannot write
 * anywhere else.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of sources that must be free on return and are copied. Chosen, not measured. */
#define COPY_LONG_MAX  (256u << 10) /* of one put */
/* Bytes of a source whose end somebody awaits, and that is copied: for longer ones the time of a
 * round trip counts less. Chosen. */
#define COPY_LOCAL_MAX (64u << 10)
/* Of these, bytes of one that is copied into a packet: longer ones are copied and sent from there.
 * Chosen; 16 KiB take 0.87 of the time so, 32 KiB 1.1 of it. */
#define COPY_FILL_MAX  (16u << 10)
#define COPIED_MAX     (1u << 20) /* for one peer at a time */
#define GETS_FIRST     64u        /* entries of the table of gets at first */
#define GET_INDEX_BITS 20u
#define GET_INDEX_MASK ((1u << GET_INDEX_BITS) - 1)

/* Try to send a short operation with its payload in packets. Returns whether it was, or in *rc
 * TMB_AGAIN. */
static bool send_short(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, const void *src,
                       uint64_t nbytes, int *rc) {
  const uint64_t most = TMB_MIN((uint64_t)COPY_LONG_MAX, e->config.stream_min - 1);
  if (nbytes > most || p->bulk.first) return false; /* transfers come first */
  struct udp_record one = *r;
  one.bytes = (uint32_t)nbytes;
  one.payload = src;
  one.total = nbytes;
  one.flags |= UDP_HEAD;
  const bool signals = one.action == UDP_ACT_SET || one.action == UDP_ACT_ADD;
  const uint8_t flags = signals ? UDP_QUIET : UDP_ACK_NOW;
  if (nbytes <= udp_payload_max(p, &one)) return udp_gather(e, p, &one, flags, UDP_REPLY_SLOTS);
  if (!udp_parts_are(p, nbytes)) return false;
  if (!udp_gather_parts(e, p, &one, src, flags, UDP_REPLY_SLOTS)) *rc = TMB_AGAIN;
  return true;
}

/* ---- puts
 *
 * Short ones are gathered as messages are (udp_small.c), unless a transfer waits. */

/* Whether so many more bytes may be copied for `p` now. */
static bool may_copy(const struct udp_peer *p, uint64_t nbytes) {
  return !p->bulk.copied || p->bulk.copied + nbytes <= COPIED_MAX;
}

/* Notify rma->op when `x` is complete, and that its source is free: at once if it is copied. */
static void complete_to(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x,
                        const struct tmb_rma *rma) {
  x->op = rma->op;
  x->category = rma->category;
  if (!rma->report_local) return;
  if (rma->nbytes > COPY_LOCAL_MAX || !may_copy(p, rma->nbytes)) {
    x->local_category = rma->local_category;
    return;
  }
  udp_xfer_copy(e, p, x);
  udp_done_add(e,
               &(struct udp_done){.op = rma->op, .category = rma->local_category, .peer = p->rank});
}

/* Whether a put is copied into a packet of its own, as the payload of a message is: somebody awaits
 * the end of its source, and packets are long enough. */
static bool fills_packet(const struct udp_peer *p, const struct udp_record *r,
                         const struct tmb_rma *rma) {
  return rma->report_local && rma->nbytes <= TMB_MIN(udp_payload_max(p, r), COPY_FILL_MAX) &&
         !p->bulk.first;
}

static int put_locked(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                      const struct tmb_rma *rma) {
  if (udp_small_is(p, rma) || fills_packet(p, r, rma)) {
    const int rc = udp_small_put(e, p, r, rma);
    udp_small_settle(e, p, rma->nbytes, rc);
    return rc;
  }
  if (udp_parts_are(p, rma->nbytes)) {
    const int rc = udp_small_parts(e, p, r, rma);
    udp_small_settle(e, p, rma->nbytes, rc);
    return rc;
  }
  if (rma->immediate && p->bulk.first) return TMB_AGAIN; /* others wait for the window */
  struct udp_xfer *x = udp_xfer_new(e, p, r, rma->local, rma->nbytes);
  complete_to(e, p, x, rma);
  udp_xfer_add(e, p, x);
  udp_out_flush(e);
  return 0;
}

/* A put that joins no open packet. */
static TMB_NOINLINE int put_unjoined(struct tmb_net *e, const struct tmb_rma *rma) {
  struct udp_record r = {.type = UDP_PUT, .addr = (uint64_t)(uintptr_t)rma->remote};
  udp_engine_clock(e);
  struct udp_peer *p = udp_peer_get(e, rma->peer);
  const int rc = p->lost ? 0 : put_locked(e, p, &r, rma);
  if (!rc && !p->lost) {
    udp_count(&e->stats->sent, 1);
    udp_count(&e->stats->bytes_out, rma->nbytes);
  }
  return rc;
}

int udp_put(struct tmb_net *e, const struct tmb_rma *rma) {
  udp_engine_lock_blind(e);
  if (TMB_LIKELY(udp_small_join(e, rma, NULL))) {
    udp_engine_unlock(e);
    return 0;
  }
  const int rc = put_unjoined(e, rma);
  udp_engine_unlock(e);
  return rc;
}

/* Continue an operation whose caller retries until its source has been read. Returns 0 when it
 * has. */
static int held_next(struct tmb_net *e, struct tmb_resume *resume) {
  struct udp_xfer *x = udp_xfer_held(e, resume->id);
  if (x && !x->complete) return TMB_AGAIN;
  if (x) udp_xfer_unhold(e, x);
  return 0;
}

/* A transfer whose source must be free when the call returns 0: copied, or the caller retries
 * until all of it is acknowledged. in patient: the caller waits as well as not. Returns 0 or
 * TMB_AGAIN. */
static int send_whole(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x,
                      struct tmb_resume *resume, bool patient) {
  const bool copies = (x->total <= COPY_LONG_MAX && !patient) || !resume;
  if (copies) {
    udp_xfer_copy(e, p, x);
    udp_xfer_add(e, p, x);
    return 0;
  }
  udp_xfer_hold(e, x);
  resume->started = true;
  resume->id = x->id;
  resume->at = 1;
  udp_xfer_add(e, p, x);
  return TMB_AGAIN;
}

static int put_signal_locked(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                             const struct tmb_rma *rma) {
  const bool unread = !rma->op; /* nobody could be notified later that the source is free */
  int rc = 0;
  if (unread && send_short(e, p, r, rma->local, rma->nbytes, &rc)) return rc;
  if (!unread && udp_small_is(p, rma)) return udp_small_put(e, p, r, rma);
  if (!unread && udp_parts_are(p, rma->nbytes)) return udp_small_parts(e, p, r, rma);
  if (unread && rma->nbytes <= COPY_LONG_MAX && rma->resume && !may_copy(p, rma->nbytes))
    return TMB_AGAIN;
  struct udp_xfer *x = udp_xfer_new(e, p, r, rma->local, rma->nbytes);
  if (unread) return send_whole(e, p, x, rma->resume, false);
  complete_to(e, p, x, rma);
  udp_xfer_add(e, p, x);
  return 0;
}

/* A put with a signal that joins no open packet. in again: it has begun in an earlier call. */
static TMB_NOINLINE int put_signal_unjoined(struct tmb_net *e, const struct tmb_rma *rma,
                                            const struct tmb_signal *signal, bool again) {
  struct udp_record r = {.type = UDP_PART,
                         .action = udp_action_of(signal),
                         .addr = (uint64_t)(uintptr_t)rma->remote,
                         .signal_addr = (uint64_t)(uintptr_t)signal->addr,
                         .signal_value = signal->value};
  int rc = 0;
  udp_engine_clock(e);
  struct udp_peer *p = udp_peer_get(e, rma->peer);
  if (again)
    rc = held_next(e, rma->resume);
  else if (!p->lost)
    rc = put_signal_locked(e, p, &r, rma);
  if (!again && (!rc || (rma->resume && rma->resume->started))) {
    udp_count(&e->stats->sent, 1);
    udp_count(&e->stats->bytes_out, rma->nbytes);
  }
  udp_small_settle(e, p, rma->nbytes, rc);
  return rc;
}

int udp_put_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  const bool again = rma->resume && rma->resume->started;
  udp_engine_lock_blind(e);
  if (rma->op && !again && udp_small_join(e, rma, signal)) {
    udp_engine_unlock(e);
    return 0;
  }
  const int rc = put_signal_unjoined(e, rma, signal, again);
  udp_engine_unlock(e);
  return rc;
}

/* ---- Long messages */

static int long_locked(struct tmb_net *e, struct udp_peer *p, struct tmb_am_out *out) {
  const uint32_t cost = out->is_reply ? 0 : udp_cost(0);
  out->lacks = TMB_LACKS_CREDIT;
  if (cost && !udp_credit(e, p, cost, false)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_WINDOW;
  struct udp_record r = {.type = UDP_PART,
                         .flags = out->is_reply ? UDP_REPLY : 0,
                         .action = UDP_ACT_LONG,
                         .handler = out->handler,
                         .nargs = out->nargs,
                         .route = out->route,
                         .args = out->args,
                         .addr = (uint64_t)(uintptr_t)out->dest};
  int rc = 0;
  if (out->patient || !send_short(e, p, &r, out->src, out->nbytes, &rc)) {
    if (out->nbytes <= COPY_LONG_MAX && !out->patient && !may_copy(p, out->nbytes))
      return TMB_AGAIN;
    rc = send_whole(e, p, udp_xfer_new(e, p, &r, out->src, out->nbytes), out->resume, out->patient);
  } else if (rc) {
    return rc;
  }
  p->credit.sent += cost;
  udp_count(&e->stats->sent, 1);
  udp_count(&e->stats->bytes_out, out->nbytes);
  return rc;
}

int udp_am_long(struct tmb_net *e, struct tmb_am_out *out) {
  udp_engine_lock(e);
  int rc = 0;
  struct udp_peer *p = udp_peer_get(e, out->peer);
  if (out->resume && out->resume->started)
    rc = held_next(e, out->resume);
  else if (!p->lost)
    rc = long_locked(e, p, out);
  udp_gather_settle(e, p);
  udp_engine_unlock(e);
  return rc;
}

/* ---- gets: the side that asks */

static bool gets_grow(struct tmb_net *e) {
  const uint32_t count = e->gets.count ? 2 * e->gets.count : GETS_FIRST;
  if (count > GET_INDEX_MASK) return false;
  struct udp_get *more = realloc(e->gets.list, count * sizeof *more);
  if (!more) return false;
  for (uint32_t i = e->gets.count; i < count; i++) {
    more[i] = (struct udp_get){.next_free = e->gets.free};
    e->gets.free = i;
  }
  e->gets.list = more;
  e->gets.count = count;
  return true;
}

void udp_get_end(struct tmb_net *e, uint32_t index) {
  struct udp_get *g = &e->gets.list[index];
  g->used = false;
  g->generation++;
  g->next_free = e->gets.free;
  e->gets.free = index;
}

int udp_get_ask(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                const struct udp_get *get) {
  const uint32_t cost = udp_cost(0);
  if (!udp_credit(e, p, cost, true)) return TMB_AGAIN;
  if (e->gets.free == UINT32_MAX && !gets_grow(e)) return TMB_AGAIN;
  const uint32_t index = e->gets.free;
  struct udp_get *g = &e->gets.list[index];
  r->id = index | (uint32_t)g->generation << GET_INDEX_BITS;
  if (!udp_gather(e, p, r, 0, UDP_REPLY_SLOTS)) return TMB_AGAIN;
  e->gets.free = g->next_free;
  const uint16_t generation = g->generation;
  *g = *get;
  g->peer = p->rank;
  g->generation = generation;
  g->used = true;
  p->credit.sent += cost;
  udp_count(&e->stats->sent, 1);
  return 0;
}

static int get_locked(struct tmb_net *e, struct udp_peer *p, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  struct udp_record r = {
      .type = UDP_GET, .addr = (uint64_t)(uintptr_t)rma->remote, .total = rma->nbytes};
  if (signal) {
    r.action = udp_action_of(signal);
    r.signal_addr = (uint64_t)(uintptr_t)signal->addr;
    r.signal_value = signal->value;
  }
  return udp_get_ask(
      e, p, &r,
      &(struct udp_get){
          .op = rma->op, .local = rma->local, .total = rma->nbytes, .category = rma->category});
}

int udp_get_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  udp_engine_lock(e);
  int rc = 0;
  struct udp_peer *p = udp_peer_get(e, rma->peer);
  if (!p->lost) rc = get_locked(e, p, rma, signal);
  udp_gather_settle(e, p);
  udp_engine_unlock(e);
  return rc;
}

int udp_get(struct tmb_net *e, const struct tmb_rma *rma) {
  return udp_get_signal(e, rma, NULL);
}

/* The get that a record answers, or NULL: none does it fit. */
static struct udp_get *get_of(struct tmb_net *e, const struct udp_peer *p,
                              const struct udp_record *r) {
  const uint32_t index = r->id & GET_INDEX_MASK;
  if (index >= e->gets.count) return NULL;
  struct udp_get *g = &e->gets.list[index];
  const uint32_t generation = g->generation & (UINT32_MAX >> GET_INDEX_BITS);
  if (!g->used || g->peer != p->rank || generation != r->id >> GET_INDEX_BITS) return NULL;
  if (r->addr > g->total || r->bytes > g->total - r->addr || r->bytes > g->total - g->come)
    return NULL;
  return g;
}

uint8_t *udp_get_place(struct tmb_net *e, const struct udp_peer *p, const struct udp_record *r) {
  const struct udp_get *g = get_of(e, p, r);
  return g ? g->local + r->addr : NULL;
}

bool udp_get_data(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  struct udp_get *g = get_of(e, p, r);
  if (!g) return false;
  if (r->bytes && r->payload) memcpy(g->local + r->addr, r->payload, r->bytes);
  g->come += r->bytes;
  if (g->come < g->total) return true;
  udp_done_add(e, &(struct udp_done){.op = g->op, .category = g->category, .peer = g->peer});
  udp_get_end(e, r->id & GET_INDEX_MASK);
  return true;
}

/* ---- gets: the side that is asked */

/* Gather the data of a get, if they are short. Returns whether they were. */
static bool gather_data(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                        const uint8_t *src) {
  struct udp_record data = {.type = UDP_DATA, .id = r->id, .total = r->total};
  if (r->total > UDP_COPY_MAX || p->bulk.first) return false;
  data.bytes = (uint32_t)r->total;
  const bool long_one = r->total > udp_payload_max(p, &data) && udp_parts_are(p, r->total);
  if (long_one || udp_gather_splits(p, &data, 0)) return udp_gather_parts(e, p, &data, src, 0, 0);
  if (r->total > udp_payload_max(p, &data)) return false;
  data.payload = src;
  return udp_gather(e, p, &data, 0, 0);
}

void udp_get_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r) {
  const uint8_t *src = NULL;
  void *signal = NULL;
  if (r->total) src = udp_target(e, p, r->addr, r->total);
  if (r->action != UDP_ACT_NONE) signal = udp_target(e, p, r->signal_addr, sizeof(uint64_t));
  if ((r->total && !src) || (r->action != UDP_ACT_NONE && !signal)) return;
  const uint32_t op = r->action == UDP_ACT_SET ? TMB_SIGNAL_SET : TMB_SIGNAL_ADD;
  if (gather_data(e, p, r, src)) {
    udp_credit_back(e, p, udp_cost(0));
    if (signal)
      udp_done_add(e, &(struct udp_done){.addr = signal, .category = op, .value = r->signal_value});
    return;
  }
  const struct udp_record data = {.type = UDP_DATA, .id = r->id};
  struct udp_xfer *x = udp_xfer_new(e, p, &data, src, r->total);
  x->cost = udp_cost(0);
  x->signal = signal;
  x->signal_op = op;
  x->record.signal_value = r->signal_value;
  udp_xfer_add(e, p, x);
}
