/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From completions to messages that may be served, see ofi_engine.h.
 *
 * Owns nothing beyond the engine. Called by ofi_progress.c, under the engine's lock. Calls:
 * libfabric by its table, ofi_send.c, ofi_rma.c, ofi_region.c. Completions are read a few at a
 * time; a message is delivered from the buffer in which it came. A request that may not be served
 * yet is held in its buffer while enough others are posted, else in a copy: so replies always find
 * a buffer, and the held ones are bounded by the credit of the peers. Invariants: a message is
 * checked, length by length, before anything of it is used.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"
#include "net/ofi/ofi_silent.h"

#include <stdlib.h>

#define EVENTS_MOST 64 /* completions that one call deals with beside messages; chosen */

/* ---- receive buffers */

void ofi_post(struct tmb_net *net, struct ofi_buffer *b) {
  const struct iovec part = {b->data, OFI_MESSAGE_MAX};
  const struct fi_msg message = {.msg_iov = &part,
                                 .desc = &b->pool->desc,
                                 .iov_count = 1,
                                 .addr = FI_ADDR_UNSPEC,
                                 .context = b};
  const ssize_t rc = net->calls->recv(net->rail[0].ep, &message);
  if (rc == 0) return;
  if (rc != -FI_EAGAIN && rc != -FI_ENOMEM) ofi_fatal(net, "no receive can be posted", (int)-rc);
  TMB_LIST_PUSH(&net->in.unposted, &b->op);
}

void ofi_post_rest(struct tmb_net *net) {
  struct ofi_op *list = net->in.unposted;
  net->in.unposted = NULL;
  while (list) ofi_post(net, ofi_buffer_of(TMB_LIST_POP(&list)));
}

/* One user less of a batch: the reader, or a part that was delivered. */
static void leave_batch(struct tmb_net *net, struct ofi_buffer *batch) {
  if (--batch->users == 0) ofi_post(net, batch);
}

/* Post the buffer of a handled message again. */
static void recycle(struct tmb_net *net, struct ofi_buffer *b) {
  if (b->batch) leave_batch(net, b->batch);
  if (b->pool)
    ofi_post(net, b);
  else
    ofi_buffer_put(b);
}

/* Keep a message until it may be served. */
static void hold(struct tmb_net *net, struct ofi_buffer *b, struct ofi_queue *queue) {
  if (b->batch || net->in.held_count >= net->bufs.receives.count / 2) {
    struct ofi_buffer *const copy = ofi_buffer_copy(b);
    if (!copy) ofi_fatal(net, "a message cannot be kept", 0);
    recycle(net, b);
    b = copy;
    net->in.held_bytes += b->bytes;
  } else {
    net->in.held_count++;
  }
  TMB_LIST_EXTEND(&queue->last, &b->op);
}

static struct ofi_buffer *unhold(struct tmb_net *net, struct ofi_queue *queue) {
  struct ofi_buffer *const b = ofi_buffer_of(TMB_LIST_POP(&queue->first));
  if (!queue->first) queue->last = &queue->first;
  if (b->pool)
    net->in.held_count--;
  else
    net->in.held_bytes -= b->bytes;
  return b;
}

bool ofi_holds_any(const struct tmb_net *net) {
  bool any = net->in.batch != NULL;
  for (int i = 0; i < TMB_NET_HELD; i++) any = any || net->in.held[i].first;
  return any;
}

/* ---- arrived messages */

/* Whether a rank may send messages of a kind here: one on another host, or one of this host for
 * atomic operations. */
static bool is_sender(const struct tmb_net *net, uint32_t rank, uint8_t kind) {
  return rank < net->env.size && (net->env.host_of[rank] != net->env.host ||
                                  (net->atomics.any && kind >= OFI_CREDIT && kind != OFI_SIGNAL));
}

static size_t message_bytes(const struct ofi_head *h) {
  return h->nbytes ? ofi_payload_at(h->nargs) + h->nbytes : sizeof *h + 4u * h->nargs;
}

/* Whether the payload of a message has a length of its kind. */
static bool is_sized(const struct ofi_head *h) {
  static const uint32_t own_bytes[OFI_KINDS] = {
      [OFI_LONG] = sizeof(struct ofi_place),    [OFI_ASK] = sizeof(struct ofi_region),
      [OFI_REGION] = sizeof(struct ofi_region), [OFI_FREED] = sizeof(struct ofi_region),
      [OFI_SIGNAL] = sizeof(struct ofi_change), [OFI_CHANGED] = sizeof(struct ofi_change),
      [OFI_ATOMIC] = sizeof(struct ofi_rmw),    [OFI_RESULT] = sizeof(struct ofi_rmw),
      [OFI_WRITTEN] = sizeof(struct ofi_write)};
  if (h->kind == OFI_PUT) return h->nbytes > sizeof(struct ofi_write);
  if (h->kind == OFI_BATCH) return h->nbytes != 0;
  return h->kind == OFI_MEDIUM || h->nbytes == own_bytes[h->kind];
}

