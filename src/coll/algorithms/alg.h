/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms: each emits the schedule of one rank of a collective.
 *
 * Owns: their declarations. Called by select.c's table, two-level forms and tests. Calls:
 * schedule.h. All are pure functions of the shape. Invariants: works for any size from 1, any root,
 * any number of bytes; where in-place calls are allowed (reduce at the root, allreduce), src is not
 * read after dst was written in any byte; operands are combined in rank order unless the comment
 * says that the operator must commute; results of allreduce are bit-identical on all ranks.
 */
#ifndef TMB_COLL_ALG_H
#define TMB_COLL_ALG_H

#include "coll/schedule/shape.h"

/* alg_bcast.c */
tmb_coll_alg_fn tmb_alg_bcast_flat, tmb_alg_bcast_knomial, tmb_alg_bcast_chain, tmb_alg_bcast_tree,
    tmb_alg_bcast_scatter;

/* alg_reduce.c: to one member */
tmb_coll_alg_fn tmb_alg_reduce_flat, tmb_alg_reduce_binomial, tmb_alg_reduce_chain,
    tmb_alg_reduce_tree;

/* alg_allreduce.c */
tmb_coll_alg_fn tmb_alg_allreduce_flat, tmb_alg_allreduce_doubling, tmb_alg_allreduce_halving,
    tmb_alg_allreduce_ring; /* ring: commutes */

/* alg_gather.c; flat serves the V forms, too */
tmb_coll_alg_fn tmb_alg_scatter_flat, tmb_alg_scatter_binomial, tmb_alg_gather_flat,
    tmb_alg_gather_binomial, tmb_alg_sync;

/* alg_allgather.c; flat and ring serve the V form, too */
tmb_coll_alg_fn tmb_alg_allgather_flat, tmb_alg_allgather_ring, tmb_alg_allgather_bruck,
    tmb_alg_allgather_doubling;

/* alg_exchange.c; flat and pairwise serve the V form, too */
tmb_coll_alg_fn tmb_alg_exchange_flat, tmb_alg_exchange_pairwise, tmb_alg_exchange_bruck;

/* alg_rscatter.c; pairwise: commutes */
tmb_coll_alg_fn tmb_alg_rscatter_flat, tmb_alg_rscatter_pairwise, tmb_alg_rscatter_halving;

/* alg_scan.c */
tmb_coll_alg_fn tmb_alg_scan_chain, tmb_alg_scan_doubling, tmb_alg_exscan_chain,
    tmb_alg_exscan_doubling;

/* alg_nodes.c: two levels, with a node map; reductions commute unless nodes are ranges of ranks,
 * and scans need ranges */
tmb_coll_alg_fn tmb_alg_bcast_nodes, tmb_alg_reduce_nodes, tmb_alg_allreduce_nodes,
    tmb_alg_sync_nodes, tmb_alg_scan_nodes, tmb_alg_exscan_nodes;

/* alg_nodes_blocks.c: blocks by two levels; allgather serves the V form, too */
tmb_coll_alg_fn tmb_alg_scatter_nodes, tmb_alg_gather_nodes, tmb_alg_allgather_nodes,
    tmb_alg_exchange_nodes, tmb_alg_rscatter_nodes;

#endif
