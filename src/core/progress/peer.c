/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to a peer, see peer.h.
 *
 * Owns nothing. Called by am, rma, teams, notify, vis, coll and atomics. Calls: the on-node engine,
 * the conduit's table, net/defaults, failure.h. What a conduit leaves empty is made of messages; a
 * slot that has no room is called again after progress, unless the operation is immediate or in
 * parts (resume). Invariants: what a conduit will complete is counted before it is asked, and
 * withdrawn when it has done nothing.
 */
#include "core/progress/peer.h"

#include "base/error.h"
#include "base/log.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/progress/failure.h"
#include "core/progress/net_sleep.h"
#include "core/progress/wait.h"
#include "net/defaults/defaults.h"

#include <gasnetex_ext.h>
#include <stdlib.h>

_Thread_local volatile uint32_t tmb_peer_inside;

/* The conduit is called: between enter and back. */
static void enter(void) {
  tmb_peer_inside++;
}

/* The conduit has returned rc. */
static int back(int rc) {
  tmb_net_sleep_tell();
  tmb_peer_inside--;
  return rc;
}

/* ---- messages */

/* A buffer of core's that a conduit without buffers has sent. */
static void sent(struct tmb_am_out *out) {
  if (out->staged < 0 || tmb_job.net->am_stage) return;
  free((void *)(uintptr_t)out->src);
  out->staged = -1;
}

int tmb_peer_send_far(struct tmb_am_out *out) {
  enter();
  const int rc = back(tmb_job.net->am_send(tmb_job.net_state, out));
  if (rc == 0) sent(out);
  return rc;
}

int tmb_peer_send_special(struct tmb_am_out *out) {
  const size_t nbytes = out->category == TMB_AM_SHORT ? 0 : out->nbytes;
  if (tmb_peer_gone(out->peer)) return tmb_failure_drop(out);
  const uint64_t begun = tmb_record_clock();
  const int rc = tmb_is_near(out->peer)
                     ? tmb_near_am_send(&tmb_job.near, tmb_near_of(out->peer), out)
                     : tmb_peer_send_far(out);
  if (rc) return rc;
  tmb_count(GEXX_STATS_AM_SHORT + out->category, out->peer, nbytes);
  tmb_record_sent(begun, out);
  return 0;
}

void *tmb_peer_stage(struct tmb_am_out *out) {
  void *buffer;
  if (tmb_is_near(out->peer)) {
    buffer = tmb_near_bulk_take(&tmb_job.near, out);
  } else if (tmb_job.net->am_stage) {
    enter();
    buffer = tmb_job.net->am_stage(tmb_job.net_state, out);
    (void)back(0);
  } else {
    buffer = aligned_alloc(TMB_CACHE_LINE, TMB_AM_MEDIUM_BYTES_MAX);
    if (!buffer) tmb_fatal("out of memory for a message of %u bytes", TMB_AM_MEDIUM_BYTES_MAX);
    out->staged = 0;
  }
  if (buffer) out->src = buffer;
  return buffer;
}

void tmb_peer_release(struct tmb_am_out *out) {
  if (out->staged < 0) return;
  if (tmb_is_near(out->peer)) {
    tmb_near_bulk_release(&tmb_job.near, out);
  } else if (tmb_job.net->am_release) {
    enter();
    tmb_job.net->am_release(tmb_job.net_state, out);
    (void)back(0);
    out->staged = -1;
  } else {
    sent(out);
  }
}

static void describe_long(const void *object, struct tmb_status_wait *w) {
  const struct tmb_am_out *out = object;
  w->kind = TMB_WAIT_SEND;
  w->what = TMB_WHAT_SHORT + TMB_AM_LONG;
  w->peer = out->peer;
  w->count = out->is_reply;
  w->cmp = out->lacks;
}

/* The conduit's own way to send a Long; goes on until it is sent, or an immediate one has found no
 * room for its beginning. */