/* Whether a message is one of a rank of this job. */
static bool is_good(const struct tmb_net *net, const struct ofi_buffer *b) {
  const struct ofi_head *h = ofi_head_of(b);
  return b->bytes >= sizeof *h && h->token == net->token && is_sender(net, h->src, h->kind) &&
         h->kind < OFI_KINDS && h->is_reply <= 1 && tmb_am_args_fit(h->nargs, h->route) &&
         h->nbytes <= TMB_AM_MEDIUM_BYTES_MAX && is_sized(h) && b->bytes == message_bytes(h);
}

/* Whether a message is only a probe of the receiver, or the answer to one. */
static bool is_life(const struct ofi_buffer *b) {
  const struct ofi_head *h = ofi_head_of(b);
  return (h->kind == OFI_PROBE || h->kind == OFI_PROBED) && !h->returned;
}

/* Send the answer to a message that has one. Returns whether it has none, or it is sent. */
static bool answer(struct tmb_net *net, const struct ofi_buffer *b) {
  const struct ofi_head *h = ofi_head_of(b);
  const char *const payload = b->data + ofi_payload_at(h->nargs);
  if (h->kind == OFI_SIGNAL) return !ofi_send_own(net, h->src, OFI_CHANGED, payload, h->nbytes);
  if (h->kind == OFI_ATOMIC) return !ofi_send_own(net, h->src, OFI_RESULT, payload, h->nbytes);
  const struct ofi_write *const write = (const struct ofi_write *)(const void *)payload;
  if (h->kind != OFI_PUT || !write->answers) return true;
  return !ofi_send_own(net, h->src, OFI_WRITTEN, write, sizeof *write);
}

/* Keep a message until it can be answered. */
static void answer_later(struct tmb_net *net, struct ofi_buffer *b) {
  if (!b) ofi_fatal(net, "a message cannot be kept", 0);
  TMB_LIST_PUSH(&net->in.unanswered, &b->op);
}

void ofi_finish(struct tmb_net *net, struct ofi_buffer *b) {
  if (TMB_UNLIKELY(!answer(net, b))) {
    struct ofi_buffer *const kept = b->pool || b->batch ? ofi_buffer_copy(b) : b;
    answer_later(net, kept);
    if (kept == b) return;
  }
  recycle(net, b);
}

/* A message of the conduit itself that needs no poll of the client. */
static void serve_own(struct tmb_net *net, const struct ofi_buffer *b, struct ofi_peer *p) {
  const struct ofi_head *h = ofi_head_of(b);
  char *const payload = b->data + ofi_payload_at(h->nargs);
  if (h->kind == OFI_PROBE) {
    p->life.answer_due = true;
    ofi_send_later(net, h->src);
  } else if (h->kind == OFI_CHANGED) {
    ofi_access_changed(net, h->src, (const struct ofi_change *)(const void *)payload);
  } else if (h->kind == OFI_RESULT) {
    ofi_access_result(net, h->src, (const struct ofi_rmw *)(const void *)payload);
  } else if (h->kind == OFI_ATOMIC) {
    ofi_atomic_serve(net, h->src, payload);
    p->owed++;
  } else if (h->kind == OFI_PUT) {
    ofi_write_serve(net, h->src, payload, h->nbytes);
    p->owed += ((const struct ofi_write *)(const void *)payload)->answers;
  } else if (h->kind == OFI_WRITTEN) {
    ofi_access_written(net, h->src, (const struct ofi_write *)(const void *)payload);
  } else {
    ofi_region_message(net, h, payload);
  }
}

/* Whether the rest of a batch begins with a message. out bytes of part: of that message. */
static bool find_part(struct tmb_net *net, struct ofi_buffer *part) {
  const struct ofi_head *h = ofi_head_of(part);
  const size_t bytes = part->bytes < sizeof *h ? SIZE_MAX : message_bytes(h);
  if (bytes <= part->bytes) part->bytes = (uint32_t)bytes;
  if (is_good(net, part) && h->src == part->op.peer && h->kind != OFI_BATCH) return true;
  tmb_count_rlx(&net->env.stats->refused, 1);
  return false;
}

/* A message of a batch that is to be delivered. It stays where it came. */
static struct ofi_buffer *lend_part(struct tmb_net *net, const struct ofi_buffer *part) {
  struct ofi_buffer *const b = malloc(sizeof *b);
  if (!b) ofi_fatal(net, "a message cannot be kept", 0);
  *b = *part;
  b->batch->users++;
  return b;
}

