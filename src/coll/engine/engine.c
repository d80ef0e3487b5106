/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running schedules, see engine.h.
 *
 * Owns: ops in flight, the queue of those that can go on, the handlers of the messages from
 * TMB_KIT_COLL_DATA to TMB_KIT_COLL_REFUSED. Called by calls/start.c (from calls and from progress)
 * and by the conduit (handlers). Calls: the conduit's am_send. A handler delivers a message into
 * the buffer that its receive names and runs local steps; when the next step sends, the op is
 * queued for progress. Messages are cut at `chunk`, a multiple of the element size; an element
 * larger than `chunk` is put together before it is combined. Flow control: a long message is
 * offered, and the receiver reads it in the sender's memory (pull.h); where that is not possible, a
 * message longer than the eager limit waits for the receiver's READY. After every FENCE_EVERY
 * collectives of a team the engine starts a synchronising one of its own, the fence; a member
 * begins no fence before its previous one is complete, so no member is ahead of another by more
 * than 2 * FENCE_EVERY collectives. Invariants: see engine.h; an op is in its team's bucket until
 * it is complete and in the run queue at most once.
 */
/* How the engine works.
 *
 * A collective is a program for each rank: send this, receive that, combine, copy. Written as code,
 * each algorithm would need its own state machine, because a call may not block, and its own flow
 * control. Here an algorithm writes its program as data, the schedule, and one engine runs all of
 * them.
 *
 * An op is a schedule in execution: a position, and buffers. The engine runs its steps in order. A
 * local step is done at once. A send leaves if there is room, else the op waits in the run queue,
 * and progress goes on with it. A receive is posted; the op stops at the end of its round until all
 * receives of the round are complete. A message names team, collective, and tag, so that it finds
 * its op in the team's bucket; one whose receive is not posted yet is kept (stash.c).
 *
 * Three things bound memory. A message longer than the eager limit waits until the receiver is
 * ready, or the receiver reads it in the sender's memory. A fence each FENCE_EVERY collectives
 * keeps members from running ahead. Room that a handler lacks makes it leave the work to progress.
 *
 * Why no deadlock: all members run schedules that match step by step, in one order on each team; a
 * handler never waits; and an op that waits for room holds nothing that another one needs. Why the
 * result is right: unit tests run each algorithm's schedules for every team size without a network,
 * because they are data. */

#include "base/container/list.h"
#include "coll/engine/pull.h"
#include "coll/engine/receive.h"
#include "coll/engine/send.h"

#include "base/error.h"
#include "base/log.h"
#include "coll/select/tuning.h"
#include "core/op/lost.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "os/os.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FENCE_EVERY 128u
#define TMP_KEEP    (1u << 20) /* temporary memory that an idle op keeps, bytes */
/* Written before the first use: schedules that only synchronise send bytes from there. Fixed by the
 * most ranks of a host, one byte for each. */
#define SYNC_BYTES  4096u

enum outcome { WAITS, DONE };
/* Steps that a run of a collective may do beside local ones: a handler sends nothing; a thread of
 * the conduit sends to ranks of other hosts; the progress hook and the call that starts it, all. */
enum sends { SENDS_NOTHING, SENDS_FAR, SENDS_ALL };
static enum outcome advance(struct tmb_coll_op *op, enum sends sends);
static void applied(struct tmb_apply *apply);

/* ---- ops */

static struct tmb_coll_op *op_new(const struct tmb_sched *s) {
  struct tmb_coll_op *op = TMB_LIST_POP(&tmb_colls.ops.free);
  if (!op) op = calloc(1, sizeof *op);
  if (!op) tmb_fatal("out of memory for a collective");
  if (op->got_capacity < s->recvs) {
    op->got = tmb_coll_grown(op->got, s->recvs * sizeof *op->got, "the receives");
    op->got_capacity = s->recvs;
  }
  if (s->recvs) memset(op->got, 0, s->recvs * sizeof *op->got);
  if (op->tmp_capacity < s->tmp_bytes) {
    op->base[TMB_BUF_TMP] =
        tmb_coll_grown(op->base[TMB_BUF_TMP], s->tmp_bytes, "the temporary memory");
    op->tmp_capacity = s->tmp_bytes;
    memset(op->base[TMB_BUF_TMP], 0, TMB_MIN(s->tmp_bytes, (uint64_t)SYNC_BYTES));
  }
  op->next = op->next_run = NULL;
  op->event = NULL;
  op->at = (struct tmb_coll_at){.pc = 0};
  op->apply.then = applied;
  return op;
}

