/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers, see barrier.h.
 *
 * Owns: the state of the named barrier and the list of teams with EX barriers in flight. Called by
 * clients and by progress. Calls: a region of the on-node engine for control words, peer.h. EX
 * barrier: the barriers of a team are numbered; each round has one signal word at each member,
 * which holds the number of the last barrier for which the peer of that round has signalled.
 * Barrier s has passed round k when that word is at least s, so signals only grow, any number of
 * barriers may be outstanding, and they complete in order. A team with shared memory signals there,
 * others by internal messages, the primordial one by control words: a store to a rank of this host,
 * a message to another. Where ranks outnumber processors every round costs each rank one turn on
 * its processor, so teams with shared memory do without rounds there: they count arrivals in one
 * word, and the last member to arrive releases all. A team with groups (groups.h) counts in each
 * group; its leader awaits that, signals by rounds among leaders, and releases the group. Named
 * barrier: works by the same methods, and its words also carry {phase, state, id}; combining is
 * associative, commutative and idempotent, so dissemination with overlap gives every rank the same
 * outcome. Invariants: state is changed under `lock`, under which nothing waits; a rank posts round
 * k only after rounds 0..k-1 of the same number have passed; a leader's round 0 is its group, and
 * round k of it is round k - 1 among leaders.
 */
#include "core/team/barrier.h"

#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "os/os.h"
#include "os/sync/lock.h"

/* Fixed: the layout of a barrier's words, for teams of at most 2^ROUNDS_MAX hosts. */
#define EX_WORDS    0
#define NAMED_WORDS 16
#define ROUNDS_MAX  11
#define WORDS       (NAMED_WORDS + 2 * ROUNDS_MAX)

/* Control words of a rank: each has one writer, the peer of one round. */
struct tmb_barrier_words {
  struct tmb_shared_line word[WORDS];
};

enum { STATE_ANONYMOUS = 0, STATE_NAMED = 1, STATE_MISMATCH = 2 };
/* Word of the named barrier: bits 0..31 id, 32..33 state, 34..63 phase, or arrivals. The first two
 * are the vote of some ranks. Fixed by this layout. */
#define VOTE_BITS 34
#define VOTE_MASK ((UINT64_C(1) << VOTE_BITS) - 1)

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.barriers.lock) static inline struct tmb_barriers *barrier(void) {
  return &tmb_job.barriers;
}

static void ask(void) {
  tmb_job.barriers.region =
      tmb_near_region(&tmb_job.near, "barrier", sizeof(struct tmb_barrier_words));
}

static void init(void) {
  uint32_t rounds = 0;
  while ((UINT64_C(1) << rounds) < tmb_job.size) rounds++;
  tmb_assert_cmp(rounds, <=, ROUNDS_MAX);
  tmb_job.barriers.words =
      tmb_near_at(&tmb_job.near, tmb_job.barriers.region, tmb_near_of(tmb_job.rank));
}

static uint64_t word_value(uint32_t word) {
  return tmb_load_acq(&tmb_job.barriers.words->word[word].word);
}

/* Raise a word that one peer changes by messages, which may overtake each other. */
static void word_raise(uint64_t *word, uint64_t value) {
  uint64_t seen = tmb_load_rlx(word);
  while (seen < value && !tmb_cas_acq_rel(word, &seen, value)) {}
}

/* The message of a control word: index(0), value(1,2). */
enum { WORD_ARGS = 3 };

static void on_word(const struct tmb_am_in *in) {
  const uint32_t index = (uint32_t)in->args[0];
  if (index >= WORDS) tmb_kit_malformed(in, "control word");
  word_raise(&tmb_job.barriers.words->word[index].word, tmb_kit_unpack64(in->args + 1));
}

