/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: arrived messages are checked, obeyed or handed up, see mpi_engine.h.
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

/* Work of one call of progress. Chosen, not measured. */
#define PROGRESS_BATCH 32 /* messages */
#define SENDING_MANY   4  /* buffers in flight, from which on sends are polled each time */
/* The progress thread has nothing to sleep on: times between its polls. Chosen. */
#define QUIET_NS       1000000u
#define BUSY_NS        50000u /* after a poll that found something, for BUSY_POLLS polls */
#define BUSY_POLLS     100u

/* ---- arrived messages */

/* Whether the payload is as long as the kind of a message says. */
static bool fits_kind(const struct nmpi_head *h) {
  if (h->kind == NMPI_MEDIUM) return true;
  if (h->kind == NMPI_LONG) return h->nbytes == sizeof(struct nmpi_ask);
  if (h->kind != NMPI_PUT && h->kind != NMPI_GET) return h->nbytes == 0;
  return h->nargs == 0 && h->nbytes == sizeof(struct nmpi_ask);
}

/* Message of this conduit to itself. */
static void obey(struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct nmpi_head *h = nmpi_head_of(b);
  if (h->kind == NMPI_MOVED)
    nmpi_direct_moved(net, b->peer, h->route);
  else if (h->kind != NMPI_CREDIT)
    nmpi_direct_asked(net, b);
}