/* The next message of the batch that is being read. Returns NULL if it needs no delivery, and is
 * served. */
static struct ofi_buffer *next_part(struct tmb_net *net) {
  struct ofi_buffer *const batch = net->in.batch, *b = NULL;
  const uint32_t at = net->in.batch_at;
  struct ofi_buffer part = {.op = {.use = batch->op.use, .peer = batch->op.peer},
                            .batch = batch,
                            .data = batch->data + at,
                            .bytes = batch->bytes - at};
  const bool good = find_part(net, &part);
  const uint8_t kind = good ? ofi_head_of(&part)->kind : OFI_KINDS;
  if (good && (kind <= OFI_LONG || kind == OFI_SIGNAL)) {
    b = lend_part(net, &part);
  } else if (good) {
    serve_own(net, &part, ofi_peer_of(net, part.op.peer));
    if (!answer(net, &part)) answer_later(net, ofi_buffer_copy(&part));
  }
  net->in.batch_at += TMB_ALIGN_UP(part.bytes, OFI_ALIGN);
  if (good && net->in.batch_at < batch->bytes) return b;
  net->in.batch = NULL;
  leave_batch(net, batch);
  return b;
}

/* A message has come. Returns it if it is to be delivered. */
static struct ofi_buffer *arrived(struct tmb_net *net, struct ofi_buffer *b) {
  struct tmb_net_stats *stats = net->env.stats;
  tmb_count_rlx(&stats->packets_in, 1);
  if (!is_good(net, b)) {
    tmb_count_rlx(&stats->refused, 1);
    recycle(net, b);
    return NULL;
  }
  const struct ofi_head *h = ofi_head_of(b);
  b->op.peer = h->src;
  struct ofi_peer *const p = ofi_peer_of(net, h->src);
  p->life.heard = true;
  net->client.moved = net->client.moved || !is_life(b);
  if (h->returned) ofi_credit_back(net, h->src, h->returned);
  if (h->kind <= OFI_LONG || h->kind == OFI_SIGNAL) return b;
  if (h->kind == OFI_BATCH) {
    net->in.batch = b;
    net->in.batch_at = (uint32_t)ofi_payload_at(0);
    b->users = 1;
    return NULL;
  }
  serve_own(net, b, p);
  ofi_finish(net, b);
  return NULL;
}

/* An operation has failed. */
static void failed(struct tmb_net *net) {
  struct fi_cq_err_entry error = {0};
  const ssize_t rc = net->calls->cq_readerr(net->rail[net->cq.rail].cq, &error);
  if (rc < 0 && rc != -FI_EAGAIN) ofi_fatal(net, "the completion queue is broken", (int)-rc);
  struct ofi_op *const op = rc == 1 ? error.op_context : NULL;
  if (!op) return;
  if (op->use == OFI_USE_RECV) {
    recycle(net, ofi_buffer_of(op));
    return;
  }
  if (op->use == OFI_USE_QUESTION) {
    ofi_silent_sent(net, op, error.err);
    return;
  }
  net->tx_busy--;
  net->client.moved = true;
  if (op->use == OFI_USE_ACCESS && ofi_access_again(net, op, error.err)) return;
  if (op->use == OFI_USE_ACCESS) ofi_atomic_failed(net, op, error.err);
  ofi_peer_break(net, op->peer, error.err);
  if (op->use == OFI_USE_SEND)
    ofi_buffer_put(ofi_buffer_of(op));
  else
    ofi_access_failed(net, op);
}

/* One completion. Returns a message that is to be delivered, or NULL. */
static struct ofi_buffer *completed(struct tmb_net *net, const struct fi_cq_data_entry *event) {
  struct ofi_op *const op = event->op_context;
  if (!op) return NULL;
  if (op->use == OFI_USE_RECV) {
    struct ofi_buffer *const b = ofi_buffer_of(op);
    b->bytes = (uint32_t)event->len;
    return arrived(net, b);
  }
  if (TMB_UNLIKELY(op->use == OFI_USE_QUESTION)) {
    ofi_silent_sent(net, op, 0);
    return NULL;
  }
  net->tx_busy--;
  net->client.moved = net->client.moved || op->use != OFI_USE_SEND || !is_life(ofi_buffer_of(op));
  if (op->use == OFI_USE_SEND) {
    ofi_buffer_put(ofi_buffer_of(op));
  } else {
    net->peers.of[op->peer]->life.heard = true;
    ofi_access_done(net, op);
  }
  return NULL;
}

/* Completions of the first rail that has any, from the one behind that which was read last. Returns
 * their number or a code of libfabric. */
