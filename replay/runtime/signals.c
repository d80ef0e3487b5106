/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals, semaphores and tagged notifications, as the rank that owns them sees them.
 *
 * Owns: the file `takes.N`, see turns.c: the order in which threads of a rank take what is there. A
 * recording notes each successful test, the index of the signal that was found, and
 * each value that was read. In a replay the call waits until the signal has what it had, and
 * returns the recorded value, even if later changes are there already: those belong to later
 * calls. What a reset took is subtracted, so that nothing is lost. Invariants: puts with a signal
 * have no order of their own, because it is that of the waits; those that are complete when they
 * return are counted (words.c). Chaos makes no test late: a rank may know by a wait, a load or a
 * barrier that a signal has changed, and then a test is true.
 */
#include "replay/runtime/rpl.h"

#include <stddef.h>

#define IN_TIME(name, fn, args) RPL_RESULT_IF(false, name, fn, GASNET_ERR_NOT_READY, args)

int gexx_Signal_Test(const uint64_t *sig, int cmp, uint64_t value) {
  IN_TIME(gexx_Signal_Test, rpl_real.gexx_Signal_Test, (sig, cmp, value));
}

/* What a thread takes is not there for another one. */
static struct rpl_turns takes = {.file = "takes", .what = "taken signal", .polls = true};

bool rpl_takes_open(void) {
  return rpl_turns_open(&takes);
}

void rpl_takes_close(void) {
  rpl_turns_close(&takes);
}

static int try_consume(uint64_t *sig, uint64_t n) {
  const int turn = rpl_turn_begin(&takes, true);
  const int rc = rpl_turn_end(&takes, turn, rpl_real.gexx_Signal_TryConsume(sig, n));
  if (rc == GASNET_OK) rpl_written(sig);
  return rc;
}

int gexx_Signal_TryConsume(uint64_t *sig, uint64_t n) {
  IN_TIME(gexx_Signal_TryConsume, try_consume, (sig, n));
}

static int try_sem(gexx_Sem_t sem, uint64_t n) {
  const int turn = rpl_turn_begin(&takes, true);
  return rpl_turn_end(&takes, turn, rpl_real.gexx_Sem_TryN(sem, n));
}

static int try_one(gexx_Sem_t sem) {
  const int turn = rpl_turn_begin(&takes, true);
  return rpl_turn_end(&takes, turn, rpl_real.gexx_Sem_Try(sem));
}

int gexx_Sem_Try(gexx_Sem_t sem) {
  IN_TIME(gexx_Sem_Try, try_one, (sem));
}

int gexx_Sem_TryN(gexx_Sem_t sem, uint64_t n) {
  IN_TIME(gexx_Sem_TryN, try_sem, (sem, n));
}

/* ---- values */

/* The rest of a call that may be refused. */
#define ANSWERED(RESULT, NAME, REFUSED)          \
 {                                               \
  struct gexx_signal_op own = *op;               \
  if (rpl_refused(&own.flags)) return (REFUSED); \
  const RESULT answer = rpl_real.NAME(&own);     \
  rpl_answered(op->flags, answer != (REFUSED));  \
  return answer;                                 \
 }

/* Defines a put with a signal; one that may be refused is not counted. */
#define PUT_SIGNAL(RESULT, NAME, CATEGORY, REFUSED)                                          \
 RESULT NAME(const struct gexx_signal_op *op) {                                              \
  RPL_ENTER(NAME);                                                                           \
  if (outer) rpl_own->nbi |= (CATEGORY);                                                     \
  if (!outer) return rpl_real.NAME(op);                                                      \
  if (op->flags & GEX_FLAG_IMMEDIATE) ANSWERED(RESULT, NAME, REFUSED);                       \
  struct rpl_bucket *const b = rpl_write_begin(rpl_jobrank(op->tm, op->rank), op->sig_addr); \
  const RESULT result = rpl_real.NAME(op);                                                   \
  rpl_write_end(b);                                                                          \
  return result;                                                                             \
 }
PUT_SIGNAL(int, gexx_put_signal, 0, 1)
PUT_SIGNAL(int, gexx_put_signal_nbi, GEX_EC_PUT, 1)
PUT_SIGNAL(gex_Event_t, gexx_put_signal_nb, 0, GEX_EVENT_NO_OP)

#define GET_SIGNAL(RESULT, NAME, CATEGORY, REFUSED) \
 RESULT NAME(const struct gexx_signal_op *op) {     \
  RPL_ENTER(NAME);                                  \
  if (outer) rpl_own->nbi |= (CATEGORY);            \
  if (!outer) return rpl_real.NAME(op);             \
  ANSWERED(RESULT, NAME, REFUSED);                  \
 }
GET_SIGNAL(int, gexx_get_signal_nbi, GEX_EC_GET, 1)
GET_SIGNAL(gex_Event_t, gexx_get_signal_nb, 0, GEX_EVENT_NO_OP)

/* The value that a wait has returned: noted; in a replay the recorded value. */
static uint64_t seen(bool outer, uint64_t value) {
  if (!outer) return value;
  if (rpl.mode == RPL_RECORDS) rpl_note_value(value, 0);
  if (rpl.mode != RPL_REPLAYS || !rpl_due(RPL_VALUE)) return value;
  return rpl_take_value(NULL);
}

