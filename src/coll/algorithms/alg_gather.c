/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather and scatter, with blocks of one length or of many, and the collective without data.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h. Flat: the root talks to
 * everybody. Binomial tree: a subtree's blocks travel together; R. Thakur, R. Rabenseifner, W.
 * Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, doi:10.1177/1094342005051521.
 * Dissemination: D. Hensgen, R. Finkel, U. Manber, Int. J. Parallel Program. 17, 1988,
 * doi:10.1007/BF01379320. Invariants: subtrees are ranges of ranks counted from the root; inner
 * members hold theirs in temporary memory, own block first.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"

void tmb_alg_sync(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_ref byte = tmb_sched_tmp(s, 1);
  uint32_t tag = 0;
  for (uint32_t step = 1; step && step < c->size; step <<= 1, tag++) {
    tmb_sched_next(s);
    tmb_sched_send(s, c, (struct tmb_msg){tmb_coll_up(c, c->rank, step), tag, byte, 1, 0});
    tmb_sched_recv(
        s, c,
        (struct tmb_msg){tmb_coll_up(c, c->rank, c->size - step), tag, byte, 1, TMB_STEP_EARLY});
  }
}

static uint32_t virtual_rank(const struct tmb_coll_shape *c) {
  return tmb_coll_up(c, c->rank, c->size - c->root);
}

/* ---- flat, also for the V forms, where each member knows its own block and the root knows all */

/* Place and length of block i at the root. */
static struct tmb_msg root_block(const struct tmb_coll_shape *c, const struct tmb_coll_blocks *v,
                                 struct tmb_ref buf, uint32_t i) {
  if (!v->bytes) return (struct tmb_msg){i, 0, tmb_ref_at(buf, i * c->bytes), c->bytes, 0};
  return (struct tmb_msg){i, 0, tmb_ref_at(buf, v->at[i]), v->bytes[i], 0};
}

void tmb_alg_scatter_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank != c->root) {
    tmb_sched_recv(s, c, (struct tmb_msg){c->root, 0, c->dst, c->bytes, TMB_STEP_EARLY});
    return;
  }
  for (uint32_t k = 1; k < c->size; k++)
    tmb_sched_send(s, c, root_block(c, &c->send, c->src, tmb_coll_up(c, c->rank, k)));
  const struct tmb_msg local = root_block(c, &c->send, c->src, c->rank);
  tmb_sched_copy(s, c->dst, local.at, local.bytes);
}

void tmb_alg_gather_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank != c->root) {
    tmb_sched_send(s, c, (struct tmb_msg){c->root, 0, c->src, c->bytes, 0});
    return;
  }
  const struct tmb_msg local = root_block(c, &c->recv, c->dst, c->rank);
  tmb_sched_copy(s, local.at, c->src, local.bytes);
  for (uint32_t k = 1; k < c->size; k++) {
    struct tmb_msg in = root_block(c, &c->recv, c->dst, tmb_coll_up(c, c->rank, k));
    in.flags = TMB_STEP_EARLY;
    tmb_sched_recv(s, c, in);
  }
}

/* ---- binomial */

/* Number of members in the subtree of the member with virtual rank vrank, whose parent is `mask`
 * virtual ranks below. */
static uint32_t subtree(const struct tmb_coll_shape *c, uint64_t vrank, uint32_t mask) {
  return vrank >= c->size ? 0 : (uint32_t)TMB_MIN((uint64_t)mask, c->size - vrank);
}

/* Distance to the parent; for the root the power of two at or above the size. */
static uint32_t parent_distance(const struct tmb_coll_shape *c, uint32_t vrank) {
  uint32_t mask = 1;
  while (mask < c->size && !(vrank & mask)) mask <<= 1;
  return mask;
}

/* Bytes of the blocks of `count` members from vrank on, counted from the root. */
static uint64_t span(const struct tmb_coll_shape *c, uint32_t vrank, uint32_t count) {
  return tmb_coll_span(c, tmb_coll_up(c, vrank, c->root), count);
}

/* Copy all blocks between `plain`, in the order of ranks, and `turned`, in the order of virtual
 * ranks (beginning with the root's). */
static void turn(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_ref plain,
                 struct tmb_ref turned, bool to_plain) {
  const uint64_t high = tmb_coll_span(c, c->root, c->size - c->root);
  const uint64_t low = tmb_coll_span(c, 0, c->root);
  const struct tmb_ref a[2] = {tmb_ref_at(plain, low), plain};
  const struct tmb_ref b[2] = {turned, tmb_ref_at(turned, high)};
  for (int i = 0; i < 2; i++)
    tmb_sched_copy(s, to_plain ? a[i] : b[i], to_plain ? b[i] : a[i], i ? low : high);
}

/* The message between vrank and its child at distance mask; `blocks` are those of vrank. */
static struct tmb_msg to_child(const struct tmb_coll_shape *c, uint32_t vrank, uint32_t mask,
                               struct tmb_ref blocks) {
  const uint32_t child = vrank + mask;
  return (struct tmb_msg){.peer = tmb_coll_up(c, child, c->root),
                          .at = tmb_ref_at(blocks, span(c, vrank, mask)),
                          .bytes = span(c, child, subtree(c, child, mask))};
}

void tmb_alg_scatter_binomial(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t vrank = virtual_rank(c), distance = parent_distance(c, vrank);
  const uint32_t mine = subtree(c, vrank, distance);
  const uint64_t bytes = span(c, vrank, mine);
  struct tmb_ref blocks = c->dst;
  if (vrank == 0 && c->root == 0) {
    blocks = c->src;
  } else if (vrank == 0 || mine > 1) {
    blocks = tmb_sched_tmp(s, bytes);
    if (vrank == 0) turn(s, c, c->src, blocks, false);
  }
  if (vrank)
    tmb_sched_recv(s, c,
                   (struct tmb_msg){tmb_coll_up(c, vrank - distance, c->root), 0, blocks, bytes,
                                    TMB_STEP_EARLY});
  tmb_sched_next(s);
  for (uint32_t mask = distance >> 1; mask; mask >>= 1)
    if ((uint64_t)vrank + mask < c->size) tmb_sched_send(s, c, to_child(c, vrank, mask, blocks));
  tmb_sched_copy(s, c->dst, blocks, span(c, vrank, 1));
}

void tmb_alg_gather_binomial(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t vrank = virtual_rank(c), distance = parent_distance(c, vrank);
  const uint32_t mine = subtree(c, vrank, distance);
  const uint64_t bytes = span(c, vrank, mine);
  struct tmb_ref blocks = c->src;
  if (vrank == 0 && c->root == 0)
    blocks = c->dst;
  else if (mine > 1 || vrank == 0)
    blocks = tmb_sched_tmp(s, bytes);
  tmb_sched_copy(s, blocks, c->src, span(c, vrank, 1));
  for (uint32_t mask = 1; mask < distance; mask <<= 1) {
    if ((uint64_t)vrank + mask >= c->size) continue;
    struct tmb_msg in = to_child(c, vrank, mask, blocks);
    in.flags = TMB_STEP_EARLY;
    tmb_sched_recv(s, c, in);
  }
  tmb_sched_next(s);
  if (vrank)
    tmb_sched_send(
        s, c, (struct tmb_msg){tmb_coll_up(c, vrank - distance, c->root), 0, blocks, bytes, 0});
  else if (c->root != 0)
    turn(s, c, c->dst, blocks, true);
}
