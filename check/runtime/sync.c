/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of this rank that synchronise: what they did before is entered, then ordered.
 *
 * Owns nothing. Called by locks.c, local.c and thread.c, in any thread. Calls: seen.c, order.c.
 * Invariant: loads and stores of a thread are entered with the clock that they were made at, so
 * before it gives its clock; and before it hears of another one, which would hide a race.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

void chk_order_give(uintptr_t addr) {
  if (!chk.each_thread || chk_locked) return;
  chk_guard();
  chk_enter_own();
  chk_object_gets(addr);
  chk_unguard();
}

void chk_order_take(uintptr_t addr) {
  if (!chk.each_thread || chk_locked) return;
  chk_guard();
  chk_enter_own();
  chk_object_tells(addr);
  chk_unguard();
}

/* The library calls it behind a handler: what that did is before what a thread does when it has
 * polled. */
int chk_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg, uint32_t number) {
  (void)from, (void)number;
  if (!msg && reply == GEXX_GATE_RAN) chk_order_give(CHK_FENCE);
  return 0;
}
