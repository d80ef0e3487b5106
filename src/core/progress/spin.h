/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pace of waits that spin: how soon a wait checks again.
 *
 * Owns nothing. Called by the wait loop. Calls: nothing but the processor's pause, whose length
 * differs between processors from 3 to 50 ns; start-up measures it. A wait looks without pauses at
 * first, because a hand-off takes no longer than a few of them; but each look takes the line away
 * from a sender that is about to write, so not while messages flow. After progress it leaves the
 * rings alone for a moment, so that a sender in full flow keeps its cache lines and a batch
 * gathers. A peer that got an answer cannot be back before a hand-off and back: then the moment is
 * half of one; else three times as long, because whoever sends more without an answer is in flow.
 * Invariant: a wait that has not made progress is never held.
 */
#ifndef TMB_CORE_SPIN_H
#define TMB_CORE_SPIN_H

#include "core/job.h"
#include "core/op/thread.h"

/* Measure the pause and set the pace. in policy: `crowded` is set. */
void tmb_spin_init(struct tmb_wait_policy *policy);

/* Pause between two checks. in steps: checks of this wait without success. */
static inline void tmb_spin_pause(uint32_t steps) {
  if (steps > tmb_job.wait.eager_steps || tmb_thread()->unanswered) tmb_cpu_pause();
}

/* The moment after progress. */
static inline void tmb_spin_hold(void) {
  for (uint32_t n = tmb_job.wait.hold_pauses[tmb_thread()->unanswered]; n; n--) tmb_cpu_pause();
}

#endif
