/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers, see barrier.h.
 *
 * Owns: the list of teams with EX barriers in flight; barrier_named.c has the
 * named barrier. Called by clients and by progress. Calls: a region of the on-node engine, peer.h.
 * EX barrier: the barriers of a team are numbered; each round has one signal word at each member,
 * which holds the number of the last barrier for which the peer of that round has signalled.
 * Barrier s has passed round k when that word is at least s, so signals only grow, any number of
 * barriers may be outstanding, and they complete in order. A team with shared memory signals there,
 * others by internal messages, the primordial one by control words: a store to a rank of this host,
 * a message to another. Where ranks outnumber processors every round costs each rank one turn on
 * its processor, so teams with shared memory do without rounds there: they count arrivals in one
 * word, and the last member to arrive releases all. A team with groups (groups.h) counts in each
 * group; its leader awaits that, signals by rounds among leaders, and releases the group.
 * Invariants: state is changed under `lock`, under which nothing waits; a rank posts round k only
 * after rounds 0..k-1 of this number have passed; a leader's round 0 is its group, and round k of
 * it is round k - 1 among leaders.
 */
#include "core/team/barrier.h"
#include "base/container/list.h"
#include "core/team/barrier_parts.h"

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

/* Arguments of its message: uid(0,1), target's rank(2), round(3), number(4,5). */
enum { EX_ARGS = 6 };

/* One of so many barriers polls: those that end in their call have no wait that would. Chosen. */
#define POLL_EVERY 64u

static void on_barrier(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[2], in);
  if (!team) return;
  const uint64_t number = tmb_kit_unpack64(in->args + 4);
  if ((uint32_t)in->args[3] >= TMB_TEAM_ROUNDS_MAX) tmb_kit_malformed(in, "round");
  tmb_barrier_raise(&team->barrier.arrived[in->args[3]], number);
}

/* Number of the last barrier that this member has called. */
static inline uint64_t *started(const struct tmb_team *team) {
  return &team->calls->barriers;
}

/* Where a member finds the release. In the primordial team all members that meet read one word. Of
 * a team that may end, its owner gives its row back as soon as it has passed, so there each member
 * has its own. */
TMB_HOT static uint64_t *ex_word(const struct tmb_team *team, uint32_t rank) {
  return &tmb_shared_row(team, team == &tmb_job.team ? tmb_groups_met(team, 0) : rank)
              ->release.word;
}

/* All members have come. */
TMB_HOT static void ex_release(const struct tmb_team *team, uint64_t number) {
  const uint32_t count = tmb_groups_met_count(team), words = team == &tmb_job.team ? 1 : count;
  for (uint32_t i = 0; i < words; i++)
    tmb_store_rel(ex_word(team, tmb_groups_met(team, i)), number);
  for (uint32_t i = 0; i < count; i++)
    tmb_peer_wake(tmb_team_jobrank(team, tmb_groups_met(team, i)));
}

/* Whether this member waits for a barrier and should leave its processor to others that come to it.
 * Nobody waits for the last one of a team that is destroyed: it must not say how other waits wait.
 */
static bool ex_is_crowded(const struct tmb_team *team, uint64_t number) {
  return tmb_barrier_is_crowded(team) && !(team->barrier.closing && number == *started(team));
}

/* Count this member's arrival. The word counts all arrivals of its members since the team began, so
 * the last arrival at barrier s is the one that makes it s * members; that member releases all, or
 * wakes the leader. */
TMB_HOT static void ex_arrive(const struct tmb_team *team) {
  const uint64_t number = team->barrier.done + 1;
  if (ex_is_crowded(team, number)) tmb_barrier_come(team, TMB_MEETING_BARRIER, number);
  if (tmb_fetch_add_acq_rel(&tmb_groups_root(team)->arrive.word, 1) + 1 !=
      number * tmb_groups_met_count(team))
    return;
  if (team->barrier.form == TMB_BARRIER_CENTRAL)
    ex_release(team, number);
  else if (team->barrier.form == TMB_BARRIER_MEMBER)
    tmb_peer_wake(tmb_team_jobrank(team, tmb_groups_met(team, 0)));
}

/* Signal a member in a round. Returns false when there are no resources now. */
static bool ex_signal(struct tmb_team *team, uint32_t to, uint32_t round) {
  const struct tmb_team_barrier *b = &team->barrier;
  if (team == &tmb_job.team) return tmb_barrier_post(to, TMB_BARRIER_EX_WORDS + round, b->done + 1);
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
  return tmb_barrier_send(tmb_team_jobrank(team, to), TMB_KIT_BARRIER, args, EX_ARGS);
}

/* Signal in the current round that this member has come to the next barrier (number done + 1).
 * Returns false when there are no resources now. */
static bool ex_post(struct tmb_team *team) {
  const struct tmb_team_barrier *b = &team->barrier;
  if (TMB_LIKELY(!tmb_barrier_has_root(team)))
    return ex_signal(team, tmb_barrier_peer(team, b->round), b->round);
  if (b->round) return ex_signal(team, team->group->to[b->round - 1], b->round - 1);
  ex_arrive(team);
  return true;
}

