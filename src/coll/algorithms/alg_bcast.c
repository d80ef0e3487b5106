/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast.
 *
 * Owns nothing. Called through select.c's table. Calls: schedule.h, links.c. Flat: the root sends
 * to everybody. K-nomial tree: L. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
 * Communication Operations in MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005,
 * doi:10.1177/1094342005051521. Pipelined chain: the vector moves in segments from neighbour to
 * neighbour, or along a binary tree (links.h); analysed in J. Pjesivac-Grbovic et al., Cluster
 * Computing 10, 2007, doi:10.1007/s10586-007-0012-0. Scatter then all-gather: M. Barnett, R. van de
 * Geijn et al., "Interprocessor collective communication library (InterCom)", SHPCC 1994,
 * doi:10.1109/SHPCC.1994.296665. Invariants: the root sends from src, all others from dst; blocks
 * of scatter then all-gather are equal on all ranks.
 */
#include "coll/algorithms/alg.h"
#include "coll/schedule/links.h"

#include "base/compiler.h"

/* Rank counted from the root. */
static uint32_t virtual_rank(const struct tmb_coll_shape *c) {
  return tmb_coll_up(c, c->rank, c->size - c->root);
}

static uint32_t real_rank(const struct tmb_coll_shape *c, uint32_t vrank) {
  return tmb_coll_up(c, vrank, c->root);
}

/* Where the data are on this rank once they have arrived: src at the root, dst elsewhere. */
static struct tmb_ref held(const struct tmb_coll_shape *c) {
  return c->rank == c->root ? c->src : c->dst;
}

/* At the root: copy src to dst, after all sends. */
static void local_copy(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank == c->root) tmb_sched_copy(s, c->dst, c->src, c->bytes);
}

void tmb_alg_bcast_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  if (c->rank != c->root) {
    tmb_sched_recv(s, c, (struct tmb_msg){c->root, 0, c->dst, c->bytes, TMB_STEP_EARLY});
    return;
  }
  for (uint32_t i = 1; i < c->size; i++)
    tmb_sched_send(s, c, (struct tmb_msg){real_rank(c, i), 0, c->src, c->bytes, 0});
  local_copy(s, c);
}

void tmb_alg_bcast_knomial(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t vrank = virtual_rank(c);
  uint64_t mask = 1;
  for (; mask < c->size; mask *= c->radix) {
    const uint32_t digit = (uint32_t)(vrank % (mask * c->radix));
    if (!digit) continue;
    const uint32_t parent = real_rank(c, vrank - digit);
    tmb_sched_recv(s, c, (struct tmb_msg){parent, 0, c->dst, c->bytes, TMB_STEP_EARLY});
    break;
  }
  tmb_sched_next(s);
  for (mask /= c->radix; mask; mask /= c->radix)
    for (uint32_t digit = 1; digit < c->radix; digit++) {
      const uint64_t child = vrank + mask * digit;
      if (child >= c->size) break;
      const uint32_t to = real_rank(c, (uint32_t)child);
      tmb_sched_send(s, c, (struct tmb_msg){to, 0, held(c), c->bytes, 0});
    }
  local_copy(s, c);
}

/* Along a chain or a tree in segments, each of which a member passes on when it has it. Members of
 * a node that share memory and do not lead it have no neighbours, and take each segment there. */
static void pipeline(struct tmb_sched *s, const struct tmb_coll_shape *c,
                     enum tmb_links_form form) {
  struct tmb_coll_shape team = *c; /* links are team ranks, whatever group c is of */
  struct tmb_coll_links l;
  const uint64_t segment = TMB_MAX(c->segment, UINT64_C(1));
  const unsigned gated = c->bytes > c->eager ? TMB_STEP_GATED : 0;
  uint32_t tag = 0;
  team.group = NULL;
  if (!tmb_coll_links_make(&l, s, c, c->root, form, true)) return;
  for (uint64_t at = 0; at < c->bytes; at += segment, tag++) {
    struct tmb_msg m = {.tag = tag,
                        .bytes = TMB_MIN(segment, c->bytes - at),
                        .flags = tag ? TMB_STEP_UNGATED : gated};
    m.at = tmb_ref_at(held(c), at);
    if (!l.top) {
      struct tmb_msg in = m;
      in.peer = l.above;
      in.flags |= TMB_STEP_EARLY;
      tmb_sched_recv(s, &team, in);
      tmb_sched_next(s);
    }
    for (uint32_t i = 0; i < l.count; i++) {
      m.peer = l.below[i];
      tmb_sched_send(s, &team, m);
    }
    if (l.board)
      tmb_sched_board(s, TMB_COLL_BROADCAST, l.head, tmb_ref_at(c->dst, at), m.at, m.bytes);
  }
  if (!l.board) local_copy(s, c);
}

void tmb_alg_bcast_chain(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  pipeline(s, c, TMB_LINKS_CHAIN);
}

void tmb_alg_bcast_tree(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  pipeline(s, c, TMB_LINKS_TREE);
}

/* First byte of block i of the vector cut into c->size blocks. */
static uint64_t cut(const struct tmb_coll_shape *c, uint64_t i) {
  const uint64_t block = (c->bytes + c->size - 1) / c->size;
  return TMB_MIN(i * block, c->bytes);
}

/* Scatter along a binomial tree. Afterwards the member with virtual rank vrank holds the blocks
 * of its subtree. */
static void scatter_blocks(struct tmb_sched *s, const struct tmb_coll_shape *c, uint32_t vrank) {
  uint32_t mask = 1;
  for (; mask < c->size; mask <<= 1) {
    if (!(vrank & mask)) continue;
    const uint64_t first = cut(c, vrank), end = cut(c, (uint64_t)vrank + mask);
    tmb_sched_recv(s, c,
                   (struct tmb_msg){real_rank(c, vrank - mask), 0, tmb_ref_at(c->dst, first),
                                    end - first, TMB_STEP_EARLY});
    break;
  }
  tmb_sched_next(s);
  for (mask >>= 1; mask; mask >>= 1) {
    const uint64_t child = (uint64_t)vrank + mask;
    if (child >= c->size) continue;
    const uint64_t first = cut(c, child), end = cut(c, child + mask);
    tmb_sched_send(s, c,
                   (struct tmb_msg){real_rank(c, (uint32_t)child), 0, tmb_ref_at(held(c), first),
                                    end - first, 0});
  }
}

void tmb_alg_bcast_scatter(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t vrank = virtual_rank(c);
  local_copy(s, c);
  scatter_blocks(s, c, vrank);
  /* All-gather in a ring, in which nobody sends to the root. The blocks that a member has from the
   * scatter already arrive once more, unchanged. */
  for (uint32_t k = 0; k + 1 < c->size; k++) {
    const uint32_t out = tmb_coll_up(c, vrank, c->size - k);
    const uint32_t in = tmb_coll_up(c, vrank, c->size - k - 1);
    const uint32_t next = tmb_coll_up(c, vrank, 1);
    tmb_sched_next(s);
    if (next != 0)
      tmb_sched_send(s, c,
                     (struct tmb_msg){real_rank(c, next), 1 + k, tmb_ref_at(held(c), cut(c, out)),
                                      cut(c, (uint64_t)out + 1) - cut(c, out), 0});
    if (vrank != 0)
      tmb_sched_recv(s, c,
                     (struct tmb_msg){real_rank(c, vrank - 1), 1 + k,
                                      tmb_ref_at(c->dst, cut(c, in)),
                                      cut(c, (uint64_t)in + 1) - cut(c, in), TMB_STEP_EARLY});
  }
}
