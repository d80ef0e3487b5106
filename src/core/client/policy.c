/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy of the job when a process is lost: the call that sets it.
 *
 * Owns: tmb_job.failure_policy. Called by clients. Calls: boot, failure.h, the barrier.
 * Invariant: when a call for GEXX_FAILURE_REPORT returns, every rank and supervisor reports.
 */
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/thread.h"
#include "core/progress/failure.h"

int gexx_Job_SetFailurePolicy(int policy) {
  const char *call = "gexx_Job_SetFailurePolicy";
  if (!tmb_job_ready()) return tmb_refuse_early(call);
  TMB_CHECK_CONTEXT(call);
  TMB_CHECK(policy == GEXX_FAILURE_ABORT || policy == GEXX_FAILURE_REPORT,
            "%s: argument policy is %d; give GEXX_FAILURE_ABORT or GEXX_FAILURE_REPORT", call,
            policy);
  if (policy != GEXX_FAILURE_ABORT && policy != GEXX_FAILURE_REPORT) return GASNET_ERR_BAD_ARG;
  tmb_store_rlx(&tmb_job.failure_policy, policy);
  if (policy == GEXX_FAILURE_ABORT) {
    tmb_boot_report(&tmb_job.boot, false, NULL);
    return GASNET_OK;
  }
  struct tmb_boot_doors doors;
  const bool first = !tmb_job.lost;
  if (first) tmb_failure_begin(&doors);
  tmb_boot_report(&tmb_job.boot, true, first ? &doors : NULL);
  if (tmb_job.boot.agent_fd >= 0) /* every supervisor knows before a rank may rely on it */
    (void)tmb_boot_barrier(&tmb_job.boot);
  const uint32_t before = tmb_thread()->lost;
  gex_Coll_BarrierBlocking(&tmb_job.tm,
                           0); /* the policy is in force even if this barrier meets a loss */
  tmb_thread()->lost = before;
  return GASNET_OK;
}

int gexx_Job_QueryFailurePolicy(void) {
  return tmb_load_rlx(&tmb_job.failure_policy);
}
