/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending, and credit, see ofi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table and by the files of this
 * conduit. Calls: libfabric by its table. A short message is injected, so that it needs no buffer
 * and has no completion; others are copied into one. A message that finds no room at the provider
 * is TMB_AGAIN: core makes progress and calls again; messages of the conduit itself are sent by the
 * next progress. Over sockets each message costs both sides system calls. So the third message
 * or put that follows closely to one peer, and those after it, wait in a batch, which
 * leaves as one message: when it is full, before any other message to the peer, when the client has
 * polled twice without adding to it or is about to sleep, or by the progress thread after half a
 * millisecond. Invariants: the lock is held; nothing here polls, so nothing recurses; messages
 * leave in the order in which they were sent.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"
#include "net/plugin/progress_thread.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

struct ofi_peer *ofi_peer_of(struct tmb_net *net, uint32_t rank) {
  if (TMB_LIKELY(net->peers.of[rank] != NULL)) return net->peers.of[rank];
  net->peers.of[rank] = calloc(1, sizeof *net->peers.of[rank]);
  if (!net->peers.of[rank]) ofi_fatal(net, "a rank's state cannot be kept", 0);
  return net->peers.of[rank];
}

void ofi_peer_break(struct tmb_net *net, uint32_t peer, int error) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  if (p->broken) return;
  p->broken = true;
  p->broken_ns = tmb_os_now_ns();
  p->error = error;
  net->peers.broken++;
}

/* Chosen: a provider fails accesses to a lost peer sooner. */
#define FAIL_NS UINT64_C(5000000000) /* for accesses to a lost peer to fail */

bool ofi_given_up(const struct tmb_net *net, uint32_t peer) {
  const struct ofi_peer *const p = net->peers.of[peer];
  return p && p->lost_ns && tmb_os_now_ns() - p->lost_ns >= FAIL_NS;
}

/* ---- one message */

/* Write a message. Returns its length. */
static size_t write_message(char *to, const struct ofi_head *head, const void *args,
                            const void *payload) {
  const size_t at = ofi_payload_at(head->nargs);
  memcpy(to, head, sizeof *head);
  if (args && head->nargs) memcpy(to + sizeof *head, args, 4u * head->nargs);
  if (!head->nbytes) return sizeof *head + 4u * head->nargs;
  memcpy(to + at, payload, head->nbytes);
  return at + head->nbytes;
}

/* Hand a message to the provider. in reserve: share of the buffers that must stay, as 1/n; 0: none.
 * Returns libfabric's result. */
static ssize_t transmit(struct tmb_net *net, uint32_t peer, const struct ofi_head *head,
                        const void *args, const void *payload, uint32_t reserve) {
  const size_t most = ofi_payload_at(head->nargs) + head->nbytes;
  if (most <= net->inject_max) {
    char text[OFI_SMALL_BYTES] TMB_ALIGNED(16);
    const size_t bytes = write_message(text, head, args, payload);
    return net->calls->inject(net->rail[0].ep, text, bytes, net->rail[0].addr[peer]);
  }
  struct ofi_pool *pool = most <= OFI_SMALL_BYTES ? &net->bufs.small : &net->bufs.large;
  struct ofi_buffer *b = ofi_pool_take(pool, reserve ? pool->count / reserve : 0);
  if (!b) return -FI_EAGAIN;
  b->op.peer = peer;
  const struct iovec part = {b->data, write_message(b->data, head, args, payload)};
  const struct fi_msg message = {.msg_iov = &part,
                                 .desc = &pool->desc,
                                 .iov_count = 1,
                                 .addr = net->rail[0].addr[peer],
                                 .context = b};
  const ssize_t rc = net->calls->send(net->rail[0].ep, &message);
  if (rc)
    ofi_buffer_put(b);
  else
    net->tx_busy++;
  return rc;
}

/* Handle the provider's answer to a send. Returns 0 or TMB_AGAIN. */
static int sent(struct tmb_net *net, uint32_t to, struct ofi_peer *p, const struct ofi_head *head,
                ssize_t rc) {
  if (rc == -FI_EAGAIN || rc == -FI_ENOMEM) return TMB_AGAIN;
  if (rc)
    ofi_peer_break(net, to, (int)-rc);
  else
    p->owed -= head->returned;
  p->life.reached = true;
  return 0;
}

