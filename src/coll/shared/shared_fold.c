/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results that the last member to come makes for all, where ranks outnumber processors.
 *
 * Owns nothing. Called by shared_show.c and shared_take.c. Calls: shared_row.h. The last member has
 * the processor, and the data of all are there: it makes the result once and shows it in its own
 * row, and the others read that row instead of all rows. Reductions go from the highest rank down,
 * as in shared_take.c. Invariant: guarded by the lock of collectives.
 */
#include "coll/shared/shared_op.h"

#include <string.h>

uint64_t tmb_board_folds(const struct tmb_team *team, const struct tmb_coll_call *c) {
  const uint64_t size = team->head.size, all = c->bytes * size;
  if (!tmb_board_meets(c->kind)) return 0;
  switch (c->kind) {
  case TMB_COLL_ALLREDUCE:
    return c->reducer.loop ? TMB_MIN(c->bytes, (uint64_t)TMB_SHARED_BYTES) : 0;
  case TMB_COLL_ALLGATHER: return all <= TMB_SHARED_BYTES ? all : 0;
  case TMB_COLL_EXCHANGE: return all * size <= TMB_SHARED_BYTES ? all * size : 0;
  default: return 0;
  }
}

/* Combine the data of all in a chunk, the highest first. */
static void fold_values(const struct tmb_team *team, const struct tmb_coll_shared *b,
                        const struct tmb_coll_shared_op *op, uint64_t number) {
  const struct tmb_reducer *r = &op->call.reducer;
  const uint64_t length = tmb_board_length(op, op->shown);
  char *const to = (char *)op->call.dst + op->shown * op->unit;
  uint32_t member = team->head.size - 1;
  const char *right = tmb_row_data(b->row[member], number, length);
  while (member-- > 0) {
    r->loop(tmb_row_data(b->row[member], number, length), right, to, length / r->elem);
    right = to;
  }
  memcpy(tmb_row_data(b->row[team->head.rank], number, op->folds), to, length);
}

/* Put the data of all side by side. */
static void fold_blocks(const struct tmb_team *team, const struct tmb_coll_shared *b,
                        const struct tmb_coll_shared_op *op, uint64_t number) {
  const uint64_t bytes = op->call.bytes;
  char *const to = op->call.dst;
  for (uint32_t r = 0; r < team->head.size; r++)
    memcpy(to + r * bytes, tmb_row_data(b->row[r], number, bytes), bytes);
  memcpy(tmb_row_data(b->row[team->head.rank], number, op->folds), to, op->folds);
}

/* Put the data of all for each member side by side. */
static void fold_exchange(const struct tmb_team *team, const struct tmb_coll_shared *b,
                          const struct tmb_coll_shared_op *op, uint64_t number) {
  const uint64_t bytes = op->call.bytes, size = team->head.size, all = bytes * size;
  const uint32_t me = team->head.rank;
  char *const to = tmb_row_data(b->row[me], number, op->folds);
  for (uint64_t r = 0; r < size; r++) {
    const char *from = r == me ? op->call.src : tmb_row_data(b->row[r], number, all);
    for (uint64_t i = 0; i < size; i++) memcpy(to + i * all + r * bytes, from + i * bytes, bytes);
  }
}

void tmb_board_fold(const struct tmb_team *team, const struct tmb_coll_shared *b,
                    const struct tmb_coll_shared_op *op, uint64_t number) {
  for (uint32_t r = 0; r < team->head.size; r++)
    tmb_row_check(team, op->signature, r, tmb_row_head(b->row[r], number));
  switch (op->call.kind) {
  case TMB_COLL_ALLREDUCE: fold_values(team, b, op, number); break;
  case TMB_COLL_ALLGATHER: fold_blocks(team, b, op, number); break;
  default: fold_exchange(team, b, op, number); break;
  }
}

void tmb_board_take_folded(const struct tmb_team *team, const struct tmb_coll_shared *b,
                           const struct tmb_coll_shared_op *op, uint32_t last) {
  const uint64_t number = op->first + op->read, all = op->call.bytes * team->head.size;
  const char *from = tmb_row_data(b->row[last], number, op->folds);
  char *const to = (char *)op->call.dst + op->read * op->unit;
  tmb_row_check(team, op->signature, last, tmb_row_head(b->row[last], number));
  switch (op->call.kind) {
  case TMB_COLL_ALLREDUCE: memcpy(to, from, tmb_board_length(op, op->read)); break;
  case TMB_COLL_ALLGATHER: memcpy(to, from, all); break;
  default: memcpy(to, from + team->head.rank * all, all); break;
  }
}
