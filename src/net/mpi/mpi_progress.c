/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: arrivals, see mpi_engine.h.
 *
 * Owns nothing beyond the engine. Called by core through the table. Calls: MPI, env->up. Receives
 * complete in the order in which they were started, but for a long message that is still being
 * transferred while others come behind it: so the oldest alone is looked at, and all of them now
 * and then. A message is delivered from the buffer in which it came, with the lock released. A
 * request that may not be served yet is held in its buffer while enough others are posted, else in
 * a copy: so replies always find a buffer, and what is held is bounded by the credit of the peers.
 * Invariants: a message is checked, length by length, before anything of it is used.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/mpi/mpi_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work of one call of progress. Chosen 2026-11-22 (SENDING_MANY 2026-11-24), not measured. */
#define PROGRESS_BATCH 32 /* messages */
#define ALL_EVERY      32 /* polls of the oldest receive, after which all are polled */
#define SENDING_MANY   4  /* buffers in flight, from which on sends are polled each time */

/* ---- receive buffers */

void nmpi_post(struct tmb_net *net, struct nmpi_buffer *b) {
  const int rc = MPI_Start(b->request);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Start", rc);
  nmpi_queue_add(&net->receives.busy, b);
}

/* A message has been dealt with. Its buffer is posted again when there is time. */
static void recycle(struct tmb_net *net, struct nmpi_buffer *b) {
  if (b->pool) {
    nmpi_queue_add(&net->idle, b);
    net->idle_count++;
  } else {
    nmpi_buffer_put(b);
  }
}

static void post_rest(struct tmb_net *net) {
  while (net->idle.first) nmpi_post(net, nmpi_queue_take(&net->idle));
  net->idle_count = 0;
}

/* Keep a request until it may be served. */
static void hold(struct tmb_net *net, struct nmpi_buffer *b) {
  if (net->held_count >= net->receives.count / 2) {
    struct nmpi_buffer *const copy = nmpi_buffer_copy(b);
    if (!copy) nmpi_no_memory(net, "a message");
    recycle(net, b);
    b = copy;
  } else {
    net->held_count++;
  }
  nmpi_queue_add(&net->held, b);
}

static struct nmpi_buffer *unhold(struct tmb_net *net) {
  struct nmpi_buffer *const b = nmpi_queue_take(&net->held);
  if (b->pool) net->held_count--;
  return b;
}

/* ---- what has come */

static void note_arrival(struct tmb_net *net, struct nmpi_buffer *b, const MPI_Status *status) {
  int bytes = 0;
  const int rc = MPI_Get_count(status, MPI_BYTE, &bytes);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Get_count", rc);
  b->bytes = (uint32_t)bytes;
  b->peer = (uint32_t)status->MPI_SOURCE;
}

/* Look at all receives: those that are complete leave the order. */
static void look_at_all(struct tmb_net *net) {
  int count = 0;
  const int rc =
      MPI_Testsome((int)net->receives.count, net->receives.request, &count, net->done, net->status);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Testsome", rc);
  if (count <= 0) return; /* none, or MPI_UNDEFINED, which is negative: none is started */
  for (int i = 0; i < count; i++) {
    struct nmpi_buffer *const b = &net->receives.all[net->done[i]];
    note_arrival(net, b, &net->status[i]);
    b->complete = true;
  }
  struct nmpi_queue rest = {NULL, NULL};
  while (net->receives.busy.first) {
    struct nmpi_buffer *const b = nmpi_queue_take(&net->receives.busy);
    nmpi_queue_add(b->complete ? &net->ready : &rest, b);
    b->complete = false;
  }
  net->receives.busy = rest;
}

/* The next buffer in which a message has come, or NULL. */
static struct nmpi_buffer *next_arrival(struct tmb_net *net) {
  struct nmpi_queue *busy = &net->receives.busy;
  if (!busy->first) post_rest(net);
  if (!net->ready.first && busy->first) {
    MPI_Status status;
    int flag = 0;
    const int rc = MPI_Test(busy->first->request, &flag, &status);
    if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Test", rc);
    if (flag) {
      net->fruitless = 0;
      note_arrival(net, busy->first, &status);
      return nmpi_queue_take(busy);
    }
    if (++net->fruitless % ALL_EVERY == 0) look_at_all(net);
  }
  return net->ready.first ? nmpi_queue_take(&net->ready) : NULL;
}

/* Whether the payload is as long as the kind of a message says. */
static bool fits_kind(const struct nmpi_head *h) {
  if (h->kind == NMPI_MEDIUM) return true;
  if (h->kind != NMPI_PUT && h->kind != NMPI_GET) return h->nbytes == 0;
  return h->nargs == 0 && h->nbytes == sizeof(struct nmpi_ask);
}

/* What this conduit says to itself. */
static void obey(struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct nmpi_head *h = nmpi_head_of(b);
  if (h->kind == NMPI_MOVED) {
    nmpi_direct_moved(net, b->peer, h->route);
  } else if (h->kind == NMPI_PUT || h->kind == NMPI_GET) {
    struct nmpi_ask ask;
    memcpy(&ask, b->data + nmpi_payload_at(0), sizeof ask);
    nmpi_direct_asked(net, b->peer, h->kind == NMPI_PUT, &ask);
  }
}