/* Send a message by itself. Returns 0 or TMB_AGAIN. */
static int send_alone(struct tmb_net *net, uint32_t to, struct ofi_peer *p, struct ofi_head *head,
                      const void *args, const void *payload) {
  const bool request = (head->kind <= OFI_LONG && !head->is_reply) || head->kind == OFI_ATOMIC;
  head->returned = (uint16_t)TMB_MIN(p->owed, (uint32_t)UINT16_MAX);
  const ssize_t rc = transmit(net, to, head, args, payload, request ? 4 : 0);
  if (rc == 0 && head->kind <= OFI_LONG) tmb_count_rlx(&net->env.stats->packets_out, 1);
  return sent(net, to, p, head, rc);
}

/* ---- batches */

/* Chosen, not measured. */
#define CLOSE_NS    UINT64_C(1000) /* between two messages that follow closely, at most */
#define CLOSE_FIRST 2u             /* of those, leave at once */
#define TURNS_MAX   64u            /* messages, to all peers, between two to one that are close */

/* The time that decides whether messages follow closely: it leaves out what the provider's calls,
 * long copies and waits for room take. So messages to several peers in turn are as close as those
 * to one. */
static uint64_t clock_of(const struct ofi_turns *turns, uint64_t now_ns) {
  return now_ns - turns->spent_ns;
}

/* Time has passed that is not the client's, since its call or the last of such times. */
static void spend(struct ofi_turns *turns) {
  const uint64_t now = tmb_os_now_ns();
  turns->spent_ns += now - turns->call_ns;
  turns->call_ns = now;
}

static struct ofi_write *last_put(const struct ofi_batch *batch) {
  return (struct ofi_write *)(void *)(batch->buffer->data + batch->put);
}

/* Send the batch of a peer. Returns 0 or TMB_AGAIN. */
static TMB_NOINLINE int batch_send(struct tmb_net *net, uint32_t to, struct ofi_peer *p) {
  struct ofi_batch *const batch = &p->batch;
  struct ofi_buffer *const b = batch->buffer;
  struct ofi_head head = {.token = net->token,
                          .src = net->env.rank,
                          .nbytes = batch->end - (uint32_t)ofi_payload_at(0),
                          .returned = (uint16_t)TMB_MIN(p->owed, (uint32_t)UINT16_MAX),
                          .kind = OFI_BATCH,
                          .is_reply = 1};
  memcpy(b->data, &head, sizeof head);
  if (batch->put) last_put(batch)->answers = 1;
  const struct iovec part = {b->data, batch->end};
  const struct fi_msg message = {.msg_iov = &part,
                                 .desc = &b->pool->desc,
                                 .iov_count = 1,
                                 .addr = net->rail[0].addr[to],
                                 .context = b};
  const bool inject = batch->end <= net->inject_max;
  const ssize_t rc =
      p->broken ? -FI_ECONNABORTED
      : inject  ? net->calls->inject(net->rail[0].ep, b->data, batch->end, net->rail[0].addr[to])
                : net->calls->send(net->rail[0].ep, &message);
  if (sent(net, to, p, &head, rc)) {
    if (batch->put) last_put(batch)->answers = 0; /* others may follow */
    return TMB_AGAIN;
  }
  if (rc || inject)
    ofi_buffer_put(b);
  else
    net->tx_busy++;
  tmb_count_rlx(&net->env.stats->packets_out, 1);
  batch->buffer = NULL;
  batch->put = batch->access = 0;
  spend(&net->peers.turns);
  batch->last_ns = clock_of(&net->peers.turns, net->peers.turns.call_ns);
  return 0;
}