static void op_free(struct tmb_coll_op *op) {
  tmb_coll_plan_release(op->plan);
  free(op->assembly);
  op->assembly = NULL;
  if (op->tmp_capacity > TMP_KEEP) {
    free(op->base[TMB_BUF_TMP]);
    op->base[TMB_BUF_TMP] = NULL;
    op->tmp_capacity = 0;
  }
  if (op->bounce_capacity > TMP_KEEP) {
    free(op->bounce);
    op->bounce = NULL;
    op->bounce_capacity = 0;
  }
  TMB_LIST_PUSH(&tmb_colls.ops.free, op);
}

static struct tmb_coll_op **bucket_of(struct tmb_coll_team *ct, uint32_t seq) {
  return &ct->active[seq % TMB_COLL_BUCKETS];
}

static struct tmb_coll_op *find_op(struct tmb_coll_team *ct, uint32_t seq) {
  struct tmb_coll_op *op = *bucket_of(ct, seq);
  while (op && op->seq != seq) op = op->next;
  return op;
}

static void queue(struct tmb_coll_op *op) {
  if (op->at.runnable) return;
  op->at.runnable = true;
  op->next_run = NULL;
  *tmb_colls.ops.run_end = op;
  tmb_colls.ops.run_end = &op->next_run;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
}

/* A fence is complete: start the collectives that it held back, the next fence among them, but
 * neither the fence after that nor its followers. */
static void release_held(struct tmb_coll_team *ct) {
  ct->fence = false;
  for (struct tmb_coll_op *op; (op = ct->held) != NULL && !(op->at.fence && ct->fence);) {
    ct->held = op->next_run;
    ct->fence = ct->fence || op->at.fence;
    op->at.held = false;
    queue(op);
  }
  if (!ct->held) ct->held_end = &ct->held;
}

static void complete(struct tmb_coll_op *op) {
  struct tmb_coll_team *ct = op->team->coll;
  (void)TMB_LIST_REMOVE(bucket_of(ct, op->seq), op);
  tmb_direct_end(op);
  if (op->event) tmb_coll_event_done(op->event);
  if (op->at.fence) {
    release_held(ct);
    TMB_LIST_PUSH(&tmb_colls.ops.fences, op);
  } else if (op->at.runnable) {
    op->at.finished = true; /* progress finds it in its queue */
  } else {
    op_free(op);
  }
}

void tmb_coll_unlock_drop(void) {
  struct tmb_coll_op *fences = tmb_colls.ops.fences;
  tmb_colls.ops.fences = NULL;
  tmb_coll_unlock();
  while (TMB_UNLIKELY(fences != NULL)) {
    struct tmb_coll_op *op = TMB_LIST_POP(&fences);
    tmb_team_release(op->team);
    tmb_coll_lock();
    if (op->at.runnable)
      op->at.finished = true;
    else
      op_free(op);
    tmb_coll_unlock();
  }
}

/* ---- receiving */

/* Deliver the messages that were kept for a receive, up to a call of a client's function. Returns
 * whether the receive is complete. */
