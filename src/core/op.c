/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool of operations, see op.h.
 *
 * Owns: slabs of ops and the free queue. Called by every non-blocking operation that cannot
 * complete at once. Calls: libc. One spin lock guards the queue: operations to mapped peers never
 * come here. Invariants: slabs are never returned; the free queue is first in, first out and holds
 * at least MIN_FREE ops before one is reused, so a stale event is unlikely to name a live op.
 */
#include "core/op.h"

#include "base/atomic.h"
#include "base/log.h"

#include <stdlib.h>

#define SLAB_OPS 256
#define MIN_FREE 128

static struct {
  uint32_t lock;
  uint64_t free_count, slots;
  struct tmb_op *head, *tail;
} pool;

static void lock(void) {
  while (tmb_xchg_acq(&pool.lock, 1))
    while (tmb_load_rlx(&pool.lock)) tmb_cpu_pause();
}

static void unlock(void) {
  tmb_store_rel(&pool.lock, 0);
}

static void push(struct tmb_op *op) {
  op->next = NULL;
  if (pool.tail)
    pool.tail->next = op;
  else
    pool.head = op;
  pool.tail = op;
  pool.free_count++;
}

static void grow(void) {
  struct tmb_op *slab = aligned_alloc(64, SLAB_OPS * sizeof *slab);
  if (!slab) tmb_fatal("out of memory for %d operations", SLAB_OPS);
  for (int i = 0; i < SLAB_OPS; i++) {
    slab[i] = (struct tmb_op){0};
    push(&slab[i]);
  }
  pool.slots += SLAB_OPS;
}

struct tmb_op *tmb_op_new(enum tmb_op_kind kind, uint32_t leaves) {
  lock();
  if (pool.free_count <= MIN_FREE) grow();
  struct tmb_op *op = pool.head;
  pool.head = op->next;
  pool.free_count--;
  unlock();
  op->kind = kind;
  op->leaves = leaves;
  op->serial++;
  op->next = NULL;
  op->lost_mask = 0;
  return op;
}

void tmb_op_free(struct tmb_op *op) {
  tmb_store_rel(&op->kind, TMB_OP_FREE);
  lock();
  push(op);
  unlock();
}

bool tmb_op_done(const struct tmb_op *op, uint32_t mask) {
  for (uint32_t c = 0; c < TMB_CAT_COUNT; c++)
    if ((mask >> c & 1) && tmb_load_acq(&op->pending[c])) return false;
  return true;
}

void tmb_op_stats(uint64_t *live, uint64_t *slots) {
  lock();
  *live = pool.slots - pool.free_count;
  *slots = pool.slots;
  unlock();
}
