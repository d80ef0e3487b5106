/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting the pace, see spin.h.
 *
 * Owns: eager_steps and hold_pauses of the wait policy. Called at start-up. Calls: the clock.
 * Invariant: a measurement that was interrupted does not count: the shortest of several does.
 */
#include "core/progress/spin.h"

#include "os/os.h"

/* Counts of one measurement of the pause instruction, and the times in ns that pauses are to fill.
 * Chosen, not measured one by one. */
#define PAUSES          16u /* in one measurement */
#define MEASUREMENTS    8
#define ANSWERED_NS     50u  /* half of a hand-off and back on a fast machine; chosen */
#define UNANSWERED_NS   160u /* room for a handful of messages */
#define HOLD_PAUSES_MAX 64u  /* pauses for one of these times, at most */
#define EAGER_STEPS     24u  /* some 500 ns */

/* Number of pauses that take so long; one at least. in measured: of PAUSES. */
static uint32_t pauses_of(uint64_t ns, uint64_t measured) {
  const uint64_t n = (ns * PAUSES + measured / 2) / TMB_MAX(measured, UINT64_C(1));
  return (uint32_t)TMB_MAX(TMB_MIN(n, (uint64_t)HOLD_PAUSES_MAX), UINT64_C(1));
}

void tmb_spin_init(struct tmb_wait_policy *policy) {
  uint64_t least = UINT64_MAX;
  for (int k = 0; k < MEASUREMENTS; k++) {
    const uint64_t start = tmb_os_now_ns();
    for (uint32_t i = 0; i < PAUSES; i++) tmb_cpu_pause();
    const uint64_t took = tmb_os_now_ns() - start;
    least = TMB_MIN(least, took);
  }
  policy->hold_pauses[0] = pauses_of(ANSWERED_NS, least);
  policy->hold_pauses[1] = pauses_of(UNANSWERED_NS, least);
  /* A thread that shares a processor with the rank that it waits for yields soon, by the clock. */
  policy->eager_steps = policy->outnumber ? 0 : EAGER_STEPS;
}