bool ofi_send_batches(struct tmb_net *net, uint64_t polls) {
  bool any = false;
  uint32_t at = net->peers.batches, left = 0;
  if (at) net->peers.turns.call_ns = tmb_os_now_ns();
  while (at) {
    const uint32_t peer = at - 1;
    struct ofi_peer *p = net->peers.of[peer];
    at = p->batch.next;
    if (p->batch.buffer && net->client.tick - p->batch.tick >= polls)
      any = batch_send(net, peer, p) == 0 || any;
    p->batch.listed = p->batch.buffer != NULL;
    if (!p->batch.listed) continue;
    p->batch.next = left;
    left = peer + 1;
  }
  tmb_store_rlx(&net->peers.batches, left);
  return any;
}

/* Whether a message that is sent now waits for others. */
static bool follows_closely(struct tmb_net *net, struct ofi_batch *batch) {
  struct ofi_turns *const turns = &net->peers.turns;
  const uint64_t now = tmb_os_now_ns();
  if (batch->again) turns->spent_ns += clock_of(turns, now) - batch->again_ns;
  const uint64_t between = TMB_MIN(turns->count + 1 - batch->turn, (uint64_t)TURNS_MAX);
  const int64_t since_ns = (int64_t)(clock_of(turns, now) - batch->last_ns);
  const bool close = since_ns <= (int64_t)(CLOSE_NS * between);
  batch->close = close || batch->again ? batch->close + 1 : 0;
  batch->again = false;
  batch->last_ns = clock_of(turns, now);
  batch->turn = ++turns->count;
  turns->call_ns = now;
  return batch->close >= CLOSE_FIRST || net->gather == 2;
}

/* Begin a batch. Returns false if there is no buffer for it. */
static bool batch_begin(struct tmb_net *net, uint32_t to, struct ofi_batch *batch) {
  struct ofi_pool *const pool = &net->bufs.large;
  batch->buffer = ofi_pool_take(pool, pool->count / 4);
  if (!batch->buffer) return false;
  batch->buffer->op.peer = to;
  batch->end = (uint32_t)ofi_payload_at(0);
  if (batch->listed) return true;
  batch->listed = true;
  batch->next = net->peers.batches;
  tmb_store_rlx(&net->peers.batches, to + 1);
  tmb_progress_thread_kick(net->client.thread);
  return true;
}

/* Have the batch of a peer take a message of at most `bytes` bytes. Returns 0, TMB_AGAIN, or
 * TMB_E_UNSUPPORTED: the message is to leave alone, and may. in waits: it follows closely. */
static int batch_open(struct tmb_net *net, uint32_t to, struct ofi_peer *p, size_t bytes,
                      bool waits) {
  struct ofi_batch *const batch = &p->batch;
  if (batch->buffer && batch->end + bytes > OFI_BATCH_BYTES && batch_send(net, to, p))
    return TMB_AGAIN;
  if (batch->buffer) return 0;
  return waits && batch_begin(net, to, batch) ? 0 : TMB_E_UNSUPPORTED;
}

/* A message of `bytes` bytes has been written at the end of the open batch. The copy of a long one
 * takes longer than CLOSE_NS. */
static void batch_grows(struct tmb_net *net, struct ofi_batch *batch, size_t bytes) {
  batch->end += (uint32_t)TMB_ALIGN_UP(bytes, (size_t)OFI_ALIGN);
  batch->tick = net->client.tick;
  if (bytes > OFI_SMALL_BYTES) spend(&net->peers.turns);
}

/* Send a short message where messages are gathered. Returns 0 or TMB_AGAIN. */
static int send_short(struct tmb_net *net, uint32_t to, struct ofi_peer *p, struct ofi_head *head,
                      const void *args, const void *payload) {
  const size_t most = ofi_payload_at(head->nargs) + head->nbytes;
  const bool waits = follows_closely(net, &p->batch) && head->kind <= OFI_MEDIUM;
  int rc = batch_open(net, to, p, most, waits);
  if (rc == TMB_AGAIN) return TMB_AGAIN;
  if (rc == 0) {
    char *const end = p->batch.buffer->data + p->batch.end;
    batch_grows(net, &p->batch, write_message(end, head, args, payload));
    if (!waits) (void)batch_send(net, to, p); /* if there is no room, progress sends it */
    return 0;
  }
  rc = send_alone(net, to, p, head, args, payload);
  spend(&net->peers.turns);
  return rc;
}

