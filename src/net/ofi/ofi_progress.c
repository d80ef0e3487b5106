/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: completions and arrivals, see ofi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table. Calls: libfabric by its table,
 * env->up. Completions are read a few at a time; a message is delivered from the buffer in which it
 * came, with the lock released. A request that may not be served yet is held in its buffer while
 * enough others are posted, else in a copy: so replies always find a buffer, and the held ones are
 * bounded by the credit of the peers. Invariants: a message is checked, length by length, before
 * anything of it is used.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"
#include "net/ofi/ofi_silent.h"
#include "net/plugin/progress_thread.h"
#include "net/plugin/verdict.h"
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Work of one call of progress, and its times. Chosen, not measured. */
#define PROGRESS_BATCH 32 /* messages */
#define EVENTS_MOST    64 /* completions that one call deals with beside messages */
#define NS_PER_S       UINT64_C(1000000000)
#define LATE_NS        UINT64_C(1000000)   /* from a timer of a client that sleeps to its waking */
#define TEND_HELD_MAX  (UINT64_C(8) << 20) /* bytes of copies that the progress thread keeps */
#define BLIND_NS       UINT64_C(1000000)   /* longest sleep while something is in flight */
#define LOOK_TICKS     256                 /* calls between searches for silent peers */
#define BATCH_POLLS    2                   /* for which a batch waits for further messages */

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

