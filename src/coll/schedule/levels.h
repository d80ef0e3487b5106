/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member's view of the nodes of its team, and the shapes of a two-level form's phases.
 *
 * Owns: struct tmb_levels. Used by alg_nodes.c and alg_nodes_blocks.c. Calls: libc. A two-level
 * form is a sequence of ordinary algorithms over two groups: the members of the own node, and one
 * leader of each node, in the order of nodes. Invariants: the shape given is that of a whole team
 * (no group) with a node map; a leader's index among leaders is the number of its node; the phases
 * of one form have different numbers, and so different tags.
 */
#ifndef TMB_COLL_LEVELS_H
#define TMB_COLL_LEVELS_H

#include "coll/schedule/shape.h"

/* Leader of a node that the root is not in. */
#define TMB_LEAD_FIRST UINT32_MAX
#define TMB_LEAD_LAST  (UINT32_MAX - 1)

struct tmb_levels {
  const struct tmb_coll_nodes *map;
  const uint32_t *mine; /* [count] team ranks in this node, ascending */
  uint32_t count, rank; /* rank: this member's index in `mine` */
  uint32_t node, head;  /* of this member; index in `mine` of the node's leader */
  uint32_t *leader;     /* [map->count] team ranks */
  bool leads;
};

/* Find the groups of this member. in root: a team rank, which leads its own node while in the
 * other nodes the first rank leads; or TMB_LEAD_FIRST, TMB_LEAD_LAST: in every node the first, or
 * the last, rank leads. */
bool tmb_levels_make(struct tmb_levels *l, struct tmb_sched *s, const struct tmb_coll_shape *c,
                     uint32_t root);
void tmb_levels_free(struct tmb_levels *l);

/* The shape of a phase inside the node; its root is the leader. */
struct tmb_coll_shape tmb_levels_inside(const struct tmb_coll_shape *c, const struct tmb_levels *l,
                                        uint32_t phase);

/* Emit a phase inside the node as a collective over the memory that its members share. in p: the
 * shape of the phase, whose blocks are equal. Returns false where messages have to do it. */
bool tmb_levels_board(struct tmb_sched *s, const struct tmb_coll_shape *p, uint32_t kind);

/* The shape of a phase among the leaders, for a leader; its root is the leader of the root's node.
 */
struct tmb_coll_shape tmb_levels_among(const struct tmb_coll_shape *c, const struct tmb_levels *l,
                                       uint32_t phase);

#endif
