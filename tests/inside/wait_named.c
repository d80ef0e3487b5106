/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 */
/* env: TOMBOLO_TRACE=/dev/null */
/*
 * The last rank may notify a named barrier between the last step of another one's wait and the look
 * that sees it. The trace says that the wait ended at this look: what ends a wait begins before its
 * end. Most rounds do not meet that moment.
 */
#include "boot/trace.h"
#include "core/job.h"
#include "job.h"
#include "os/processor/ticks.h"

enum { ROUNDS = 300, STEP = 200000 };

/* The newest wait for a named barrier in the trace of this rank; NULL: none. */
static const struct tmb_trace_event *traced(void) {
  const struct tmb_trace_area *area = tmb_job.trace;
  const uint64_t oldest = area->next > area->capacity ? area->next - area->capacity : 0;
  for (uint64_t n = area->next; n > oldest; n--) {
    const struct tmb_trace_event *e = &area->event[(n - 1) & (area->capacity - 1)];
    if (e->kind == TMB_TRACE_WAIT && e->what == TMB_WAIT_NAMED) return e;
  }
  return NULL;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  REQUIRE(tmb_job.trace != NULL);
  const bool last = job.rank == 1;
  uint64_t called = 0, *mine = (uint64_t *)(void *)job.peer[job.rank];
  for (uint64_t i = 0; i < ROUNDS; i++) {
    const uint64_t begun = tmb_os_ticks_now();
    if (last) {
      while (tmb_os_ticks_now() - begun < STEP + i * 500) continue; /* rank 0 waits meanwhile */
      *mine = tmb_os_ticks_now();
    }
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    const struct tmb_trace_event *wait = traced();
    if (!last && wait && wait->begin >= begun) {
      gex_RMA_GetBlocking(job.tm, &called, 1, job.peer[1], sizeof called, 0);
      CHECK_CMP(wait->end, >=, called);
    }
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  }
  return job_finish();
}
