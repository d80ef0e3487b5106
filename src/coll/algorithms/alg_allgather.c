/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather, with blocks of one length or of many.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h. Flat: everybody sends to
 * everybody. Bruck: J. Bruck, C. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", IEEE Trans. Parallel Distrib.
 * Syst. 8(11), 1997, doi:10.1109/71.642949. Ring and recursive doubling: R. Thakur, R.
 * Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005,
 * doi:10.1177/1094342005051521. Invariants: a block arrives once, so receives into dst may happen
 * at any time; recursive doubling of a size that is no power of two is Bruck's algorithm.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"

/* Block i of the result. */
static struct tmb_msg block(const struct tmb_coll_shape *c, uint32_t i) {
  if (!c->recv.bytes)
    return (struct tmb_msg){.at = tmb_ref_at(c->dst, tmb_coll_span(c, 0, i)),
                            .bytes = tmb_coll_span(c, i, 1)};
  return (struct tmb_msg){.at = tmb_ref_at(c->dst, c->recv.at[i]), .bytes = c->recv.bytes[i]};
}

static void local_copy(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_msg local = block(c, c->rank);
  tmb_sched_copy(s, local.at, c->src, local.bytes);
}

void tmb_alg_allgather_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_msg out = block(c, c->rank);
  out.at = c->src;
  for (uint32_t k = 1; k < c->size; k++) {
    struct tmb_msg in = block(c, tmb_coll_up(c, c->rank, c->size - k));
    out.peer = tmb_coll_up(c, c->rank, k);
    in.peer = tmb_coll_up(c, c->rank, c->size - k);
    in.flags = TMB_STEP_EARLY;
    tmb_sched_send(s, c, out);
    tmb_sched_recv(s, c, in);
  }
  local_copy(s, c);
}

void tmb_alg_allgather_ring(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  for (uint32_t k = 0; k + 1 < c->size; k++) {
    struct tmb_msg out = block(c, tmb_coll_up(c, c->rank, c->size - k));
    struct tmb_msg in = block(c, tmb_coll_up(c, c->rank, c->size - k - 1));
    if (k == 0) out.at = c->src;
    out.peer = tmb_coll_up(c, c->rank, 1);
    in.peer = tmb_coll_up(c, c->rank, c->size - 1);
    out.tag = in.tag = k;
    in.flags = TMB_STEP_EARLY;
    tmb_sched_next(s);
    tmb_sched_send(s, c, out);
    if (k == 0) local_copy(s, c);
    tmb_sched_recv(s, c, in);
  }
  if (c->size == 1) local_copy(s, c);
}

void tmb_alg_allgather_bruck(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_ref turned = tmb_sched_tmp(s, tmb_coll_span(c, 0, c->size));
  uint32_t tag = 0;
  tmb_sched_copy(s, turned, c->src, tmb_coll_span(c, c->rank, 1));
  for (uint64_t have = 1; have < c->size; have *= 2, tag++) {
    const uint32_t count = (uint32_t)TMB_MIN(have, c->size - have);
    const uint32_t to = tmb_coll_up(c, c->rank, c->size - (uint32_t)have);
    const uint32_t from = tmb_coll_up(c, c->rank, (uint32_t)have);
    tmb_sched_next(s);
    tmb_sched_send(s, c, (struct tmb_msg){to, tag, turned, tmb_coll_span(c, c->rank, count), 0});
    tmb_sched_recv(s, c,
                   (struct tmb_msg){from, tag,
                                    tmb_ref_at(turned, tmb_coll_span(c, c->rank, (uint32_t)have)),
                                    tmb_coll_span(c, from, count), TMB_STEP_EARLY});
  }
  /* `turned` holds the blocks beginning with this rank's: rank .. size-1, then 0 .. rank-1 */
  const uint64_t above = tmb_coll_span(c, c->rank, c->size - c->rank);
  const uint64_t below = tmb_coll_span(c, 0, c->rank);
  tmb_sched_next(s);
  tmb_sched_copy(s, tmb_ref_at(c->dst, below), turned, above);
  tmb_sched_copy(s, c->dst, tmb_ref_at(turned, above), below);
}

void tmb_alg_allgather_doubling(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  uint32_t tag = 0;
  if (!TMB_IS_POW2(c->size)) {
    tmb_alg_allgather_bruck(s, c);
    return;
  }
  local_copy(s, c);
  for (uint32_t mask = 1; mask < c->size; mask <<= 1, tag++) {
    const uint32_t partner = c->rank ^ mask, first = c->rank & ~(mask - 1), theirs = first ^ mask;
    const uint64_t bytes = mask * c->bytes;
    tmb_sched_next(s);
    tmb_sched_send(s, c,
                   (struct tmb_msg){partner, tag, tmb_ref_at(c->dst, first * c->bytes), bytes, 0});
    tmb_sched_recv(s, c,
                   (struct tmb_msg){partner, tag, tmb_ref_at(c->dst, theirs * c->bytes), bytes,
                                    TMB_STEP_EARLY});
  }
}
