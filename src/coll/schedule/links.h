/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours of a member in the chains and trees of pipelined algorithms.
 *
 * Owns: struct tmb_coll_links. Used by alg_bcast.c and alg_reduce.c. Calls: levels.h. A chain or
 * tree is one of the members of a team; where the team has a node map, one of a leader of each
 * node, and below each leader a tree of its node, so that data enter and leave a node once. Where
 * the members of a node use the memory that they share, there is no such tree.
 * Invariants: from every member the path up ends at the root, in as many steps as the team has
 * members or nodes (chain), or their logarithm (tree), and the logarithm of the largest node.
 */
#ifndef TMB_COLL_LINKS_H
#define TMB_COLL_LINKS_H

#include "coll/schedule/shape.h"

enum tmb_links_form { TMB_LINKS_CHAIN, TMB_LINKS_TREE };

#define TMB_LINKS_BELOW 4

struct tmb_coll_links {
  bool top;                        /* this member is the root, and `above` nobody */
  uint32_t above;                  /* team rank */
  uint32_t below[TMB_LINKS_BELOW]; /* [count] team ranks; in a chain or tree of one level they and
                                      all below them ascend, counted from the root */
  uint32_t count;
  bool board;    /* the members of this node pass the data on over the memory that they share */
  uint32_t head; /* then: index of the leader in its node */
};

/* Find the neighbours of c->rank. in root: index in the group of c; by_nodes: use the node map of
 * c, if it has one. Returns false when memory is short; the schedule has failed then. */
bool tmb_coll_links_make(struct tmb_coll_links *l, struct tmb_sched *s,
                         const struct tmb_coll_shape *c, uint32_t root, enum tmb_links_form form,
                         bool by_nodes);

#endif
