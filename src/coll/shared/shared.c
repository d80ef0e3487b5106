/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over shared memory, see shared.h: which calls go there, and their ops that wait.
 *
 * Owns: the ops, a free list of them, the list of their teams (engine/state.h). Called by
 * calls/start.c. Calls: shared_now.c for small data, shared_show.c and shared_take.c for chunks,
 * core's ops. Invariants: guarded by the lock of collectives; ops of a team complete in order;
 * nothing here blocks.
 */
#include "base/container/list.h"
#include "base/log.h"
#include "coll/engine/pull.h"
#include "coll/engine/receive.h"
#include "coll/select/tuning.h"
#include "coll/shared/shared_op.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/status.h"
#include "core/op/thread.h"

#include <stdlib.h>

/* Polls inside a call where a member has a processor to itself. Chosen. */
#define PROBES 16u

/* For verbose users: why shared memory is used. */
TMB_COLD static void announce(const struct tmb_coll_shape *c, uint64_t shown) {
  struct tmb_coll_choice choice;
  if (tmb_coll_select_shared(c, tmb_coll_tuning(), shown, &choice)) tmb_coll_announce(c, &choice);
}

bool tmb_coll_shared_takes(struct tmb_team *team, const struct tmb_coll_call *call,
                           struct tmb_call_signature signature) {
  if (!team->shared || tmb_board_kinds[call->kind].shower == TMB_SHOWN_BY_NOBODY || call->sync ||
      !call->bytes)
    return false;
  struct tmb_call_signature *known = &tmb_coll_team_of(team)->shared.known;
  if (known->call == signature.call && known->bytes == signature.bytes) return true;
  const uint64_t blocks = tmb_board_blocks(team, call);
  if (call->reducer.elem > TMB_SHARED_BYTES || call->reducer.elem * blocks > TMB_SHARED_BYTES ||
      call->bytes > UINT64_MAX / blocks)
    return false;
  const uint64_t shown = call->bytes * blocks;
  const bool pulls = shown > tmb_coll_tuning()->shared_copy_max && tmb_pull_works();
  const struct tmb_coll_shape c = {.kind = call->kind,
                                   .pull = pulls ? 0 : UINT64_MAX,
                                   .size = team->head.size,
                                   .rank = team->head.rank,
                                   .bytes = call->bytes,
                                   .commutes = call->commutes,
                                   .shared = true,
                                   .folds = call->reducer.loop != NULL};
  if (!tmb_coll_select_shared(&c, tmb_coll_tuning(), shown, NULL)) return false;
  if (TMB_UNLIKELY(tmb_coll_tuning()->verbose)) announce(&c, shown);
  if (shown <= TMB_SHARED_BYTES) *known = signature;
  return true;
}

/* ---- running */

/* Show chunks as far as there is room and read chunks as far as they are shown. Where ranks
 * outnumber processors, readers are woken once for all chunks: woken for the first one, each would
 * sleep again before the next. in head: this is the oldest op of the team, the only one that may
 * read. Returns how many chunks were shown and read. */
static uint64_t advance(struct tmb_team *team, struct tmb_coll_shared *b,
                        struct tmb_coll_shared_op *op, bool head) {
  const uint64_t before = op->shown + op->read;
  if (op->closed) return 0;
  if (head && !op->read) tmb_row_skip(team, b, op->first);
  for (uint64_t seen = UINT64_MAX; seen != op->shown + op->read;) {
    seen = op->shown + op->read;
    bool wakes = false;
    while (op->shown < op->chunks && tmb_board_show(team, b, op, &wakes)) {}
    if (wakes && tmb_job.wait.crowded) tmb_board_wake(team, &op->call);
    if (head && tmb_board_reads_there(team, b, op)) break; /* a part at a time: the lock is held */
    while (head && op->read < op->shown && !tmb_board_applies(op) && tmb_board_take(team, b, op)) {
      op->read++;
      op->members_read = 0;
      tmb_row_count_read(team, b);
    }
  }
  return op->shown + op->read - before;
}

