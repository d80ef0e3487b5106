/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are lost, and operations and threads that have met a loss.
 *
 * Owns: declarations of lost.c (marks) and track.c (outstanding operations by peer). Called by
 * everything that sends, waits or synchronises; tmb_job.lost is written by failure.c. Calls: op.h.
 * tmb_job.lost is NULL until the client asks for reports; then a peer goes HERE -> ENDED (its end
 * is known: nothing is sent to it any more) -> LOST (its messages have been handled, operations
 * towards it are complete) and never back. Invariant: nothing is counted in an op towards a LOST
 * peer.
 */
#ifndef TMB_CORE_LOST_H
#define TMB_CORE_LOST_H

#include "core/job.h"
#include "core/op/op.h"

#include <gasnetex_ext.h>

enum { TMB_PEER_HERE, TMB_PEER_ENDED, TMB_PEER_LOST };

/* Whether operations towards a process end in error. */
static inline bool tmb_peer_lost(uint32_t jobrank) {
  return TMB_UNLIKELY(tmb_job.lost != NULL) &&
         tmb_load_acq(&tmb_job.lost[jobrank]) == TMB_PEER_LOST;
}

/* Whether a process is known to have ended: nothing is sent to it any more. */
static inline bool tmb_peer_ended(uint32_t jobrank) {
  return TMB_UNLIKELY(tmb_job.lost != NULL) &&
         TMB_UNLIKELY(tmb_load_rlx(&tmb_job.lost[jobrank]) != TMB_PEER_HERE);
}

/* Record that the calling thread has met the loss of a process, for gexx_Lost_Take. Returns
 * GEXX_ERR_LOST. */
int tmb_lost_record(uint32_t jobrank);

/* Mark an op a part of which ended with the loss of a process. Called before that part is counted
 * done. */
void tmb_op_lose(struct tmb_op *op, uint32_t category, uint32_t jobrank);

/* tmb_op_lose where op may be NULL: then the loss is recorded for the calling thread. */
void tmb_op_or_thread_lose(struct tmb_op *op, uint32_t category, uint32_t jobrank);

/* Make an op that is complete already and marked with the loss. */
struct tmb_op *tmb_op_lost(uint32_t category, uint32_t jobrank);

/* Move the marks of an op that was synchronised to the thread. */
int tmb_op_sync_lost(struct tmb_op *op, uint32_t mask);

/* Called for every op that is synchronised. in mask: GEX_EC_ bits that are complete. Returns
 * GEXX_ERR_LOST if one of them met a loss, else GASNET_OK. */
static inline int tmb_op_sync(struct tmb_op *op, uint32_t mask) {
  return TMB_LIKELY(!(tmb_load_rlx(&op->lost_mask) & mask)) ? 0 : tmb_op_sync_lost(op, mask);
}

/* ---- track.c */

/* Count a part of an op that `peer` will complete; returns whether the op must count it: not when
 * the peer is lost, then the op is marked. */
bool tmb_track_more(struct tmb_op *op, uint32_t category, uint32_t peer);

/* A part that was counted by tmb_track_more is complete; returns whether the op must count it as
 * done (not when the loss has completed it already). */
bool tmb_track_done(struct tmb_op *op, uint32_t category, uint32_t peer);

/* When a process is lost, completes every part that it would have completed. */
extern const struct tmb_layer tmb_track_layer;

/* Parts outstanding, for tests. */
size_t tmb_track_count(void);

#endif
