/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers, see barrier.h.
 *
 * Owns: the state of both barriers of this process. Called by clients and by progress. Calls: the
 * conduit's control words. EX barrier: calls are numbered; round k of number s is passed when
 * control word k has reached s, so words only grow and any number of barriers may be outstanding;
 * they complete in order. Named barrier: a word carries {phase, state, id}; combining is
 * associative, commutative and idempotent, so dissemination with overlap gives every rank the same
 * outcome. Invariants: state is changed under `lock`; a rank posts round k only after rounds 0..k-1
 * of the same number have passed.
 */
#include "core/barrier.h"

#include "core/check.h"
#include "core/op.h"
#include "core/progress.h"
#include "core/thread.h"

#define EX_WORDS    0
#define NAMED_WORDS 16
#define ROUNDS_MAX  11
_Static_assert(NAMED_WORDS + 2 * ROUNDS_MAX <= TMB_FLAG_WORDS, "control words suffice");

/* Word of the named barrier: bits 0..31 id, 32..33 state, 34..63 phase. */
enum { STATE_ANONYMOUS = 0, STATE_NAMED = 1, STATE_MISMATCH = 2 };

static struct {
  uint32_t lock;
  uint32_t rounds;
  struct {
    uint64_t started, done; /* numbers of the last barrier called, and completed */
    uint32_t round;         /* next to pass, of number done + 1 */
    struct tmb_op *first, *last;
  } ex;
  struct {
    uint64_t phase; /* of the current or last barrier, from 1 */
    uint32_t round;
    uint32_t state;
    uint32_t id;
    bool notified, complete;
  } named;
} barrier;

void tmb_barrier_init(void) {
  barrier.rounds = 0;
  while ((UINT64_C(1) << barrier.rounds) < tmb_job.size) barrier.rounds++;
  tmb_assert_cmp(barrier.rounds, <=, ROUNDS_MAX);
}

static bool try_lock(void) {
  return !tmb_load_rlx(&barrier.lock) && !tmb_xchg_acq(&barrier.lock, 1);
}

static void lock(void) {
  while (!try_lock()) tmb_cpu_pause();
}

static void unlock(void) {
  tmb_store_rel(&barrier.lock, 0);
}

static void post(uint32_t round, uint32_t word, uint64_t value) {
  const uint32_t peer = (uint32_t)((tmb_job.rank + (UINT64_C(1) << round)) % tmb_job.size);
  tmb_job.ops->flag_post(tmb_job.conduit, peer, word, value);
}

static uint64_t word_value(uint32_t word) {
  return tmb_load_acq(tmb_job.ops->flag_word(tmb_job.conduit, word));
}

/* ---- EX barrier */

static void ex_complete(void) {
  struct tmb_op *op = barrier.ex.first;
  barrier.ex.done++;
  barrier.ex.round = 0;
  barrier.ex.first = op->next;
  if (!barrier.ex.first) barrier.ex.last = NULL;
  tmb_fetch_sub_rel(&tmb_job.barriers_active, 1);
  tmb_up_op_done(op, TMB_CAT_PUT);
}

static int ex_advance(void) {
  int passed = 0;
  while (barrier.ex.done < barrier.ex.started) {
    const uint64_t number = barrier.ex.done + 1;
    while (barrier.ex.round < barrier.rounds && word_value(EX_WORDS + barrier.ex.round) >= number) {
      barrier.ex.round++;
      passed++;
      if (barrier.ex.round < barrier.rounds)
        post(barrier.ex.round, EX_WORDS + barrier.ex.round, number);
    }
    if (barrier.ex.round < barrier.rounds) break;
    ex_complete();
    passed++;
    if (barrier.ex.done < barrier.ex.started && barrier.rounds)
      post(0, EX_WORDS, barrier.ex.done + 1);
  }
  return passed;
}

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gex_Coll_BarrierNB");
    tmb_check_tm("gex_Coll_BarrierNB", tm, false);
    tmb_check_flags("gex_Coll_BarrierNB", flags, 0);
  }
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_up_op_more(op, TMB_CAT_PUT);
  lock();
  const bool idle = barrier.ex.done == barrier.ex.started;
  barrier.ex.started++;
  if (barrier.ex.last)
    barrier.ex.last->next = op;
  else
    barrier.ex.first = op;
  barrier.ex.last = op;
  tmb_fetch_add_acq_rel(&tmb_job.barriers_active, 1);
  if (idle && barrier.rounds) post(0, EX_WORDS, barrier.ex.started);
  if (idle) (void)ex_advance();
  unlock();
  if (!tmb_job.debug && tmb_op_done(op, GEX_EC_ALL)) {
    tmb_op_free(op);
    return GEX_EVENT_INVALID;
  }
  return tmb_op_event(op);
}

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, flags));
}

/* ---- named barrier */

static uint64_t pack(uint64_t phase, uint32_t state, uint32_t id) {
  return phase << 34 | (uint64_t)state << 32 | id;
}

static void combine(uint32_t state, uint32_t id) {
  if (state == STATE_ANONYMOUS || barrier.named.state == STATE_MISMATCH) return;
  if (state == STATE_MISMATCH || (barrier.named.state == STATE_NAMED && barrier.named.id != id)) {
    barrier.named.state = STATE_MISMATCH;
    return;
  }
  barrier.named.state = STATE_NAMED;
  barrier.named.id = id;
}

