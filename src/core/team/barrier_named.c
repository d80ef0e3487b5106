/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The named barrier of GASNet-1 over the job.
 *
 * Owns: tmb_job.barriers.named. Called by barrier.c, which advances it, and the public calls.
 * Calls: control words (barrier.c), rows of the primordial team. The algorithms are those of
 * barrier.c, and the words also carry {phase, state, id}; combining is associative, commutative and
 * idempotent, so dissemination with overlap gives every rank one outcome. Invariants: state is
 * changed under the lock of barrier.c, under which nothing waits; a row's word counts one phase
 * only, and whoever resets it does so before the outcome is seen.
 */
#include "core/team/barrier.h"
#include "core/team/barrier_parts.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "os/os.h"
#include "os/sync/lock.h"

enum { STATE_ANONYMOUS = 0, STATE_NAMED = 1, STATE_MISMATCH = 2 };
/* Word of the named barrier: bits 0..31 id, 32..33 state, 34..63 phase, or arrivals. The first two
 * are the vote of some ranks. Fixed by this layout. */
#define VOTE_BITS 34
#define VOTE_MASK ((UINT64_C(1) << VOTE_BITS) - 1)

static uint64_t vote_of(uint32_t state, uint32_t id) {
  return (uint64_t)state << 32 | id;
}

/* The vote of two groups of ranks. */
static uint64_t combined(uint64_t a, uint64_t b) {
  if (b >> 32 == STATE_ANONYMOUS || a >> 32 == STATE_MISMATCH) return a;
  if (a >> 32 == STATE_ANONYMOUS || b >> 32 == STATE_MISMATCH || a == b) return b;
  return vote_of(STATE_MISMATCH, 0);
}

TMB_REQUIRES(tmb_job.barriers.lock) static uint64_t named_pack(void) {
  return tmb_barriers()->named.phase << VOTE_BITS | tmb_barriers()->named.vote;
}

TMB_REQUIRES(tmb_job.barriers.lock) static uint32_t named_word(uint32_t round) {
  return TMB_BARRIER_NAMED_WORDS +
         (uint32_t)(tmb_barriers()->named.phase & 1) * TMB_BARRIER_ROUNDS_MAX + round;
}

/* Signal the peer of a round. Returns false when there are no resources now. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_signal(uint32_t round) {
  if (tmb_job.team.barrier.form == TMB_BARRIER_ROUNDS)
    return tmb_barrier_post(tmb_barrier_peer(&tmb_job.team, round), named_word(round),
                            named_pack());
  if (!round) return true; /* a leader, whose group counts by itself */
  return tmb_barrier_post(tmb_job.team.group->to[round - 1], named_word(round - 1), named_pack());
}

/* Signal the peer of the present round. Returns false when there are no resources now. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_post(void) {
  const uint32_t round = tmb_barriers()->named.round;
  if (!tmb_barriers()->named.posted) tmb_barriers()->named.posted = named_signal(round);
  return tmb_barriers()->named.posted;
}

/* Write the outcome for all ranks that count with this one. */
TMB_REQUIRES(tmb_job.barriers.lock) static void named_release(void) {
  struct tmb_shared_row *const row = tmb_groups_root(&tmb_job.team);
  tmb_store_rlx(&row->named.word, 0);
  tmb_store_rel(&row->outcome.word, named_pack());
  for (uint32_t i = 0; i < tmb_groups_met_count(&tmb_job.team); i++)
    if (tmb_groups_met(&tmb_job.team, i) != tmb_job.rank)
      tmb_peer_wake(tmb_groups_met(&tmb_job.team, i));
}

/* Count this rank and its vote in; the last one, or the leader, gives all the outcome, and nobody
 * counts himself in again before he has seen it, or after he has heard of a loss. */
TMB_REQUIRES(tmb_job.barriers.lock) static void named_arrive(void) {
  const struct tmb_team *const team = &tmb_job.team;
  struct tmb_shared_row *const row = tmb_groups_root(team);
  if (tmb_barrier_is_released(team)) tmb_barriers()->named.outcome = &row->outcome.word;
  if (TMB_UNLIKELY(tmb_team_lost(team))) return;
  if (tmb_job.wait.crowded) tmb_barrier_come(team, TMB_MEETING_NAMED, tmb_barriers()->named.phase);
  const uint64_t one = UINT64_C(1) << VOTE_BITS;
  uint64_t seen = tmb_load_rlx(&row->named.word), now;
  do {
    const uint64_t vote = combined(seen & VOTE_MASK, tmb_barriers()->named.vote);
    now = ((seen & ~VOTE_MASK) + one) | vote;
  } while (!tmb_cas_acq_rel(&row->named.word, &seen, now));
  if (now >> VOTE_BITS != tmb_groups_met_count(team)) return;
  if (team->barrier.form == TMB_BARRIER_CENTRAL) {
    tmb_barriers()->named.vote = now & VOTE_MASK;
    named_release();
  } else if (team->barrier.form == TMB_BARRIER_MEMBER) {
    tmb_peer_wake(tmb_groups_met(team, 0));
  }
}

