/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Losses of ranks, as the program hears of them.
 *
 * Owns nothing; state.c has the program's function. The library reports a loss in a poll. A
 * recording notes it as it notes a handler. A replay keeps a report that comes too early, and
 * order.c waits for one whose turn has come. Invariant: whether an operation has met a loss is as
 * recorded, too, because the rank may die earlier or later in its last call.
 */
#include "replay/runtime/rpl.h"

#include <stdlib.h>

static void on_loss(gex_Rank_t rank, int state, void *cdata) {
  const bool first = rpl_on() && rpl_own == &rpl_first;
  rpl_lock();
  if (first && rpl.mode == RPL_RECORDS) rpl_note_between(RPL_LOSS, rank, (uint8_t)state);
  rpl_unlock();
  if (!first || rpl.mode != RPL_REPLAYS || rpl_comes(RPL_LOSS, rank))
    rpl.loss.fn(rank, state, cdata);
  else
    rpl.loss.early[rank] = (uint8_t)state;
}

void gexx_Job_SetFailureCallback(gexx_Failure_Fn_t fn, void *cdata) {
  if (fn && rpl.mode != RPL_OFF && !rpl.loss.early)
    rpl.loss.early = calloc(rpl.ranks, sizeof *rpl.loss.early);
  rpl.loss.fn = fn;
  rpl.loss.cdata = cdata;
  rpl_real.gexx_Job_SetFailureCallback(fn && rpl.loss.early ? on_loss : fn, cdata);
}

int gexx_Lost_Take(gex_Rank_t *jobrank_p) {
  RPL_ENTER(gexx_Lost_Take);
  gex_Rank_t rank = GEX_RANK_INVALID;
  int rc = rpl_real.gexx_Lost_Take(&rank);
  if (outer && rpl.mode == RPL_RECORDS) {
    rpl_lock(); /* no other event is between */
    rpl_note(RPL_RESULT, (uint32_t)rc);
    rpl_note(RPL_INDEX, rank);
    rpl_unlock();
  }
  const struct rpl_event *const e = outer && rpl.mode == RPL_REPLAYS ? rpl_due(RPL_RESULT) : NULL;
  if (e) {
    rc = (int)e->arg;
    rpl_take();
    (void)rpl_take_more(RPL_INDEX, &rank);
  }
  if (jobrank_p && rc != GASNET_OK) *jobrank_p = rank;
  return rc;
}