static bool take_kept(struct tmb_coll_op *op, uint32_t index) {
  struct tmb_coll_team *ct = op->team->coll;
  const struct tmb_step *step = &op->plan->sched.step[index];
  const struct tmb_stash like = {
      .seq = op->seq, .src = step->peer, .tag = step->tag, .kind = TMB_KIT_COLL_DATA};
  struct tmb_stash *m;
  while (op->got[step->recv] < step->bytes && ct->stash[op->seq % TMB_COLL_BUCKETS] &&
         !tmb_coll_applies(op) && (m = tmb_stash_take(ct, &like)) != NULL)
    if (tmb_recv_deliver(op, index, m->payload, m->at, m->bytes, m)) tmb_stash_free(m);
  return op->got[step->recv] == step->bytes;
}

/* Deliver the kept messages of this round's receives before those are posted, if that is allowed:
 * their senders may have to be asked for more before this rank's sends are complete. */
static void take_open(struct tmb_coll_op *op) {
  const struct tmb_sched *s = &op->plan->sched;
  for (uint32_t i = op->at.pc; i < s->count && s->step[i].round == op->at.round; i++)
    if (tmb_recv_is_deferred(op, i) && s->step[i].open != UINT32_MAX && tmb_recv_is_open(op, i))
      (void)take_kept(op, i);
}

/* Post the receives that begin at pc. Returns whether they are all complete. */
static bool receives_done(struct tmb_coll_op *op) {
  const struct tmb_sched *s = &op->plan->sched;
  if (op->at.posted_end > op->at.pc) {
    for (uint32_t i = op->at.pc; op->reducer.user && i < op->at.posted_end; i++)
      (void)take_kept(op, i);
    return op->at.waiting == 0;
  }
  uint32_t end = op->at.pc;
  while (end < s->count && s->step[end].kind >= TMB_STEP_RECV && s->step[end].round == op->at.round)
    end++;
  for (uint32_t i = op->at.pc; i < end; i++)
    if (!take_kept(op, i)) op->at.waiting++;
  op->at.posted_end = end;
  return op->at.waiting == 0;
}

static void on_data(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[3], in);
  if (!team || TMB_UNLIKELY(tmb_team_lost(team))) return;
  tmb_coll_lock();
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  struct tmb_coll_op *op = find_op(ct, (uint32_t)in->args[2]);
  const uint32_t index = op && !op->at.held
                             ? tmb_recv_match(op, (uint32_t)in->args[4], (uint32_t)in->args[5])
                             : UINT32_MAX;
  if (index == UINT32_MAX || !tmb_recv_is_open(op, index)) {
    tmb_stash_put(ct, in);
  } else if (tmb_recv_is_deferred(op, index)) {
    tmb_stash_put(ct, in);
    (void)advance(op, SENDS_NOTHING);
  } else {
    (void)tmb_recv_deliver(op, index, in->payload, tmb_kit_unpack64(in->args + 6), in->nbytes,
                           NULL);
    if (op->at.waiting == 0 && op->at.posted_end > op->at.pc) (void)advance(op, SENDS_NOTHING);
  }
  tmb_coll_unlock_drop();
}

/* A READY, PLACE or OFFER has arrived: keep it for the step that needs it, and run the op. Process
 * numbers and addresses of other hosts mean nothing here. */
static void on_notice(const struct tmb_am_in *in) {
  if (TMB_UNLIKELY(!tmb_is_near(in->src)) && in->handler == TMB_KIT_COLL_OFFER)
    tmb_kit_malformed(in, "offer, of memory of another host");
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[3], in);
  if (!team || TMB_UNLIKELY(tmb_team_lost(team))) return;
  tmb_coll_lock();
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  tmb_stash_put(ct, in);
  struct tmb_coll_op *op = find_op(ct, (uint32_t)in->args[2]);
  if (op && !op->at.held) queue(op);
  tmb_coll_unlock_drop();
}

/* The op whose message this rank has offered to the sender of an answer. */
static struct tmb_coll_op *offered(struct tmb_team *team, const struct tmb_am_in *in,
                                   const char *verb) {
  struct tmb_coll_op *op = find_op(tmb_coll_team_of(team), (uint32_t)in->args[2]);
  if (!op || !op->at.untaken)
    tmb_bug("rank %u %s a message of a collective that was not offered", in->src, verb);
  return op;
}

