/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a peer's memory that is not a copy here: put, get, signals, Longs, atomics.
 *
 * Owns nothing. Called by am, rma, mk, notify, vis and atomics. Calls: the conduit's table,
 * net/defaults, wait.h. Slots that a conduit leaves empty are built from messages; a slot that has
 * no room is called again after progress, unless the operation is immediate or in parts (resume).
 * Invariants: an operation is counted before the conduit gets it, and the count is withdrawn when
 * the conduit has done nothing; an access to a lost peer ends at once, in error.
 */
#include "base/error.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/progress/net_sleep.h"
#include "core/progress/peer.h"
#include "core/progress/wait.h"
#include "core/segment/segment_table.h"
#include "net/defaults/defaults.h"
#include "net/net.h"

#include <gasnetex_ext.h>
#include <string.h>

/* ---- Longs */

static void describe_long(const void *object, struct tmb_status_wait *w) {
  const struct tmb_am_out *out = object;
  w->kind = TMB_WAIT_SEND;
  w->what = TMB_WHAT_SHORT + TMB_AM_LONG;
  w->peer = out->peer;
  w->count = out->is_reply;
  w->cmp = out->lacks;
}

/* The conduit's own method of sending a Long; goes on until it is sent, or an immediate one has
 * found no room for its beginning. */
static int long_far(struct tmb_am_out *out) {
  const uint64_t begun = tmb_record_clock();
  struct tmb_resume resume = {0};
  struct gexx_wait wait;
  out->resume = &resume;
  tmb_wait_begin(&wait);
  int rc;
  for (;;) {
    tmb_net_enter();
    rc = tmb_net_back(tmb_job.net->am_long(tmb_job.net_state, out));
    if (rc != TMB_AGAIN) break;
    if (out->immediate && resume.at == 0) return rc;
    tmb_wait_retry(&wait, out->is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_ALL,
                   (struct tmb_why){describe_long, out});
  }
  if (rc == TMB_E_UNSUPPORTED) return tmb_default_am_long(out);
  if (rc) tmb_peer_fatal("sending a message to", out->peer, rc);
  tmb_count(GEXX_STATS_AM_LONG, out->peer, out->nbytes);
  tmb_record_sent(begun, out);
  return 0;
}

bool tmb_peer_has_long(uint32_t peer) {
  return !tmb_is_near(peer) && tmb_job.net->am_long && !tmb_job.lost;
}

bool tmb_peer_expose(void *base, size_t nbytes, struct tmb_net_key *key) {
  if (!tmb_job.net->expose) return false;
  tmb_net_enter();
  return tmb_net_back(tmb_job.net->expose(tmb_job.net_state, base, nbytes, key));
}

void tmb_peer_conceal(const struct tmb_net_key *key) {
  tmb_net_enter();
  tmb_job.net->conceal(tmb_job.net_state, key);
  (void)tmb_net_back(0);
}

int tmb_peer_try_long(struct tmb_am_out *out, const char *what) {
  if (tmb_peer_ended(out->peer)) return tmb_peer_drop(out);
  const uint64_t begun = tmb_record_clock();
  tmb_net_enter();
  const int rc = tmb_net_back(tmb_job.net->am_long(tmb_job.net_state, out));
  if (rc == TMB_AGAIN || rc == TMB_E_UNSUPPORTED) return rc;
  if (rc) tmb_peer_fatal(what, out->peer, rc);
  tmb_count(GEXX_STATS_AM_LONG, out->peer, out->nbytes);
  tmb_record_sent(begun, out);
  return 0;
}

int tmb_peer_am_long(struct tmb_am_out *out) {
  if (tmb_peer_ended(out->peer)) return tmb_peer_drop(out);
  if (tmb_is_near(out->peer) || !tmb_job.net->am_long) return tmb_default_am_long(out);
  return long_far(out);
}

/* ---- remote memory access */

/* A put or get with a process that has ended. Data that are still mapped are copied nevertheless.
 * Returns 0: the access is complete, and its op is marked as having met a loss. */
static int access_lost(const struct tmb_rma *rma, bool is_get) {
  if (rma->nbytes && tmb_segtab_attached(rma->peer, rma->remote, rma->nbytes)) {
    void *mapped = gexx_rma_local(tmb_mapped_delta(rma->peer), rma->remote);
    memcpy(is_get ? rma->local : mapped, is_get ? mapped : rma->local, rma->nbytes);
  }
  tmb_op_or_thread_lose(rma->op, rma->category, rma->peer);
  return 0;
}

static void announce(const struct tmb_rma *rma) {
  if (!rma->op) return;
  tmb_up_peer_more(rma->op, rma->category, rma->peer);
  if (rma->report_local) tmb_up_peer_more(rma->op, rma->local_category, rma->peer);
}

static void withdraw(const struct tmb_rma *rma) {
  if (!rma->op) return;
  tmb_up_peer_done(rma->op, rma->category, rma->peer);
  if (rma->report_local) tmb_up_peer_done(rma->op, rma->local_category, rma->peer);
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
  tmb_net_enter();
  switch (slot) {
  case PUT: return tmb_net_back(net->put(tmb_job.net_state, rma));
  case GET: return tmb_net_back(net->get(tmb_job.net_state, rma));
  case PUT_SIGNAL: return tmb_net_back(net->put_signal(tmb_job.net_state, rma, signal));
  case GET_SIGNAL: return tmb_net_back(net->get_signal(tmb_job.net_state, rma, signal));
  default: return tmb_net_back(net->device_rma(tmb_job.net_state, rma, slot == DEVICE_GET));
  }
}

