/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction to one member.
 *
 * Owns nothing. Called through select.c's table and by two-level forms. Calls: schedule.h, links.c.
 * Flat: everybody sends to the root, which combines from the highest rank down. Binomial tree: as
 * in R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005,
 * doi:10.1177/1094342005051521. Pipelined chain and binary tree (links.h): J. Pjesivac-Grbovic et
 * al., Cluster Computing 10, 2007, doi:10.1007/s10586-007-0012-0. Invariants: trees and chains are
 * rotated to the root only if the operator commutes; otherwise they end at member 0, which forwards
 * the result. A member that combines does so in dst at the root and in temporary memory elsewhere.
 */
#include "coll/algorithms/alg.h"
#include "coll/schedule/links.h"

#include "base/compiler.h"

#define TAG_FORWARD (TMB_TAG_PHASE / 2)

void tmb_alg_reduce_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank != c->root) {
    tmb_sched_send(s, c, (struct tmb_msg){c->root, 0, c->src, c->bytes, 0});
    return;
  }
  const struct tmb_ref acc = tmb_sched_tmp(s, c->bytes);
  for (uint32_t i = c->size; i-- > 0;) {
    const bool first = i + 1 == c->size;
    tmb_sched_next(s);
    if (i == c->rank && first)
      tmb_sched_copy(s, acc, c->src, c->bytes);
    else if (i == c->rank)
      tmb_sched_reduce(s, acc, c->src, c->bytes, 0);
    else if (first)
      tmb_sched_recv(s, c, (struct tmb_msg){i, 0, acc, c->bytes, TMB_STEP_EARLY});
    else
      tmb_sched_recv_reduce(s, c, (struct tmb_msg){i, 0, acc, c->bytes, TMB_STEP_FREE});
  }
  tmb_sched_next(s);
  tmb_sched_copy(s, c->dst, acc, c->bytes);
}

/* Member that has the result of a tree or chain: the root if the operator commutes, else member
 * 0. */
static uint32_t tree_root(const struct tmb_coll_shape *c) {
  return c->commutes ? c->root : 0;
}

/* The result moves from member 0 to the root if the tree ends elsewhere than at the root. */
static void forward(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_ref acc) {
  if (tree_root(c) == c->root) return;
  tmb_sched_next(s);
  if (c->rank == c->root)
    tmb_sched_recv(s, c, (struct tmb_msg){0, TAG_FORWARD, c->dst, c->bytes, 0});
  else if (c->rank == 0)
    tmb_sched_send(s, c, (struct tmb_msg){c->root, TAG_FORWARD, acc, c->bytes, 0});
}

void tmb_alg_reduce_binomial(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t top = tree_root(c), vrank = tmb_coll_up(c, c->rank, c->size - top);
  struct tmb_ref acc = c->src; /* stays src until something is combined with it */
  bool combined = false;
  for (uint32_t mask = 1; mask < c->size; mask <<= 1) {
    if (vrank & mask) {
      tmb_sched_next(s);
      const uint32_t parent = tmb_coll_up(c, vrank - mask, top);
      tmb_sched_send(s, c, (struct tmb_msg){parent, 0, acc, c->bytes, 0});
      break;
    }
    if ((uint64_t)vrank + mask >= c->size) continue;
    const struct tmb_ref local = acc;
    if (!combined) acc = c->rank == c->root ? c->dst : tmb_sched_tmp(s, c->bytes);
    combined = true;
    tmb_sched_next(s);
    const uint32_t child = tmb_coll_up(c, vrank + mask, top);
    tmb_sched_combine(
        s, c, (struct tmb_msg){child, 0, acc, c->bytes, TMB_STEP_RIGHT | TMB_STEP_FREE}, local);
  }
  if (c->size == 1) tmb_sched_copy(s, c->dst, c->src, c->bytes);
  forward(s, c, acc);
}

/* One segment at this member: those below have combined theirs, and it is passed on. in acc: buffer
 * in which the member combines; m: tag, place in the vector, bytes and flags. */
static void segment_up(struct tmb_sched *s, const struct tmb_coll_shape *c,
                       const struct tmb_coll_links *l, struct tmb_ref acc, struct tmb_msg m) {
  const struct tmb_ref total = tmb_ref_at(acc, m.at.at);
  struct tmb_msg in = m;
  m.at = tmb_ref_at(c->src, m.at.at);
  in.at = total;
  for (uint32_t i = 0; i < l->count; i++) {
    in.peer = l->below[i];
    in.flags = m.flags | TMB_STEP_RIGHT | (i ? TMB_STEP_FREE : TMB_STEP_EARLY);
    tmb_sched_combine(s, c, in, m.at);
    tmb_sched_next(s);
    m.at = total;
  }
  m.peer = l->above;
  if (!l->top) tmb_sched_send(s, c, m);
}

/* Along a chain or a tree in segments. */
static void pipeline(struct tmb_sched *s, const struct tmb_coll_shape *c,
                     enum tmb_links_form form) {
  struct tmb_coll_shape team = *c; /* links are team ranks, whatever group c is of */
  struct tmb_coll_links l;
  team.board = false; /* a segment goes up by messages */
  const uint64_t segment = TMB_MAX(c->segment / c->elem, UINT64_C(1)) * c->elem;
  const unsigned gated = c->bytes > c->eager ? TMB_STEP_GATED : 0;
  struct tmb_ref acc = c->src;
  uint32_t tag = 0;
  /* The members below nodes are in no order of ranks. */
  if (!tmb_coll_links_make(&l, s, &team, tree_root(c), form, c->commutes)) return;
  if (c->rank == c->root)
    acc = c->dst;
  else if (l.count)
    acc = tmb_sched_tmp(s, c->bytes);
  if (c->size == 1) tmb_sched_copy(s, acc, c->src, c->bytes);
  tmb_sched_next(s);
  team.group = NULL;
  for (uint64_t at = 0; at < c->bytes; at += segment, tag++)
    segment_up(s, &team, &l, acc,
               (struct tmb_msg){.tag = tag,
                                .at = {0, at},
                                .bytes = TMB_MIN(segment, c->bytes - at),
                                .flags = tag ? TMB_STEP_UNGATED : gated});
  forward(s, c, acc);
}

void tmb_alg_reduce_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  pipeline(s, c, TMB_LINKS_CHAIN);
}

void tmb_alg_reduce_tree(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  pipeline(s, c, TMB_LINKS_TREE);
}