/* Send a message, with the credit that the peer gets back. Returns 0 or TMB_AGAIN; to a peer that
 * cannot be reached nothing is sent. */
static int send_message(struct tmb_net *net, uint32_t to, struct ofi_head *head, const void *args,
                        const void *payload) {
  struct ofi_peer *p = ofi_peer_of(net, to);
  if (p->broken) return 0;
  head->token = net->token;
  head->src = net->env.rank;
  if (net->gather && head->nbytes <= OFI_BATCHED_MAX)
    return send_short(net, to, p, head, args, payload);
  if (TMB_UNLIKELY(p->batch.buffer != NULL) && batch_send(net, to, p)) return TMB_AGAIN;
  return send_alone(net, to, p, head, args, payload);
}

void ofi_send_put_begins(struct tmb_net *net) {
  net->peers.turns.call_ns = tmb_os_now_ns();
}

void ofi_send_put_alone(struct tmb_net *net, uint32_t peer) {
  struct ofi_turns *const turns = &net->peers.turns;
  spend(turns);
  ofi_peer_of(net, peer)->batch.last_ns = clock_of(turns, turns->call_ns);
}

void ofi_send_again(struct tmb_net *net, uint32_t peer) {
  struct ofi_batch *const batch = &ofi_peer_of(net, peer)->batch;
  if (batch->again) return;
  batch->again = true;
  batch->again_ns = clock_of(&net->peers.turns, tmb_os_now_ns());
}

int ofi_send_put(struct tmb_net *net, struct ofi_put *put) {
  struct ofi_peer *const p = ofi_peer_of(net, put->peer);
  struct ofi_batch *const batch = &p->batch;
  if (!net->gather || p->broken) return TMB_E_UNSUPPORTED;
  const bool waits = follows_closely(net, batch);
  if (!waits && !put->copied) return TMB_E_UNSUPPORTED;
  const struct ofi_head head = {.token = net->token,
                                .src = net->env.rank,
                                .nbytes = (uint32_t)sizeof put->write + put->nbytes,
                                .kind = OFI_PUT,
                                .is_reply = 1};
  const size_t at = ofi_payload_at(0);
  const bool joins = batch->put && batch->end + at + head.nbytes <= OFI_BATCH_BYTES;
  if (!joins && !tmb_net_credit(p->flying, 1, net->credit, true)) return TMB_AGAIN;
  const int rc = batch_open(net, put->peer, p, at + head.nbytes, true);
  if (rc) return rc;
  if (!batch->put) p->flying++; /* the answer gives it back */
  char *const to = batch->buffer->data + batch->end;
  memcpy(to, &head, sizeof head);
  memcpy(to + at, &put->write, sizeof put->write);
  memcpy(to + at + sizeof put->write, put->data, put->nbytes);
  put->before = batch->access;
  batch->put = batch->end + (uint32_t)at;
  batch_grows(net, batch, at + head.nbytes);
  batch->access = put->write.access + 1;
  if (!waits) (void)batch_send(net, put->peer, p); /* if there is no room, progress sends it */
  return 0;
}

/* ---- credit */

static uint32_t units_of(size_t bytes) {
  return 1 + (uint32_t)(bytes / OFI_UNIT);
}

uint32_t ofi_credit_units(const struct ofi_buffer *b) {
  const struct ofi_head *h = ofi_head_of(b);
  return h->kind <= OFI_LONG && !h->is_reply ? units_of(h->nbytes) : 0;
}

void ofi_credit_back(struct tmb_net *net, uint32_t peer, uint32_t units) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  p->flying -= TMB_MIN(units, p->flying);
}

void ofi_credit_return(struct tmb_net *net, uint32_t peer) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  if (p->owed >= net->credit_due && !p->listed && ofi_send_own(net, peer, OFI_CREDIT, NULL, 0))
    ofi_send_later(net, peer);
}

/* ---- messages of the conduit itself */

int ofi_send_own(struct tmb_net *net, uint32_t peer, enum ofi_kind kind, const void *payload,
                 uint32_t nbytes) {
  struct ofi_head head = {.kind = (uint8_t)kind, .nbytes = nbytes, .is_reply = 1};
  return send_message(net, peer, &head, NULL, payload);
}

