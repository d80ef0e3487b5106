/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending, and credit, see ofi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table and by the files of this
 * conduit. Calls: libfabric by its table. A short message is injected, so that it needs no buffer
 * and has no completion; others are copied into one. A message that finds no room at the provider
 * is TMB_AGAIN: core makes progress and calls again; messages of the conduit itself are sent by the
 * next progress. Invariants: the lock is held; nothing here polls, so nothing recurses.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"
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
  if (head->nargs) memcpy(to + sizeof *head, args, 4u * head->nargs);
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

/* Send a message, with the credit that the peer gets back. Returns 0 or TMB_AGAIN; to a peer that
 * cannot be reached nothing is sent. */
static int send_message(struct tmb_net *net, uint32_t to, struct ofi_head *head, const void *args,
                        const void *payload) {
  struct ofi_peer *p = ofi_peer_of(net, to);
  if (p->broken) return 0;
  head->token = net->token;
  head->src = net->env.rank;
  head->returned = (uint16_t)TMB_MIN(p->owed, (uint32_t)UINT16_MAX);
  const bool request = (head->kind <= OFI_LONG && !head->is_reply) || head->kind == OFI_ATOMIC;
  const ssize_t rc = transmit(net, to, head, args, payload, request ? 4 : 0);
  if (rc == -FI_EAGAIN || rc == -FI_ENOMEM) return TMB_AGAIN;
  if (rc)
    ofi_peer_break(net, to, (int)-rc);
  else
    p->owed -= head->returned;
  p->life.reached = true;
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
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
    if (out->category != TMB_AM_SHORT) tmb_count_rlx(&net->env.stats->bytes_out, out->nbytes);
  }
  tmb_lock_release(&net->lock);
  return rc;
}
