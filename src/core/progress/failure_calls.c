/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of clients about peers that are lost.
 *
 * Owns nothing. Called by clients. Calls: failure.h, progress, waits. A peer that has been found
 * lost is not yet lost to everything, so these calls go on with progress until it is: an answer
 * here is final. Invariant: nothing that progress calls is in this file.
 */
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/thread.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"

/* ---- rules for the calling thread */

static void describe_loss(const void *object, struct tmb_status_wait *out) {
  out->kind = TMB_WAIT_LOSS;
  out->peer = *(const uint32_t *)object;
}

/* A peer that has been found lost is not yet lost to everything: go on until it is, before the
 * client hears of it. From normal context. */
static void settle(uint32_t peer) {
  struct gexx_wait wait;
  if (!tmb_job.lost || tmb_load_acq(&tmb_job.lost[peer]) != TMB_PEER_ENDED) return;
  tmb_wait_begin(&wait);
  while (tmb_load_acq(&tmb_job.lost[peer]) == TMB_PEER_ENDED)
    tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe_loss, &peer});
}

int gexx_Lost_Take(gex_Rank_t *jobrank_p) {
  TMB_CHECK_CONTEXT("gexx_Lost_Take");
  struct tmb_thread *t = tmb_thread();
  const uint32_t lost = t->lost;
  if (!lost) return GASNET_OK;
  settle(lost - 1);
  t->lost = 0;
  if (jobrank_p) *jobrank_p = lost - 1;
  return GEXX_ERR_LOST;
}

uint64_t gexx_Lost_QueryDropped(void) {
  return tmb_load_rlx(&tmb_job.dropped);
}

/* ---- queries */

static void check_rank(const char *call, gex_Rank_t jobrank) {
  tmb_check_ready_at(call);
  if (jobrank >= tmb_job.size)
    tmb_fatal_nopos("%s: argument jobrank is %u, but the job has %u ranks (0 to %u)", call, jobrank,
                    tmb_job.size, tmb_job.size - 1);
}

/* State of a peer for the client: a loss only when its operations have been completed. */
static uint32_t known_fate(gex_Rank_t jobrank) {
  const uint32_t fate = tmb_failure_fate(jobrank);
  if (!TMB_FATE_IS_LOST(fate) || tmb_peer_lost(jobrank)) return fate;
  return TMB_FATE(TMB_FATE_ALIVE, 0, 0);
}

int gexx_Peer_Query(gex_Rank_t jobrank) {
  check_rank("gexx_Peer_Query", jobrank);
  const struct tmb_thread *t = tmb_thread();
  if (tmb_job.lost && !tmb_peer_lost(jobrank) &&
      !(t->context & (TMB_IN_REQUEST | TMB_IN_REPLY | TMB_PREPARED))) {
    tmb_poll();
    settle(jobrank);
  }
  return tmb_failure_state(known_fate(jobrank));
}

void gexx_Peer_QueryWords(const uint32_t **changes, const uint32_t **seen) {
  tmb_check_ready_at("gexx_Peer_QueryWords");
  *seen = &tmb_job.failure.seen;
  *changes = tmb_job.lost ? tmb_job.failure.changes : *seen;
}

void gexx_Peer_QueryInfo(gex_Rank_t jobrank, gexx_Peer_Info_t *info) {
  const char *call = "gexx_Peer_QueryInfo";
  check_rank(call, jobrank);
  if (!info) tmb_fatal_nopos("%s: argument info is NULL", call);
  const uint32_t fate = known_fate(jobrank);
  *info = (gexx_Peer_Info_t){.gexx_state = tmb_failure_state(fate),
                             .gexx_lost = TMB_FATE_IS_LOST(fate),
                             .gexx_code = TMB_FATE_CODE(fate),
                             .gexx_signal = TMB_FATE_SIGNAL(fate)};
}

size_t gexx_Peer_QueryLost(int state, gex_Rank_t *jobranks, size_t max) {
  const char *call = "gexx_Peer_QueryLost";
  tmb_check_ready_at(call);
  TMB_CHECK(state >= GEXX_PEER_ALIVE && state <= GEXX_PEER_FAILED,
            "%s: argument state is %d; give one of GEXX_PEER_*", call, state);
  TMB_CHECK(jobranks || !max, "%s: argument jobranks is NULL with max %zu", call, max);
  size_t count = 0;
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    if (!tmb_peer_lost(r)) continue;
    if (state != GEXX_PEER_ALIVE && state != tmb_failure_state(tmb_failure_fate(r))) continue;
    if (count < max) jobranks[count] = r;
    count++;
  }
  return count;
}