static int long_far(struct tmb_am_out *out) {
  const uint64_t begun = tmb_record_clock();
  struct tmb_resume resume = {0};
  struct gexx_wait wait;
  out->resume = &resume;
  tmb_wait_begin(&wait);
  int rc;
  for (;;) {
    enter();
    rc = back(tmb_job.net->am_long(tmb_job.net_state, out));
    if (rc != TMB_AGAIN) break;
    if (out->immediate && resume.at == 0) return rc;
    tmb_wait_retry(&wait, out->is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_ALL,
                   (struct tmb_why){describe_long, out});
  }
  if (rc) return rc;
  tmb_count(GEXX_STATS_AM_LONG, out->peer, out->nbytes);
  tmb_record_sent(begun, out);
  return 0;
}

int tmb_peer_am_long(struct tmb_am_out *out) {
  if (tmb_peer_gone(out->peer)) return tmb_failure_drop(out);
  if (tmb_is_near(out->peer) || !tmb_job.net->am_long) return tmb_default_am_long(out);
  return long_far(out);
}

/* ---- remote memory access */

static void announce(const struct tmb_rma *rma) {
  if (!rma->op) return;
  tmb_up_peer_more(rma->op, rma->category, rma->peer);
  if (rma->tell_local) tmb_up_peer_more(rma->op, rma->local_category, rma->peer);
}

static void withdraw(const struct tmb_rma *rma) {
  if (!rma->op) return;
  tmb_up_peer_done(rma->op, rma->category, rma->peer);
  if (rma->tell_local) tmb_up_peer_done(rma->op, rma->local_category, rma->peer);
}

enum slot { PUT, GET, PUT_SIGNAL, GET_SIGNAL, DEVICE_PUT, DEVICE_GET };

static bool has_slot(enum slot slot) {
  const struct tmb_net_ops *net = tmb_job.net;
  switch (slot) {
  case PUT: return net->put != NULL;
  case GET: return net->get != NULL;
  case PUT_SIGNAL: return net->put_signal != NULL;
  case GET_SIGNAL: return net->get_signal != NULL;
  default: return net->device_rma != NULL;
  }
}

static int call_slot(enum slot slot, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  const struct tmb_net_ops *net = tmb_job.net;
  enter();
  switch (slot) {
  case PUT: return back(net->put(tmb_job.net_state, rma));
  case GET: return back(net->get(tmb_job.net_state, rma));
  case PUT_SIGNAL: return back(net->put_signal(tmb_job.net_state, rma, signal));
  case GET_SIGNAL: return back(net->get_signal(tmb_job.net_state, rma, signal));
  default: return back(net->device_rma(tmb_job.net_state, rma, slot == DEVICE_GET));
  }
}

/* The same operation made of messages. */
static int build(enum slot slot, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  switch (slot) {
  case PUT: return tmb_default_put(rma);
  case GET: return tmb_default_get(rma);
  case PUT_SIGNAL: return tmb_default_put_signal(rma, signal);
  case GET_SIGNAL: return tmb_default_get_signal(rma, signal);
  default: return TMB_E_UNSUPPORTED; /* core/mk does it */
  }
}

static void describe_access(const void *object, struct tmb_status_wait *w) {
  const struct tmb_rma *rma = object;
  w->kind = TMB_WAIT_SEND;
  w->peer = rma->peer;
}

/* An access by the conduit. A put without a report of its end is sent in parts, if need be: its
 * source has been read on return. */
static int access_far(enum slot slot, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  struct tmb_resume resume = {0};
  struct tmb_rma whole = *rma;
  struct gexx_wait wait;
  if (!rma->op && !rma->resume) whole.resume = &resume;
  tmb_wait_begin(&wait);
  for (;;) {
    announce(rma);
    const int rc = call_slot(slot, &whole, signal);
    if (rc == 0) return 0;
    withdraw(rma);
    if (rc == TMB_E_UNSUPPORTED) return build(slot, rma, signal);
    if (rc != TMB_AGAIN)
      tmb_fatal_nopos("remote memory access to rank %u failed with code %d", rma->peer, rc);
    if (rma->resume || (rma->immediate && resume.at == 0)) return TMB_AGAIN;
    tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe_access, rma});
  }
}

