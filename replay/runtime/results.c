/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that may report "not yet", and those that complete some of several events.
 *
 * Owns nothing. A recording notes each result but "not yet". In a replay a call whose turn has not
 * come reports "not yet" and asks the library nothing; when its turn has come, it waits until the
 * library has the recorded result. Of several events a recording notes the index of each that is
 * complete; a replay waits for these and no others.
 */
#include "replay/runtime/rpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gexx_event_test(gex_Event_t event) {
  RPL_RESULT_OF(gexx_event_test, GASNET_ERR_NOT_READY, (event));
}

/* ---- calls that may be refused: that they are not is noted */

bool rpl_refused(gex_Flags_t *flags) {
  if (!(*flags & GEX_FLAG_IMMEDIATE)) return false;
  if (rpl.mode != RPL_REPLAYS) return rpl_chaos_late();
  if (!rpl_is_here(RPL_RESULT)) return rpl_log_knows();
  *flags &= ~(gex_Flags_t)GEX_FLAG_IMMEDIATE;
  return false;
}

void rpl_answered(gex_Flags_t flags, bool is_done) {
  if (!is_done || !(flags & GEX_FLAG_IMMEDIATE)) return;
  if (rpl.mode == RPL_RECORDS) rpl_note(RPL_RESULT, 0);
  if (rpl.mode == RPL_REPLAYS && rpl_due(RPL_RESULT)) rpl_take();
}

gex_Flags_t rpl_reply_flags(gex_Flags_t flags) {
  const bool ordered = rpl.mode == RPL_RECORDS || rpl.mode == RPL_REPLAYS;
  return ordered ? flags & ~(gex_Flags_t)GEX_FLAG_IMMEDIATE : flags;
}

/* ---- implicit handles: a test is true where nothing was started, also under chaos */

static int test_nbi(gex_EC_t event_mask, gex_Flags_t flags) {
  const int rc = rpl_real.gex_NBI_Test(event_mask, flags);
  if (rc == GASNET_OK) rpl_own->nbi &= ~event_mask;
  return rc;
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
  RPL_RESULT_IF(rpl_own->nbi & event_mask, gex_NBI_Test, test_nbi, GASNET_ERR_NOT_READY,
                (event_mask, flags));
}

void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
  RPL_ENTER(gex_NBI_Wait);
  rpl_real.gex_NBI_Wait(event_mask, flags);
  if (outer) rpl_own->nbi &= ~event_mask;
}

/* What the region has started is its event's. */
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  RPL_ENTER(gex_NBI_EndAccessRegion);
  if (outer) rpl_own->nbi = 0;
  return rpl_real.gex_NBI_EndAccessRegion(flags);
}

/* ---- one call each */

int gasnet_barrier_try(int id, int flags) {
  RPL_RESULT_OF(gasnet_barrier_try, GASNET_ERR_NOT_READY, (id, flags));
}

/* A poll that finds something, or a time that passes. */
int gexx_Poll(uint64_t timeout_us) {
  RPL_ENTER(gexx_Poll);
  if (!outer) return rpl_real.gexx_Poll(timeout_us);
  if (rpl.mode != RPL_REPLAYS) {
    const int rc = rpl_real.gexx_Poll(timeout_us);
    if (rc && rpl.mode == RPL_RECORDS) rpl_note(RPL_RESULT, (uint32_t)rc);
    return rc;
  }
  if (!rpl_log_knows()) return rpl_real.gexx_Poll(timeout_us);
  const struct rpl_event *const e = rpl_due(RPL_RESULT);
  (void)rpl_real.gasnet_AMPoll();
  if (!e) return 0;
  const int rc = (int)e->arg;
  rpl_take();
  return rc;
}

