/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting the parts of an operation, see net/up.h and op.h.
 *
 * Owns nothing. Called by whoever sends a part of an operation, before it is sent, and by whoever
 * learns that a part is complete: conduits, handlers of internal messages, the network access of
 * peer_access.c. Calls: track.c. Invariants: `pending` is not 0 while a part is outstanding; a
 * completion decrements with release. While failures are reported, track.c says whether a part
 * towards a peer counts: a lost peer completes nothing.
 */
#include "core/op/lost.h"
#include "net/up.h"

void tmb_up_op_more(void *op, uint32_t category) {
  tmb_fetch_add_rlx(&((struct tmb_op *)op)->pending[category], 1);
}

void tmb_up_op_done(void *op, uint32_t category) {
  tmb_fetch_sub_rel(&((struct tmb_op *)op)->pending[category], 1);
}

void tmb_up_peer_more(void *op, uint32_t category, uint32_t peer) {
  if (TMB_LIKELY(!tmb_job.lost) || tmb_track_more(op, category, peer))
    tmb_fetch_add_rlx(&((struct tmb_op *)op)->pending[category], 1);
}

void tmb_up_peer_done(void *op, uint32_t category, uint32_t peer) {
  if (TMB_LIKELY(!tmb_job.lost) || tmb_track_done(op, category, peer))
    tmb_fetch_sub_rel(&((struct tmb_op *)op)->pending[category], 1);
}
