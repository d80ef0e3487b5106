/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One attempt to send a message to a peer, near or far, see peer.h.
 *
 * Owns nothing. Called by am, teams, progress, failure.c and peer_access.c. Calls: the on-node
 * engine, the conduit's table. Without room the caller tries again. Invariants: nothing here waits
 * or polls on its own account, so that progress and waits may call it.
 */
#include "core/progress/peer.h"

#include "base/error.h"
#include "base/log.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/progress/net_sleep.h"
#include "core/progress/progress.h"
#include "net/net.h"

#include <gasnetex_ext.h>
#include <stdlib.h>

/* ---- messages */

int tmb_peer_drop(struct tmb_am_out *out) {
  tmb_peer_release(out);
  tmb_fetch_add_rlx(&tmb_job.dropped, 1);
  if (out->handler >= TMB_HANDLER_FIRST && !out->is_reply) (void)tmb_lost_record(out->peer);
  return 0;
}

/* A buffer of core's that a conduit without buffers has sent. */
static void sent(struct tmb_am_out *out) {
  if (out->staged < 0 || tmb_job.net->am_stage) return;
  free((void *)(uintptr_t)out->src);
  out->staged = -1;
}

int tmb_peer_send_far(struct tmb_am_out *out) {
  tmb_net_enter();
  const int rc = tmb_net_back(tmb_job.net->am_send(tmb_job.net_state, out));
  if (rc == 0) sent(out);
  return rc;
}

int tmb_peer_send_special(struct tmb_am_out *out) {
  const size_t nbytes = out->category == TMB_AM_SHORT ? 0 : out->nbytes;
  if (tmb_peer_ended(out->peer)) return tmb_peer_drop(out);
  const uint64_t begun = tmb_record_clock();
  const int rc = tmb_is_near(out->peer)
                     ? tmb_near_am_send(&tmb_job.near, tmb_near_of(out->peer), out)
                     : tmb_peer_send_far(out);
  if (rc) return rc;
  tmb_count(GEXX_STATS_AM_SHORT + out->category, out->peer, nbytes);
  tmb_record_sent(begun, out);
  return 0;
}

bool tmb_peer_takes_whole(uint32_t peer) {
  return !tmb_is_near(peer) && tmb_job.net->whole;
}

void *tmb_peer_stage(struct tmb_am_out *out) {
  void *buffer;
  if (tmb_is_near(out->peer)) {
    buffer = tmb_near_bulk_take(&tmb_job.near, out);
  } else if (tmb_job.net->am_stage) {
    tmb_net_enter();
    buffer = tmb_job.net->am_stage(tmb_job.net_state, out);
    (void)tmb_net_back(0);
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
    tmb_net_enter();
    tmb_job.net->am_release(tmb_job.net_state, out);
    (void)tmb_net_back(0);
    out->staged = -1;
  } else {
    sent(out);
  }
}

/* ---- the rest */

void tmb_peer_fatal(const char *what, uint32_t peer, int rc) {
  const bool far = tmb_job.net && !tmb_is_near(peer);
  tmb_fatal_nopos("%s rank %u failed: conduit %s: %s (%s); %s", what, peer,
                  far ? tmb_job.net->name : "smp", tmb_error_text(rc), tmb_error_name(rc),
                  tmb_error_remedy(rc));
}

void tmb_peer_count_wake(uint32_t jobrank) {
  tmb_count(GEXX_STATS_WAKE, jobrank, 0);
}

int tmb_peer_lost_drain(uint32_t jobrank) {
  if (tmb_is_near(jobrank)) {
    const int rc = tmb_near_lost(&tmb_job.near, tmb_near_of(jobrank));
    if (rc || !tmb_job.net || !tmb_job.net->offloads) return rc;
  }
  tmb_net_enter();
  const int rc =
      tmb_net_back(tmb_job.net->lost ? tmb_job.net->lost(tmb_job.net_state, jobrank) : 0);
  return rc == 0 && tmb_later_has(jobrank) ? TMB_AGAIN : rc;
}

int tmb_peer_progress(int serve) {
  tmb_net_enter();
  return tmb_net_back(tmb_job.net->progress(tmb_job.net_state, serve));
}