static void post_rest(struct tmb_net *net) {
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

static bool holds_any(const struct tmb_net *net) {
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

/* A message that the engine answers, or that answers one, is over: it is answered, its buffer used
 * again. Atomic operations have been performed before. */
static void finish(struct tmb_net *net, struct ofi_buffer *b) {
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
  finish(net, b);
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

/* The next message that may be served, or NULL. A read that returned fewer completions than it may
 * was the last of this call: one more costs system calls between a message and what its receiver
 * does next. in serve: TMB_SERVE_* or TMB_SERVE_THREAD; out dealt: of completions. */
static struct ofi_buffer *next_message(struct tmb_net *net, int serve, uint32_t *dealt) {
  for (int i = 0; i < TMB_NET_HELD; i++)
    if (TMB_UNLIKELY(net->in.held[i].first != NULL) && tmb_net_serves(serve, i))
      return unhold(net, &net->in.held[i]);
  while (*dealt < EVENTS_MOST) {
    struct ofi_buffer *b = NULL;
    if (TMB_UNLIKELY(net->in.batch != NULL)) {
      b = next_part(net);
    } else if (net->cq.at == net->cq.count) {
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

/* Count a message that is about to be given to core. in b: NULL: there is none. */
static void count_message(struct tmb_net *net, const struct ofi_buffer *b) {
  const struct ofi_head *h = b ? ofi_head_of(b) : NULL;
  if (!h || h->kind == OFI_SIGNAL) return;
  tmb_count_rlx(&net->env.stats->received, 1);
  tmb_count_rlx(&net->env.stats->bytes_in, h->nbytes);
}

/* Note the credit that a message takes until it is over. in b: NULL: there is none. Returns its
 * units. */
static uint32_t owe(struct tmb_net *net, const struct ofi_buffer *b) {
  const uint32_t units = b ? ofi_credit_units(b) : 0;
  if (units) ofi_peer_of(net, b->op.peer)->owed += units;
  return units;
}

/* Give a message to core, by one of its upcalls; without the lock. */
static void hand_up(struct tmb_net *net, const struct ofi_buffer *b,
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

static void answer_rest(struct tmb_net *net) {
  struct ofi_op *list = net->in.unanswered;
  net->in.unanswered = NULL;
  while (list) finish(net, ofi_buffer_of(TMB_LIST_POP(&list)));
}

/* ---- peers that cannot be reached: their launcher says that they have ended, or time passes */

/* Under the lock. Whether a peer is to be reported, once. */
static bool is_lost(struct tmb_net *net, struct ofi_peer *p, uint64_t now) {
  if (!p || !p->broken || !p->broken_ns) return false;
  if (!p->life.silent && now - p->broken_ns < net->timeout_ns) return false;
  if (!ofi_silent_blames(net, p)) return false;
  p->broken_ns = 0;
  net->peers.broken--;
  return true;
}

static void report_lost(struct tmb_net *net) {
  if (!net->timeout_ns) return;
  const uint64_t now = tmb_os_now_ns();
  for (uint32_t i = 0; i < net->env.size; i++) {
    tmb_lock_acquire_shared(&net->lock);
    struct ofi_peer *const p = net->peers.of[i];
    const bool lost = is_lost(net, p, now);
    tmb_lock_release(&net->lock);
    if (lost) net->env.up->peer_lost(i, ofi_silent_why(net, p));
  }
  tmb_lock_acquire_shared(&net->lock);
  const bool cut_off = net->silent.cut_off && !net->silent.cut_off_known;
  if (cut_off) net->peers.broken--;
  net->silent.cut_off_known = net->silent.cut_off;
  tmb_lock_release(&net->lock);
  if (cut_off) net->env.up->peer_lost(net->env.rank, TMB_CUT_OFF_WHY);
}

/* ---- the slots */

/* Under the lock: work that needs no message. in polls: of the client, for which a batch waits.
 * Returns whether something was done. */
static bool housekeeping(struct tmb_net *net, uint64_t polls) {
  if (TMB_UNLIKELY(net->client.tick % LOOK_TICKS == 0)) (void)ofi_silent_look(net);
  if (TMB_UNLIKELY(net->in.unposted != NULL)) post_rest(net);
  if (TMB_UNLIKELY(net->in.unanswered != NULL)) answer_rest(net);
  bool done = TMB_UNLIKELY(net->peers.todo != 0) && ofi_send_rest(net);
  if (TMB_UNLIKELY(net->peers.batches != 0)) done = ofi_send_batches(net, polls) || done;
  if (TMB_UNLIKELY(net->access.pending != NULL)) done = ofi_access_rest(net) || done;
  if (TMB_UNLIKELY(net->access.again != NULL)) done = ofi_access_retry(net) || done;
  return done;
}

static void empty_nudge(struct tmb_net *net) {
  uint64_t times;
  const ssize_t got = read(net->client.nudge, &times, sizeof times);
  net->client.nudged = got < 0 && errno == EINTR;
}

/* Something has changed that the client may wait for: a message, a completion, credit, a buffer. If
 * it is about to sleep after all, or has not been scheduled yet, the queue no longer shows it. */
static void nudge(struct tmb_net *net) {
  const uint64_t one = 1;
  if (net->client.nudged || net->client.nudge < 0) return;
  net->client.nudged = write(net->client.nudge, &one, sizeof one) == (ssize_t)sizeof one;
}

/* Whether the thread may read completions: it keeps copies of those for the client. */
static bool has_room(struct tmb_net *net) {
  return net->in.held_bytes < TEND_HELD_MAX || ofi_silent_full(net);
}

/* The progress thread waits, in a handler, for room for a reply. */
static int wait_in_handler(struct tmb_net *net) {
  uint32_t dealt = 0;
  if (tmb_load_rlx(&net->ended) || tmb_load_rlx(&net->client.ends)) return TMB_E_SYS;
  if (!tmb_lock_try_shared(&net->lock)) return TMB_FOUND_BUSY;
  const bool done = housekeeping(net, 0);
  if (has_room(net)) (void)next_message(net, TMB_SERVE_NOTHING, &dealt);
  if (dealt || done) nudge(net);
  tmb_lock_release(&net->lock);
  return TMB_FOUND_NOTHING;
}

int ofi_progress(struct tmb_net *net, int serve) {
  int found = TMB_FOUND_NOTHING;
  uint32_t dealt = 0;
  if (TMB_UNLIKELY(serve == TMB_SERVE_NOTHING)) return wait_in_handler(net);
  if (tmb_load_rlx(&net->ended)) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try_shared(&net->lock)) return TMB_FOUND_BUSY;
  tmb_store_rlx(&net->client.tick, net->client.tick + 1);
  if (TMB_UNLIKELY(net->client.nudged)) empty_nudge(net);
  if (housekeeping(net, BATCH_POLLS)) found = TMB_FOUND_WORK;
  for (int i = 0; i < PROGRESS_BATCH; i++) {
    struct ofi_buffer *const b = next_message(net, serve, &dealt);
    struct ofi_op *const done = net->access.done;
    net->access.done = NULL;
    const uint32_t units = owe(net, b);
    if (!b && !done) break;
    count_message(net, b);
    tmb_lock_release(&net->lock);
    found |= TMB_FOUND_WORK;
    ofi_access_report(net, done);
    if (b) hand_up(net, b, net->env.up->am);
    tmb_lock_acquire_shared(&net->lock);
    ofi_access_free(net, done);
    if (!b) break;
    const uint32_t peer = b->op.peer;
    finish(net, b);
    if (units) ofi_credit_return(net, peer);
  }
  if (net->client.moved) found |= TMB_FOUND_WORK;
  net->client.moved = false;
  const bool broken = net->peers.broken != 0;
  tmb_lock_release(&net->lock);
  if (TMB_UNLIKELY(broken)) report_lost(net);
  return found;
}

/* Whether something is in flight, or waits for room. */
static bool is_busy(const struct tmb_net *net) {
  return net->tx_busy || net->peers.todo || net->peers.batches || net->in.unposted ||
         net->in.unanswered || net->access.pending || net->access.again;
}

/* For how long nobody need look, as far as this conduit knows. */
static uint64_t quiet_ns(const struct tmb_net *net) {
  if (holds_any(net) || net->cq.at < net->cq.count || net->access.done) return 0;
  if (is_busy(net) || net->rail[0].wait_fd < 0) return BLIND_NS;
  if (net->peers.broken && net->timeout_ns) return NS_PER_S / 10;
  return net->client.thread || !net->silent.timeout_ns ? UINT64_MAX : net->silent.timeout_ns / 10;
}

uint32_t ofi_wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns) {
  uint32_t count = 0;
  tmb_lock_acquire_shared(&net->lock);
  if (max) (void)ofi_silent_look(net);
  if (max && net->peers.batches) (void)ofi_send_batches(net, 0);
  uint64_t limit = quiet_ns(net);
  if (net->rail[0].wait_fd >= 0 && max) {
    const int rc = ofi_rail_wait(net, fds, max, &count);
    if (rc) limit = rc == -FI_EAGAIN ? 0 : TMB_MIN(limit, BLIND_NS);
  }
  if (count < max && net->client.nudge >= 0)
    fds[count++] = (struct pollfd){.fd = net->client.nudge, .events = POLLIN};
  if (limit < *timeout_ns) *timeout_ns = limit;
  if (max) {
    net->client.wait_tick = net->client.tick;
    net->client.wait_due_ns =
        *timeout_ns > UINT64_MAX / 2 ? UINT64_MAX / 2 : tmb_os_now_ns() + *timeout_ns;
  }
  tmb_lock_release(&net->lock);
  return count;
}

/* ---- while the client computes */

/* Whether the client sleeps: it has asked for descriptors, has polled at most once more since, and
 * nothing has come. It may compute after that poll; then the next message shows it. */
static bool is_asleep(const struct tmb_net *net) {
  if (!net->client.wait_tick || net->client.tick > net->client.wait_tick + 1 ||
      tmb_os_now_ns() >= net->client.wait_due_ns + LATE_NS)
    return false;
  struct pollfd fds[OFI_RAILS];
  nfds_t count = 0;
  for (uint32_t r = 0; r < net->rails; r++)
    if (net->rail[r].ep && net->rail[r].wait_fd >= 0)
      fds[count++] = (struct pollfd){.fd = net->rail[r].wait_fd, .events = POLLIN};
  return !count || poll(fds, count, 0) <= 0;
}

/* Deal with a message that is_by_thread. */
static void serve_by_thread(struct tmb_net *net, struct ofi_buffer *b) TMB_REQUIRES(net->lock);

static void serve_by_thread(struct tmb_net *net, struct ofi_buffer *b) {
  const uint32_t units = owe(net, b), peer = b->op.peer;
  count_message(net, b);
  net->client.serves = peer + 1;
  tmb_lock_release(&net->lock);
  hand_up(net, b, net->env.up->am_by_thread);
  tmb_lock_acquire_shared(&net->lock);
  net->client.serves = 0;
  finish(net, b);
  if (units) ofi_credit_return(net, peer);
}

/* Let the library go on with work that needs no client. Returns TMB_FOUND_ bits. */
static int work_by_thread(struct tmb_net *net) TMB_REQUIRES(net->lock);

static int work_by_thread(struct tmb_net *net) {
  if (!net->env.up->thread_work) return TMB_FOUND_NOTHING;
  tmb_lock_release(&net->lock);
  const int found = net->env.up->thread_work();
  tmb_lock_acquire_shared(&net->lock);
  return found;
}

/* Shorten the time until the thread polls again where the library waits for room. in found: of
 * work_by_thread. */
static void library_waits(int found, uint64_t *ns) {
  if (!(found & TMB_FOUND_BUSY)) return;
  *ns = found & TMB_FOUND_WORK ? 0 : TMB_MIN(*ns, (uint64_t)BLIND_NS);
}

/* Descriptors for the next wait of the progress thread; out as for ofi_tend. in room: for further
 * copies. */
static void tend_wait(struct tmb_net *net, bool room, struct pollfd *fds, uint32_t *count,
                      uint64_t *ns) {
  const int rc = room ? ofi_rail_wait(net, fds, TMB_PROGRESS_FDS, count) : -FI_ENOSYS;
  if (rc == -FI_EAGAIN)
    *ns = 0;
  else if (rc || is_busy(net))
    *ns = BLIND_NS;
}

bool ofi_tend(struct tmb_net *net, uint64_t tick, struct pollfd *fds, uint32_t *count,
              uint64_t *ns) {
  uint32_t dealt = 0;
  if (tmb_load_rlx(&net->ended) || !tmb_lock_try_shared(&net->lock)) return false;
  if (ofi_silent_look(net)) nudge(net);
  if (net->ended || net->client.tick != tick || is_asleep(net)) {
    tmb_lock_release(&net->lock);
    return false;
  }
  const bool done = housekeeping(net, 0), room = has_room(net);
  struct ofi_buffer *b;
  for (int i = 0; i < PROGRESS_BATCH && room && net->client.tick == tick; i++) {
    if (!(b = next_message(net, TMB_SERVE_THREAD, &dealt))) break;
    serve_by_thread(net, b);
  }
  const int found = work_by_thread(net);
  if (dealt || done || (found & TMB_FOUND_WORK)) nudge(net);
  tend_wait(net, room, fds, count, ns);
  library_waits(found, ns);
  tmb_lock_release(&net->lock); /* completions wait for the client */
  return true;
}

bool ofi_gathers(const struct tmb_net *net) {
  return tmb_load_rlx(&net->peers.batches) != 0;
}

bool ofi_drained(struct tmb_net *net) {
  tmb_lock_acquire_shared(&net->lock);
  const bool drained = net->ended || (!net->tx_busy && !net->peers.todo && !net->peers.batches &&
                                      !net->access.pending && !net->access.again);
  tmb_lock_release(&net->lock);
  if (drained) ofi_fault_print(&net->env);
  return drained;
}

int ofi_lost(struct tmb_net *net, uint32_t peer) {
  tmb_lock_acquire_shared(&net->lock);
  struct ofi_peer *const p = ofi_peer_of(net, peer);
  if (!p->broken) ofi_peer_break(net, peer, FI_ECONNABORTED);
  if (p->broken_ns) net->peers.broken--; /* core knows */
  p->broken_ns = 0;
  ofi_access_lost(net, peer);
  if (!p->lost_ns) p->lost_ns = tmb_os_now_ns();
  /* The provider writes into the memory of accesses until it has said that they failed. */
  bool kept = net->cq.at < net->cq.count || net->client.serves == peer + 1 ||
              (net->in.batch && net->in.batch->op.peer == peer) ||
              (p->accesses && !ofi_given_up(net, peer));
  for (int i = 0; i < TMB_NET_HELD; i++)
    for (const struct ofi_op *op = net->in.held[i].first; op && !kept; op = op->next)
      kept = op->peer == peer;
  tmb_lock_release(&net->lock);
  return kept ? TMB_AGAIN : 0;
}

void ofi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes) {
  tmb_lock_acquire_shared(&net->lock);
  const struct ofi_peer *p = net->peers.of[peer];
  const char *provider = net->rail[0].info->fabric_attr->prov_name;
  if (!p)
    snprintf(text, bytes, "ofi (%s): nothing has been sent yet", provider);
  else if (p->broken)
    snprintf(text, bytes, "ofi (%s): cannot be reached: %s", provider, ofi_silent_why(net, p));
  else
    snprintf(text, bytes,
             "ofi (%s): %u of %u units of credit used, %u accesses in progress, %u regions known",
             provider, p->flying, net->credit, p->accesses, p->regions);
  tmb_lock_release(&net->lock);
}
