/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress with a time limit.
 *
 * Owns nothing. Called by clients. Calls: progress and waits. Invariants: a
 * wake-up ends the call, also one by a peer's signal, which counts as no progress; so does progress
 * of another thread.
 */
#include "base/atomic.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "notify/notify.h"

/* Nanoseconds of a time in microseconds; UINT64_MAX: for ever. */
static uint64_t to_ns(uint64_t us) {
  return us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
}

int gexx_Poll(uint64_t timeout_us) {
  TMB_CHECK_CONTEXT("gexx_Poll");
  if (timeout_us != 0) return tmb_wait_event(to_ns(timeout_us));
  const uint64_t seen = tmb_load_acq(&tmb_job.progress_count);
  tmb_poll();
  return tmb_load_acq(&tmb_job.progress_count) != seen;
}