/* A wait that other things may end: both results are noted. */
int gexx_Event_WaitUntil(gex_Event_t event, int (*until)(void *arg), void *arg,
                         uint64_t timeout_us) {
  RPL_ENTER(gexx_Event_WaitUntil);
  if (!outer) return rpl_real.gexx_Event_WaitUntil(event, until, arg, timeout_us);
  const struct rpl_event *const e = rpl.mode == RPL_REPLAYS ? rpl_due(RPL_RESULT) : NULL;
  if (!e && rpl.mode == RPL_REPLAYS && !rpl_cut_pass() && rpl_log_next()) rpl_deviate("waited");
  if (!e) {
    const int rc = rpl_real.gexx_Event_WaitUntil(event, until, arg, timeout_us);
    if (rpl.mode == RPL_RECORDS) rpl_note(RPL_RESULT, (uint32_t)rc);
    return rc;
  }
  const int rc = (int)e->arg;
  rpl_take();
  if (rc == GASNET_OK) return rpl_real.gexx_Event_WaitUntil(event, NULL, NULL, UINT64_MAX);
  if (event == GEX_EVENT_NO_OP && !until) /* a pause, in which the network goes on */
    return rpl_real.gexx_Event_WaitUntil(event, NULL, NULL, timeout_us);
  uint64_t steps = 0; /* a time limit has no condition to wait for */
  while (until && timeout_us == UINT64_MAX && !until(arg))
    rpl_wait_step(&steps, "waiting for the condition");
  return rc;
}

/* A step of a wait for a condition of the program, which sleeps: in a replay the condition comes
 * from handlers whose turn has come, or from memory, so it polls instead. */
void gexx_wait_step(struct gexx_wait *wait) {
  const bool outer = rpl_step_begin(__builtin_return_address(0));
  if (outer && (rpl_chaos_on() || (rpl.mode == RPL_REPLAYS && rpl_log_next())))
    (void)rpl_real.gasnet_AMPoll();
  else
    rpl_real.gexx_wait_step(wait);
  if (outer) rpl_step_end();
}

/* ---- arrays of events */

typedef int (*some_fn)(gex_Event_t *, size_t, gex_Flags_t);

static int wait_some(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  rpl_real.gex_Event_WaitSome(pevent, numevents, flags);
  return GASNET_OK;
}

static int record_some(some_fn fn, gex_Event_t *pevent, size_t count, gex_Flags_t flags) {
  gex_Event_t *const was = count ? malloc(count * sizeof *was) : NULL;
  if (was) memcpy(was, pevent, count * sizeof *was);
  const int rc = fn(pevent, count, flags);
  for (size_t i = 0; was && i < count; i++)
    if (was[i] != pevent[i]) rpl_note(RPL_INDEX, (uint32_t)i);
  free(was);
  if (rc == GASNET_OK) rpl_note(RPL_RESULT, (uint32_t)rc);
  return rc;
}

static int replay_some(some_fn fn, gex_Event_t *pevent, size_t count, gex_Flags_t flags) {
  const struct rpl_event *e;
  while ((e = rpl_due(RPL_INDEX))) {
    uint64_t steps = 0;
    if (e->arg >= count) rpl_deviate("fewer events");
    gex_Event_t *const one = &pevent[e->arg];
    while (*one != GEX_EVENT_INVALID && rpl_real.gex_Event_TestSome(one, 1, flags) != GASNET_OK)
      rpl_wait_step(&steps, "waiting for an event");
    rpl_take();
  }
  if (rpl_due(RPL_RESULT)) {
    rpl_take();
    return GASNET_OK;
  }
  if (fn == wait_some) (void)rpl_cut_pass();
  return rpl_log_knows() ? GASNET_ERR_NOT_READY : fn(pevent, count, flags);
}

static int some(bool outer, some_fn fn, gex_Event_t *pevent, size_t count, gex_Flags_t flags) {
  if (!outer || rpl.mode == RPL_CHAOS) return fn(pevent, count, flags);
  if (rpl.mode == RPL_RECORDS) return record_some(fn, pevent, count, flags);
  return replay_some(fn, pevent, count, flags);
}

int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  RPL_ENTER(gex_Event_TestSome);
  return some(outer, rpl_real.gex_Event_TestSome, pevent, numevents, flags);
}

int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  RPL_ENTER(gex_Event_TestAll);
  return some(outer, rpl_real.gex_Event_TestAll, pevent, numevents, flags);
}

void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  RPL_ENTER(gex_Event_WaitSome);
  if (some(outer, wait_some, pevent, numevents, flags) != GASNET_OK)
    rpl_deviate("no event is complete here");
}
