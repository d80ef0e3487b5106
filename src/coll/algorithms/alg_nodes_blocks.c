/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-level forms of collectives on blocks: inside the nodes, and among one leader of each.
 *
 * Owns nothing. Called through select.c's table when there is a node map. Calls: the one-level
 * algorithms over groups (levels.h). Scatter and gather: J. L. Traeff, "Hierarchical gather/scatter
 * algorithms with graceful degradation", IPDPS 2004. Exchange: J. L. Traeff, A. Rougier, "MPI
 * collectives and datatypes for hierarchical all-to-all communication", EuroMPI 2014,
 * doi:10.1145/2642769.2642770. The blocks of a node travel together, in the order of nodes; where
 * that is not the order of ranks, they are put into it in temporary memory. Invariants: no member
 * needs a length that its call does not give; of the V forms only all-gather gives all lengths to
 * all members, so it is the only one here.
 */
#include "coll/algorithms/alg.h"
#include "coll/schedule/levels.h"

#include "base/compiler.h"

#include <stdlib.h>

#define BRUCK_BYTES_MAX \
 65536u /* longest result, in bytes, that the leaders gather by Bruck's algorithm */

/* Begin of each node's blocks in the order of nodes, in bytes; [nodes + 1]. NULL: no memory. */
static uint64_t *node_places(struct tmb_sched *s, const struct tmb_coll_shape *c, uint64_t block) {
  const struct tmb_coll_nodes *map = c->nodes;
  uint64_t *at = malloc((map->count + (size_t)1) * sizeof *at);
  if (!at) s->failed = true;
  for (uint32_t i = 0; at && i <= map->count; i++) at[i] = map->start[i] * block;
  return at;
}

/* Copy blocks of `block` bytes between the order of ranks at `plain` and that of nodes. */
static void permute(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_ref plain,
                    struct tmb_ref by_node, bool to_plain) {
  for (uint32_t i = 0; i < c->size; i++) {
    const struct tmb_ref a = tmb_ref_at(plain, c->nodes->member[i] * c->bytes);
    const struct tmb_ref b = tmb_ref_at(by_node, i * c->bytes);
    tmb_sched_copy(s, to_plain ? a : b, to_plain ? b : a, c->bytes);
  }
}

/* All blocks in the order of nodes: `plain` itself when the order of ranks is that, else a copy
 * in temporary memory. */
static struct tmb_ref by_node(struct tmb_sched *s, const struct tmb_coll_shape *c,
                              struct tmb_ref plain) {
  if (c->nodes->ranges) return plain;
  const struct tmb_ref to = tmb_sched_tmp(s, c->size * c->bytes);
  permute(s, c, plain, to, false);
  tmb_sched_next(s);
  return to;
}

/* ---- scatter, gather */

/* A step of the leaders. Returns where its `bytes` come to lie, in temporary memory. */
static struct tmb_ref among(struct tmb_sched *s, struct tmb_coll_shape *leaders, size_t bytes,
                            void (*step)(struct tmb_sched *s, const struct tmb_coll_shape *c)) {
  leaders->dst = tmb_sched_tmp(s, bytes);
  step(s, leaders);
  tmb_sched_next(s);
  return leaders->dst;
}

/* A leader's blocks go to the ranks of its node. */
static void scatter_inside(struct tmb_sched *s, const struct tmb_coll_shape *inside) {
  if (!tmb_levels_board(s, inside, TMB_COLL_SCATTER)) tmb_alg_scatter_binomial(s, inside);
}

void tmb_alg_scatter_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  uint64_t *at = node_places(s, c, c->bytes);
  if (!at || !tmb_levels_make(&l, s, c, c->root)) goto no_levels;
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 1);
  if (l.leads) {
    struct tmb_coll_shape top = tmb_levels_among(c, &l, 0);
    top.block_at = at;
    if (c->rank == c->root) top.src = by_node(s, c, c->src);
    p.src = among(s, &top, l.count * c->bytes, tmb_alg_scatter_binomial);
  }
  scatter_inside(s, &p);
  tmb_levels_free(&l);
no_levels:
  free(at);
}

