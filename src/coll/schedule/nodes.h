/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a team that share a node.
 *
 * Owns: struct tmb_coll_nodes. Made by plan.c from the job's neighbourhoods, once for a team, and
 * by tests; read by select.c and the two-level forms. Calls: libc. Invariants: nodes are numbered
 * in the order of their lowest ranks, none is empty; where every node is a range of ranks,
 * member[i] == i, so that things in the order of nodes are in the order of ranks.
 */
#ifndef TMB_COLL_NODES_H
#define TMB_COLL_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct tmb_coll_nodes {
  uint32_t count;   /* nodes */
  uint32_t largest; /* members of the largest one */
  bool ranges;      /* every node is a range of ranks */
  uint32_t *node;   /* [size] node of each rank */
  uint32_t *member; /* [size] ranks in the order of nodes, ascending in each */
  uint32_t *start;  /* [count + 1] where each node begins in `member` */
};

/* Group ranks by label. in label: [size], each below `labels`. Returns one block of memory for
 * free(): 8 bytes a rank, 4 a node; NULL when memory is short. */
struct tmb_coll_nodes *tmb_coll_nodes_make(const uint32_t *label, uint32_t size, uint32_t labels);

#endif
