/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers (UPC 1.3 section 6.6.1), fences and polls.
 *
 * Called by compiled programs. Calls: the split-phase barrier of the library, which compares the
 * values that threads give. Invariants: notify and wait alternate.
 */
#include "rt.h"

RT_EXPORT int upcr_in_forall;
RT_EXPORT unsigned upcr_poll_credit = 1;
RT_EXPORT void bupc_poll(void);
RT_EXPORT void upc_poll(void);

#define POLL_INTERVAL 64u

static struct {
  bool notified, has_value;
  int value;
} barrier;

RT_EXPORT void upcr_notify(int has_value, int value) {
  upcr_fence();
  if (barrier.notified) rt_fatal("upc_notify (or upc_barrier) after upc_notify, without upc_wait");
  barrier.notified = true;
  barrier.has_value = has_value;
  barrier.value = value;
  gasnet_barrier_notify(value, has_value ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
}

/* The value of the barrier is looked at where the wait has one of its own. */
RT_EXPORT void upcr_wait(int has_value, int value) {
  if (!barrier.notified) rt_fatal("upc_wait without upc_notify");
  if (has_value && barrier.has_value && value != barrier.value)
    rt_fatal("upc_wait: the value %d is not that of upc_notify, %d", value, barrier.value);
  const int result =
      gasnet_barrier_wait(barrier.value, barrier.has_value ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
  if (result == GASNET_ERR_BARRIER_MISMATCH)
    rt_fatal("upc_barrier: the threads gave different values; that of this thread: %s%d",
             barrier.has_value ? "" : "none, ", barrier.value);
  barrier.notified = false;
  upcr_fence();
}

RT_EXPORT void upcr_barrier(int has_value, int value) {
  upcr_notify(has_value, value);
  upcr_wait(has_value, value);
}

RT_EXPORT void upcr_poll_slow(void) {
  upcr_poll_credit = POLL_INTERVAL;
  gasnet_AMPoll();
}

void bupc_poll(void) {
  gasnet_AMPoll();
  upcr_fence();
}

void upc_poll(void) {
  bupc_poll();
}
