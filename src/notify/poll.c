/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress with a time limit.
 *
 * Owns nothing. Called by clients. Calls: progress, the conduit's sleep. Invariants: the call ends
 * when progress was made here or by another thread, and when a peer wakes the process, even if that
 * brought no progress (a changed signal).
 */
#include "base/atomic.h"
#include "core/check.h"
#include "core/progress.h"
#include "notify/notify.h"
#include "os/os.h"

#define CLOCK_EVERY 8 /* polls without progress from one reading of the clock to the next */

static uint64_t work_count(void) {
  return tmb_load_acq(&tmb_job.progress_count);
}

static bool still_idle(void *arg) {
  const uint64_t *seen = arg;
  return tmb_progress(TMB_SERVE_ALL) == 0 && work_count() == *seen;
}

/* Nanoseconds of a time in microseconds; UINT64_MAX: for ever. */
static uint64_t to_ns(uint64_t us) {
  return us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
}

int gexx_Poll(uint64_t timeout_us) {
  TMB_CHECK_CONTEXT("gexx_Poll");
  uint64_t seen = work_count();
  if (timeout_us == 0) {
    tmb_poll();
    return work_count() != seen;
  }
  const struct tmb_wait_policy *policy = &tmb_job.wait;
  const uint64_t start = tmb_os_now_ns(), limit = to_ns(timeout_us);
  uint64_t passed = 0;
  for (uint32_t i = 1; policy->mode == GASNET_WAIT_SPIN || passed < policy->spin_ns; i++) {
    if (tmb_progress(TMB_SERVE_ALL) || work_count() != seen) return 1;
    tmb_cpu_pause();
    if (i % CLOCK_EVERY == 0) passed = tmb_os_now_ns() - start;
    if (passed >= limit) return 0;
  }
  for (;;) {
    const uint64_t now = tmb_os_now_ns(), left = limit == UINT64_MAX ? limit : limit - passed;
    const uint64_t slice = tmb_sleep_bound(left);
    tmb_job.ops->sleep(tmb_job.conduit, still_idle, &seen, slice);
    if (tmb_progress(TMB_SERVE_ALL) || work_count() != seen) return 1;
    passed = tmb_os_now_ns() - start;
    if (passed >= limit) return 0;
    if (start + passed - now < slice)
      return 1; /* a peer woke this process before the time had passed */
  }
}