int tmb_peer_put(const struct tmb_rma *rma) {
  if (tmb_peer_gone(rma->peer)) return tmb_failure_rma(rma, false);
  if (tmb_is_near(rma->peer) || !has_slot(PUT)) return tmb_default_put(rma);
  return access_far(PUT, rma, NULL);
}

int tmb_peer_get(const struct tmb_rma *rma) {
  if (tmb_peer_gone(rma->peer)) return tmb_failure_rma(rma, true);
  if (tmb_is_near(rma->peer) || !has_slot(GET)) return tmb_default_get(rma);
  return access_far(GET, rma, NULL);
}

int tmb_peer_device_rma(const struct tmb_rma *rma, bool is_get) {
  const enum slot slot = is_get ? DEVICE_GET : DEVICE_PUT;
  if (tmb_peer_gone(rma->peer) || tmb_is_near(rma->peer) || !has_slot(slot))
    return TMB_E_UNSUPPORTED;
  return access_far(slot, rma, NULL);
}

int tmb_peer_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  if (tmb_peer_gone(rma->peer)) return tmb_failure_rma(rma, false);
  const bool made = tmb_is_near(rma->peer) || !has_slot(PUT_SIGNAL);
  const int rc = made ? tmb_default_put_signal(rma, signal) : access_far(PUT_SIGNAL, rma, signal);
  if (rc == 0) tmb_count(GEXX_STATS_PUT_SIGNAL, rma->peer, rma->nbytes);
  return rc;
}

int tmb_peer_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  if (tmb_peer_gone(rma->peer)) return tmb_failure_rma(rma, true);
  const bool made = tmb_is_near(rma->peer) || !has_slot(GET_SIGNAL);
  const int rc = made ? tmb_default_get_signal(rma, signal) : access_far(GET_SIGNAL, rma, signal);
  if (rc == 0) tmb_count(GEXX_STATS_GET_SIGNAL, rma->peer, rma->nbytes);
  return rc;
}

/* ---- atomics */

static void describe_atomic(const void *object, struct tmb_status_wait *w) {
  const struct tmb_net_atomic *atomic = object;
  w->kind = TMB_WAIT_SEND;
  w->what = TMB_WHAT_ATOMIC;
  w->peer = atomic->peer;
}

int tmb_peer_atomic(const struct tmb_net_atomic *atomic) {
  struct gexx_wait wait;
  if (tmb_is_near(atomic->peer) || !tmb_job.net->atomic || tmb_peer_gone(atomic->peer))
    return TMB_E_UNSUPPORTED;
  tmb_wait_begin(&wait);
  for (;;) {
    tmb_up_peer_more(atomic->op, atomic->category, atomic->peer);
    enter();
    const int rc = back(tmb_job.net->atomic(tmb_job.net_state, atomic));
    if (rc == 0) return 0;
    tmb_up_peer_done(atomic->op, atomic->category, atomic->peer);
    if (rc == TMB_E_UNSUPPORTED || (rc == TMB_AGAIN && atomic->immediate)) return rc;
    if (rc != TMB_AGAIN)
      tmb_fatal_nopos("atomic operation on rank %u failed with code %d", atomic->peer, rc);
    tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe_atomic, atomic});
    if (tmb_peer_gone(atomic->peer)) return TMB_E_UNSUPPORTED;
  }
}

/* ---- the rest */

void tmb_peer_count_wake(uint32_t jobrank) {
  tmb_count(GEXX_STATS_WAKE, jobrank, 0);
}

int tmb_peer_lost_drain(uint32_t jobrank) {
  if (tmb_is_near(jobrank)) return tmb_near_lost(&tmb_job.near, tmb_near_of(jobrank));
  enter();
  return back(tmb_job.net->lost ? tmb_job.net->lost(tmb_job.net_state, jobrank) : 0);
}

int tmb_peer_progress(int serve) {
  enter();
  return back(tmb_job.net->progress(tmb_job.net_state, serve));
}
