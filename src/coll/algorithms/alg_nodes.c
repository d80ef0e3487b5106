/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-level forms of collectives on vectors: inside the nodes, and among one leader of each.
 *
 * Owns nothing. Called through select.c's table when there is a node map. Calls: the one-level
 * algorithms over groups (levels.h). The idea: N. Karonis et al., "Exploiting hierarchy in parallel
 * computer networks to optimize collective operation performance", IPDPS 2000,
 * doi:10.1109/IPDPS.2000.846009. Invariants: a node's leader is its lowest rank, except that the
 * root leads its own node and that the last rank leads in scans; reductions keep the order of ranks
 * where nodes are ranges of ranks, else they need an operator that commutes; scans need ranges.
 */
#include "coll/algorithms/alg.h"
#include "coll/schedule/levels.h"

#include "base/compiler.h"

#define DOUBLING_BYTES_MAX \
 8192u /* longest vector, in bytes, that the leaders combine by recursive doubling */

/* Vectors of a node, in bytes, that its leader holds at once. Chosen. */
#define STAR_BYTES_MAX 65536u

/* Ranks of a node that all report to the leader itself. An estimate. */
#define FLAT_RANKS_MAX 8u

/* ---- inside a node: over the memory that its ranks share, if they do. By messages else. Where its
 * ranks outnumber its processors each message takes a turn of its receiver on one: a tree takes as
 * many turns of all ranks as it has levels, and a star takes one. So where all wait for all. A
 * broadcast alone is a tree: many follow each other, and the root of a star would send all of them.
 */

static void bcast_inside(struct tmb_sched *s, const struct tmb_coll_shape *p) {
  if (tmb_levels_board(s, p, TMB_COLL_BROADCAST)) return;
  if (p->crowded)
    tmb_alg_bcast_flat(s, p);
  else
    tmb_alg_bcast_knomial(s, p);
}

/* Reduce to the leader by a star: it has all vectors before it combines them, so that it takes them
 * in any order. */
static void reduce_star(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_coll_shape p = *c;
  if (c->rank == c->root) p.dst = tmb_sched_tmp(s, c->size * c->bytes);
  tmb_alg_gather_flat(s, &p);
  if (c->rank != c->root) return;
  const struct tmb_ref acc = tmb_ref_at(p.dst, (c->size - 1) * c->bytes);
  tmb_sched_next(s);
  for (uint32_t i = c->size - 1; i-- > 0;)
    tmb_sched_reduce(s, acc, tmb_ref_at(p.dst, i * c->bytes), c->bytes, 0);
  tmb_sched_copy(s, c->dst, acc, c->bytes);
}

static void reduce_inside(struct tmb_sched *s, const struct tmb_coll_shape *p) {
  if (tmb_levels_board(s, p, TMB_COLL_REDUCE)) return;
  if (p->crowded && p->size * p->bytes <= STAR_BYTES_MAX)
    reduce_star(s, p);
  else
    tmb_alg_reduce_binomial(s, p);
}

void tmb_alg_bcast_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, c->root)) return;
  struct tmb_coll_shape p = tmb_levels_among(c, &l, 0);
  if (l.leads) tmb_alg_bcast_knomial(s, &p);
  p = tmb_levels_inside(c, &l, 1);
  p.src = c->dst; /* the leader has the data in dst, also where it is the root */
  tmb_sched_next(s);
  if (!tmb_levels_board(s, &p, TMB_COLL_BROADCAST)) tmb_alg_bcast_knomial(s, &p);
  tmb_levels_free(&l);
}

void tmb_alg_reduce_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, c->root)) return;
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  if (l.leads && c->rank != c->root) p.dst = tmb_sched_tmp(s, c->bytes);
  const struct tmb_ref acc = p.dst;
  reduce_inside(s, &p);
  tmb_sched_next(s);
  p = tmb_levels_among(c, &l, 1);
  p.src = acc;
  if (l.leads) tmb_alg_reduce_binomial(s, &p);
  tmb_levels_free(&l);
}