/* Whether a message is one of a rank of another host. */
static bool is_good(const struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct tmb_net_env *env = &net->env;
  const struct nmpi_head *h = nmpi_head_of(b);
  if (b->bytes < sizeof *h || b->peer >= env->size || env->host_of[b->peer] == env->host ||
      h->kind >= NMPI_KINDS || h->is_reply > 1 || !tmb_am_args_fit(h->nargs, h->route) ||
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

/* The next message that may be served, or NULL. in serve: TMB_SERVE_* or TMB_SERVE_THREAD; out
 * dealt: of messages. */
static struct nmpi_buffer *next_message(struct tmb_net *net, int serve, uint32_t *dealt) {
  for (int i = 0; i < TMB_NET_HELD; i++)
    if (TMB_UNLIKELY(net->in.held[i].first != NULL) && tmb_net_serves(serve, i))
      return nmpi_inbox_unhold(&net->in, i);
  while (*dealt < PROGRESS_BATCH) {
    struct nmpi_buffer *const b = nmpi_inbox_next(net);
    if (!b) return NULL;
    ++*dealt;
    if (!arrived(net, b)) continue;
    const int queue = nmpi_queue_of(net, b);
    if (tmb_net_serves(serve, queue)) return b;
    nmpi_inbox_hold(net, b, queue);
  }
  return NULL;
}

/* Give a message to core, by one of its upcalls; without the lock. */
static void hand_up(const struct nmpi_buffer *b, void (*am)(const struct tmb_am_in *in)) {
  const struct nmpi_head *h = nmpi_head_of(b);
  struct tmb_am_in in = {TMB_AM_HEAD(h),
                         .src = b->peer,
                         .category = h->kind,
                         .args = (const int32_t *)(const void *)(h + 1),
                         .payload =
                             h->kind == NMPI_SHORT ? NULL : b->data + nmpi_payload_at(h->nargs),
                         .nbytes = h->nbytes};
  if (TMB_UNLIKELY(h->kind == NMPI_LONG)) { /* the payload has come before */
    const struct nmpi_ask *const ask = in.payload;
    in.category = TMB_AM_LONG;
    in.payload = (void *)(uintptr_t)ask->addr;
    in.nbytes = ask->nbytes;
  }
  am(&in);
}

/* ---- the slots */

/* Under the lock: work that needs no message. Done when there is none, or much of it. Returns
 * whether somebody may go on because of it. */
static bool housekeeping(struct tmb_net *net, bool idle) {
  nmpi_inbox_post(net, idle);
  const bool reaped =
      net->out.sending && (idle || net->out.sending >= SENDING_MANY) && nmpi_reap(net);
  const bool answered = net->direct.answers && nmpi_direct_answer(net);
  return (net->peers.todo && nmpi_send_rest(net)) || answered || reaped;
}

/* Give a message to core, without the lock, and use its buffer again. */
static void deal_with(struct tmb_net *net, struct nmpi_buffer *b, int serve)
    TMB_REQUIRES(net->lock);

static void deal_with(struct tmb_net *net, struct nmpi_buffer *b, int serve) {
  const struct tmb_net_up *up = net->env.up;
  const uint32_t units = nmpi_units(nmpi_head_of(b));
  tmb_count_rlx(&net->env.stats->received, 1);
  tmb_count_rlx(&net->env.stats->bytes_in, nmpi_head_of(b)->nbytes);
  tmb_lock_release(&net->lock);
  hand_up(b, serve == TMB_SERVE_THREAD ? up->am_by_thread : up->am);
  tmb_lock_acquire(&net->lock);
  if (units) nmpi_credit_owe(net, b->peer, units);
  nmpi_inbox_recycle(&net->in, b);
}

/* One poll, for the client or, with TMB_SERVE_THREAD or TMB_SERVE_NOTHING, in its place. */
static int poll_once(struct tmb_net *net, int serve) TMB_REQUIRES(net->lock);

static int poll_once(struct tmb_net *net, int serve) {
  const uint64_t tick = net->tick;
  uint32_t dealt = 0;
  int found = TMB_FOUND_NOTHING;
  for (int i = 0; i < PROGRESS_BATCH && !net->ended; i++) {
    struct nmpi_buffer *const b = next_message(net, serve, &dealt);
    if (!b) break;
    const bool reply = nmpi_head_of(b)->is_reply;
    deal_with(net, b, serve);
    found |= TMB_FOUND_WORK;
    if (reply) break; /* somebody is likely to wait for it */
    if (serve == TMB_SERVE_THREAD && net->tick != tick) break;
  }
  if (dealt) found |= TMB_FOUND_WORK;
  if (!net->ended && net->direct.moving && nmpi_direct_look(net)) found |= TMB_FOUND_WORK;
  if (net->direct.finished) nmpi_direct_finish(net);
  if (!net->ended && housekeeping(net, !found)) found |= TMB_FOUND_WORK;
  return found;
}

/* The progress thread waits, in a handler, for room for a reply. */
static int wait_in_handler(struct tmb_net *net) {
  if (tmb_load_rlx(&net->thread_ends)) return TMB_E_SYS;
  if (!tmb_lock_try(&net->lock)) return TMB_FOUND_BUSY;
  if (!net->ended) (void)poll_once(net, TMB_SERVE_NOTHING);
  tmb_lock_release(&net->lock);
  return TMB_FOUND_NOTHING;
}

int nmpi_progress(struct tmb_net *net, int serve) {
  if (TMB_UNLIKELY(serve == TMB_SERVE_NOTHING)) return wait_in_handler(net);
  if (!tmb_lock_try(&net->lock)) return TMB_FOUND_BUSY;
  tmb_store_rlx(&net->tick, net->tick + 1);
  const int found = poll_once(net, serve);
  tmb_lock_release(&net->lock);
  return found;
}

bool nmpi_tend(struct tmb_net *net, uint64_t seen, struct pollfd *fds, uint32_t *count,
               uint64_t *ns) {
  (void)fds;
  if (!tmb_lock_try(&net->lock)) return false;
  if (net->ended || net->tick != seen) {
    tmb_lock_release(&net->lock);
    return false;
  }
  int found = poll_once(net, TMB_SERVE_THREAD);
  if (net->env.up->thread_work && !net->ended) {
    tmb_lock_release(&net->lock);
    found |= net->env.up->thread_work();
    tmb_lock_acquire(&net->lock);
  }
  if (found)
    net->busy_polls = BUSY_POLLS;
  else if (net->busy_polls)
    net->busy_polls--;
  *count = 0;
  *ns = net->busy_polls ? BUSY_NS : QUIET_NS;
  tmb_lock_release(&net->lock);
  return true;
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