void tmb_alg_gather_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  uint64_t *at = node_places(s, c, c->bytes);
  if (!at || !tmb_levels_make(&l, s, c, c->root)) goto no_levels;
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  if (l.leads) p.dst = tmb_sched_tmp(s, l.count * c->bytes);
  if (!tmb_levels_board(s, &p, TMB_COLL_GATHER)) tmb_alg_gather_binomial(s, &p);
  tmb_sched_next(s);
  if (l.leads) {
    struct tmb_coll_shape top = tmb_levels_among(c, &l, 1);
    const bool unpacks = c->rank == c->root && !c->nodes->ranges;
    top.block_at = at;
    top.src = p.dst;
    if (unpacks) top.dst = tmb_sched_tmp(s, c->size * c->bytes);
    tmb_alg_gather_binomial(s, &top);
    tmb_sched_next(s);
    if (unpacks) permute(s, c, c->dst, top.dst, true);
  }
  tmb_levels_free(&l);
no_levels:
  free(at);
}

/* ---- all-gather, also its V form */

/* Where the block of each member begins in the order of nodes; [size + 1]. NULL: no memory. */
static uint64_t *places(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  uint64_t *at = malloc((c->size + (size_t)1) * sizeof *at);
  if (!at) {
    s->failed = true;
    return NULL;
  }
  at[0] = 0;
  for (uint32_t i = 0; i < c->size; i++)
    at[i + 1] = at[i] + (c->recv.bytes ? c->recv.bytes[c->nodes->member[i]] : c->bytes);
  return at;
}

/* All-gather among the leaders: each has its node's blocks at their place in `whole` and gets
 * those of all nodes. in node_at: [nodes + 1] where each node's blocks begin in `whole`. */
static void gather_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c,
                         const struct tmb_levels *l, struct tmb_ref whole,
                         const uint64_t *node_at) {
  struct tmb_coll_shape p = tmb_levels_among(c, l, 1);
  p.recv = (struct tmb_coll_blocks){NULL, NULL};
  p.block_at = node_at;
  p.src = tmb_ref_at(whole, node_at[l->node]);
  p.dst = whole;
  if (node_at[p.size] <= BRUCK_BYTES_MAX)
    tmb_alg_allgather_bruck(s, &p);
  else
    tmb_alg_allgather_ring(s, &p);
}

/* Copy all blocks from the order of nodes to their places in dst. */
static void unpack(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_ref whole,
                   const uint64_t *at) {
  for (uint32_t i = 0; i < c->size; i++) {
    const uint32_t r = c->nodes->member[i];
    const uint64_t to = c->recv.at ? c->recv.at[r] : r * c->bytes;
    tmb_sched_copy(s, tmb_ref_at(c->dst, to), tmb_ref_at(whole, at[i]), at[i + 1] - at[i]);
  }
}

void tmb_alg_allgather_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  uint64_t *at = places(s, c), *node_at = node_places(s, c, 0), total;
  if (!at || !node_at || !tmb_levels_make(&l, s, c, TMB_LEAD_FIRST)) goto no_levels;
  for (uint32_t i = 0; i <= c->nodes->count; i++) node_at[i] = at[c->nodes->start[i]];
  total = at[c->size];
  const bool in_order = c->nodes->ranges && !c->recv.bytes;
  const struct tmb_ref whole = in_order ? c->dst : tmb_sched_tmp(s, total);
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  p.recv = (struct tmb_coll_blocks){NULL, NULL};
  p.block_at = at + c->nodes->start[l.node];
  p.dst = tmb_ref_at(whole, node_at[l.node]);
  const bool equal = !c->recv.bytes;
  if (equal && tmb_levels_board(s, &p, TMB_COLL_GATHER))
    tmb_sched_next(s);
  else if (c->crowded && equal) /* a star: see alg_nodes.c */
    tmb_alg_gather_flat(s, &p);
  else
    tmb_alg_gather_binomial(s, &p);
  tmb_sched_next(s);
  if (l.leads) gather_nodes(s, c, &l, whole, node_at);
  tmb_sched_next(s);
  p = tmb_levels_inside(c, &l, 2);
  p.bytes = total;
  p.src = p.dst = whole;
  if (tmb_levels_board(s, &p, TMB_COLL_BROADCAST))
    tmb_sched_next(s);
  else if (c->crowded)
    tmb_alg_bcast_flat(s, &p);
  else
    tmb_alg_bcast_knomial(s, &p);
  tmb_sched_next(s);
  if (!in_order) unpack(s, c, whole, at);
  tmb_levels_free(&l);
no_levels:
  free(at);
  free(node_at);
}

/* ---- exchange: leaders hold a row of blocks, in the order of nodes, for each member */

/* At a leader: from the rows of its members, which hold one block for every rank, collect at `out`
 * the data for each node: the parts of all rows for it, one behind another. */
