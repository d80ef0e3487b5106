/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that the calling thread notes or takes itself.
 *
 * Owns nothing; state.c has the state. Called by the wrappers (results.c, words.c, turns.c). Calls:
 * position.c, log.c; order.c, which runs the handlers before an event. Invariant: positions and
 * logs change under the lock.
 */
#include "replay/runtime/rpl.h"

static void note(enum rpl_kind kind, uint32_t arg, uint8_t detail) {
  rpl_lock();
  const struct rpl_event e = {.run = rpl_own->run,
                              .repeat = rpl_own->repeat,
                              .arg = arg,
                              .site = rpl_log_site(rpl_own),
                              .kind = (uint8_t)kind,
                              .detail = detail};
  rpl_log_append(rpl_own, &e);
  rpl_unlock();
}

void rpl_note(enum rpl_kind kind, uint32_t arg) {
  note(kind, arg, 0);
}

void rpl_note_value(uint64_t value, uint8_t detail) {
  rpl_lock(); /* no other event is between */
  note(RPL_VALUE, (uint32_t)value, detail);
  if (value >> 32) rpl_note(RPL_HIGH, (uint32_t)(value >> 32));
  rpl_unlock();
}

const struct rpl_event *rpl_due(enum rpl_kind kind) {
  rpl_run_handlers();
  const struct rpl_event *const e = rpl_log_next();
  if (!e || !rpl_turn_of(rpl_own, e)) return NULL;
  if (e->kind != kind) return NULL;
  return e;
}

bool rpl_is_here(enum rpl_kind kind) {
  const struct rpl_event *const end = rpl_own->log.events + rpl_own->log.count;
  const struct rpl_event *e = rpl_log_next();
  while (e && e < end && rpl_compare(rpl_own, e) <= 0 && e->kind != kind &&
         (rpl_is_handler(e) || e->kind == RPL_THREAD || e->kind == RPL_NUMBER))
    e++;
  return e && e < end && rpl_compare(rpl_own, e) <= 0 && e->kind == kind;
}

bool rpl_comes(enum rpl_kind kind, uint32_t from) {
  const struct rpl_event *const e = rpl_log_next();
  if (!e) return true;
  if (!rpl_turn_of(rpl_own, e) || rpl_kind_of(e) != kind || e->arg != from) return false;
  rpl_log_step();
  return true;
}

void rpl_take(void) {
  rpl_log_step();
}

bool rpl_take_more(enum rpl_kind kind, uint32_t *arg) {
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->kind != kind) return false;
  *arg = e->arg;
  rpl_log_step();
  return true;
}

uint64_t rpl_take_value(uint8_t *detail) {
  uint64_t value = rpl_log_next()->arg;
  if (detail) *detail = rpl_log_next()->detail;
  uint32_t high;
  rpl_log_step();
  if (rpl_take_more(RPL_HIGH, &high)) value |= (uint64_t)high << 32;
  return value;
}
