/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over the memory of a node as steps of schedules (TMB_STEP_BOARD).
 *
 * Owns: the team of a team's members in this node, known to this folder only. Called by the engine
 * through tmb_coll_boards. Calls: shared.c. A schedule reserves its chunks when it starts, because
 * all members of the node number them alike, and opens each step when it comes to it. Invariant:
 * guarded by the lock of collectives.
 */
#include "base/log.h"
#include "coll/engine/receive.h"
#include "coll/shared/shared_op.h"

#include <stdlib.h>

/* The members of a team in this node, as a team that only this folder knows. */
static struct tmb_team *near_of(struct tmb_team *team) {
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  if (TMB_LIKELY(ct->near != NULL)) return ct->near;
  const struct tmb_team_group *g = team->group;
  struct tmb_team *near = calloc(1, sizeof *near + g->count * (sizeof(uint32_t) + 1));
  if (!near) tmb_fatal("out of memory for a group of %u members", g->count);
  near->jobrank_table = (uint32_t *)(near + 1);
  near->head.size = g->count;
  near->head.jobrank = near->jobrank_table;
  near->uid = team->uid;
  near->shared = true;
  if (team->shared_row) near->shared_row = (uint8_t *)(near->jobrank_table + g->count);
  for (uint32_t i = 0; i < g->count; i++) {
    const uint32_t rank = g->member[i];
    if (rank == team->head.rank) near->head.rank = i;
    near->jobrank_table[i] = tmb_team_jobrank(team, rank);
    if (team->shared_row) near->shared_row[i] = team->shared_row[rank];
  }
  tmb_coll_team_of(near)->whole = team;
  ct->near = near;
  tmb_board_open(near, &tmb_coll_team_of(near)->shared);
  return near;
}

/* The call that a BOARD step is. */
static struct tmb_coll_call call_of(const struct tmb_coll_op *op, const struct tmb_step *step) {
  return (struct tmb_coll_call){
      .kind = (enum tmb_coll_kind)step->tag,
      .root = step->peer,
      .dst = tmb_coll_place(op, step->to, step->to_at),
      .src = tmb_coll_place(op, step->from, step->from_at),
      .bytes = step->bytes,
      .reducer = tmb_board_kinds[step->tag].reduces ? op->reducer : (struct tmb_reducer){0}};
}

static void reserve(struct tmb_coll_op *owner) {
  struct tmb_team *const near = near_of(owner->team);
  struct tmb_coll_shared *const b = &tmb_coll_team_of(near)->shared;
  const struct tmb_sched *const s = &owner->plan->sched;
  struct tmb_coll_shared_op **last = &owner->boards;
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->step[i].kind != TMB_STEP_BOARD) continue;
    struct tmb_coll_shared_op *op = tmb_board_op_new();
    *op = (struct tmb_coll_shared_op){.call = call_of(owner, &s->step[i]),
                                      .signature = owner->signature,
                                      .owner = owner,
                                      .closed = true};
    tmb_board_begin(near, b, op);
    tmb_board_append(near, b, op);
    *last = op;
    last = &op->owner_next;
  }
}

static void open_step(struct tmb_coll_op *owner) {
  struct tmb_team *const near = tmb_coll_team_of(owner->team)->near;
  struct tmb_coll_shared *const b = &tmb_coll_team_of(near)->shared;
  owner->boards->closed = false;
  (void)tmb_board_advance_team(near, b);
  if (!b->first) tmb_board_unlist(near, b);
}

const struct tmb_coll_boards tmb_coll_boards = {reserve, open_step};

void tmb_coll_shared_free(struct tmb_coll_team *ct) {
  if (ct->near) {
    free(tmb_coll_team_of(ct->near)->shared.row);
    free(ct->near->coll);
    free(ct->near);
  }
  free(ct->shared.row);
}