/* The last barrier for which a leader's group has come. */
static uint64_t ex_group_arrived(const struct tmb_team *team) {
  const uint64_t next = team->barrier.done + 1;
  const bool here = tmb_load_acq(&tmb_groups_root(team)->arrive.word) >= next * team->group->count;
  return here ? next : next - 1;
}

static uint64_t ex_arrived(const struct tmb_team *team) {
  uint32_t round = team->barrier.round;
  if (TMB_UNLIKELY(tmb_barrier_has_root(team))) {
    if (tmb_barrier_is_released(team)) return tmb_load_acq(ex_word(team, team->head.rank));
    if (!round--) return ex_group_arrived(team);
  }
  if (team == &tmb_job.team) return tmb_barrier_word(TMB_BARRIER_EX_WORDS + round);
  if (team->shared) return tmb_load_acq(&tmb_shared_row(team, team->head.rank)->flag[round].word);
  return tmb_load_acq(&team->barrier.arrived[round]);
}

TMB_REQUIRES(tmb_job.barriers.lock) TMB_HOT static void ex_complete(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  struct tmb_op *op = b->plain ? NULL : b->first;
  b->done++;
  b->round = 0;
  if (!b->plain) tmb_barrier_work(-1);
  b->plain = false;
  if (ex_is_crowded(team, b->done)) {
    tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
    tmb_store_rlx(&tmb_job.last_here, false);
  }
  if (!op) return; /* a team that is destroyed without an event */
  (void)TMB_LIST_POP(&b->first);
  tmb_store_rel(&op->pending[TMB_CAT_PUT], 0); /* its only part */
}

/* A member is lost: complete the team's barriers in flight, marked as having met a loss. Returns
 * how many. */
TMB_REQUIRES(tmb_job.barriers.lock) TMB_COLD static int ex_abandon(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  int ended = 0;
  for (; b->done < *started(team); ended++) {
    if (b->first && !b->plain) tmb_op_lose(b->first, TMB_CAT_PUT, tmb_team_lost(team) - 1);
    ex_complete(team);
  }
  return ended;
}

