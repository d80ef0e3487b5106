/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inclusive and exclusive scan.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h. Chain: the prefix moves from
 * rank to rank. Doubling: after round k a rank holds the combination of itself and the 2^(k+1) - 1
 * ranks before it; W. D. Hillis, G. L. Steele, "Data parallel algorithms", Commun. ACM 29(12),
 * 1986, doi:10.1145/7902.7903. Invariants: operands are in rank order; the exclusive scan is an
 * inclusive one of vectors that first move up by one rank, and leaves rank 0's dst alone.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"

#define TAG_SHIFT (TMB_TAG_PHASE / 2)

/* Inclusive scan of dst over the members from `first`. */
static void doubling(struct tmb_sched *s, const struct tmb_coll_shape *c, uint32_t first) {
  const uint32_t index = c->rank - first;
  uint32_t tag = 0;
  for (uint64_t distance = 1; distance < c->size - first; distance *= 2, tag++) {
    tmb_sched_next(s);
    if (c->rank + distance < c->size)
      tmb_sched_send(s, c,
                     (struct tmb_msg){(uint32_t)(c->rank + distance), tag, c->dst, c->bytes, 0});
    if (index >= distance)
      tmb_sched_recv_reduce(
          s, c, (struct tmb_msg){(uint32_t)(c->rank - distance), tag, c->dst, c->bytes, 0});
  }
}

void tmb_alg_scan_doubling(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  tmb_sched_copy(s, c->dst, c->src, c->bytes);
  doubling(s, c, 0);
}

void tmb_alg_scan_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  tmb_sched_copy(s, c->dst, c->src, c->bytes);
  tmb_sched_next(s);
  if (c->rank > 0)
    tmb_sched_recv_reduce(s, c, (struct tmb_msg){c->rank - 1, 0, c->dst, c->bytes, TMB_STEP_FREE});
  tmb_sched_next(s);
  if (c->rank + 1 < c->size)
    tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, 0, c->dst, c->bytes, 0});
}

void tmb_alg_exscan_doubling(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank + 1 < c->size)
    tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, TAG_SHIFT, c->src, c->bytes, 0});
  if (c->rank == 0) return;
  tmb_sched_recv(s, c, (struct tmb_msg){c->rank - 1, TAG_SHIFT, c->dst, c->bytes, 0});
  doubling(s, c, 1);
}

void tmb_alg_exscan_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank == 0) {
    if (c->size > 1) tmb_sched_send(s, c, (struct tmb_msg){1, 0, c->src, c->bytes, 0});
    return;
  }
  const struct tmb_ref next = tmb_sched_tmp(s, c->bytes);
  tmb_sched_copy(s, next, c->src, c->bytes);
  tmb_sched_next(s);
  tmb_sched_recv(s, c, (struct tmb_msg){c->rank - 1, 0, c->dst, c->bytes, TMB_STEP_FREE});
  tmb_sched_next(s);
  if (c->rank + 1 == c->size) return;
  tmb_sched_reduce(s, next, c->dst, c->bytes, 0);
  tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, 0, next, c->bytes, 0});
}