/* A receiver has read a message that this rank offered. */
static void on_taken(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[3], in);
  if (!team || TMB_UNLIKELY(tmb_team_lost(team))) return;
  tmb_coll_lock();
  struct tmb_coll_op *op = offered(team, in, "has read");
  if (--op->at.untaken == 0) {
    op->at.offered = op->at.owed = 0;
    (void)advance(op, SENDS_NOTHING);
  }
  tmb_coll_unlock_drop();
}

/* A receiver may not read a message that this rank offered: it is sent. */
static void on_refused(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[3], in);
  if (!team || TMB_UNLIKELY(tmb_team_lost(team))) return;
  tmb_coll_lock();
  struct tmb_coll_op *op = offered(team, in, "refuses");
  tmb_refused_add(op, (uint32_t)in->args[4], (uint32_t)in->args[5], tmb_kit_unpack64(in->args + 6));
  queue(op);
  tmb_coll_unlock_drop();
}

void tmb_engine_team_free(struct tmb_team *team) {
  struct tmb_coll_team *ct = team->coll;
  for (uint32_t i = 0; i < TMB_COLL_PLANS; i++)
    if (ct->plan[i]) tmb_coll_plan_release(ct->plan[i]);
  for (uint32_t i = 0; i < TMB_COLL_BUCKETS; i++)
    while (ct->stash[i]) tmb_stash_free(TMB_LIST_POP(&ct->stash[i]));
  free(ct->call_log);
  free(ct->nodes);
  free(ct->far);
  free(ct);
  team->coll = NULL;
}

/* ---- running */

/* Returns whether the step is done: not when a client's function must be called for it. */
static bool run_local(struct tmb_coll_op *op, const struct tmb_step *step) {
  char *to = tmb_coll_place(op, step->to, step->to_at),
       *from = tmb_coll_place(op, step->from, step->from_at);
  if (step->kind == TMB_STEP_REDUCE && op->reducer.user) {
    tmb_recv_apply_step(op, step);
    return false;
  }
  if (step->kind == TMB_STEP_REDUCE)
    tmb_reduce_apply(&op->reducer, to, to, from, step->bytes, step->flags & TMB_STEP_RIGHT);
  else if (to != from)
    tmb_pull_copy(to, from, step->bytes, tmb_pull_past(&op->plan->shape));
  return true;
}

/* Whether the receives at pc may be posted: none of them writes to a buffer that this rank has
 * offered and that has not been read yet. */
static bool may_post(const struct tmb_coll_op *op) {
  const struct tmb_sched *s = &op->plan->sched;
  for (uint32_t i = op->at.pc; op->at.untaken && i < s->count && s->step[i].round == op->at.round;
       i++) {
    const struct tmb_step *step = &s->step[i];
    const uint8_t bits = step->open == UINT32_MAX ? op->at.offered | op->at.owed : op->at.owed;
    if (step->open && tmb_recv_touches(op, step, bits)) return false;
  }
  return true;
}

/* Whether a step is about a rank of another host. */
static bool is_far(const struct tmb_coll_op *op, const struct tmb_step *step) {
  return !tmb_is_near(tmb_team_jobrank(op->team, step->peer));
}

/* Whether a BOARD step may write to a buffer whose data are on their way. A leader that passes on
 * what it has in place only reads it. */
static bool board_waits(const struct tmb_coll_op *op, const struct tmb_step *step) {
  return op->at.owed && tmb_recv_touches(op, step, op->at.owed) &&
         !(step->tag == TMB_COLL_BROADCAST && tmb_coll_place(op, step->to, step->to_at) ==
                                                  tmb_coll_place(op, step->from, step->from_at));
}