int ofi_send_request(struct tmb_net *net, uint32_t peer, enum ofi_kind kind, const void *payload,
                     uint32_t nbytes) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  if (!tmb_net_credit(p->flying, 1, net->credit, true) || net->tx_busy >= net->tx_limit)
    return TMB_AGAIN;
  const int rc = ofi_send_own(net, peer, kind, payload, nbytes);
  if (rc == 0) p->flying++;
  return rc;
}

void ofi_send_later(struct tmb_net *net, uint32_t peer) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  if (p->listed) return;
  p->listed = true;
  p->next = net->peers.todo;
  net->peers.todo = peer + 1;
}

/* Send the messages that are due to one peer. Returns 0 or TMB_AGAIN. */
static int send_due(struct tmb_net *net, uint32_t peer, struct ofi_peer *p) {
  if (p->answer_due) {
    if (ofi_send_own(net, peer, OFI_REGION, &p->answer, sizeof p->answer)) return TMB_AGAIN;
    p->answer_due = false;
  }
  if (p->life.answer_due) {
    if (ofi_send_own(net, peer, OFI_PROBED, NULL, 0)) return TMB_AGAIN;
    p->life.answer_due = false;
  }
  if (p->freed.bytes) {
    if (ofi_send_own(net, peer, OFI_FREED, &p->freed, sizeof p->freed)) return TMB_AGAIN;
    p->freed = (struct ofi_region){0};
  }
  if (p->owed >= net->credit_due) return ofi_send_own(net, peer, OFI_CREDIT, NULL, 0);
  return 0;
}

/* Whether all that is due is an answer that this rank lives, for which nobody waits here. */
static bool only_answers(const struct tmb_net *net, const struct ofi_peer *p) {
  return p->life.answer_due && !p->answer_due && !p->freed.bytes && p->owed < net->credit_due;
}

bool ofi_send_owes(const struct tmb_net *net) {
  for (uint32_t at = net->peers.todo; at;) {
    const struct ofi_peer *const p = net->peers.of[at - 1];
    if (p->answer_due && !p->broken) return true;
    at = p->next;
  }
  return false;
}

bool ofi_send_rest(struct tmb_net *net) {
  bool sent = false;
  uint32_t at = net->peers.todo;
  net->peers.todo = 0;
  while (at) {
    const uint32_t peer = at - 1;
    struct ofi_peer *p = net->peers.of[peer];
    at = p->next;
    p->listed = false;
    const bool counts = !only_answers(net, p);
    if (send_due(net, peer, p))
      ofi_send_later(net, peer); /* others need not wait for it */
    else
      sent = sent || counts;
  }
  return sent;
}

/* ---- the slot */

int ofi_send_locked(struct tmb_net *net, struct tmb_am_out *out) {
  struct ofi_head head = {TMB_AM_HEAD(out), .kind = out->category,
                          .nbytes = out->category == TMB_AM_SHORT ? 0 : (uint32_t)out->nbytes};
  struct ofi_peer *p = ofi_peer_of(net, out->peer);
  const uint32_t units = out->is_reply ? 0 : units_of(head.nbytes);
  out->lacks = TMB_LACKS_CREDIT;
  const bool by_thread = tmb_net_out_by_thread(net->env.thread_handlers, out);
  if (units && !tmb_net_credit(p->flying, units, net->credit, by_thread)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_WINDOW;
  if (units && net->tx_busy >= net->tx_limit) return TMB_AGAIN;
  const int rc = send_message(net, out->peer, &head, out->args, out->src);
  if (rc == 0) p->flying += units;
  return rc;
}

int ofi_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  tmb_lock_acquire_shared(&net->lock);
  const int rc = ofi_send_locked(net, out);
  if (rc == TMB_AGAIN) ofi_send_again(net, out->peer);
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    if (out->category != TMB_AM_SHORT) tmb_count_rlx(&net->env.stats->bytes_out, out->nbytes);
  }
  tmb_lock_release(&net->lock);
  return rc;
}