void tmb_alg_allreduce_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, TMB_LEAD_FIRST)) return;
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  reduce_inside(s, &p);
  tmb_sched_next(s);
  p = tmb_levels_among(c, &l, 1);
  p.src = c->dst;
  if (l.leads && c->bytes <= DOUBLING_BYTES_MAX)
    tmb_alg_allreduce_doubling(s, &p);
  else if (l.leads)
    tmb_alg_allreduce_halving(s, &p);
  tmb_sched_next(s);
  p = tmb_levels_inside(c, &l, 2);
  p.src = c->dst;
  bcast_inside(s, &p);
  tmb_levels_free(&l);
}

void tmb_alg_sync_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, TMB_LEAD_FIRST)) return;
  const struct tmb_ref byte = tmb_sched_tmp(s, l.count);
  struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  p.src = p.dst = byte;
  p.bytes = 1;
  if (tmb_levels_board(s, &p, TMB_COLL_GATHER))
    tmb_sched_next(s);
  else if (c->crowded || l.count <= FLAT_RANKS_MAX)
    tmb_alg_gather_flat(s, &p);
  else
    tmb_alg_gather_binomial(s, &p);
  tmb_sched_next(s);
  p = tmb_levels_among(c, &l, 1);
  if (l.leads) tmb_alg_sync(s, &p);
  tmb_sched_next(s);
  p = tmb_levels_inside(c, &l, 2);
  p.src = p.dst = byte;
  p.bytes = 1;
  bcast_inside(s, &p);
  tmb_levels_free(&l);
}

/* ---- scans: first inside each node; then an exclusive scan among the last members of the
 * nodes, each of which holds the total of its node */

/* Broadcast the combination of all lower nodes inside each node: from the leader's `total` to
 * everybody's `prefix`. */
static void prefixes(struct tmb_sched *s, const struct tmb_coll_shape *c,
                     const struct tmb_levels *l, struct tmb_ref total, struct tmb_ref prefix) {
  struct tmb_coll_shape p = tmb_levels_among(c, l, 1);
  p.src = total;
  p.dst = prefix;
  tmb_sched_next(s);
  if (l->leads) tmb_alg_exscan_doubling(s, &p);
  tmb_sched_next(s);
  if (l->node == 0) return;
  p = tmb_levels_inside(c, l, 2);
  p.src = p.dst = prefix;
  bcast_inside(s, &p);
  tmb_sched_next(s);
}

void tmb_alg_scan_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, TMB_LEAD_LAST)) return;
  const struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  const struct tmb_ref prefix = tmb_sched_tmp(s, c->bytes);
  if (!tmb_levels_board(s, &p, TMB_COLL_SCAN)) tmb_alg_scan_doubling(s, &p);
  prefixes(s, c, &l, c->dst, prefix);
  if (l.node > 0) tmb_sched_reduce(s, c->dst, prefix, c->bytes, 0);
  tmb_levels_free(&l);
}

void tmb_alg_exscan_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_levels l;
  if (!tmb_levels_make(&l, s, c, TMB_LEAD_LAST)) return;
  const struct tmb_coll_shape p = tmb_levels_inside(c, &l, 0);
  const struct tmb_ref prefix = tmb_sched_tmp(s, c->bytes);
  struct tmb_ref total = c->src;
  if (!tmb_levels_board(s, &p, TMB_COLL_EXSCAN)) tmb_alg_exscan_doubling(s, &p);
  tmb_sched_next(s);
  if (l.leads && l.count > 1) {
    total = tmb_sched_tmp(s, c->bytes);
    tmb_sched_copy(s, total, c->src, c->bytes);
    tmb_sched_reduce(s, total, c->dst, c->bytes, 0);
  }
  prefixes(s, c, &l, total, prefix);
  if (l.node > 0 && l.rank == 0)
    tmb_sched_copy(s, c->dst, prefix, c->bytes);
  else if (l.node > 0)
    tmb_sched_reduce(s, c->dst, prefix, c->bytes, 0);
  tmb_levels_free(&l);
}