static bool send_word(uint32_t peer, uint32_t word, uint64_t value) {
  int32_t args[WORD_ARGS] = {(int32_t)word};
  tmb_kit_pack64(args + 1, value);
  struct tmb_am_out out = {.peer = peer,
                           .handler = TMB_KIT_BARRIER_WORD,
                           .nargs = WORD_ARGS,
                           .immediate = 1,
                           .staged = -1,
                           .args = args};
  return tmb_peer_send(&out) == 0;
}

/* Whom a member signals in a round among all. */
static uint32_t peer_of(const struct tmb_team *team, uint32_t round) {
  return (uint32_t)((team->head.rank + (UINT64_C(1) << round)) % team->head.size);
}

/* Set a control word of a rank, after all earlier stores; words only grow. Returns false when there
 * are no resources now. */
static bool post(uint32_t peer, uint32_t word, uint64_t value) {
  struct tmb_barrier_words *const words = tmb_peer_region(tmb_job.barriers.region, peer);
  if (!words) return send_word(peer, word, value);
  if (tmb_peer_ended(peer)) return true;
  tmb_store_rel(&words->word[word].word, value);
  tmb_peer_wake(peer);
  return true;
}

/* ---- EX barrier */

/* Arguments of its message: uid(0,1), target's rank(2), round(3), number(4,5). */
enum { EX_ARGS = 6 };

static void on_barrier(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[2], in);
  if (!team) return;
  const uint64_t number = tmb_kit_unpack64(in->args + 4);
  if ((uint32_t)in->args[3] >= TMB_TEAM_ROUNDS_MAX) tmb_kit_malformed(in, "round");
  word_raise(&team->barrier.arrived[in->args[3]], number);
}

/* Number of the last barrier that this member has called. */
static inline uint64_t *started(const struct tmb_team *team) {
  return &team->calls->barriers;
}

/* Whether members count their arrivals in one word, and one word releases each. */
static bool has_root(const struct tmb_team *team) {
  return team->barrier.form != TMB_BARRIER_ROUNDS;
}

/* Whether one word ends a barrier for this member. */
static bool is_released(const struct tmb_team *team) {
  const uint8_t form = team->barrier.form;
  return form == TMB_BARRIER_CENTRAL || form == TMB_BARRIER_MEMBER;
}

/* Whether a member that waits should leave its processor to others that come to the barrier. */
static bool is_crowded(const struct tmb_team *team) {
  return has_root(team) && tmb_job.wait.crowded;
}

/* Those who count together: all members of the team, or of this group. */
static uint32_t met_count(const struct tmb_team *team) {
  return team->group ? team->group->count : team->head.size;
}

static uint32_t met(const struct tmb_team *team, uint32_t i) {
  return team->group ? team->group->member[i] : i;
}

/* The row in which they do. */
static struct tmb_shared_row *root_row(const struct tmb_team *team) {
  return tmb_shared_row(team, met(team, 0));
}

/* Where a member finds the release. In the primordial team all members that meet read one word. Of
 * a team that may end, its owner gives its row back as soon as it has passed, so there each member
 * has its own. */
static uint64_t *ex_word(const struct tmb_team *team, uint32_t rank) {
  return &tmb_shared_row(team, team == &tmb_job.team ? met(team, 0) : rank)->release.word;
}

/* All members have come. */
static void ex_release(const struct tmb_team *team, uint64_t number) {
  const uint32_t count = met_count(team), words = team == &tmb_job.team ? 1 : count;
  for (uint32_t i = 0; i < words; i++) tmb_store_rel(ex_word(team, met(team, i)), number);
  for (uint32_t i = 0; i < count; i++) tmb_peer_wake(tmb_team_jobrank(team, met(team, i)));
}

/* Count this member's arrival. The word counts all arrivals of those who meet there ever, so the
 * last arrival at barrier s is the one that makes it s * members; that member releases all, or
 * wakes the leader. */
