/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The position of an event: whether its turn has come, and what is said when it does not happen.
 *
 * Owns nothing; state.c has the state. Called by order.c and events.c. Calls: log.c. The turn of an
 * event has come when its position is that of the call in progress, or before it. Invariant:
 * positions and logs change under the lock.
 */
#include "replay/runtime/rpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_CODE 67 /* of a replay that has left the order; see tools/replay */

/* ---- text of events, for messages */

void rpl_describe(const struct rpl_event *e, char *text, size_t bytes) {
  switch (rpl_kind_of(e)) {
  case RPL_REQUEST:
  case RPL_REPLY:
    snprintf(text, bytes, "handler %u of a %s from rank %u", e->detail,
             rpl_kind_of(e) == RPL_REPLY ? "reply" : "request", e->arg);
    break;
  case RPL_RESULT: snprintf(text, bytes, "returned %d", (int)e->arg); break;
  case RPL_INDEX: snprintf(text, bytes, "found index %u", e->arg); break;
  case RPL_VALUE: snprintf(text, bytes, "read the value %u", e->arg); break;
  case RPL_TICKET: snprintf(text, bytes, "operation %u on its word", e->arg); break;
  case RPL_RAN: snprintf(text, bytes, "handler %u", e->detail); break;
  case RPL_LOSS: snprintf(text, bytes, "the loss of rank %u", e->arg); break;
  case RPL_CUT: snprintf(text, bytes, "the recording breaks off"); break;
  default: snprintf(text, bytes, "unknown event"); break;
  }
}

void rpl_deviate_from(const struct rpl_thread *t, const struct rpl_event *e, const char *found) {
  struct rpl_deviation *const d = &rpl.area->rank[rpl.rank].deviation;
  d->event = e ? (uint64_t)(e - t->log.events) : rpl_log_number_of(t);
  if (e) {
    rpl_log_place(e->site, &d->expected);
    rpl_describe(e, d->expected.detail, sizeof d->expected.detail);
  }
  rpl_here(t, &d->found);
  snprintf(d->found.detail, sizeof d->found.detail, "%s", found);
  __atomic_store_n(&d->set, 1, __ATOMIC_RELEASE);
  rpl.mode = RPL_OFF;
  gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT); /* also where ranks go on without this one */
  rpl_real.gasnet_exit(EXIT_CODE);
}

void rpl_deviate(const char *found) {
  rpl_deviate_from(rpl_own, rpl_log_next(), found);
  abort(); /* not reached */
}

/* ---- turns */

int rpl_compare(const struct rpl_thread *t, const struct rpl_event *e) {
  if (e->run != t->run) return (int32_t)(e->run - t->run) < 0 ? -1 : 1;
  return e->repeat < t->repeat ? -1 : e->repeat > t->repeat;
}

/* Whether a handler that ran in a step may run in this one. */
static bool same_loop(const struct rpl_thread *t, const struct rpl_event *e) {
  struct rpl_place there, here;
  rpl_log_place(e->site, &there);
  if (strcmp(there.call, rpl_call_name(RPL_CALL_gexx_wait_step)) != 0) return true;
  rpl_here(t, &here);
  return there.offset == here.offset;
}

/* Whether the next event and the one before it, which has happened, are of the same step: a loop
 * that the first one has ended is over when the second one comes. */
static bool follows(const struct rpl_thread *t, const struct rpl_event *e) {
  if (!rpl_log_number_of(t)) return false;
  const struct rpl_event *before = e - 1;
  while (before->kind == RPL_THREAD || before->kind == RPL_NUMBER) before--;
  return before->run == e->run && before->repeat == e->repeat && before->site == e->site;
}

bool rpl_turn_of(const struct rpl_thread *t, const struct rpl_event *e) {
  const int order = rpl_compare(t, e);
  if (t->stepping && t->late.number == rpl_log_number_of(t) + 1) return true;
  if (order == 0 && (e->kind & RPL_BETWEEN))
    return t->left && (!t->stepping || same_loop(t, e) || follows(t, e));
  return order <= 0;
}

bool rpl_is_handler(const struct rpl_event *e) {
  const enum rpl_kind kind = rpl_kind_of(e);
  return kind == RPL_REQUEST || kind == RPL_REPLY || kind == RPL_LOSS || kind == RPL_RAN;
}