/* Whether a message is one of a rank of another host. */
static bool is_good(const struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct tmb_net_env *env = &net->env;
  const struct nmpi_head *h = nmpi_head_of(b);
  if (b->bytes < sizeof *h || b->peer >= env->size || env->host_of[b->peer] == env->host ||
      h->kind >= NMPI_KINDS || h->is_reply > 1 || h->nargs > TMB_AM_ARGS_MAX ||
      h->nbytes > TMB_AM_MEDIUM_BYTES_MAX)
    return false;
  if (!fits_kind(h)) return false;
  const size_t bytes =
      h->nbytes ? nmpi_payload_at(h->nargs) + h->nbytes : sizeof *h + 4u * h->nargs;
  return b->bytes == bytes;
}

/* A message has come. Returns whether it is to be delivered; else it has been dealt with. */
static bool arrived(struct tmb_net *net, struct nmpi_buffer *b) {
  struct tmb_net_stats *stats = net->env.stats;
  const struct nmpi_head *h = nmpi_head_of(b);
  const bool good = is_good(net, b);
  tmb_count_rlx(&stats->packets_in, 1);
  if (good && h->returned) {
    struct nmpi_peer *p = nmpi_peer_of(net, b->peer);
    p->flying -= TMB_MIN(h->returned, p->flying);
  }
  if (good && h->kind <= NMPI_MEDIUM) return true;
  if (good)
    obey(net, b);
  else
    tmb_count_rlx(&stats->refused, 1);
  recycle(net, b);
  return false;
}

/* The next message that may be served, or NULL. in serve: TMB_SERVE_*; out dealt: of messages. */
static struct nmpi_buffer *next_message(struct tmb_net *net, int serve, uint32_t *dealt) {
  if (net->held.first && (serve & TMB_SERVE_REQUESTS)) return unhold(net);
  while (*dealt < PROGRESS_BATCH) {
    struct nmpi_buffer *const b = next_arrival(net);
    if (!b) return NULL;
    ++*dealt;
    if (!arrived(net, b)) continue;
    const bool reply = nmpi_head_of(b)->is_reply;
    if (serve & (reply ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS)) return b;
    hold(net, b);
  }
  return NULL;
}

/* Give a message to core; without the lock. */
static void hand_up(const struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct nmpi_head *h = nmpi_head_of(b);
  const struct tmb_am_in in = {
      .src = b->peer,
      .category = h->kind,
      .handler = h->handler,
      .nargs = h->nargs,
      .is_reply = h->is_reply,
      .route = h->route,
      .args = (const int32_t *)(const void *)(h + 1),
      .payload = h->kind == NMPI_SHORT ? NULL : b->data + nmpi_payload_at(h->nargs),
      .nbytes = h->nbytes};
  net->env.up->am(&in);
}

/* ---- the slots */

/* Under the lock: what needs no message. Done when there is none, or much of it. Returns whether
 * somebody may go on because of it. */
static bool housekeeping(struct tmb_net *net, bool idle) {
  if (net->idle_count && (idle || net->idle_count >= net->receives.count / 2)) post_rest(net);
  const bool reaped = net->sending && (idle || net->sending >= SENDING_MANY) && nmpi_reap(net);
  const bool answered = net->answers && nmpi_direct_answer(net);
  return (net->todo && nmpi_send_rest(net)) || answered || reaped;
}

int nmpi_progress(struct tmb_net *net, int serve) {
  uint32_t dealt = 0;
  if (!tmb_lock_try(&net->lock)) return TMB_FOUND_BUSY;
  int found = TMB_FOUND_NOTHING;
  for (int i = 0; i < PROGRESS_BATCH && !net->ended; i++) {
    struct nmpi_buffer *const b = next_message(net, serve, &dealt);
    if (!b) break;
    const bool reply = nmpi_head_of(b)->is_reply;
    const uint32_t units = nmpi_units(nmpi_head_of(b));
    tmb_count_rlx(&net->env.stats->received, 1);
    tmb_count_rlx(&net->env.stats->bytes_in, nmpi_head_of(b)->nbytes);
    tmb_lock_release(&net->lock);
    hand_up(net, b);
    tmb_lock_acquire(&net->lock);
    found |= TMB_FOUND_WORK;
    if (units) nmpi_credit_owe(net, b->peer, units);
    recycle(net, b);
    if (reply) break; /* somebody is likely to wait for it */
  }
  if (dealt) found |= TMB_FOUND_WORK;
  if (!net->ended && net->moving && nmpi_direct_look(net)) found |= TMB_FOUND_WORK;
  if (net->finished) nmpi_direct_finish(net);
  if (!net->ended && housekeeping(net, !found)) found |= TMB_FOUND_WORK;
  tmb_lock_release(&net->lock);
  return found;
}

bool nmpi_drained(struct tmb_net *net) {
  tmb_lock_acquire(&net->lock);
  const bool drained = net->ended || (!net->sending && !net->todo && !net->transfers);
  tmb_lock_release(&net->lock);
  return drained;
}

int nmpi_lost(struct tmb_net *net, uint32_t peer) {
  tmb_lock_acquire(&net->lock);
  nmpi_peer_of(net, peer)->gone = true;
  nmpi_direct_lost(net, peer);
  bool kept = false;
  for (const struct nmpi_buffer *b = net->ready.first; b && !kept; b = b->next)
    kept = b->peer == peer;
  for (const struct nmpi_buffer *b = net->held.first; b && !kept; b = b->next)
    kept = b->peer == peer;
  tmb_lock_release(&net->lock);
  return kept ? TMB_AGAIN : 0;
}

void nmpi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes) {
  tmb_lock_acquire(&net->lock);
  const struct nmpi_peer *p = net->peer[peer];
  if (p)
    snprintf(text, bytes, "mpi: %u of %u units of credit used", p->flying, net->credit);
  else
    snprintf(text, bytes, "mpi: nothing has been sent yet");
  tmb_lock_release(&net->lock);
}
