/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter: block i of the combined vectors goes to member i.
 *
 * Owns nothing. Called through select.c's table and by two-level forms. Calls: schedule.h, fold.h.
 * Flat: everybody sends everybody its block. Pairwise: G. Iannello, "Efficient algorithms for the
 * reduce-scatter operation in LogGP", IEEE Trans. Parallel Distrib. Syst. 8(9), 1997,
 * doi:10.1109/71.615442. Recursive halving: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High
 * Perform. Comput. Appl. 19(1), 2005, doi:10.1177/1094342005051521; with operators that do not
 * commute neighbours begin, and blocks end at members with the bits of their numbers reversed: J.
 * L. Traeff, "An improved algorithm for (non-commutative) reduce-scatter with an application",
 * EuroPVM/MPI 2005, LNCS 3666. Invariants: operands are combined in a fixed order, so results
 * repeat; in the order of ranks unless the operator commutes. Only halving takes block_at.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"
#include "coll/algorithms/fold.h"

#define TAG_FOLD (TMB_TAG_PHASE / 2)
#define TAG_LAST (TAG_FOLD + 1)

void tmb_alg_rscatter_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_ref acc = tmb_sched_tmp(s, c->bytes);
  const struct tmb_ref local = tmb_ref_at(c->src, c->rank * c->bytes);
  for (uint32_t k = 1; k < c->size; k++) {
    const uint32_t to = tmb_coll_up(c, c->rank, k);
    tmb_sched_send(s, c, (struct tmb_msg){to, 0, tmb_ref_at(c->src, to * c->bytes), c->bytes, 0});
  }
  for (uint32_t i = c->size; i-- > 0;) {
    const bool first = i + 1 == c->size;
    tmb_sched_next(s);
    if (i == c->rank && first)
      tmb_sched_copy(s, acc, local, c->bytes);
    else if (i == c->rank)
      tmb_sched_reduce(s, acc, local, c->bytes, 0);
    else if (first)
      tmb_sched_recv(s, c, (struct tmb_msg){i, 0, acc, c->bytes, TMB_STEP_EARLY | TMB_STEP_ASK});
    else
      tmb_sched_recv_reduce(s, c,
                            (struct tmb_msg){i, 0, acc, c->bytes, TMB_STEP_FREE | TMB_STEP_ASK});
  }
  tmb_sched_next(s);
  tmb_sched_copy(s, c->dst, acc, c->bytes);
}

void tmb_alg_rscatter_pairwise(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  tmb_sched_copy(s, c->dst, tmb_ref_at(c->src, c->rank * c->bytes), c->bytes);
  for (uint32_t k = 1; k < c->size; k++) {
    const uint32_t to = tmb_coll_up(c, c->rank, k), from = tmb_coll_up(c, c->rank, c->size - k);
    tmb_sched_next(s);
    tmb_sched_send(s, c, (struct tmb_msg){to, 0, tmb_ref_at(c->src, to * c->bytes), c->bytes, 0});
    tmb_sched_recv_reduce(s, c, (struct tmb_msg){from, 0, c->dst, c->bytes, TMB_STEP_FREE});
  }
}

/* ---- recursive halving */

/* Bits of `value` in reverse, of those below `power`. */
static uint32_t reversed(uint32_t value, uint32_t power) {
  uint32_t out = 0;
  for (uint32_t bit = 1; bit < power; bit <<= 1, value >>= 1) out = out << 1 | (value & 1);
  return out;
}

/* Folded rank (fold.h) that ends with slot q: the result blocks of the members that folded rank
 * q stands for. */
static uint32_t holder(const struct tmb_coll_shape *c, const struct tmb_fold *f, uint32_t q) {
  return c->commutes ? q : reversed(q, f->power);
}

/* The message with slots first .. end-1 of the vector at `from`. */
static struct tmb_msg slots(const struct tmb_coll_shape *c, const struct tmb_fold *f,
                            struct tmb_ref from, const uint32_t range[2]) {
  const uint32_t first = tmb_fold_first(f, range[0]), end = tmb_fold_first(f, range[1]);
  return (struct tmb_msg){.at = tmb_ref_at(from, tmb_coll_span(c, 0, first)),
                          .bytes = tmb_coll_span(c, first, end - first)};
}

/* Recursive halving until one slot is left. out slot: its number. Returns where the vector is
 * that holds it. */
static struct tmb_ref halve(struct tmb_sched *s, const struct tmb_coll_shape *c,
                            const struct tmb_fold *f, struct tmb_ref local, struct tmb_ref acc,
                            uint32_t *slot) {
  uint32_t range[2] = {0, f->power}, tag = 0;
  for (uint32_t width = f->power / 2; width; width /= 2, tag++) {
    const uint32_t mask = c->commutes ? width : f->power / 2 / width;
    const uint32_t partner = f->rank ^ mask, middle = range[0] + width;
    const uint32_t low[2] = {range[0], middle}, high[2] = {middle, range[1]};
    const bool upper = f->rank & mask;
    struct tmb_msg out = slots(c, f, local, upper ? low : high);
    struct tmb_msg in = slots(c, f, acc, upper ? high : low);
    const struct tmb_msg mine = slots(c, f, local, upper ? high : low);
    out.peer = in.peer = tmb_fold_member(f, partner);
    out.tag = in.tag = tag;
    in.flags = TMB_STEP_FREE | (partner > f->rank ? TMB_STEP_RIGHT : 0);
    tmb_sched_next(s);
    tmb_sched_send(s, c, out);
    tmb_sched_combine(s, c, in, mine.at);
    range[upper ? 0 : 1] = middle;
    local = acc;
  }
  *slot = range[0];
  return local;
}

/* Send the blocks of the slot that this member has to the members that they belong to. */
static void hand_out(struct tmb_sched *s, const struct tmb_coll_shape *c, const struct tmb_fold *f,
                     struct tmb_ref local, uint32_t slot) {
  const uint32_t end = tmb_fold_first(f, slot + 1);
  for (uint32_t i = tmb_fold_first(f, slot); i < end; i++) {
    const struct tmb_ref at = tmb_ref_at(local, tmb_coll_span(c, 0, i));
    const uint64_t bytes = tmb_coll_span(c, i, 1);
    if (i == c->rank)
      tmb_sched_copy(s, c->dst, at, bytes);
    else
      tmb_sched_send(s, c, (struct tmb_msg){i, TAG_LAST, at, bytes, 0});
  }
}

void tmb_alg_rscatter_halving(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_fold f = tmb_fold_of(c);
  const uint64_t whole = tmb_coll_span(c, 0, c->size);
  const uint32_t from = tmb_fold_member(
      &f,
      holder(c, &f, tmb_fold_of_member(&f, c->rank))); /* the member that has this member's block */
  if (f.rank == UINT32_MAX) {
    tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, TAG_FOLD, c->src, whole, 0});
  } else {
    const struct tmb_ref acc = tmb_sched_tmp(s, whole);
    struct tmb_ref local = c->src;
    uint32_t slot;
    if (c->rank < 2 * f.rem) {
      tmb_sched_combine(s, c, (struct tmb_msg){c->rank - 1, TAG_FOLD, acc, whole, TMB_STEP_FREE},
                        local);
      local = acc;
    }
    local = halve(s, c, &f, local, acc, &slot);
    tmb_sched_next(s);
    hand_out(s, c, &f, local, slot);
  }
  if (from == c->rank) return;
  tmb_sched_recv(
      s, c, (struct tmb_msg){from, TAG_LAST, c->dst, tmb_coll_span(c, c->rank, 1), TMB_STEP_EARLY});
}