/* For a leader: whether its group has come. Takes the group's vote. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_group(void) {
  const uint64_t v = tmb_load_acq(&tmb_groups_root(&tmb_job.team)->named.word);
  if (v >> VOTE_BITS != tmb_job.team.group->count) return false;
  tmb_barriers()->named.vote = v & VOTE_MASK;
  return true;
}

/* Look for the signal of the current round, or the outcome. Returns whether it was there. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_check(void) {
  const uint64_t *outcome = tmb_barriers()->named.outcome;
  uint32_t round = tmb_barriers()->named.round;
  if (tmb_job.team.barrier.form == TMB_BARRIER_LEADER && !round--) return named_group();
  const uint64_t v = outcome ? tmb_load_acq(outcome) : tmb_barrier_word(named_word(round));
  if ((v ^ tmb_barriers()->named.phase << VOTE_BITS) >> VOTE_BITS) return false;
  tmb_barriers()->named.vote = combined(tmb_barriers()->named.vote, v & VOTE_MASK);
  return true;
}

int tmb_barrier_named_advance(void) {
  const bool central = tmb_barrier_is_released(&tmb_job.team);
  const uint32_t steps = tmb_job.team.barrier.steps;
  int passed = 0;
  if (!tmb_barriers()->named.notified || tmb_barriers()->named.complete) return 0;
  tmb_barriers()->named.lost = tmb_load_rlx(&tmb_job.team.lost);
  while (!tmb_barriers()->named.lost && tmb_barriers()->named.round < steps) {
    if (!central && !named_post()) {
      tmb_barriers()->stalled = true;
      return passed;
    }
    if (!named_check()) return passed;
    tmb_barriers()->named.round++;
    tmb_barriers()->named.posted = false;
    passed++;
  }
  if (tmb_job.team.barrier.form == TMB_BARRIER_LEADER && !tmb_barriers()->named.lost)
    named_release();
  tmb_barriers()->named.complete = true;
  tmb_barrier_work(-1);
  if (tmb_barrier_is_crowded(&tmb_job.team)) {
    tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
    tmb_store_rlx(&tmb_job.last_here, false);
  }
  return passed + 1;
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

/* The name of a phase, for waits of it. */
static uint64_t phase_name(void) {
  return tmb_job.team.calls->named << 1 | 1;
}

static void record_notify(uint64_t begun) {
  struct tmb_record record;
  tmb_record_call(&record, begun,
                  &(struct tmb_record_call){.team = &tmb_job.team,
                                            .what = TMB_WHAT_BARRIER,
                                            .root = TMB_STATUS_NOBODY,
                                            .number = tmb_job.team.calls->named,
                                            .op = (const void *)(uintptr_t)phase_name()});
  tmb_record_close(&record);
}

static void notify(const char *call, int id, int flags) {
  const uint64_t begun = tmb_record_clock();
  tmb_check_ready_at(call);
  TMB_CHECK_CONTEXT(call);
  TMB_CHECK_NO_HANDLER(call);
  if (tmb_job.debug) check_flags(call, flags);
  tmb_lock_acquire(&tmb_job.barriers.lock);
  if (tmb_barriers()->named.notified)
    tmb_fatal_nopos(
        "%s: called with id %d after a notify without a successful wait or try; the two "
        "alternate",
        call, id);
  tmb_job.team.calls->named = ++tmb_barriers()->named.phase;
  tmb_barriers()->named.round = 0;
  tmb_barriers()->named.posted = false;
  tmb_barriers()->named.notified = true;
  tmb_barriers()->named.complete = false;
  tmb_barriers()->named.vote = flags & GASNET_BARRIERFLAG_MISMATCH ? vote_of(STATE_MISMATCH, 0)
                               : flags & GASNET_BARRIERFLAG_ANONYMOUS
                                   ? vote_of(STATE_ANONYMOUS, 0)
                                   : vote_of(STATE_NAMED, (uint32_t)id);
  tmb_barrier_work(1);
  if (tmb_barrier_is_crowded(&tmb_job.team)) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
  if (tmb_barrier_has_root(&tmb_job.team)) named_arrive();
  (void)tmb_barrier_named_advance();
  tmb_lock_release(&tmb_job.barriers.lock);
  if (tmb_recording()) record_notify(begun);
}