/* Run the BOARD step at pc. Returns whether it is done. */
static bool run_board(struct tmb_coll_op *op, const struct tmb_step *step, enum sends sends) {
  if (op->at.board == TMB_BOARD_CLOSED) {
    if (board_waits(op, step)) return false;
    if (sends != SENDS_ALL) {
      queue(op);
      return false;
    }
    op->at.board = TMB_BOARD_OPENS;
    tmb_colls.boards->open(op);
    if (op->at.board == TMB_BOARD_OPENS) op->at.board = TMB_BOARD_OPEN;
  }
  if (op->at.board != TMB_BOARD_DONE) return false;
  op->at.board = TMB_BOARD_CLOSED;
  return true;
}

void tmb_engine_board_done(struct tmb_coll_op *op) {
  if (op->at.board == TMB_BOARD_OPEN) queue(op);
  op->at.board = TMB_BOARD_DONE;
}

/* Run the step at pc, which is no receive. Returns whether it is done. */
static bool run_step(struct tmb_coll_op *op, const struct tmb_step *step, enum sends sends) {
  bool again = true, sent;
  if (step->kind == TMB_STEP_COPY || step->kind == TMB_STEP_REDUCE) {
    if (op->at.owed && tmb_recv_touches(op, step, op->at.owed)) return false;
    return run_local(op, step);
  }
  if (step->kind == TMB_STEP_BOARD) return run_board(op, step, sends);
  if (sends == SENDS_NOTHING || (sends == SENDS_FAR && !is_far(op, step)))
    sent = false;
  else if (step->kind == TMB_STEP_READY)
    sent = tmb_send_ready(op, step);
  else if (step->flags & TMB_STEP_PULL)
    sent = tmb_send_offer(op, step);
  else
    sent = tmb_send_data(op, step, &again);
  if (!sent && again) queue(op);
  return sent;
}

/* Run steps until the collective waits for others or its schedule ends. Returns whether it has. */
static bool run(struct tmb_coll_op *op, enum sends sends) {
  const struct tmb_sched *s = &op->plan->sched;
  while (op->at.pc < s->count) {
    const struct tmb_step *step = &s->step[op->at.pc];
    if (step->round != op->at.round) {
      op->at.owed |= op->at.offered;
      op->at.offered = 0;
      op->at.round = step->round;
    }
    if (step->kind >= TMB_STEP_RECV) {
      if (op->at.posted_end <= op->at.pc && !may_post(op)) return false;
      if (!receives_done(op)) return false;
      op->at.pc = op->at.posted_end;
    } else if (run_step(op, step, sends)) {
      op->at.pc++;
    } else {
      return false;
    }
  }
  return !op->at.untaken && !op->at.pull;
}

/* Work before the next step: read, and ask for, data of others. Returns whether the steps may go
 * on: not before a client's function has been called, and its sender asked for more. */
static bool fetch(struct tmb_coll_op *op, enum sends sends) {
  const bool all = sends == SENDS_ALL;
  if (all && !tmb_coll_applies(op)) tmb_recv_pull(op);
  if (TMB_UNLIKELY(op->refused != NULL) && all) tmb_refused_send(op);
  if (TMB_UNLIKELY(op->direct != NULL) && sends != SENDS_NOTHING) tmb_direct_continue(op);
  if (TMB_LIKELY(op->reducer.user == NULL)) return true;
  if (!tmb_coll_applies(op) && !op->at.asking) take_open(op);
  if (tmb_coll_applies(op)) return false;
  if (!op->at.asking || (all && tmb_recv_ask(op))) return true;
  queue(op);
  return false;
}

/* Run a collective until it waits for others; when it is complete it is freed. */
static enum outcome advance(struct tmb_coll_op *op, enum sends sends) {
  if (!fetch(op, sends)) return WAITS;
  if (run(op, sends)) {
    complete(op);
    return DONE;
  }
  if (op->at.pull || op->refused || op->direct ||
      tmb_stash_offer(op->team->coll, op, tmb_recv_may_pull))
    queue(op);
  return WAITS;
}

/* End the op's messages in flight, with a mark; unless a client's function is running for it: then
 * later. */
