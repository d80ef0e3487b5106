/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of operations and threads that have met the loss of a process, see lost.h.
 *
 * Owns nothing. Called by failure.c, track.c and whatever ends a part of an operation. Calls: op.h,
 * thread.h. Invariant: a mark is set before the part that it belongs to is counted done.
 */
#include "core/op/lost.h"

#include "core/op/thread.h"

int tmb_lost_record(uint32_t jobrank) {
  tmb_thread()->lost = jobrank + 1;
  return GEXX_ERR_LOST;
}

void tmb_op_lose(struct tmb_op *op, uint32_t category, uint32_t jobrank) {
  tmb_store_rlx(&op->lost, jobrank);
  tmb_fetch_or_acq_rel(&op->lost_mask, UINT32_C(1) << category);
}

void tmb_op_or_thread_lose(struct tmb_op *op, uint32_t category, uint32_t jobrank) {
  if (op)
    tmb_op_lose(op, category, jobrank);
  else
    (void)tmb_lost_record(jobrank);
}

struct tmb_op *tmb_op_lost(uint32_t category, uint32_t jobrank) {
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_op_lose(op, category, jobrank);
  return op;
}

int tmb_op_sync_lost(struct tmb_op *op, uint32_t mask) {
  tmb_fetch_and_acq_rel(&op->lost_mask, ~mask);
  return tmb_lost_record(tmb_load_rlx(&op->lost)); /* tests of events must not poll */
}
