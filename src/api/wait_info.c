/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptions of waits by run-time libraries above, and names of teams: tombolo/ext/ext_wait.h.
 *
 * Owns: nothing; all of it lies on the status page. Called by clients, above all the run-time
 * libraries of Coarray Fortran and UPC. Calls: core's status. Invariants: a process without a page
 * takes all calls and shows nothing.
 */
#include "core/check.h"
#include "core/job.h"
#include "core/op/check_context.h"
#include "core/op/status.h"
#include "core/progress/wait.h"
#include "core/team.h"

#include <gasnetex_ext.h>
#include <string.h>

_Static_assert(GEXX_WAIT_HELD_COUNT == TMB_STATUS_HELD, "one table");

void gexx_WaitInfo_Begin(gexx_WaitInfo_t *info) {
  tmb_status_declare(info);
}

void gexx_WaitInfo_End(void) {
  tmb_status_declare(NULL);
}

uint64_t *gexx_WaitInfo_Held(void) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gexx_WaitInfo_Held");
  return tmb_job.status->held;
}

void gexx_WaitInfo_SetMembers(const char *name, unsigned first) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gexx_WaitInfo_SetMembers");
  struct tmb_status *s = tmb_job.status;
  if (s->member[0] || !name) return;
  s->first = first;
  strncpy(s->member, name, sizeof s->member - 1);
}

int gexx_TM_SetName(gex_TM_t tm, const char *name) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_tm("gexx_TM_SetName", tm, false);
  if (!name)
    return tmb_refuse("gexx_TM_SetName", GASNET_ERR_BAD_ARG,
                      "argument name is NULL; give the team's name");
  tmb_status_team_name(tmb_team_of(tm), name);
  return GASNET_OK;
}

void gexx_Wait_Until(const gexx_WaitCond_t *cond) {
  TMB_CHECK_CONTEXT("gexx_Wait_Until");
  tmb_wait_client(cond);
}