void tmb_board_begin(struct tmb_team *team, struct tmb_coll_shared *b,
                     struct tmb_coll_shared_op *op) {
  const struct tmb_coll_call *c = &op->call;
  const uint8_t shower = tmb_board_kinds[c->kind].shower;
  const bool root = team->head.rank == c->root;
  op->unit = c->bytes;
  op->chunks = 1;
  if (c->bytes * tmb_board_blocks(team, c) > TMB_SHARED_BYTES) {
    const uint64_t most = TMB_SHARED_BYTES / tmb_board_blocks(team, c), elem = c->reducer.elem;
    op->unit = elem ? most - most % elem : most;
    op->chunks = (c->bytes + op->unit - 1) / op->unit;
  }
  op->shows = shower == TMB_SHOWN_BY_ALL || (shower == TMB_SHOWN_BY_ROOT) == root ||
              (c->kind == TMB_COLL_REDUCE && c->src == c->dst);
  op->shown = op->shows ? 0 : op->chunks;
  op->read = 0;
  op->members_read = 0;
  op->vain = 0;
  op->where = 0;
  op->meets = tmb_board_meets(c->kind);
  op->folds = tmb_board_folds(team, c);
  op->first = tmb_row_begin(b, op->chunks);
  b->next = op->first + op->chunks;
}

struct tmb_coll_shared_op *tmb_board_op_new(void) {
  struct tmb_coll_shared_op *op = TMB_LIST_POP(&tmb_colls.shared.free);
  if (!op) op = malloc(sizeof *op);
  if (!op) tmb_fatal("out of memory for a collective");
  return op;
}

static void op_free(struct tmb_coll_shared_op *op) {
  free(op->client);
  TMB_LIST_PUSH(&tmb_colls.shared.free, op);
}

/* Enter the team in the list of those with ops that wait, or take it out. */
static void list(struct tmb_team *team, struct tmb_coll_shared *b) {
  b->next_team = tmb_colls.shared.teams;
  tmb_colls.shared.teams = team;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
  if (tmb_job.wait.crowded) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
}

static void unlist(struct tmb_team **place, struct tmb_coll_shared *b) {
  *place = b->next_team;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] - 1);
  if (!tmb_job.wait.crowded) return;
  tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
  tmb_store_rlx(&tmb_job.last_here, false);
}

void tmb_board_unlist(struct tmb_team *team, struct tmb_coll_shared *b) {
  struct tmb_team **place = &tmb_colls.shared.teams;
  while (*place != team) place = &tmb_coll_team_of(*place)->shared.next_team;
  unlist(place, b);
}

/* The oldest op of a team is complete. */
static void end(struct tmb_coll_shared_op *op) {
  if (op->owner) {
    op->owner->boards = op->owner_next;
    tmb_engine_board_done(op->owner);
  } else {
    tmb_coll_event_done(op->event);
  }
  op_free(op);
}

uint64_t tmb_board_advance_team(struct tmb_team *team, struct tmb_coll_shared *b) {
  uint64_t done = 0;
  b->lacks = 0;
  for (struct tmb_coll_shared_op *op; (op = b->first) != NULL;) {
    done += advance(team, b, op, true);
    if (op->closed || op->read < op->chunks || !tmb_board_let_go(team, b, op)) break;
    (void)TMB_LIST_POP(&b->first);
    if (!b->first) b->end = &b->first;
    end(op);
    done++; /* a root that others have let go has moved nothing */
  }
  /* Chunks so far ahead of this member's read position have no room, and later ones neither. */
  const uint64_t far = b->read + TMB_SHARED_HEADS;
  for (struct tmb_coll_shared_op *op = b->first; op && op->first < far; op = op->next)
    if (op != b->first) done += advance(team, b, op, false);
  if (tmb_job.wait.crowded) tmb_row_want_room(team, b, b->lacks);
  return done;
}

int tmb_coll_shared_advance(void) {
  uint64_t done = 0;
  for (struct tmb_team **place = &tmb_colls.shared.teams, *team; (team = *place) != NULL;) {
    struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
    done += tmb_board_advance_team(team, b);
    if (b->first)
      place = &b->next_team;
    else
      unlist(place, b);
  }
  return done > INT32_MAX ? INT32_MAX : (int)done;
}