static void ex_arrive(const struct tmb_team *team) {
  const uint64_t number = team->barrier.done + 1;
  if (tmb_job.wait.crowded)
    tmb_store_rlx(&tmb_job.last_here, tmb_shared_last_here(team, TMB_MEETING_BARRIER, number));
  if (tmb_fetch_add_acq_rel(&root_row(team)->arrive.word, 1) + 1 != number * met_count(team))
    return;
  if (team->barrier.form == TMB_BARRIER_CENTRAL)
    ex_release(team, number);
  else if (team->barrier.form == TMB_BARRIER_MEMBER)
    tmb_peer_wake(tmb_team_jobrank(team, met(team, 0)));
}

/* Signal a member in a round. Returns false when there are no resources now. */
static bool ex_signal(struct tmb_team *team, uint32_t to, uint32_t round) {
  const struct tmb_team_barrier *b = &team->barrier;
  if (team == &tmb_job.team) return post(to, EX_WORDS + round, b->done + 1);
  if (team->shared) {
    tmb_store_rel(&tmb_shared_row(team, to)->flag[round].word, b->done + 1);
    tmb_peer_wake(tmb_team_jobrank(team, to));
    return true;
  }
  int32_t args[EX_ARGS];
  tmb_kit_pack64(args, team->uid);
  args[2] = (int32_t)to;
  args[3] = (int32_t)round;
  tmb_kit_pack64(args + 4, b->done + 1);
  struct tmb_am_out out = {.peer = tmb_team_jobrank(team, to),
                           .category = TMB_AM_SHORT,
                           .handler = TMB_KIT_BARRIER,
                           .nargs = EX_ARGS,
                           .immediate = 1,
                           .staged = -1,
                           .args = args};
  return tmb_peer_send(&out) == 0;
}

/* Signal in the current round that this member has come to the next barrier (number done + 1).
 * Returns false when there are no resources now. */
static bool ex_post(struct tmb_team *team) {
  const struct tmb_team_barrier *b = &team->barrier;
  if (TMB_LIKELY(!has_root(team))) return ex_signal(team, peer_of(team, b->round), b->round);
  if (b->round) return ex_signal(team, team->group->to[b->round - 1], b->round - 1);
  ex_arrive(team);
  return true;
}

/* The last barrier for which a leader's group has come. */
static uint64_t ex_group_arrived(const struct tmb_team *team) {
  const uint64_t next = team->barrier.done + 1;
  const bool here = tmb_load_acq(&root_row(team)->arrive.word) >= next * team->group->count;
  return here ? next : next - 1;
}

static uint64_t ex_arrived(const struct tmb_team *team) {
  uint32_t round = team->barrier.round;
  if (TMB_UNLIKELY(has_root(team))) {
    if (is_released(team)) return tmb_load_acq(ex_word(team, team->head.rank));
    if (!round--) return ex_group_arrived(team);
  }
  if (team == &tmb_job.team) return word_value(EX_WORDS + round);
  if (team->shared) return tmb_load_acq(&tmb_shared_row(team, team->head.rank)->flag[round].word);
  return tmb_load_acq(&team->barrier.arrived[round]);
}

static void ex_complete(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  struct tmb_op *op = b->plain ? NULL : b->first;
  b->done++;
  b->round = 0;
  if (!b->plain) tmb_fetch_sub_rel(&tmb_job.work[TMB_WORK_BARRIERS], 1);
  b->plain = false;
  if (is_crowded(team)) {
    tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
    tmb_store_rlx(&tmb_job.last_here, false);
  }
  if (!op) return; /* a team that is destroyed without an event */
  b->first = op->next;
  if (!b->first) b->last = NULL;
  tmb_up_op_done(op, TMB_CAT_PUT);
}

/* A member is lost: complete the team's barriers in flight, marked as having met a loss. Returns
 * how many. */
TMB_COLD static int ex_abandon(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  int ended = 0;
  for (; b->done < *started(team); ended++) {
    if (b->first && !b->plain) tmb_op_lose(b->first, TMB_CAT_PUT, team->lost - 1);
    ex_complete(team);
  }
  return ended;
}

