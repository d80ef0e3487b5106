/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inclusive and exclusive scan.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h. Chain: the prefix moves from
 * rank to rank in segments, each of which is passed on while the next one comes. Doubling: after
 * round k a rank holds the combination of itself and the 2^(k+1) - 1 ranks before it; W. D. Hillis,
 * G. L. Steele, "Data parallel algorithms", Commun. ACM 29(12), 1986, doi:10.1145/7902.7903.
 * Invariants: operands are in rank order; the exclusive scan is an inclusive one of vectors that
 * first move up by one rank, and leaves rank 0's dst alone.
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

/* A segment of a chain's vector: tag, place and flags, without the peer. */
static struct tmb_msg segment_of(const struct tmb_coll_shape *c, uint32_t number) {
  const uint64_t most = TMB_MAX(c->segment / c->elem, UINT64_C(1)) * c->elem, at = number * most;
  const unsigned first = c->bytes > c->eager ? TMB_STEP_GATED : 0;
  return (struct tmb_msg){.tag = number,
                          .at = {0, at},
                          .bytes = at < c->bytes ? TMB_MIN(most, c->bytes - at) : 0,
                          .flags = number ? TMB_STEP_UNGATED : first};
}

/* Send a segment, whose data are in a buffer, to the next member. */
static void pass_on(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m,
                    struct tmb_ref from) {
  if (c->rank + 1 == c->size) return;
  m.peer = c->rank + 1;
  m.at = tmb_ref_at(from, m.at.at);
  tmb_sched_send(s, c, m);
}

void tmb_alg_scan_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_msg m;
  if (c->rank == 0) tmb_sched_copy(s, c->dst, c->src, c->bytes);
  for (uint32_t i = 0; m = segment_of(c, i), m.bytes; i++) {
    if (c->rank > 0) {
      struct tmb_msg in = m;
      in.peer = c->rank - 1;
      in.at = tmb_ref_at(c->dst, m.at.at);
      in.flags |= TMB_STEP_EARLY;
      tmb_sched_combine(s, c, in, tmb_ref_at(c->src, m.at.at));
    }
    tmb_sched_next(s);
    pass_on(s, c, m, c->dst);
  }
}

void tmb_alg_exscan_doubling(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank + 1 < c->size)
    tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, TAG_SHIFT, c->src, c->bytes, 0});
  if (c->rank == 0) return;
  tmb_sched_recv(s, c, (struct tmb_msg){c->rank - 1, TAG_SHIFT, c->dst, c->bytes, 0});
  doubling(s, c, 1);
}

void tmb_alg_exscan_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const bool last = c->rank + 1 == c->size;
  struct tmb_ref next = c->src; /* what the next member gets */
  struct tmb_msg m;
  if (c->rank > 0 && !last) {
    next = tmb_sched_tmp(s, c->bytes);
    tmb_sched_copy(s, next, c->src, c->bytes);
  }
  for (uint32_t i = 0; m = segment_of(c, i), m.bytes; i++) {
    tmb_sched_next(s);
    if (c->rank > 0) {
      struct tmb_msg in = m;
      in.peer = c->rank - 1;
      in.at = tmb_ref_at(c->dst, m.at.at);
      in.flags |= TMB_STEP_FREE;
      tmb_sched_recv(s, c, in);
      tmb_sched_next(s);
    }
    if (c->rank > 0 && !last)
      tmb_sched_reduce(s, tmb_ref_at(next, m.at.at), tmb_ref_at(c->dst, m.at.at), m.bytes, 0);
    pass_on(s, c, m, next);
  }
}
