/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work after a change of a mapped signal: the index of its owner, and waking the waiting thread.
 *
 * Owns nothing. Called by the inlines of signals, put_signal.c and mk_signal.c. Calls: index.c,
 * core's wake-up calls. Invariant: an owner that keeps no index is woken without a look at it.
 */
#include "base/compiler.h"
#include "core/check.h"
#include "core/progress/peer.h"
#include "notify/index.h"
#include "notify/notify.h"

#include <gasnetex_ext.h>

void gexx_signal_wake(gex_TM_t tm, gex_Rank_t rank) {
  const uint32_t peer = tmb_jobrank(tm, rank);
  if (peer == tmb_job.rank) {
    if (tmb_job.threads) tmb_wake_self();
  } else if (tmb_is_near(peer)) {
    tmb_peer_wake(peer);
  }
}

void gexx_signal_changed(gex_TM_t tm, gex_Rank_t rank, const uint64_t *sig_addr) {
  const uint32_t peer = tmb_jobrank(tm, rank);
  if (TMB_LIKELY(peer != tmb_job.rank)) {
    if (TMB_LIKELY(tmb_peer_wake_unindexed(peer))) return;
    tmb_index_mark(peer, sig_addr);
    tmb_peer_wake(peer);
    return;
  }
  tmb_up_signal(sig_addr);
  if (tmb_job.threads) tmb_wake_self();
}
