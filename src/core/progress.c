/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress, see progress.h.
 *
 * Owns: the count of progress made. Called by polls, waits, and sends that lack resources. Calls:
 * the conduit's progress, barrier.h, and what coll and notify have hooked in. Invariants: the count
 * grows after what was done is visible, and then threads of this process that sleep are woken; so
 * a condition that a handler made true, on any thread, is never slept over (wait.c).
 */
#include "core/progress.h"

#include "core/barrier.h"
#include "core/job.h"
#include "os/os.h"

#define POLLS_BEFORE_YIELD 100

void tmb_progress_made(void) {
  if (tmb_job.threads) {
    tmb_fetch_add_acq_rel(&tmb_job.progress_count, 1);
    tmb_job.ops->wake_self(tmb_job.conduit);
  } else {
    tmb_job.progress_count++;
  }
}

int tmb_progress(int serve) {
  int found = tmb_job.ops->progress(tmb_job.conduit, serve);
  /* Not inside request handlers: where control words are messages, a barrier may wait for room. */
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_job.barriers_active)) && serve == TMB_SERVE_ALL)
    found |= tmb_barrier_advance();
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_job.colls_runnable))) found |= tmb_job.colls_advance();
  if (TMB_UNLIKELY(tmb_load_acq(&tmb_job.later_waiting)) && serve == TMB_SERVE_ALL)
    found |= tmb_job.later_advance();
  if (found & TMB_FOUND_WORK) tmb_progress_made();
  return found;
}

void tmb_poll(void) {
  static _Thread_local uint32_t empty __attribute__((tls_model("initial-exec")));
  if ((tmb_progress(TMB_SERVE_ALL) & TMB_FOUND_WORK) || !tmb_job.wait.crowded) {
    empty = 0;
    return;
  }
  if (++empty > POLLS_BEFORE_YIELD) tmb_os_yield();
}