/* The operation built from messages. */
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
 * source has been read on return. Returns 0, TMB_AGAIN or TMB_E_UNSUPPORTED. */
static int access_conduit(enum slot slot, const struct tmb_rma *rma,
                          const struct tmb_signal *signal) {
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
    if (rc == TMB_E_UNSUPPORTED) return rc;
    if (rc != TMB_AGAIN) tmb_peer_fatal("remote memory access to", rma->peer, rc);
    if (rma->resume || (rma->immediate && resume.at == 0)) return TMB_AGAIN;
    tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe_access, rma});
  }
}

/* A long put with a signal and without an op, which the conduit has refused. With an op it may
 * write the data in one piece, in half the time of messages, which are copied on both sides. So
 * this makes an op and waits for it. Returns as access_conduit. */
static int put_signal_by_write(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  if (rma->op || rma->resume || rma->nbytes <= TMB_AM_MEDIUM_BYTES_MAX) return TMB_E_UNSUPPORTED;
  struct tmb_op *const op = tmb_op_new(TMB_OP_SINGLE, 0);
  struct tmb_rma whole = *rma;
  tmb_op_name(op, TMB_WHAT_PUT_SIGNAL, rma->peer);
  whole.op = op;
  const int rc = access_conduit(PUT_SIGNAL, &whole, signal);
  if (rc == 0) {
    struct gexx_wait wait;
    tmb_wait_begin(&wait);
    while (!tmb_op_done(op, GEX_EC_ALL)) tmb_wait_step(&wait, tmb_why_op(op));
    (void)tmb_op_sync(op, GEX_EC_ALL);
  }
  tmb_op_free(op);
  return rc;
}

/* An access by the conduit, or made of messages. */
static int access_far(enum slot slot, const struct tmb_rma *rma, const struct tmb_signal *signal) {
  int rc = access_conduit(slot, rma, signal);
  if (rc == TMB_E_UNSUPPORTED && slot == PUT_SIGNAL) rc = put_signal_by_write(rma, signal);
  return rc == TMB_E_UNSUPPORTED ? build(slot, rma, signal) : rc;
}

int tmb_peer_put(const struct tmb_rma *rma) {
  if (tmb_peer_ended(rma->peer)) return access_lost(rma, false);
  if (tmb_is_near(rma->peer) || !has_slot(PUT)) return tmb_default_put(rma);
  return access_far(PUT, rma, NULL);
}

int tmb_peer_get(const struct tmb_rma *rma) {
  if (tmb_peer_ended(rma->peer)) return access_lost(rma, true);
  if (tmb_is_near(rma->peer) || !has_slot(GET)) return tmb_default_get(rma);
  return access_far(GET, rma, NULL);
}

int tmb_peer_device_rma(const struct tmb_rma *rma, bool is_get) {
  const enum slot slot = is_get ? DEVICE_GET : DEVICE_PUT;
  if (tmb_peer_ended(rma->peer) || tmb_is_near(rma->peer) || !has_slot(slot))
    return TMB_E_UNSUPPORTED;
  return access_far(slot, rma, NULL);
}

int tmb_peer_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  if (tmb_peer_ended(rma->peer)) return access_lost(rma, false);
  const bool made = tmb_is_near(rma->peer) || !has_slot(PUT_SIGNAL);
  const int rc = made ? tmb_default_put_signal(rma, signal) : access_far(PUT_SIGNAL, rma, signal);
  if (rc == 0) tmb_count(GEXX_STATS_PUT_SIGNAL, rma->peer, rma->nbytes);
  return rc;
}

int tmb_peer_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  if (tmb_peer_ended(rma->peer)) return access_lost(rma, true);
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

bool tmb_peer_offloads(uint32_t dt, uint32_t ops) {
  return tmb_job.net && tmb_job.net->offloads && tmb_job.net->offloads(tmb_job.net_state, dt, ops);
}

int tmb_peer_atomic(const struct tmb_net_atomic *atomic) {
  struct gexx_wait wait;
  if ((tmb_is_near(atomic->peer) && !atomic->offload) || !tmb_job.net->atomic ||
      tmb_peer_ended(atomic->peer))
    return TMB_E_UNSUPPORTED;
  tmb_wait_begin(&wait);
  for (;;) {
    tmb_up_peer_more(atomic->op, atomic->category, atomic->peer);
    tmb_net_enter();
    const int rc = tmb_net_back(tmb_job.net->atomic(tmb_job.net_state, atomic));
    if (rc == 0) return 0;
    tmb_up_peer_done(atomic->op, atomic->category, atomic->peer);
    if (rc == TMB_E_UNSUPPORTED || (rc == TMB_AGAIN && atomic->immediate)) return rc;
    if (rc != TMB_AGAIN) tmb_peer_fatal("an atomic operation on", atomic->peer, rc);
    tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe_atomic, atomic});
    if (tmb_peer_ended(atomic->peer)) return TMB_E_UNSUPPORTED;
  }
}
