/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool of operations, see op.h.
 *
 * Owns: tmb_job.ops, slabs of ops and the free queue. Called by every non-blocking operation that
 * cannot complete at once. Calls: libc. One spin lock guards the queue: operations to mapped peers
 * never come here. Invariants: slabs are never returned; the free queue is first in, first out and
 * holds at least MIN_FREE ops before one is reused, so a stale event is unlikely to name a live op.
 */
#include "core/op/op.h"

#include "base/atomic.h"
#include "base/container/list.h"
#include "base/error.h"
#include "base/log.h"
#include "core/job.h"

#include <stdlib.h>

/* Operations that are allocated at a time; and those that are free, below which a slab is added.
 * Chosen, not measured. */
#define SLAB_OPS 256
#define MIN_FREE 128

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.ops.lock) static inline struct tmb_op_pool *pool(void) {
  return &tmb_job.ops;
}

TMB_REQUIRES(tmb_job.ops.lock) static void push(struct tmb_op *op) {
  TMB_QUEUE_ADD(&pool()->head, &pool()->tail, op);
  pool()->free_count++;
}

/* Returns false without memory. */
TMB_REQUIRES(tmb_job.ops.lock) static bool grow(void) {
  struct tmb_op *slab = aligned_alloc(64, SLAB_OPS * sizeof *slab);
  if (!slab) return false;
  for (int i = 0; i < SLAB_OPS; i++) {
    slab[i] = (struct tmb_op){0};
    push(&slab[i]);
  }
  pool()->slots += SLAB_OPS;
  return true;
}

int tmb_op_init(void) {
  tmb_lock_acquire(&tmb_job.ops.lock);
  const bool good = grow();
  tmb_lock_release(&tmb_job.ops.lock);
  if (!good) tmb_print("out of memory for %d operations", SLAB_OPS);
  return good ? 0 : TMB_E_NOMEM;
}

struct tmb_op *tmb_op_new(enum tmb_op_kind kind, uint32_t leaves) {
  tmb_lock_acquire(&tmb_job.ops.lock);
  if (pool()->free_count <= MIN_FREE && !grow())
    tmb_fatal("out of memory for %d operations", SLAB_OPS);
  struct tmb_op *op = TMB_LIST_POP(&pool()->head);
  pool()->free_count--;
  tmb_lock_release(&tmb_job.ops.lock);
  op->kind = kind;
  op->leaves = leaves;
  op->serial++;
  op->next = NULL;
  op->lost_mask = 0;
  op->what = TMB_WHAT_UNKNOWN;
  op->joined = false;
  return op;
}

void tmb_op_free(struct tmb_op *op) {
  tmb_store_rel(&op->kind, TMB_OP_FREE);
  tmb_lock_acquire(&tmb_job.ops.lock);
  push(op);
  tmb_lock_release(&tmb_job.ops.lock);
}

bool tmb_op_done(const struct tmb_op *op, uint32_t mask) {
  uint32_t open = 0;
#pragma GCC unroll 8
  for (uint32_t c = 0; c < TMB_CAT_COUNT; c++)
    open |= tmb_load_acq(&op->pending[c]) & -(mask >> c & 1);
  return !open;
}

void tmb_op_stats(uint64_t *live, uint64_t *slots) {
  tmb_lock_acquire(&tmb_job.ops.lock);
  *live = pool()->slots - pool()->free_count;
  *slots = pool()->slots;
  tmb_lock_release(&tmb_job.ops.lock);
}
