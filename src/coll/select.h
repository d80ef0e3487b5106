/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing an algorithm.
 *
 * Owns: struct tmb_coll_choice, struct tmb_coll_tuning, the table of algorithms. Called by plan.c
 * and tests. Calls nothing but the table. Choosing is a pure function of the shape and the tuning,
 * so that all members choose alike. Invariants: every algorithm of a kind is legal for every shape,
 * except that those marked `commutes` need a commuting operator, and those marked `nodes` a node
 * map.
 */
#ifndef TMB_COLL_SELECT_H
#define TMB_COLL_SELECT_H

#include "coll/shape.h"

struct tmb_coll_alg {
  const char *name; /* as in settings and tables */
  uint32_t kind;
  tmb_coll_alg_fn *fn;
  bool commutes; /* only for operators that commute */
  bool nodes;    /* needs a node map */
};

/* All algorithms; [*count]. */
const struct tmb_coll_alg *tmb_coll_algs(uint32_t *count);

/* Find by kind and name; NULL when there is none. */
const struct tmb_coll_alg *tmb_coll_alg_find(uint32_t kind, const char *name);

/* Name of a kind, as in settings and tables: "broadcast". */
const char *tmb_coll_kind_name(uint32_t kind);

/* One row of a tuning table: up to `bytes` use this. Rows of a kind ascend. */
struct tmb_coll_rule {
  uint32_t kind, size_min, size_max;
  uint64_t bytes; /* of the vector or block */
  const struct tmb_coll_alg *alg;
  uint32_t radix;
  uint64_t segment;
};

/* What the choice depends on besides the shape; the same on all ranks. */
struct tmb_coll_tuning {
  const struct tmb_coll_alg *forced[TMB_COLL_KINDS]; /* by a setting, or NULL */
  const struct tmb_coll_rule *rules;                 /* [rule_count] measured, or NULL */
  uint32_t rule_count;
  uint32_t radix;
  uint32_t flat_ranks_max;
  uint64_t segment, eager, direct_min;
  uint64_t board_max[TMB_COLL_KINDS]; /* bytes that a member shows on a board at most */
  uint32_t board_ranks_max;           /* members of a team that uses its board */
  uint64_t bcast_tree_max, reduce_tree_max, allreduce_doubling_max, allgather_doubling_max,
      exchange_bruck_max, gather_tree_max; /* bytes up to which the first form is used */
};

struct tmb_coll_choice {
  const struct tmb_coll_alg *alg;
  uint32_t radix;
  uint64_t segment;
};

struct tmb_coll_choice tmb_coll_select(const struct tmb_coll_shape *c,
                                       const struct tmb_coll_tuning *t);

#endif