uint64_t gexx_Signal_Wait(const uint64_t *sig, int cmp, uint64_t value) {
  RPL_ENTER(gexx_Signal_Wait);
  return seen(outer, rpl_real.gexx_Signal_Wait(sig, cmp, value));
}

uint64_t gexx_Signal_WaitConsume(uint64_t *sig, uint64_t n) {
  RPL_ENTER(gexx_Signal_WaitConsume);
  const uint64_t rest = rpl_real.gexx_Signal_WaitConsume(sig, n);
  if (outer) rpl_written(sig);
  return seen(outer, rest);
}

static uint64_t reset(bool outer, uint64_t *sig) {
  const uint64_t value = rpl_real.gexx_Signal_Reset(sig);
  if (outer) rpl_written(sig);
  return value;
}

uint64_t gexx_Signal_Reset(uint64_t *sig) {
  RPL_ENTER(gexx_Signal_Reset);
  if (!outer || rpl.mode != RPL_REPLAYS || !rpl_due(RPL_VALUE))
    return seen(outer, reset(outer, sig));
  const uint64_t value = rpl_take_value(NULL);
  if (value) (void)rpl_real.gexx_Signal_WaitConsume(sig, value);
  rpl_written(sig);
  return value;
}

static uint64_t fetch(void *sig) {
  return rpl_real.gexx_Signal_Fetch(sig);
}

uint64_t gexx_Signal_Fetch(const uint64_t *sig) {
  RPL_ENTER(gexx_Signal_Fetch);
  if (!outer) return rpl_real.gexx_Signal_Fetch(sig);
  return rpl_see(rpl.rank, sig, fetch, (void *)(uintptr_t)sig);
}

/* ---- one of several signals */

/* Replay: whether the turn of a signal has come; then it has changed. */
static bool found(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  const struct rpl_event *const e = rpl_due(RPL_INDEX);
  if (!e) return false;
  if (e->arg >= count) rpl_deviate("fewer signals");
  const uint64_t *const sig = (const void *)((const char *)sigs + e->arg * stride);
  uint64_t steps = 0;
  while (!rpl_real.gexx_Signal_Fetch(sig)) rpl_wait_step(&steps, "waiting for a signal");
  *index = e->arg;
  rpl_take();
  return true;
}

int gexx_Signal_TestSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  RPL_ENTER(gexx_Signal_TestSome);
  if (outer && rpl.mode == RPL_REPLAYS && rpl_log_knows())
    return found(sigs, count, stride, index) ? GASNET_OK : GASNET_ERR_NOT_READY;
  const int rc = rpl_real.gexx_Signal_TestSome(sigs, count, stride, index);
  if (outer && rpl.mode == RPL_RECORDS && rc == GASNET_OK) rpl_note(RPL_INDEX, (uint32_t)*index);
  return rc;
}

uint64_t gexx_Signal_WaitSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  RPL_ENTER(gexx_Signal_WaitSome);
  if (outer && rpl.mode == RPL_REPLAYS && found(sigs, count, stride, index))
    return seen(outer,
                rpl_real.gexx_Signal_Fetch((const void *)((const char *)sigs + *index * stride)));
  const uint64_t value = rpl_real.gexx_Signal_WaitSome(sigs, count, stride, index);
  if (outer && rpl.mode == RPL_RECORDS) rpl_note(RPL_INDEX, (uint32_t)*index);
  return seen(outer, value);
}

/* ---- notifications: which one a request has got is noted, and compared in a replay */

static void matched(bool outer, gexx_Notify_Status_t *own, gexx_Notify_Status_t *status) {
  if (status) *status = *own;
  if (!outer) return;
  if (rpl.mode == RPL_RECORDS) rpl_note(RPL_INDEX, own->gexx_source);
  if (rpl.mode != RPL_REPLAYS) return;
  const struct rpl_event *const e = rpl_due(RPL_INDEX);
  if (!e) return;
  if (e->arg != own->gexx_source) rpl_deviate("a notification from another rank");
  rpl_take();
}

int gexx_Notify_Test(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  RPL_ENTER(gexx_Notify_Test);
  gexx_Notify_Status_t own;
  uint64_t steps = 0;
  if (outer && rpl.mode == RPL_REPLAYS && rpl_log_knows()) {
    if (!rpl_due(RPL_INDEX)) return GASNET_ERR_NOT_READY;
    while (rpl_real.gexx_Notify_Test(req, &own) != GASNET_OK)
      rpl_wait_step(&steps, "waiting for a notification");
  } else {
    const int rc = rpl_real.gexx_Notify_Test(req, &own);
    if (rc != GASNET_OK) return rc;
  }
  matched(outer, &own, status);
  return GASNET_OK;
}

void gexx_Notify_Wait(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  RPL_ENTER(gexx_Notify_Wait);
  gexx_Notify_Status_t own;
  rpl_real.gexx_Notify_Wait(req, &own);
  matched(outer, &own, status);
}
