/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 */
/* env: TOMBOLO_TRACE=/dev/null */
/*
 * What a peer stores may come between the last step of a wait and the look that sees it. The trace
 * says that the wait ended at this look, not at the step: what ends a wait begins before its end.
 */
#include "boot/trace.h"
#include "core/job.h"
#include "core/progress/wait.h"
#include "job.h"
#include "os/processor/ticks.h"

static uint64_t stored; /* when what is waited for came, in ticks; 0: not yet */

static void describe(const void *object, struct tmb_status_wait *out) {
  (void)object;
  out->kind = TMB_WAIT_SIGNAL;
}

/* The newest wait for a signal in the trace of this rank; NULL: none. */
static const struct tmb_trace_event *traced(void) {
  const struct tmb_trace_area *area = tmb_job.trace;
  for (uint64_t n = area->next; n > 0; n--) {
    const struct tmb_trace_event *e = &area->event[(n - 1) & (area->capacity - 1)];
    if (e->kind == TMB_TRACE_WAIT && e->what == TMB_WAIT_SIGNAL) return e;
  }
  return NULL;
}

/* The store comes at the first look behind a step. */
static bool ready(void *arg) {
  (void)arg;
  const struct tmb_trace_event *wait = traced();
  if (!wait || !wait->end) return false;
  stored = tmb_os_ticks_now();
  return true;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  REQUIRE(tmb_job.trace != NULL);
  CHECK(tmb_wait_until(ready, NULL, UINT64_C(10000000000), describe));
  REQUIRE(traced() != NULL);
  CHECK_CMP(stored, >, 0);
  CHECK_CMP(traced()->end, >=, stored);
  return job_finish();
}