static void lose(struct tmb_coll_op *op) {
  if (op->apply.running) return;
  if (tmb_apply_cancel(&op->apply)) tmb_recv_applied(op, false);
  for (uint32_t k = 0; op->assembly && k < op->plan->sched.recvs; k++) free(op->assembly[k]);
  if (op->at.live) tmb_peer_release(&op->out);
  if (op->at.pull) tmb_stash_free(op->at.pull);
  tmb_refused_drop(op);
  op->at.pull = NULL;
  op->at.held = false;
  op->boards = NULL; /* shared/ has freed them */
  if (op->event) tmb_op_lose(op->event, TMB_CAT_PUT, tmb_team_lost(op->team) - 1);
  complete(op);
}

/* A client's function has been called for an op: it goes on. */
static void applied(struct tmb_apply *apply) {
  char *const place = (char *)apply;
  struct tmb_coll_op *op =
      (struct tmb_coll_op *)(void *)(place - offsetof(struct tmb_coll_op, apply));
  tmb_recv_applied(op, true);
  if (TMB_UNLIKELY(tmb_team_lost(op->team)))
    lose(op);
  else
    (void)advance(op, SENDS_ALL);
}

int tmb_engine_advance(bool by_thread) {
  struct tmb_coll_op *op = tmb_colls.ops.run;
  tmb_colls.ops.run = NULL;
  tmb_colls.ops.run_end = &tmb_colls.ops.run;
  int done = 0;
  while (op) {
    struct tmb_coll_op *next = op->next_run;
    const uint32_t pc = op->at.pc;
    const uint64_t sent = op->at.sent, moves = op->at.moves;
    op->at.runnable = false;
    tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] - 1);
    if (op->at.finished)
      op_free(op);
    else if (advance(op, by_thread ? SENDS_FAR : SENDS_ALL) == DONE || op->at.pc != pc ||
             op->at.sent != sent || op->at.moves != moves)
      done++;
    op = next;
  }
  return done;
}

bool tmb_engine_waits(void) {
  return tmb_colls.ops.run != NULL;
}

bool tmb_engine_waits_far(void) {
  for (const struct tmb_coll_op *op = tmb_colls.ops.run; op; op = op->next_run) {
    const struct tmb_sched *s = &op->plan->sched;
    if (op->direct) return true;
    if (op->at.finished || op->at.pc >= s->count) continue;
    const struct tmb_step *step = &s->step[op->at.pc];
    if ((step->kind == TMB_STEP_SEND || step->kind == TMB_STEP_READY) && is_far(op, step))
      return true;
  }
  return false;
}

/* ---- teams that have lost a member */

void tmb_engine_abandon(struct tmb_team *team) {
  struct tmb_coll_team *ct = team->coll;
  ct->held = NULL;
  ct->held_end = &ct->held;
  ct->fence = false;
  for (uint32_t i = 0; i < TMB_COLL_BUCKETS; i++) {
    for (struct tmb_coll_op *op = ct->active[i], *next; op; op = next) {
      next = op->next;
      lose(op);
    }
    while (ct->stash[i]) tmb_stash_free(TMB_LIST_POP(&ct->stash[i]));
    ct->stash_end[i] = &ct->stash[i];
  }
}

/* ---- starting */

static uint32_t chunk_of(const struct tmb_reducer *r) {
  const uint64_t most = tmb_coll_tuning_chunk();
  if (!r->elem) return (uint32_t)most;
  if (r->elem <= most) return (uint32_t)(most - most % r->elem);
  return r->elem <= TMB_AM_MEDIUM_BYTES_MAX ? (uint32_t)r->elem : (uint32_t)most;
}

/* Link a new op and run it. Returns false when it is complete. */
static bool launch(struct tmb_team *team, struct tmb_coll_op *op) {
  struct tmb_coll_team *ct = team->coll;
  op->team = team;
  op->seq = (uint32_t)team->calls->colls++;
  TMB_LIST_PUSH(bucket_of(ct, op->seq), op);
  op->boards = NULL;
  if (op->plan->sched.boards) tmb_colls.boards->reserve(op);
  if (TMB_LIKELY(!ct->held) && !(op->at.fence && ct->fence)) {
    ct->fence = ct->fence || op->at.fence;
    return advance(op, SENDS_ALL) == WAITS;
  }
  op->at.held = true;
  *ct->held_end = op;
  ct->held_end = &op->next_run;
  return true;
}