TMB_REQUIRES(tmb_job.barriers.lock) static int ex_advance(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  const uint64_t last = *started(team); /* barriers begin under the lock */
  int passed = 0;
  if (TMB_UNLIKELY(tmb_load_rlx(&team->lost))) return ex_abandon(team);
  while (b->done < last) {
    while (b->round < b->steps) {
      if (!b->posted) b->posted = ex_post(team);
      if (!b->posted) {
        barrier()->stalled = true;
        return passed;
      }
      if (ex_arrived(team) < b->done + 1) return passed;
      b->posted = false;
      b->round++;
      passed++;
    }
    if (b->form == TMB_BARRIER_LEADER) ex_release(team, b->done + 1);
    ex_complete(team);
    passed++;
  }
  return passed;
}

/* Advance the teams with barriers in flight. out closed: teams whose destruction is complete,
 * linked by barrier.next; the caller releases them after the lock. */
TMB_REQUIRES(tmb_job.barriers.lock) static int ex_advance_list(struct tmb_team **closed) {
  int passed = 0;
  for (struct tmb_team **p = &barrier()->busy; *p;) {
    struct tmb_team *const team = *p;
    passed += ex_advance(team);
    if (team->barrier.done < *started(team)) {
      p = &team->barrier.next;
      continue;
    }
    *p = team->barrier.next;
    team->barrier.listed = false;
    if (team->barrier.closing) {
      team->barrier.next = *closed;
      *closed = team;
    }
  }
  return passed;
}

static void close_all(struct tmb_team *closed) {
  while (closed) {
    struct tmb_team *const team = closed;
    closed = team->barrier.next;
    tmb_team_close(team);
  }
}

/* Begin the next barrier of a team. in op: completes with it, or NULL: the team is closed then. */
static void ex_start(struct tmb_team *team, struct tmb_op *op) {
  struct tmb_team_barrier *b = &team->barrier;
  struct tmb_team *closed = NULL;
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const uint64_t number = ++*started(team);
  b->closing = !op;
  if (op) tmb_op_name_call(op, TMB_WHAT_BARRIER, team, number);
  if (op && b->last)
    b->last->next = op;
  else if (op)
    b->first = op;
  if (op) b->last = op;
  tmb_fetch_add_acq_rel(&tmb_job.work[TMB_WORK_BARRIERS], 1);
  if (is_crowded(team)) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
  if (!b->listed) (void)ex_advance(team);
  if (b->done < number && !b->listed && team != &tmb_job.team) {
    b->listed = true;
    b->next = barrier()->busy;
    barrier()->busy = team;
  } else if (b->done == number && b->closing && !b->listed) {
    b->next = NULL;
    closed = team;
  }
  tmb_lock_release(&tmb_job.barriers.lock);
  close_all(closed);
}

void tmb_barrier_close(struct tmb_team *team) {
  ex_start(team, NULL);
}

static void record_call(struct tmb_record *record, uint64_t begun, const struct tmb_team *team,
                        const void *op) {
  if (TMB_LIKELY(!begun)) return;
  tmb_record_call(record, begun,
                  &(struct tmb_record_call){.team = team,
                                            .what = TMB_WHAT_BARRIER,
                                            .root = TMB_STATUS_NOBODY,
                                            .number = team->calls->barriers,
                                            .op = op});
}

/* Start a barrier, and its slice in the trace. */
static inline gex_Event_t start_barrier(gex_TM_t tm, gex_Flags_t flags, struct tmb_record *record) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gex_Coll_BarrierNB");
    tmb_check_tm("gex_Coll_BarrierNB", tm, false);
    tmb_check_flags("gex_Coll_BarrierNB", flags, 0);
  }
  TMB_CHECK_NO_HANDLER("gex_Coll_BarrierNB");
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  const uint64_t begun = tmb_record_clock();
  tmb_up_op_more(op, TMB_CAT_PUT);
  ex_start(tmb_team_of(tm), op);
  record_call(record, begun, tmb_team_of(tm), op);
  if (!tmb_job.debug && tmb_op_done(op, GEX_EC_ALL) && !op->lost_mask) {
    tmb_op_free(op);
    return GEX_EVENT_INVALID;
  }
  return tmb_op_event(op);
}

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  struct tmb_record record;
  const gex_Event_t event = start_barrier(tm, flags, &record);
  if (tmb_recording()) tmb_record_close(&record);
  return event;
}

