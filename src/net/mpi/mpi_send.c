/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending, and credit, see mpi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table and by the files of this
 * conduit. Calls: MPI. A message is written into a buffer of the conduit and sent by MPI_Isend; MPI
 * has mostly sent a short one when the call returns. Without a buffer the answer is TMB_AGAIN: core
 * makes progress and calls again; credit that is due is returned by the next progress. Invariants:
 * the lock is held; nothing here runs handlers, so nothing recurses.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/mpi/mpi_engine.h"

#include <stdlib.h>
#include <string.h>

#define REAP_MOST 16 /* buffers of each size that one poll frees; chosen */

/* ---- the parts */

bool nmpi_peers_make(struct nmpi_peers *peers, uint32_t size) {
  peers->of = calloc(size, sizeof *peers->of);
  return peers->of != NULL;
}

void nmpi_peers_free(struct nmpi_peers *peers, uint32_t size) {
  for (uint32_t i = 0; peers->of && i < size; i++) free(peers->of[i]);
  free(peers->of);
}

bool nmpi_outbox_make(struct nmpi_outbox *out, uint32_t sends) {
  return nmpi_pool_make(&out->small, 8 * sends, NMPI_SMALL_BYTES) &&
         nmpi_pool_make(&out->large, sends, NMPI_MESSAGE_MAX);
}

void nmpi_outbox_free(struct nmpi_outbox *out) {
  nmpi_pool_free(&out->small);
  nmpi_pool_free(&out->large);
}

struct nmpi_peer *nmpi_peer_of(struct tmb_net *net, uint32_t rank) {
  if (TMB_LIKELY(net->peers.of[rank] != NULL)) return net->peers.of[rank];
  net->peers.of[rank] = calloc(1, sizeof *net->peers.of[rank]);
  if (!net->peers.of[rank]) nmpi_no_memory(net, "the state of a rank");
  return net->peers.of[rank];
}

/* ---- sent messages */

static bool is_complete(struct tmb_net *net, const struct nmpi_buffer *b) {
  int flag = 0;
  const int rc = MPI_Test(b->request, &flag, MPI_STATUS_IGNORE);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Test", rc);
  return flag;
}

static bool reap(struct tmb_net *net, struct nmpi_pool *pool) {
  bool any = false;
  for (int i = 0; i < REAP_MOST && pool->busy.first; i++) {
    if (!is_complete(net, pool->busy.first)) break;
    nmpi_buffer_put(nmpi_queue_take(&pool->busy));
    net->out.sending--;
    any = true;
  }
  return any;
}

bool nmpi_reap(struct tmb_net *net) {
  const bool small = reap(net, &net->out.small);
  return reap(net, &net->out.large) || small;
}

/* ---- one message */

/* Write a message. Returns its length. */
static size_t write_message(char *to, const struct nmpi_head *head, const void *args,
                            const void *payload) {
  const size_t at = nmpi_payload_at(head->nargs);
  memcpy(to, head, sizeof *head);
  if (args) memcpy(to + sizeof *head, args, 4u * head->nargs);
  if (!head->nbytes) return sizeof *head + 4u * head->nargs;
  if (payload) memcpy(to + at, payload, head->nbytes);
  return at + head->nbytes;
}

/* Send a message, with the credit that the peer gets back. in reserve: share of the buffers that
 * must stay, as 1/n; 0: none. Returns 0 or TMB_AGAIN; to a lost peer nothing is sent. */
