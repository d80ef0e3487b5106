/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: what arrives is checked, obeyed or handed up, see mpi_engine.h.
 *
 * Owns nothing. Called by core through the table. Calls: mpi_inbox.c, the other parts, env->up. A
 * message is delivered from the buffer in which it came, with the lock released. Invariants: a
 * message is checked, length by length, before anything of it is used.
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
#define SENDING_MANY   4  /* buffers in flight, from which on sends are polled each time */

/* ---- what has come */

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
  nmpi_inbox_recycle(&net->in, b);
  return false;
}

/* The next message that may be served, or NULL. in serve: TMB_SERVE_*; out dealt: of messages. */
static struct nmpi_buffer *next_message(struct tmb_net *net, int serve, uint32_t *dealt) {
  struct nmpi_buffer *const kept = serve & TMB_SERVE_REQUESTS ? nmpi_inbox_unhold(&net->in) : NULL;
  if (kept) return kept;
  while (*dealt < PROGRESS_BATCH) {
    struct nmpi_buffer *const b = nmpi_inbox_next(net);
    if (!b) return NULL;
    ++*dealt;
    if (!arrived(net, b)) continue;
    const bool reply = nmpi_head_of(b)->is_reply;
    if (serve & (reply ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS)) return b;
    nmpi_inbox_hold(net, b);
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
  nmpi_inbox_post(net, idle);
  const bool reaped =
      net->out.sending && (idle || net->out.sending >= SENDING_MANY) && nmpi_reap(net);
  const bool answered = net->direct.answers && nmpi_direct_answer(net);
  return (net->peers.todo && nmpi_send_rest(net)) || answered || reaped;
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
    nmpi_inbox_recycle(&net->in, b);
    if (reply) break; /* somebody is likely to wait for it */
  }
  if (dealt) found |= TMB_FOUND_WORK;
  if (!net->ended && net->direct.moving && nmpi_direct_look(net)) found |= TMB_FOUND_WORK;
  if (net->direct.finished) nmpi_direct_finish(net);
  if (!net->ended && housekeeping(net, !found)) found |= TMB_FOUND_WORK;
  tmb_lock_release(&net->lock);
  return found;
}

bool nmpi_drained(struct tmb_net *net) {
  tmb_lock_acquire(&net->lock);
  const bool drained = net->ended || (!net->out.sending && !net->peers.todo && !net->direct.count);
  tmb_lock_release(&net->lock);
  return drained;
}

int nmpi_lost(struct tmb_net *net, uint32_t peer) {
  tmb_lock_acquire(&net->lock);
  nmpi_peer_of(net, peer)->lost = true;
  nmpi_direct_lost(net, peer);
  const bool kept = nmpi_inbox_has(&net->in, peer);
  tmb_lock_release(&net->lock);
  return kept ? TMB_AGAIN : 0;
}

void nmpi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes) {
  tmb_lock_acquire(&net->lock);
  const struct nmpi_peer *p = net->peers.of[peer];
  if (p)
    snprintf(text, bytes, "mpi: %u of %u units of credit used", p->flying, net->credit);
  else
    snprintf(text, bytes, "mpi: nothing has been sent yet");
  tmb_lock_release(&net->lock);
}