/* A barrier that one word ends, and no other one in flight. */
struct release {
  const struct tmb_team *team;
  const uint64_t *word;
  uint64_t number;
};

static bool released(void *arg) {
  const struct release *r = arg;
  return tmb_load_acq(r->word) >= r->number || tmb_load_rlx(&r->team->lost) != 0;
}

static void describe_release(const void *object, struct tmb_status_wait *out) {
  const struct release *r = object;
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  tmb_op_name_call(&op, TMB_WHAT_BARRIER, r->team, r->number);
  tmb_status_of_op(&op, out);
}

/* Begin a barrier without an op. Returns false, with nothing done, while others are in flight. */
static bool begin_plain(struct tmb_team *team, struct release *r) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const bool alone = team->barrier.done == *started(team);
  if (alone) {
    r->number = ++*started(team);
    team->barrier.plain = true;
    tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
    (void)ex_advance(team);
  }
  tmb_lock_release(&tmb_job.barriers.lock);
  return alone;
}

/*
 * The whole of a blocking barrier where one word ends it. After each turn of the others this rank
 * reads that word, where a wait for an event would run all that makes progress: after a switch
 * few of the instructions and data that a rank needs are in the caches. Returns false, with nothing
 * done, where the barrier needs an op.
 */
static bool meet_plainly(struct tmb_team *team) {
  struct release r = {.team = team};
  if (!tmb_job.wait.crowded || tmb_job.debug || tmb_recording())
    return false; /* `team` unchecked */
  TMB_CHECK_NO_HANDLER("gex_Coll_BarrierBlocking");
  if (!is_released(team)) return false;
  r.word = ex_word(team, team->head.rank);
  if (!begin_plain(team, &r)) return false;
  if (!released(&r)) (void)tmb_wait_until(released, &r, UINT64_MAX, describe_release);
  tmb_lock_acquire(&tmb_job.barriers.lock);
  if (team->barrier.done < r.number) (void)ex_advance(team);
  tmb_lock_release(&tmb_job.barriers.lock);
  if (TMB_UNLIKELY(tmb_load_rlx(&team->lost))) (void)tmb_lost_record(team->lost - 1);
  return true;
}

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  struct tmb_record record;
  if (meet_plainly(tmb_team_of(tm))) return;
  gex_Event_Wait(start_barrier(tm, flags, &record));
  if (tmb_recording()) tmb_record_close(&record);
}

/* ---- named barrier */

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
  return barrier()->named.phase << VOTE_BITS | barrier()->named.vote;
}

TMB_REQUIRES(tmb_job.barriers.lock) static uint32_t named_word(uint32_t round) {
  return NAMED_WORDS + (uint32_t)(barrier()->named.phase & 1) * ROUNDS_MAX + round;
}

/* Signal the peer of a round. Returns false when there are no resources now. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_signal(uint32_t round) {
  if (tmb_job.team.barrier.form == TMB_BARRIER_ROUNDS)
    return post(peer_of(&tmb_job.team, round), named_word(round), named_pack());
  if (!round) return true; /* a leader, whose group counts by itself */
  return post(tmb_job.team.group->to[round - 1], named_word(round - 1), named_pack());
}