static bool named_complete(void) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  (void)tmb_barrier_named_advance();
  const bool complete = tmb_barriers()->named.complete;
  tmb_lock_release(&tmb_job.barriers.lock);
  return complete;
}

static void describe_named(const void *object, struct tmb_status_wait *out) {
  (void)object;
  out->kind = TMB_WAIT_NAMED;
  out->team = tmb_job.team.shown;
  out->number = tmb_job.team.calls->named;
}

/* Consume a complete phase. */
static int outcome(int id, int flags) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  tmb_barriers()->named.notified = false;
  const uint64_t vote = tmb_barriers()->named.vote;
  const bool clash = vote >> 32 == STATE_NAMED && !(flags & GASNET_BARRIERFLAG_ANONYMOUS) &&
                     (uint32_t)vote != (uint32_t)id;
  const int rc = vote >> 32 == STATE_MISMATCH || clash ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
  const uint32_t lost = tmb_barriers()->named.lost;
  tmb_lock_release(&tmb_job.barriers.lock);
  return TMB_UNLIKELY(lost) ? tmb_lost_record(lost - 1) : rc;
}

static void check_notified(const char *call, int id) {
  tmb_check_ready_at(call);
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const bool notified = tmb_barriers()->named.notified;
  tmb_lock_release(&tmb_job.barriers.lock);
  if (!notified)
    tmb_fatal_nopos("%s: called with id %d without a gasnet_barrier_notify before it", call, id);
}

/* The outcome of a named barrier that one word holds. */
struct named_wait {
  const uint64_t *outcome;
  uint64_t phase;
};

static bool has_outcome(void *arg) {
  const struct named_wait *w = arg;
  return tmb_load_acq(w->outcome) >> VOTE_BITS == w->phase || tmb_load_rlx(&tmb_job.team.lost) != 0;
}

/* Read that word alone, as await_release. */
static void await_outcome(void) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  struct named_wait w = {tmb_barriers()->named.outcome, tmb_barriers()->named.phase};
  tmb_lock_release(&tmb_job.barriers.lock);
  if (w.outcome) (void)tmb_wait_until(has_outcome, &w, UINT64_MAX, describe_named);
}

static int wait_phase(const char *call, int id, int flags) {
  TMB_CHECK_CONTEXT(call);
  TMB_CHECK_NO_HANDLER(call);
  if (tmb_job.debug) check_flags(call, flags);
  if (!named_complete()) {
    struct gexx_wait wait;
    await_outcome();
    tmb_wait_begin(&wait);
    while (!named_complete()) tmb_wait_step(&wait, (struct tmb_why){describe_named, NULL});
    if (tmb_recording_waits()) tmb_record_wait_over(&wait);
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
  TMB_CHECK_NO_HANDLER("gasnet_barrier_try");
  if (tmb_job.debug) check_flags("gasnet_barrier_try", flags);
  tmb_poll();
  return named_complete() ? outcome(id, flags) : GASNET_ERR_NOT_READY;
}

int gasnet_barrier(int id, int flags) {
  notify("gasnet_barrier", id, flags);
  return wait_phase("gasnet_barrier", id, flags);
}

int gasnet_barrier_result(int *id) {
  TMB_CHECK_CONTEXT("gasnet_barrier_result");
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const uint64_t phase = tmb_barriers()->named.phase;
  const bool notified = tmb_barriers()->named.notified;
  const bool named = tmb_barriers()->named.vote >> 32 == STATE_NAMED;
  const int value = (int)(uint32_t)tmb_barriers()->named.vote;
  tmb_lock_release(&tmb_job.barriers.lock);
  TMB_CHECK(phase, "gasnet_barrier_result: called before the first barrier phase");
  TMB_CHECK(!notified, "gasnet_barrier_result: called between notify and wait of phase %llu",
            (unsigned long long)phase);
  if (!named) return 1;
  if (id) *id = value;
  return 0;
}