static TMB_NOINLINE ssize_t read_rails(struct tmb_net *net) {
  ssize_t count = -FI_EAGAIN;
  for (uint32_t i = 0; i < net->rails && count == -FI_EAGAIN; i++) {
    net->cq.rail = (net->cq.rail + 1) % net->rails;
    const struct ofi_rail *rail = &net->rail[net->cq.rail];
    if (rail->ep) count = net->calls->cq_read(rail->cq, net->cq.events, OFI_EVENTS);
  }
  return count;
}

/* Read completions. Returns whether there are any. */
static bool refill(struct tmb_net *net) {
  net->cq.at = net->cq.count = 0;
  const ssize_t count = TMB_LIKELY(net->rails == 1)
                            ? net->calls->cq_read(net->rail[0].cq, net->cq.events, OFI_EVENTS)
                            : read_rails(net);
  if (count > 0) net->cq.count = (uint32_t)count;
  if (count > 0 || count == -FI_EAGAIN) return count > 0;
  if (count == -FI_EAVAIL) {
    failed(net);
    return true;
  }
  ofi_fatal(net, "the completion queue cannot be read", (int)-count);
}

/* Whether the progress thread may deal with a message while the client computes: one whose handler
 * env->thread_now names, or a signal. */
static bool is_by_thread(const struct tmb_net *net, const struct ofi_buffer *b) {
  const struct ofi_head *h = ofi_head_of(b);
  const struct tmb_am_in in = {.category = h->kind, .handler = h->handler};
  return h->kind == OFI_SIGNAL ||
         (h->kind <= OFI_LONG && tmb_net_by_thread(net->env.thread_now, &in));
}

/* Where a message waits until it is served: requests and others, and both for the thread. */
static int queue_of(const struct tmb_net *net, const struct ofi_buffer *b) {
  return (ofi_credit_units(b) == 0) + 2 * is_by_thread(net, b);
}

struct ofi_buffer *ofi_next_message(struct tmb_net *net, int serve, uint32_t *dealt) {
  for (int i = 0; i < TMB_NET_HELD; i++)
    if (TMB_UNLIKELY(net->in.held[i].first != NULL) && tmb_net_serves(serve, i))
      return unhold(net, &net->in.held[i]);
  while (*dealt < EVENTS_MOST) {
    struct ofi_buffer *b = NULL;
    if (TMB_UNLIKELY(net->in.batch != NULL)) {
      b = next_part(net);
    } else if (net->cq.at == net->cq.count) {
      /* A read that returned fewer completions than it may was the last of this call: one more
       * costs system calls between a message and what its receiver does next. */
      const bool emptied = *dealt && net->cq.count && net->cq.count < OFI_EVENTS;
      if (emptied || !refill(net)) return NULL;
      if (!net->cq.count) ++*dealt;
      continue;
    } else {
      ++*dealt;
      b = completed(net, &net->cq.events[net->cq.at++]);
    }
    if (!b) continue;
    if (serve == TMB_SERVE_ALL) return b;
    const int queue = queue_of(net, b);
    if (tmb_net_serves(serve, queue)) return b;
    hold(net, b, &net->in.held[queue]);
  }
  return NULL;
}

uint32_t ofi_owe(struct tmb_net *net, const struct ofi_buffer *b) {
  if (!b) return 0;
  const struct ofi_head *h = ofi_head_of(b);
  if (h->kind != OFI_SIGNAL) {
    tmb_count_rlx(&net->env.stats->received, 1);
    tmb_count_rlx(&net->env.stats->bytes_in, h->nbytes);
  }
  const uint32_t units = ofi_credit_units(b);
  if (units) ofi_peer_of(net, b->op.peer)->owed += units;
  return units;
}

void ofi_hand_up(struct tmb_net *net, const struct ofi_buffer *b,
                 void (*am)(const struct tmb_am_in *in)) {
  const struct ofi_head *h = ofi_head_of(b);
  char *const payload = b->data + ofi_payload_at(h->nargs);
  if (h->kind == OFI_SIGNAL) {
    ofi_signal_message(net, h, payload);
    return;
  }
  struct tmb_am_in in = {TMB_AM_HEAD(h),
                         .src = h->src,
                         .category = h->kind,
                         .args = (const int32_t *)(const void *)(h + 1),
                         .payload = h->kind == OFI_SHORT ? NULL : payload,
                         .nbytes = h->nbytes};
  if (h->kind == OFI_LONG && !ofi_long_take(net, h, payload, &in))
    net->env.up->fatal("ofi: rank %u names a payload of a message that lies in no segment", h->src);
  am(&in);
}

void ofi_answer_rest(struct tmb_net *net) {
  struct ofi_op *list = net->in.unanswered;
  net->in.unanswered = NULL;
  while (list) ofi_finish(net, ofi_buffer_of(TMB_LIST_POP(&list)));
}
