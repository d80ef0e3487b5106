/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Showing: a member writes the next chunk of its data in its row.
 *
 * Owns nothing. Called by shared.c. Calls: shared_meet.h, shared_fold.c, pull.h. The root of a long
 * broadcast whose data all members map shows only where they are. Invariant: guarded by the lock of
 * collectives.
 */
#include "coll/engine/pull.h"
#include "coll/shared/shared_meet.h"
#include "coll/shared/shared_op.h"

#include <string.h>

void tmb_board_wake(const struct tmb_team *team, const struct tmb_coll_call *call) {
  if (tmb_board_kinds[call->kind].shower == TMB_SHOWN_BY_OTHERS) {
    tmb_row_wake(team, call->root);
    return;
  }
  tmb_row_wake_all(team);
}

/* Counts this member among those that have published a chunk. Returns whether it was the last
 * one: then the readers are to be woken. */
static bool meet(const struct tmb_team *team, const struct tmb_coll_shared *b,
                 const struct tmb_coll_shared_op *op, uint64_t number) {
  const bool all = tmb_board_kinds[op->call.kind].shower == TMB_SHOWN_BY_ALL;
  if (!all && team->head.rank == op->call.root) return false; /* a reduction in place */
  const bool last_here = all && tmb_shared_last_here(team, TMB_MEETING_COLL, number);
  const bool last = tmb_meet_arrive(b, number, team->head.size - !all);
  tmb_store_rlx(&tmb_job.last_here, last_here && !last);
  if (!last) return false;
  if (op->folds) tmb_board_fold(team, b, op, number);
  tmb_meet_close(b, number, team->head.rank);
  return true;
}

/* Address of the root's data where all members map them, else 0. */
static uint64_t where_mapped(const struct tmb_team *team, const struct tmb_coll_shared_op *op) {
  for (uint32_t r = 0; r < team->head.size; r++)
    if (!tmb_pull_saves(tmb_team_jobrank(team, r), op->call.src, op->call.bytes)) return 0;
  return (uint64_t)(uintptr_t)op->call.src;
}

bool tmb_board_show(struct tmb_team *team, struct tmb_coll_shared *b, struct tmb_coll_shared_op *op,
                    bool *wakes) {
  const uint64_t number = op->first + op->shown, at = op->shown * op->unit;
  const uint64_t length = tmb_board_length(op, op->shown),
                 blocks = tmb_board_blocks(team, &op->call);
  struct tmb_shared_row *row = b->row[team->head.rank];
  const bool small = TMB_MAX(length * blocks, op->folds) <= TMB_SHARED_SMALL;
  if (!tmb_row_has_room(team, b, number, small)) {
    b->lacks |= small ? TMB_ROW_WANTS_SMALL : TMB_ROW_WANTS_SLOT;
    return false;
  }
  if (op->shown == 0 && tmb_board_says_where(op)) {
    op->where = where_mapped(team, op);
    memcpy(tmb_row_head(row, number)->small, &op->where, sizeof op->where);
  }
  char *to = tmb_row_data(row, number, length * blocks);
  const char *from = (const char *)op->call.src + at;
  const bool whole =
      tmb_board_kinds[op->call.kind].reduces || op->folds; /* others read its own block, too */
  const uint64_t mine = whole ? UINT64_MAX : team->head.rank;
  for (uint64_t i = 0; i < blocks && !op->where; i++)
    if (i != mine || blocks == 1)
      tmb_row_copy(to + i * length, from + i * op->call.bytes, length, !whole);
  tmb_row_publish(row, number, op->signature);
  if (!op->meets || meet(team, b, op, number)) *wakes = true;
  if (!tmb_job.wait.crowded) tmb_board_wake(team, &op->call);
  op->shown = op->where ? op->chunks : op->shown + 1;
  return true;
}