static void sort_rows(struct tmb_sched *s, const struct tmb_coll_shape *c,
                      const struct tmb_levels *l, struct tmb_ref rows, struct tmb_ref out) {
  const uint32_t *start = c->nodes->start;
  for (uint32_t j = 0; j < c->nodes->count; j++) {
    const uint64_t part = (start[j + 1] - start[j]) * c->bytes;
    const struct tmb_ref to = tmb_ref_at(out, (uint64_t)l->count * start[j] * c->bytes);
    for (uint32_t i = 0; i < l->count; i++)
      tmb_sched_copy(s, tmb_ref_at(to, i * part),
                     tmb_ref_at(rows, ((uint64_t)i * c->size + start[j]) * c->bytes), part);
  }
}

/* At a leader: from the data of each node at `in` make the column of each member: its block from
 * every rank, in the order of ranks. */
static void sort_columns(struct tmb_sched *s, const struct tmb_coll_shape *c,
                         const struct tmb_levels *l, struct tmb_ref in, struct tmb_ref columns) {
  for (uint32_t m = 0; m < l->count; m++) {
    const struct tmb_ref to = tmb_ref_at(columns, (uint64_t)m * c->size * c->bytes);
    for (uint32_t i = 0; i < c->size; i++)
      tmb_sched_copy(s, tmb_ref_at(to, c->nodes->member[i] * c->bytes),
                     tmb_ref_at(in, ((uint64_t)i * l->count + m) * c->bytes), c->bytes);
  }
}

/* The leaders' part. in at: [nodes + 1] places of the data to and from each node. */
static void lead_exchange(struct tmb_sched *s, const struct tmb_coll_shape *c,
                          const struct tmb_levels *l, const uint64_t *at,
                          const struct tmb_ref rows_columns[2]) {
  struct tmb_coll_shape p = tmb_levels_among(c, l, 1);
  p.src = tmb_sched_tmp(s, at[p.size]);
  p.dst = tmb_sched_tmp(s, at[p.size]);
  p.block_at = at;
  sort_rows(s, c, l, rows_columns[0], p.src);
  tmb_alg_exchange_pairwise(s, &p);
  tmb_sched_next(s);
  sort_columns(s, c, l, p.dst, rows_columns[1]);
}

void tmb_alg_exchange_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, TMB_LEAD_FIRST)) return;
  uint64_t *at = node_places(s, c, l.count * c->bytes);
  const uint64_t row = c->size * c->bytes;
  struct tmb_ref rows_columns[2] = {by_node(s, c, c->src), c->dst};
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  if (!at) goto done;
  p.bytes = row;
  p.src = rows_columns[0];
  if (l.leads && l.count > 1)
    for (int i = 0; i < 2; i++) rows_columns[i] = tmb_sched_tmp(s, l.count * row);
  p.dst = rows_columns[0];
  if (!tmb_levels_board(s, &p, TMB_COLL_GATHER)) tmb_alg_gather_flat(s, &p);
  tmb_sched_next(s);
  if (l.leads) lead_exchange(s, c, &l, at, rows_columns);
  tmb_sched_next(s);
  p = tmb_levels_inside(c, &l, 2);
  p.bytes = row;
  p.src = rows_columns[1];
  if (!tmb_levels_board(s, &p, TMB_COLL_SCATTER)) tmb_alg_scatter_flat(s, &p);
done:
  free(at);
  tmb_levels_free(&l);
}

/* ---- reduce-scatter */

void tmb_alg_rscatter_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  uint64_t *at = node_places(s, c, c->bytes);
  if (!at || !tmb_levels_make(&l, s, c, TMB_LEAD_FIRST)) goto no_levels;
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0), down = tmb_levels_inside(c, &l, 2);
  p.bytes = c->size * c->bytes;
  if (l.leads) p.dst = tmb_sched_tmp(s, p.bytes);
  if (!tmb_levels_board(s, &p, TMB_COLL_REDUCE)) tmb_alg_reduce_binomial(s, &p);
  tmb_sched_next(s);
  if (l.leads) {
    struct tmb_coll_shape top = tmb_levels_among(c, &l, 1);
    top.block_at = at;
    top.src = by_node(s, c, p.dst);
    down.src = among(s, &top, l.count * c->bytes, tmb_alg_rscatter_halving);
  }
  scatter_inside(s, &down);
  tmb_levels_free(&l);
no_levels:
  free(at);
}