/* Signal the peer of the present round. Returns false when there are no resources now. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_post(void) {
  const uint32_t round = barrier()->named.round;
  if (!barrier()->named.posted) barrier()->named.posted = named_signal(round);
  return barrier()->named.posted;
}

/* Give all that count with this rank the outcome. */
TMB_REQUIRES(tmb_job.barriers.lock) static void named_release(void) {
  struct tmb_shared_row *const row = root_row(&tmb_job.team);
  tmb_store_rlx(&row->named.word, 0);
  tmb_store_rel(&row->outcome.word, named_pack());
  for (uint32_t i = 0; i < met_count(&tmb_job.team); i++)
    if (met(&tmb_job.team, i) != tmb_job.rank) tmb_peer_wake(met(&tmb_job.team, i));
}

/* Count this rank and its vote in; the last one, or the leader, gives all the outcome, and nobody
 * counts himself in again before he has seen it, or after he has heard of a loss. */
TMB_REQUIRES(tmb_job.barriers.lock) static void named_arrive(void) {
  const struct tmb_team *const team = &tmb_job.team;
  struct tmb_shared_row *const row = root_row(team);
  if (is_released(team)) barrier()->named.outcome = &row->outcome.word;
  if (TMB_UNLIKELY(tmb_load_rlx(&team->lost))) return;
  if (tmb_job.wait.crowded)
    tmb_store_rlx(&tmb_job.last_here,
                  tmb_shared_last_here(team, TMB_MEETING_NAMED, barrier()->named.phase));
  const uint64_t one = UINT64_C(1) << VOTE_BITS;
  uint64_t seen = tmb_load_rlx(&row->named.word), now;
  do {
    const uint64_t vote = combined(seen & VOTE_MASK, barrier()->named.vote);
    now = ((seen & ~VOTE_MASK) + one) | vote;
  } while (!tmb_cas_acq_rel(&row->named.word, &seen, now));
  if (now >> VOTE_BITS != met_count(team)) return;
  if (team->barrier.form == TMB_BARRIER_CENTRAL) {
    barrier()->named.vote = now & VOTE_MASK;
    named_release();
  } else if (team->barrier.form == TMB_BARRIER_MEMBER) {
    tmb_peer_wake(met(team, 0));
  }
}

/* For a leader: whether its group has come. Takes the group's vote. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_group(void) {
  const uint64_t v = tmb_load_acq(&root_row(&tmb_job.team)->named.word);
  if (v >> VOTE_BITS != tmb_job.team.group->count) return false;
  barrier()->named.vote = v & VOTE_MASK;
  return true;
}

/* Look for the signal of the current round, or the outcome. Returns whether it was there. */
TMB_REQUIRES(tmb_job.barriers.lock) static bool named_check(void) {
  const uint64_t *outcome = barrier()->named.outcome;
  uint32_t round = barrier()->named.round;
  if (tmb_job.team.barrier.form == TMB_BARRIER_LEADER && !round--) return named_group();
  const uint64_t v = outcome ? tmb_load_acq(outcome) : word_value(named_word(round));
  if ((v ^ barrier()->named.phase << VOTE_BITS) >> VOTE_BITS) return false;
  barrier()->named.vote = combined(barrier()->named.vote, v & VOTE_MASK);
  return true;
}

TMB_REQUIRES(tmb_job.barriers.lock) static int named_advance(void) {
  const bool central = is_released(&tmb_job.team);
  const uint32_t steps = tmb_job.team.barrier.steps;
  int passed = 0;
  if (!barrier()->named.notified || barrier()->named.complete) return 0;
  barrier()->named.lost = tmb_load_rlx(&tmb_job.team.lost);
  while (!barrier()->named.lost && barrier()->named.round < steps) {
    if (!central && !named_post()) {
      barrier()->stalled = true;
      return passed;
    }
    if (!named_check()) return passed;
    barrier()->named.round++;
    barrier()->named.posted = false;
    passed++;
  }
  if (tmb_job.team.barrier.form == TMB_BARRIER_LEADER && !barrier()->named.lost) named_release();
  barrier()->named.complete = true;
  tmb_fetch_sub_rel(&tmb_job.work[TMB_WORK_BARRIERS], 1);
  if (is_crowded(&tmb_job.team)) {
    tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
    tmb_store_rlx(&tmb_job.last_here, false);
  }
  return passed + 1;
}

