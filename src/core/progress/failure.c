/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Noticing that peers are lost, ending operations that involve them, and notifying the client.
 *
 * Owns: tmb_job.lost and tmb_job.failure. Called by progress, and by failure_calls.c for clients.
 * Calls: boot, peer.h, lost.h, segment_table.h, team.h, the layers. The supervisor counts changes
 * in shared memory and wakes ranks that sleep; each poll compares the count with the last one that
 * it has read. A lost peer gets nothing any more; when engine or conduit say that all it had sent
 * has been handled, everything that waits for it is completed and the client is notified.
 * Invariants: without GEXX_FAILURE_REPORT nothing here runs; `seen` changes only when no peer is
 * ENDED; the callback runs outside of every lock.
 */
#include "core/progress/failure.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/segment/segment_table.h"

#include <stdlib.h>

/* ---- noticing */

/* The first rank that is suspended, or `size`. */
static uint32_t find_suspended(void) {
  uint32_t r = 0;
  while (r < tmb_job.size && TMB_FATE_KIND(tmb_failure_fate(r)) != TMB_FATE_SUSPENDED) r++;
  return r;
}

void tmb_failure_cut(uint32_t jobrank, const char *why) {
  tmb_boot_rouse(&tmb_job.boot);
  if (jobrank == tmb_job.rank) {
    const uint32_t suspended = find_suspended();
    if (suspended < tmb_job.size) {
      jobrank = suspended;
      why = "it is suspended, and has not answered for TOMBOLO_PEER_TIMEOUT";
    }
  }
  /* Where the job is to end, nothing that waits for the peer may end as if all were well. */
  if (!tmb_job.lost || tmb_load_rlx(&tmb_job.failure_policy) == GEXX_FAILURE_ABORT)
    tmb_fatal_nopos("rank %u on host %s is lost: %s", jobrank,
                    tmb_boot_host_name(&tmb_job.boot, jobrank), why);
  /* The supervisor ends a process that is itself lost; until then it does not act as if all others
   * were. */
  if (jobrank == tmb_job.rank) {
    tmb_boot_condemn(&tmb_job.boot, jobrank);
    return;
  }
  if (tmb_xchg_acq_rel(&tmb_job.failure.cut[jobrank], 1)) return;
  tmb_fetch_add_rel(&tmb_job.failure.cuts, 1);
  tmb_boot_condemn(&tmb_job.boot, jobrank);
}

/* State of a process, as its launcher or the conduit knows. */
uint32_t tmb_failure_fate(uint32_t jobrank) {
  const uint32_t fate = tmb_boot_fate(&tmb_job.boot, jobrank);
  if (TMB_FATE_IS_LOST(fate) || !tmb_job.failure.cut ||
      !tmb_load_rlx(&tmb_job.failure.cut[jobrank]))
    return fate;
  return TMB_FATE(TMB_FATE_FAILED, 0, 0);
}

/* Everything that waits for this peer ends. */
static void end_peer(uint32_t peer) {
  tmb_store_rel(&tmb_job.lost[peer], TMB_PEER_LOST);
  tmb_segtab_lose(peer);
  tmb_layers_peer_lost(peer);
}

/*
 * Go through the fates of all peers. in may_end: the caller is in normal context, so losses may be
 * completed. out ended: how many were. Returns how much was done: not 0 after a peer was found
 * lost, so that nobody sleeps before the next poll.
 */
static int handle_changes(bool may_end, int *ended) {
  const uint32_t changes = tmb_load_acq(tmb_job.failure.changes);
  const uint32_t cuts = tmb_load_acq(&tmb_job.failure.cuts);
  bool settled = true;
  int found = 0;
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    uint8_t *state = &tmb_job.lost[r];
    if (*state == TMB_PEER_LOST || !TMB_FATE_IS_LOST(tmb_failure_fate(r))) continue;
    if (*state == TMB_PEER_HERE) {
      tmb_store_rel(state, TMB_PEER_ENDED);
      found++;
    }
    if (tmb_peer_lost_drain(r) == 0 && may_end) {
      end_peer(r);
      ++*ended;
    } else {
      settled = false;
    }
  }
  if (settled) {
    tmb_store_rlx(&tmb_job.failure.seen, changes);
    tmb_fetch_sub_rel(&tmb_job.failure.cuts, cuts);
  }
  return found + *ended;
}

/* Call the client's callback for peers that were not reported yet. */
static void report_losses(void) {
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    if (tmb_load_acq(&tmb_job.lost[r]) != TMB_PEER_LOST ||
        tmb_load_rlx(&tmb_job.failure.reported[r]))
      continue;
    if (tmb_xchg_acq_rel(&tmb_job.failure.reported[r], 1) || !tmb_job.failure.fn) continue;
    tmb_job.failure.fn(r, tmb_failure_state(tmb_failure_fate(r)), tmb_job.failure.cdata);
  }
}

TMB_COLD static int attend(int serve) {
  if (!tmb_lock_try(&tmb_job.failure.attending)) return TMB_FOUND_BUSY;
  int ended = 0;
  const int done = handle_changes(serve == TMB_SERVE_ALL, &ended);
  tmb_lock_release(&tmb_job.failure.attending);
  if (ended) report_losses();
  return done ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

int tmb_failure_progress(int serve) {
  if (TMB_LIKELY(tmb_load_rlx(tmb_job.failure.changes) == tmb_load_rlx(&tmb_job.failure.seen)) &&
      TMB_LIKELY(!tmb_load_rlx(&tmb_job.failure.cuts)))
    return TMB_FOUND_NOTHING;
  return attend(serve);
}

/* ---- the policy */

void tmb_failure_begin(struct tmb_boot_doors *doors) {
  const uint32_t size = tmb_job.size;
  tmb_job.failure.reported = calloc(size, 1);
  tmb_job.failure.cut = calloc(size, 1);
  uint8_t *lost = calloc(size, 1);
  if (!tmb_job.failure.reported || !tmb_job.failure.cut || !lost)
    tmb_fatal("out of memory for the failures of %u ranks", size);
  tmb_near_expect_loss(&tmb_job.near, &doors->offset, &doors->stride);
  tmb_job.failure.changes = tmb_boot_changes(&tmb_job.boot);
  tmb_job.failure.seen = 0;
  tmb_job.lost = lost;
  tmb_fetch_or_acq_rel(&tmb_job.special, TMB_SPECIAL_LOSS);
}

void gexx_Job_SetFailureCallback(gexx_Failure_Fn_t fn, void *cdata) {
  TMB_CHECK_CONTEXT("gexx_Job_SetFailureCallback");
  tmb_job.failure.fn = fn;
  tmb_job.failure.cdata = cdata;
}
