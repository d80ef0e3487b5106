/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rows of this process are in use, see board.h.
 *
 * Owns: one bit per row. Called by client.c (init), team_make.c, team.c (dispose). Calls: the
 * conduit. Invariants: row 0 is never taken or given; a row is cleared by the one who takes it,
 * before anybody else knows that it is taken.
 */
#include "core/board.h"

#include <string.h>

static uint64_t used = 1;

void tmb_board_init(void) {
  tmb_job.team.board =
      tmb_job.ops->shared_area && tmb_job.size > 1 && tmb_job.nbrhd_size >= tmb_job.size;
}

static void clear(struct tmb_board_row *row) {
  memset(row, 0, offsetof(struct tmb_board_row, slot));
}

uint32_t tmb_board_take(void) {
  if (!tmb_job.ops->shared_area) return TMB_BOARD_NONE;
  const uint32_t rows = TMB_MIN(tmb_job.ops->shared_areas(tmb_job.conduit), TMB_BOARD_ROWS_MAX);
  uint64_t bits = tmb_load_rlx(&used);
  uint32_t row;
  do {
    row = ~bits ? (uint32_t)__builtin_ctzll(~bits) : rows;
    if (row >= rows) return TMB_BOARD_NONE;
  } while (!tmb_cas_acq_rel(&used, &bits, bits | UINT64_C(1) << row));
  clear(tmb_job.ops->shared_area(tmb_job.conduit, tmb_job.rank, row));
  return row;
}

void tmb_board_give(uint32_t row) {
  uint64_t bits = tmb_load_rlx(&used);
  while (!tmb_cas_acq_rel(&used, &bits, bits & ~(UINT64_C(1) << row))) {}
}
