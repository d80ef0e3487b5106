/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The replay of a rank that was killed while it was recorded.
 *
 * Owns nothing. Called by order.c and the wrappers. Calls: log.c, still.c. Behind the last event of
 * such a rank comes one of kind RPL_CUT, at the position of its last call. Until then what has not
 * happened in the recording does not happen: messages are held back, and tests are false. So a
 * rank that has failed without another event fails again. A rank that begins a further call was
 * killed by others: from there on it has no order. One that waits in its last call may wait for a
 * message that the recording does not have: it goes on once no other rank moves. Invariant: the
 * thread itself alone takes its event.
 */
#include "replay/runtime/rpl.h"

#include <string.h>

#define LATE_NS UINT64_C(2000000000) /* for which a wait goes on as recorded, at most */

/* Whether the event is next, and its call has begun. Under the lock. */
static bool is_here(struct rpl_thread *t) {
  const struct rpl_event *const e = rpl_log_next_of(t);
  return e && e->kind == RPL_CUT && rpl_compare(t, e) <= 0;
}

/* Tell the launcher where the recording of the rank breaks off. */
static void tell(const struct rpl_thread *t) {
  struct rpl_deviation *const d = &rpl.area->rank[rpl.rank].cut;
  d->event = rpl_log_number_of(t);
  rpl_here(t, &d->expected);
  __atomic_store_n(&d->set, 1, __ATOMIC_RELEASE);
}

bool rpl_cut_pass(void) {
  struct rpl_thread *const t = rpl_own;
  rpl_lock();
  const bool here = is_here(t);
  if (here && t == &rpl_first) tell(t);
  if (here) rpl_log_step();
  rpl_unlock();
  return here;
}

void rpl_cut_poll(void) {
  static uint64_t since; /* of the first thread */
  if (rpl.mode != RPL_REPLAYS || rpl_own != &rpl_first || !is_here(rpl_own)) return;
  const uint64_t now = rpl_now_ns();
  if (!since) since = now;
  if (rpl_still() || (!rpl.area->only && now - since > LATE_NS)) (void)rpl_cut_pass();
}