static uint32_t named_word(uint32_t round) {
  return NAMED_WORDS + (uint32_t)(barrier.named.phase & 1) * ROUNDS_MAX + round;
}

static void named_post(uint32_t round) {
  post(round, named_word(round), pack(barrier.named.phase, barrier.named.state, barrier.named.id));
}

static int named_advance(void) {
  int passed = 0;
  if (!barrier.named.notified || barrier.named.complete) return 0;
  while (barrier.named.round < barrier.rounds) {
    const uint64_t v = word_value(named_word(barrier.named.round));
    if (v >> 34 != (barrier.named.phase & 0x3fffffff)) return passed;
    combine((uint32_t)(v >> 32) & 3, (uint32_t)v);
    barrier.named.round++;
    passed++;
    if (barrier.named.round < barrier.rounds) named_post(barrier.named.round);
  }
  barrier.named.complete = true;
  tmb_fetch_sub_rel(&tmb_job.barriers_active, 1);
  return passed + 1;
}

int tmb_barrier_advance(void) {
  if (!try_lock()) return 0;
  const int passed = ex_advance() + named_advance();
  unlock();
  return passed;
}

static void check_flags(const char *call, int flags) {
  if (flags & ~(GASNET_BARRIERFLAG_UNNAMED | GASNET_BARRIERFLAG_MISMATCH))
    tmb_fatal_nopos(
        "%s: argument flags is 0x%x; GASNET_BARRIERFLAG_ANONYMOUS, MISMATCH and UNNAMED are "
        "known",
        call, (unsigned)flags);
  if ((flags & 4) && !(flags & GASNET_BARRIERFLAG_ANONYMOUS))
    tmb_fatal_nopos("%s: argument flags is 0x%x: UNNAMED without ANONYMOUS", call, (unsigned)flags);
}

static void notify(const char *call, int id, int flags) {
  tmb_check_ready_at(call);
  TMB_CHECK_CONTEXT(call);
  if (tmb_job.debug) check_flags(call, flags);
  lock();
  if (barrier.named.notified)
    tmb_fatal_nopos(
        "%s: called with id %d after a notify without a successful wait or try; the two "
        "alternate",
        call, id);
  barrier.named.phase++;
  barrier.named.round = 0;
  barrier.named.notified = true;
  barrier.named.complete = false;
  barrier.named.id = flags & GASNET_BARRIERFLAG_ANONYMOUS ? 0 : (uint32_t)id;
  barrier.named.state = flags & GASNET_BARRIERFLAG_MISMATCH    ? STATE_MISMATCH
                        : flags & GASNET_BARRIERFLAG_ANONYMOUS ? STATE_ANONYMOUS
                                                               : STATE_NAMED;
  tmb_fetch_add_acq_rel(&tmb_job.barriers_active, 1);
  if (barrier.rounds) named_post(0);
  (void)named_advance();
  unlock();
}

static bool named_complete(void) {
  lock();
  (void)named_advance();
  const bool complete = barrier.named.complete;
  unlock();
  return complete;
}

/* Consume a complete phase. */
static int outcome(int id, int flags) {
  lock();
  barrier.named.notified = false;
  const bool clash = barrier.named.state == STATE_NAMED &&
                     !(flags & GASNET_BARRIERFLAG_ANONYMOUS) && barrier.named.id != (uint32_t)id;
  const int rc =
      barrier.named.state == STATE_MISMATCH || clash ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
  unlock();
  return rc;
}

static void check_notified(const char *call, int id) {
  tmb_check_ready_at(call);
  if (!barrier.named.notified)
    tmb_fatal_nopos("%s: called with id %d without a gasnet_barrier_notify before it", call, id);
}

static int wait_phase(const char *call, int id, int flags) {
  TMB_CHECK_CONTEXT(call);
  if (tmb_job.debug) check_flags(call, flags);
  if (!named_complete()) {
    struct gexx_wait wait;
    tmb_wait_begin(&wait);
    while (!named_complete()) tmb_wait_step(&wait);
  }
  return outcome(id, flags);
}

void gasnet_barrier_notify(int id, int flags) {
  notify("gasnet_barrier_notify", id, flags);
}

int gasnet_barrier_wait(int id, int flags) {
  check_notified("gasnet_barrier_wait", id);
  return wait_phase("gasnet_barrier_wait", id, flags);
}

int gasnet_barrier_try(int id, int flags) {
  check_notified("gasnet_barrier_try", id);
  TMB_CHECK_CONTEXT("gasnet_barrier_try");
  if (tmb_job.debug) check_flags("gasnet_barrier_try", flags);
  (void)tmb_progress(TMB_SERVE_ALL);
  return named_complete() ? outcome(id, flags) : GASNET_ERR_NOT_READY;
}

int gasnet_barrier(int id, int flags) {
  notify("gasnet_barrier", id, flags);
  return wait_phase("gasnet_barrier", id, flags);
}

int gasnet_barrier_result(int *id) {
  TMB_CHECK_CONTEXT("gasnet_barrier_result");
  TMB_CHECK(barrier.named.phase, "gasnet_barrier_result: called before the first barrier phase");
  TMB_CHECK(!barrier.named.notified,
            "gasnet_barrier_result: called between notify and wait of phase %llu",
            (unsigned long long)barrier.named.phase);
  if (barrier.named.state != STATE_NAMED) return 1;
  if (id) *id = (int)barrier.named.id;
  return 0;
}
