/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 */
/* env: TOMBOLO_TRACE=/dev/null */
/*
 * An operation may complete between the last step of a wait for its event and the look that sees
 * it. The trace says that the wait ended at this look, not at the step: what ends a wait begins
 * before its end. The operation lies in a page that a handler, which runs inside a step, makes
 * unreadable: the look at it faults, and the operation completes in the fault.
 */
#include "boot/trace.h"
#include "core/job.h"
#include "core/op/op.h"
#include "job.h"
#include "net/up.h"
#include "os/processor/ticks.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HIDE = 200, PAGE_BYTES = 65536 };

static struct tmb_op *op;
static uint64_t stored; /* when the operation completed, in ticks; 0: not yet */

static void on_hide(gex_Token_t token) {
  (void)token;
  if (mprotect(op, PAGE_BYTES, PROT_NONE)) abort();
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)sig;
  (void)context;
  const uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)op;
  if (at >= PAGE_BYTES || mprotect(op, PAGE_BYTES, PROT_READ | PROT_WRITE)) _exit(99);
  tmb_up_op_done(op, TMB_CAT_PUT);
  stored = tmb_os_ticks_now();
}

/* The newest wait of the trace of this rank that began after `from`; NULL: none. */
static const struct tmb_trace_event *traced(uint64_t from) {
  const struct tmb_trace_area *area = tmb_job.trace;
  for (uint64_t n = area->next; n > 0; n--) {
    const struct tmb_trace_event *e = &area->event[(n - 1) & (area->capacity - 1)];
    if (e->kind == TMB_TRACE_WAIT && e->begin >= from) return e;
  }
  return NULL;
}

static void wait_one(gex_Event_t event) {
  gex_Event_Wait(event);
}
static void wait_some(gex_Event_t event) {
  gex_Event_WaitSome(&event, 1, 0);
}
static void wait_all(gex_Event_t event) {
  gex_Event_WaitAll(&event, 1, 0);
}

static void play(void (*wait)(gex_Event_t event)) {
  stored = 0;
  job_barrier();
  if (job.rank == 0) {
    op = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(op != MAP_FAILED); /* stays: it goes to the pool of ops */
    op->kind = TMB_OP_SINGLE;
    op->team = TMB_STATUS_NO_TEAM;
    op->peer = TMB_STATUS_NOBODY;
    tmb_up_op_more(op, TMB_CAT_PUT);
    const uint64_t from = tmb_os_ticks_now();
    wait(tmb_op_event(op));
    REQUIRE(traced(from) != NULL);
    CHECK_CMP(stored, >, 0);
    CHECK_CMP(traced(from)->begin, <, stored);
    CHECK_CMP(traced(from)->end, >=, stored);
  } else {
    usleep(100000); /* the other one waits */
    gex_AM_RequestShort0(job.tm, 0, HIDE, 0);
  }
  job_barrier();
}

int main(int argc, char **argv) {
  gex_AM_Entry_t handlers[] = {
      {HIDE, (gex_AM_Fn_t)on_hide, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, "hide"}};
  job_start(&argc, &argv, PAGE_BYTES, handlers, 1);
  REQUIRE(tmb_job.trace != NULL);
  const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  play(wait_one);
  play(wait_some);
  play(wait_all);
  return job_finish();
}