/* Not inside request handlers: where control words are messages, a barrier may wait for room. */
static int advance(int serve) {
  struct tmb_team *closed = NULL;
  if (serve != TMB_SERVE_ALL) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&tmb_job.barriers.lock)) return TMB_FOUND_BUSY;
  barrier()->stalled = false;
  int passed = ex_advance(&tmb_job.team) + named_advance();
  if (barrier()->busy) passed += ex_advance_list(&closed);
  const bool stalled = barrier()->stalled;
  tmb_lock_release(&tmb_job.barriers.lock);
  if (closed) close_all(closed);
  const int found = passed ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
  return TMB_UNLIKELY(stalled) ? found | TMB_FOUND_BUSY : found; /* nobody rings for room */
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_BARRIER, TMB_TAKES_SHORT, EX_ARGS, 0, on_barrier},
    {TMB_KIT_BARRIER_WORD, TMB_TAKES_SHORT, WORD_ARGS, 0, on_word},
    {0}};

const struct tmb_layer tmb_barrier_layer = {.name = "barrier",
                                            .handlers = handlers,
                                            .ask = ask,
                                            .init = init,
                                            .work = TMB_WORK_BARRIERS,
                                            .progress = advance};

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
  if (barrier()->named.notified)
    tmb_fatal_nopos(
        "%s: called with id %d after a notify without a successful wait or try; the two "
        "alternate",
        call, id);
  tmb_job.team.calls->named = ++barrier()->named.phase;
  barrier()->named.round = 0;
  barrier()->named.posted = false;
  barrier()->named.notified = true;
  barrier()->named.complete = false;
  barrier()->named.vote = flags & GASNET_BARRIERFLAG_MISMATCH ? vote_of(STATE_MISMATCH, 0)
                          : flags & GASNET_BARRIERFLAG_ANONYMOUS
                              ? vote_of(STATE_ANONYMOUS, 0)
                              : vote_of(STATE_NAMED, (uint32_t)id);
  tmb_fetch_add_acq_rel(&tmb_job.work[TMB_WORK_BARRIERS], 1);
  if (is_crowded(&tmb_job.team)) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
  if (has_root(&tmb_job.team)) named_arrive();
  (void)named_advance();
  tmb_lock_release(&tmb_job.barriers.lock);
  if (tmb_recording()) record_notify(begun);
}

static bool named_complete(void) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  (void)named_advance();
  const bool complete = barrier()->named.complete;
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
  barrier()->named.notified = false;
  const uint64_t vote = barrier()->named.vote;
  const bool clash = vote >> 32 == STATE_NAMED && !(flags & GASNET_BARRIERFLAG_ANONYMOUS) &&
                     (uint32_t)vote != (uint32_t)id;
  const int rc = vote >> 32 == STATE_MISMATCH || clash ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
  const uint32_t lost = barrier()->named.lost;
  tmb_lock_release(&tmb_job.barriers.lock);
  return TMB_UNLIKELY(lost) ? tmb_lost_record(lost - 1) : rc;
}

static void check_notified(const char *call, int id) {
  tmb_check_ready_at(call);
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const bool notified = barrier()->named.notified;
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
  struct named_wait w = {barrier()->named.outcome, barrier()->named.phase};
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
  const uint64_t phase = barrier()->named.phase;
  const bool notified = barrier()->named.notified;
  const bool named = barrier()->named.vote >> 32 == STATE_NAMED;
  const int value = (int)(uint32_t)barrier()->named.vote;
  tmb_lock_release(&tmb_job.barriers.lock);
  TMB_CHECK(phase, "gasnet_barrier_result: called before the first barrier phase");
  TMB_CHECK(!notified, "gasnet_barrier_result: called between notify and wait of phase %llu",
            (unsigned long long)phase);
  if (!named) return 1;
  if (id) *id = value;
  return 0;
}