TMB_HOT TMB_REQUIRES(tmb_job.barriers.lock) static int ex_advance(struct tmb_team *team) {
  struct tmb_team_barrier *b = &team->barrier;
  const uint64_t last = *started(team); /* barriers begin under the lock */
  int passed = 0;
  if (TMB_UNLIKELY(tmb_team_lost(team))) return ex_abandon(team);
  while (b->done < last) {
    while (b->round < b->steps) {
      if (!b->posted) b->posted = ex_post(team);
      if (!b->posted) {
        tmb_barriers()->stalled = true;
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
  for (struct tmb_team **p = &tmb_barriers()->busy; *p;) {
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

/* The number of a barrier that begins. in closing: the last one of a team that is destroyed. */
TMB_REQUIRES(tmb_job.barriers.lock) static uint64_t ex_number(struct tmb_team *team, bool closing) {
  const uint64_t number = ++*started(team);
  team->barrier.closing = closing;
  if (ex_is_crowded(team, number)) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
  return number;
}

/* Progress goes on with a barrier that is not over. */
TMB_REQUIRES(tmb_job.barriers.lock) static void ex_leave(struct tmb_team *team) {
  if (team->barrier.listed || team == &tmb_job.team) return;
  team->barrier.listed = true;
  team->barrier.next = tmb_barriers()->busy;
  tmb_barriers()->busy = team;
}

/* The op of a barrier, which progress completes. */
TMB_REQUIRES(tmb_job.barriers.lock)
static struct tmb_op *ex_op(struct tmb_team *team, uint64_t number) {
  struct tmb_op *const op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_store_rlx(&op->pending[TMB_CAT_PUT], 1);
  tmb_op_name_call(op, TMB_WHAT_BARRIER, team, number);
  TMB_QUEUE_ADD(&team->barrier.first, &team->barrier.last, op);
  tmb_barrier_work(1);
  return op;
}

/* Look for the others, for about a hand-off, where they may be about to come: each rank has a
 * processor, and stores its arrival. With pauses: the other rank may share the core. */
TMB_REQUIRES(tmb_job.barriers.lock)
TMB_HOT static void ex_look(struct tmb_team *team, uint64_t number) {
  if (tmb_job.wait.crowded || tmb_job.net) return;
  for (uint32_t looks = 4 * tmb_job.wait.hold_pauses[1]; looks && team->barrier.done < number;
       looks--)
    if (ex_arrived(team) >= number)
      (void)ex_advance(team);
    else
      tmb_cpu_pause();
}

/* Begin the next barrier of a team. The others wait for this member, so it arrives before it makes
 * an op. Returns the op; NULL, unless needs_op: the barrier is over. */
static struct tmb_op *ex_start(struct tmb_team *team, bool needs_op) {
  struct tmb_team_barrier *b = &team->barrier;
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const bool plain = !needs_op && !tmb_team_lost(team) && b->done == *started(team);
  const uint64_t number = ex_number(team, false);
  if (plain) b->plain = true;
  if (plain) (void)ex_advance(team);
  if (plain) ex_look(team, number);
  struct tmb_op *const op = b->done < number ? ex_op(team, number) : NULL;
  if (op && plain) b->plain = false;
  if (!plain && !b->listed) (void)ex_advance(team);
  if (b->done < number) ex_leave(team);
  tmb_lock_release(&tmb_job.barriers.lock);
  return op;
}

void tmb_barrier_close(struct tmb_team *team) {
  struct tmb_team *closed = NULL;
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const uint64_t number = ex_number(team, true);
  tmb_barrier_work(1);
  if (!team->barrier.listed) (void)ex_advance(team);
  if (team->barrier.done < number) {
    ex_leave(team);
  } else if (!team->barrier.listed) {
    team->barrier.next = NULL;
    closed = team;
  }
  tmb_lock_release(&tmb_job.barriers.lock);
  close_all(closed);
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
  struct tmb_team *const team = tmb_team_of(tm);
  const uint64_t begun = tmb_record_clock();
  if (TMB_UNLIKELY(team->calls->barriers % POLL_EVERY == POLL_EVERY - 1)) tmb_poll();
  struct tmb_op *const op = ex_start(team, tmb_job.live_events || begun);
  record_call(record, begun, team, op);
  if (op && (tmb_job.live_events || !tmb_op_done(op, GEX_EC_ALL) || op->lost_mask))
    return tmb_op_event(op);
  if (op) tmb_op_free(op);
  if (!op && TMB_UNLIKELY(tmb_team_lost(team))) (void)tmb_lost_record(tmb_team_lost(team) - 1);
  return GEX_EVENT_INVALID;
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

TMB_HOT static bool released(void *arg) {
  const struct release *r = arg;
  return tmb_load_acq(r->word) >= r->number || tmb_team_lost(r->team) != 0;
}

static void describe_release(const void *object, struct tmb_status_wait *out) {
  const struct release *r = object;
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  tmb_op_name_call(&op, TMB_WHAT_BARRIER, r->team, r->number);
  tmb_status_of_op(&op, out);
}

/* Begin a barrier without an op. Returns false, with nothing done, while others are in flight. */
TMB_HOT static bool begin_plain(struct tmb_team *team, struct release *r) {
  tmb_lock_acquire(&tmb_job.barriers.lock);
  const bool alone = team->barrier.done == *started(team);
  if (alone) {
    r->number = ex_number(team, false);
    team->barrier.plain = true;
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
TMB_HOT static bool meet_plainly(struct tmb_team *team) {
  struct release r = {.team = team};
  if (!tmb_job.wait.crowded || tmb_job.debug || tmb_recording())
    return false; /* `team` unchecked */
  TMB_CHECK_NO_HANDLER("gex_Coll_BarrierBlocking");
  if (!tmb_barrier_is_released(team)) return false;
  r.word = ex_word(team, team->head.rank);
  if (!begin_plain(team, &r)) return false;
  if (!released(&r)) (void)tmb_wait_until(released, &r, UINT64_MAX, describe_release);
  tmb_lock_acquire(&tmb_job.barriers.lock);
  if (team->barrier.done < r.number) (void)ex_advance(team);
  tmb_lock_release(&tmb_job.barriers.lock);
  if (TMB_UNLIKELY(tmb_team_lost(team))) (void)tmb_lost_record(tmb_team_lost(team) - 1);
  return true;
}

TMB_HOT void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  struct tmb_record record;
  if (meet_plainly(tmb_team_of(tm))) return;
  gex_Event_Wait(start_barrier(tm, flags, &record));
  if (tmb_recording()) tmb_record_close(&record);
}

/* Not inside request handlers: where control words are messages, a barrier may wait for room. */
static int advance(int serve) {
  struct tmb_team *closed = NULL;
  if (serve != TMB_SERVE_ALL) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&tmb_job.barriers.lock)) return TMB_FOUND_BUSY;
  tmb_barriers()->stalled = false;
  int passed = ex_advance(&tmb_job.team) + tmb_barrier_named_advance();
  if (tmb_barriers()->busy) passed += ex_advance_list(&closed);
  const bool stalled = tmb_barriers()->stalled;
  tmb_lock_release(&tmb_job.barriers.lock);
  if (closed) close_all(closed);
  const int found = passed ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
  return TMB_UNLIKELY(stalled) ? found | TMB_FOUND_BUSY : found; /* nobody rings for room */
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_BARRIER, TMB_TAKES_SHORT, EX_ARGS, 0, on_barrier}, {0}};

const struct tmb_layer tmb_barrier_layer = {
    .name = "barrier", .handlers = handlers, .work = TMB_WORK_BARRIERS, .progress = advance};