/* Start the synchronising collective that follows every FENCE_EVERY collectives of a team. */
static void fence(struct tmb_team *team) {
  const struct tmb_coll_call sync = {
      .name = "collective", .tm = &team->head, .kind = TMB_COLL_SYNC, .bytes = 1};
  struct tmb_coll_plan *plan = tmb_coll_plan_get(team, &sync, true);
  struct tmb_coll_op *op = op_new(&plan->sched);
  op->plan = plan;
  op->chunk = 1;
  op->at.fence = true;
  op->signature = tmb_coll_signature(&sync);
  tmb_team_hold(team);
  (void)launch(team, op);
}

/* The event that completes with an op in flight. in flying: NULL when it is complete; then debug
 * clients get one that is. Returns NULL for none. */
static struct tmb_op *event_of(struct tmb_coll_op *flying) {
  if (!flying && !tmb_job.debug) return NULL;
  struct tmb_op *event = tmb_op_new(TMB_OP_SINGLE, 0);
  if (!flying) return event;
  flying->event = flying->apply.event = event;
  tmb_op_name_call(event, TMB_WHAT_COLLECTIVE + flying->plan->shape.kind, flying->team,
                   flying->seq + UINT64_C(1));
  tmb_up_op_more(event, TMB_CAT_PUT);
  if (flying->reducer.user) tmb_store_rlx(&event->thread, tmb_thread()->id);
  return event;
}

struct tmb_op *tmb_engine_start(const struct tmb_coll_call *call,
                                struct tmb_call_signature signature, struct tmb_coll_plan *plan,
                                const char **algorithm) {
  struct tmb_team *team = tmb_team_of(call->tm);
  (void)tmb_coll_team_of(team);
  if (plan)
    plan->refs++;
  else
    plan = tmb_coll_plan_get(team, call, true);
  struct tmb_coll_op *op = op_new(&plan->sched);
  op->plan = plan;
  *algorithm = plan->choice.alg->name;
  op->base[TMB_BUF_SRC] = (char *)(uintptr_t)call->src;
  op->base[TMB_BUF_DST] = call->dst;
  op->reducer = call->reducer;
  op->signature = signature;
  op->chunk = chunk_of(&call->reducer);
  /* The event is made after the op was started; the lock keeps handlers on other threads from
   * completing the op in between. */
  struct tmb_op *event = event_of(launch(team, op) ? op : NULL);
  if (team->head.size > 1 && team->calls->colls % FENCE_EVERY == FENCE_EVERY - 1) fence(team);
  return event;
}

const struct tmb_layer_handler tmb_engine_handlers[] = {
    {TMB_KIT_COLL_DATA, TMB_TAKES_MEDIUM_OR_LONG | TMB_BY_THREAD, TMB_COLL_ARGS, 0, on_data},
    {TMB_KIT_COLL_READY, TMB_TAKES_SHORT | TMB_BY_THREAD, TMB_COLL_ARGS, 0, on_notice},
    {TMB_KIT_COLL_PLACE, TMB_TAKES_SHORT | TMB_BY_THREAD, TMB_COLL_PLACE_ARGS, 0, on_notice},
    {TMB_KIT_COLL_OFFER, TMB_TAKES_SHORT, TMB_COLL_OFFER_ARGS, 0, on_notice},
    {TMB_KIT_COLL_TAKEN, TMB_TAKES_SHORT, TMB_COLL_ARGS, 0, on_taken},
    {TMB_KIT_COLL_REFUSED, TMB_TAKES_SHORT, TMB_COLL_ARGS, 0, on_refused},
    {0}};
