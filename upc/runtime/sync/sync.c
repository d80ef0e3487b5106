/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers (UPC 1.3 section 6.6.1), fences and polls.
 *
 * Called by compiled programs. Calls: the split-phase barrier of the library, which compares the
 * values that threads give. Invariants: notify and wait alternate; a thread that ends notifies all
 * others the number of the barrier that it will not come to, then takes part in barriers once more;
 * who completes a barrier of that or a higher number in the program reports it.
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
  uint64_t number; /* of the next barrier, from 1 */
} barrier = {.number = 1};

/* Of an open phase, for a check; without one nothing follows. */
static inline void phase_begins(void) {
  if (__builtin_expect(rt.traced, 0))
    gexx_check_made((gex_Rank_t)upcr_mythread, &barrier, "barrier that was never waited for");
}
static inline void phase_ends(void) {
  if (__builtin_expect(rt.traced, 0)) gexx_check_ended((gex_Rank_t)upcr_mythread, &barrier);
}

static inline void notify(int has_value, int value) {
  upcr_fence();
  if (barrier.notified)
    rt_fatal("upc_notify (or upc_barrier) after upc_notify, without upc_wait [TMB-2139]");
  barrier.notified = true;
  barrier.has_value = has_value;
  barrier.value = value;
  gasnet_barrier_notify(value, has_value ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
}

RT_EXPORT void upcr_notify(int has_value, int value) {
  notify(has_value, value);
  phase_begins();
}

/* The value of the barrier is compared where the wait has one of its own. */
static void complete(int has_value, int value, gexx_WaitInfo_t *info) {
  if (!barrier.notified) rt_fatal("upc_wait without upc_notify [TMB-2138]");
  if (has_value && barrier.has_value && value != barrier.value)
    rt_fatal("upc_wait: the value %d is not that of upc_notify, %d [TMB-2137]", value,
             barrier.value);
  info->number = barrier.number;
  gexx_WaitInfo_Begin(info);
  const int result =
      gasnet_barrier_wait(barrier.value, barrier.has_value ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
  gexx_WaitInfo_End();
  if (result == GASNET_ERR_BARRIER_MISMATCH)
    rt_fatal("upc_barrier: the threads gave different values; that of this thread: %s%d [TMB-2136]",
             barrier.has_value ? "" : "none, ", barrier.value);
  barrier.notified = false;
  if (barrier.number >= __atomic_load_n(&rt_own_root()->ended_at, __ATOMIC_ACQUIRE))
    rt_fatal("upc_barrier, while another thread has returned from main or called exit [TMB-2135]");
  barrier.number++;
  upcr_fence();
}

RT_EXPORT void upcr_wait(int has_value, int value) {
  gexx_WaitInfo_t info = RT_WAIT("upc_wait", GEXX_WAIT_AS_SHOWN);
  complete(has_value, value, &info);
  phase_ends();
}

void rt_end_barrier(void) {
  gexx_WaitInfo_t open = RT_WAIT("upc_wait", GEXX_WAIT_AS_SHOWN);
  if (barrier.notified) complete(barrier.has_value, barrier.value, &open);
  upcr_fence();
  for (int t = 0; t < upcr_threads; t++) {
    uint64_t old;
    void *word = (char *)rt.owner_base[t] + RT_GUARD + offsetof(struct upcr_root, ended_at);
    gex_Event_Wait(
        gex_AD_OpNB_U64(rt.ad64, &old, (gex_Rank_t)t, word, GEX_OP_FMIN, barrier.number, 0, 0));
  }
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gexx_WaitInfo_t info = RT_WAIT("its end, for the other threads", GEXX_WAIT_AS_SHOWN);
  info.caller = NULL;
  gexx_WaitInfo_Begin(&info);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gexx_WaitInfo_End();
}

RT_EXPORT void upcr_barrier(int has_value, int value) {
  gexx_WaitInfo_t info = RT_WAIT("upc_barrier", GEXX_WAIT_AS_SHOWN);
  notify(has_value, value);
  complete(has_value, value, &info);
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