static int send_message(struct tmb_net *net, uint32_t to, struct nmpi_head *head, const void *args,
                        const void *payload, uint32_t reserve) {
  struct nmpi_peer *p = nmpi_peer_of(net, to);
  if (p->lost || net->ended) return 0;
  const size_t most = nmpi_payload_at(head->nargs) + head->nbytes;
  struct nmpi_pool *pool = most <= NMPI_SMALL_BYTES ? &net->out.small : &net->out.large;
  struct nmpi_buffer *b = nmpi_pool_take(pool, reserve ? pool->count / reserve : 0);
  if (!b) return TMB_AGAIN;
  head->returned = (uint16_t)TMB_MIN(p->owed, (uint32_t)UINT16_MAX);
  p->owed -= head->returned;
  b->peer = to;
  const size_t bytes = write_message(b->data, head, args, payload);
  const int rc = MPI_Isend(b->data, (int)bytes, MPI_BYTE, (int)to, 0, net->comm, b->request);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Isend", rc);
  if (!pool->busy.first && is_complete(net, b)) {
    nmpi_buffer_put(b);
  } else {
    nmpi_queue_add(&pool->busy, b);
    net->out.sending++;
  }
  return 0;
}

int nmpi_send_control(struct tmb_net *net, uint32_t to, struct nmpi_head *head, const void *args,
                      const void *payload) {
  return send_message(net, to, head, args, payload, head->is_reply ? 0 : 4);
}

/* ---- credit */

uint32_t nmpi_units(const struct nmpi_head *head) {
  if ((head->kind > NMPI_MEDIUM && head->kind != NMPI_LONG) || head->is_reply) return 0;
  return 1 + head->nbytes / NMPI_UNIT;
}

static int return_credit(struct tmb_net *net, uint32_t peer) {
  struct nmpi_head head = {.kind = NMPI_CREDIT, .is_reply = 1};
  return send_message(net, peer, &head, NULL, NULL, 0);
}

static bool is_due(const struct tmb_net *net, const struct nmpi_peer *p) {
  return p->owed >= net->credit_due;
}

void nmpi_credit_owe(struct tmb_net *net, uint32_t peer, uint32_t units) {
  struct nmpi_peer *p = nmpi_peer_of(net, peer);
  p->owed += units;
  if (p->listed || !is_due(net, p) || return_credit(net, peer) == 0) return;
  p->listed = true;
  p->next = net->peers.todo;
  net->peers.todo = peer + 1;
}

bool nmpi_send_rest(struct tmb_net *net) {
  bool sent = false;
  while (net->peers.todo) {
    struct nmpi_peer *p = net->peers.of[net->peers.todo - 1];
    if (is_due(net, p) && return_credit(net, net->peers.todo - 1)) return sent;
    sent = true;
    net->peers.todo = p->next;
    p->listed = false;
  }
  return sent;
}

/* ---- the slot */

static int send_locked(struct tmb_net *net, struct tmb_am_out *out) {
  struct nmpi_head head = {TMB_AM_HEAD(out), .kind = out->category,
                           .nbytes = out->category == TMB_AM_SHORT ? 0 : (uint32_t)out->nbytes};
  struct nmpi_peer *p = nmpi_peer_of(net, out->peer);
  const uint32_t units = nmpi_units(&head);
  out->lacks = TMB_LACKS_CREDIT;
  const bool by_thread = tmb_net_out_by_thread(net->env.thread_handlers, out);
  if (units && !tmb_net_credit(p->flying, units, net->credit, by_thread)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_BUFFER;
  const int rc = send_message(net, out->peer, &head, out->args, out->src, units ? 4 : 0);
  if (rc == 0) p->flying += units;
  return rc;
}

/* A message that nothing can carry any more. */
static void refuse(const struct tmb_net *net, const struct tmb_am_out *out) {
  net->env.up->fatal("mpi: a message to rank %u of another host after MPI_Finalize, which this "
                     "conduit needs to come after all communication; call it later, or choose "
                     "another network by TOMBOLO_CONDUIT",
                     out->peer);
}

int nmpi_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  tmb_lock_acquire(&net->lock);
  const bool ended = net->ended && !net->owns;
  const int rc = ended ? 0 : send_locked(net, out);
  if (rc == 0 && !ended) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
    if (out->category != TMB_AM_SHORT) tmb_count_rlx(&net->env.stats->bytes_out, out->nbytes);
  }
  tmb_lock_release(&net->lock);
  if (TMB_UNLIKELY(ended)) refuse(net, out);
  return rc;
}