void tmb_coll_shared_abandon(struct tmb_team *team) {
  struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
  struct tmb_coll_shared_op *op = b->first, *running = NULL, *next;
  if (!op) return;
  if (op->client && !tmb_apply_cancel(&op->client->apply) && op->client->apply.running) {
    running = op; /* ends when its function has returned */
    op = op->next;
    running->next = NULL;
  }
  b->first = running;
  b->end = running ? &running->next : &b->first;
  for (; op; op = next) {
    next = op->next;
    if (op->owner) {
      op_free(op);
      continue;
    }
    tmb_op_lose(op->event, TMB_CAT_PUT, tmb_team_lost(team) - 1);
    tmb_up_op_done(op->event, TMB_CAT_PUT);
    op_free(op);
  }
  if (!running) tmb_board_unlist(team, b);
}

void tmb_board_open(struct tmb_team *team, struct tmb_coll_shared *b) {
  if (TMB_LIKELY(b->row != NULL)) return;
  b->row = malloc(team->head.size * sizeof(struct tmb_shared_row *));
  if (!b->row) tmb_fatal("out of memory for a team of %u ranks", team->head.size);
  for (uint32_t r = 0; r < team->head.size; r++) b->row[r] = tmb_shared_row(team, r);
  b->end = &b->first;
}

void tmb_board_append(struct tmb_team *team, struct tmb_coll_shared *b,
                      struct tmb_coll_shared_op *op) {
  if (!b->first) list(team, b);
  TMB_LIST_EXTEND(&b->end, op);
}

/* A client's function has combined the data of one more member. */
static void applied(struct tmb_apply *apply) {
  const struct tmb_board_client *client = (const struct tmb_board_client *)(const void *)apply;
  client->op->members_read++;
  if (TMB_UNLIKELY(tmb_team_lost(client->team))) tmb_coll_shared_abandon(client->team);
}

/* Queue a collective that cannot be completed in its call. Returns the op of its event. */
static struct tmb_op *keep(struct tmb_team *team, struct tmb_coll_shared *b,
                           const struct tmb_coll_shared_op *now) {
  struct tmb_coll_shared_op *op = tmb_board_op_new();
  *op = *now;
  op->event = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_op_name_call(op->event, TMB_WHAT_COLLECTIVE + op->call.kind, team, op->first + 1);
  op->event->rows = true;
  if (tmb_board_kinds[op->call.kind].shower == TMB_SHOWN_BY_ROOT)
    op->event->peer = tmb_team_jobrank(team, op->call.root);
  tmb_up_op_more(op->event, TMB_CAT_PUT);
  if (op->call.reducer.user) {
    op->client = calloc(1, sizeof *op->client);
    if (!op->client) tmb_fatal("out of memory for a collective");
    op->client->team = team;
    op->client->op = op;
    op->client->apply.then = applied;
    tmb_store_rlx(&op->event->thread, tmb_thread()->id);
  }
  tmb_board_append(team, b, op);
  return op->event;
}

/* Event of a collective that is complete. */
static gex_Event_t done(void) {
  return tmb_job.live_events ? tmb_op_event(tmb_op_new(TMB_OP_SINGLE, 0)) : GEX_EVENT_INVALID;
}

gex_Event_t tmb_coll_shared_start(struct tmb_team *team, const struct tmb_coll_call *call,
                                  struct tmb_call_signature signature) {
  struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
  tmb_board_open(team, b);
  const enum tmb_shared_now state = b->first || tmb_board_meets(call->kind)
                                        ? TMB_SHARED_NOT_NOW
                                        : tmb_coll_shared_now(team, call, signature);
  if (TMB_LIKELY(state == TMB_SHARED_COMPLETE)) return done();
  struct tmb_coll_shared_op now = {.call = *call, .signature = signature};
  tmb_board_begin(team, b, &now);
  if (state == TMB_SHARED_SHOWN) now.shown = now.chunks;
  (void)advance(team, b, &now, !b->first);
  if (!b->first && !tmb_job.wait.crowded && state == TMB_SHARED_NOT_NOW)
    for (uint32_t i = 0; i < PROBES && (now.read < now.chunks || !tmb_board_let_go(team, b, &now));
         i++) {
      tmb_cpu_pause();
      (void)advance(team, b, &now, true);
    }
  const bool over = now.read == now.chunks && tmb_board_let_go(team, b, &now);
  return over ? done() : tmb_op_event(keep(team, b, &now));
}
