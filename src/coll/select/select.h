/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing an algorithm.
 *
 * Owns: struct tmb_coll_choice, struct tmb_coll_tuning, the table of algorithms. Called by plan.c
 * and tests. Calls nothing but the table. Choosing is a pure function of the shape and the tuning,
 * so that all members choose alike. Invariants: every algorithm of a kind is legal for every shape,
 * except for its needs (tmb_coll_alg_legal).
 */
#ifndef TMB_COLL_SELECT_H
#define TMB_COLL_SELECT_H

#include "coll/schedule/shape.h"

enum {
  TMB_ALG_COMMUTES = 1, /* an operator that commutes; with NODES also any, if nodes are ranges */
  TMB_ALG_NODES = 2,    /* a node map */
  TMB_ALG_RANGES = 4,   /* each node is a range of ranks */
  TMB_ALG_SHARED =
      8 /* the team has shared memory; such an algorithm has no schedule, see shared.h */
};

/* Algorithms, each of one or more kinds of collectives. */
enum tmb_coll_alg_id {
  TMB_ALG_FLAT,
  TMB_ALG_KNOMIAL,
  TMB_ALG_CHAIN,
  TMB_ALG_TREE,
  TMB_ALG_SCATTER,
  TMB_ALG_BINOMIAL,
  TMB_ALG_DOUBLING,
  TMB_ALG_HALVING,
  TMB_ALG_RING,
  TMB_ALG_BRUCK,
  TMB_ALG_PAIRWISE,
  TMB_ALG_BY_NODES,
  TMB_ALG_BOARD,
  TMB_ALG_DISSEMINATION,
};

struct tmb_coll_alg {
  const char *name; /* as in settings and tables; one for each id */
  enum tmb_coll_alg_id id;
  uint32_t kind;
  tmb_coll_alg_fn *fn; /* NULL: TMB_ALG_SHARED */
  unsigned needs;      /* TMB_ALG_* */
};

#define TMB_COLL_ALGS_MAX 64u

/* All algorithms; [*count], at most TMB_COLL_ALGS_MAX. */
const struct tmb_coll_alg *tmb_coll_algs(uint32_t *count);

/* Find by kind and name; NULL when there is none. */
const struct tmb_coll_alg *tmb_coll_alg_find(uint32_t kind, const char *name);

/* Whether an algorithm works for this operator and node map. */
bool tmb_coll_alg_legal(const struct tmb_coll_alg *alg, const struct tmb_coll_shape *c);

/* Name of a kind, as in settings and tables: "broadcast". */
const char *tmb_coll_kind_name(uint32_t kind);

/* Jobs that rules hold for, or, with equal ends, a job: the conduit to other hosts ("" for any,
 * "none" for a job on one host), how many hosts, most ranks of a host. */
struct tmb_coll_site {
  char network[16];
  uint32_t hosts[2], near[2]; /* least, most */
};

/* One row of a tuning table: up to `bytes` use this. Rows of a kind ascend. */
struct tmb_coll_rule {
  struct tmb_coll_site site;
  uint32_t kind, size_min, size_max;
  uint64_t bytes; /* of the vector or block; allgatherv: mean block; other V forms: 0 is compared */
  const struct tmb_coll_alg *alg;
  uint32_t radix;
  uint64_t segment;
  uint32_t line; /* of the table */
};

/* An algorithm that a setting forces. */
struct tmb_coll_forced {
  const struct tmb_coll_alg *alg; /* NULL: none */
  uint32_t radix;                 /* 0: the default */
  uint64_t segment;               /* bytes; 0: the default */
};

/* Input of the choice besides the shape; equal on all ranks. */
struct tmb_coll_tuning {
  struct tmb_coll_forced forced[TMB_COLL_KINDS]; /* by TOMBOLO_COLL_ALG */
  const struct tmb_coll_rule *rules;             /* [rule_count] measured, or NULL */
  uint32_t rule_count;
  uint32_t radix;
  uint32_t flat_ranks_max;
  uint64_t segment, segment_far; /* bytes: of pipelines through a few, and through many members */
  uint64_t eager, direct_min;
  uint64_t shared_max; /* bytes that a member shows in shared memory at most */
  bool shared_long;    /* ranks outnumber processors: data of any length are shown, with limits for
                          those that show a block for each member or combine all data */
  bool crowded_read;   /* there long blocks of exchanges are read in the sender's memory */
  bool shared_near;    /* whether teams of few ranks have no limit: their caches are near */
  bool pairs_near;     /* whether teams of two send long data rather than read them by the kernel */
  bool shared_pairs;   /* whether teams of two have limits of their own */
  bool shared_far;     /* their processors are known to be far from each other */
  bool shared_streams; /* data are shown by stores that go past the caches */
  uint64_t shared_copy_max;  /* limit for all-gather and exchange where long messages can be read in
                               the sender's memory */
  uint32_t shared_ranks_max; /* largest team that uses its shared memory */
  uint64_t bcast_tree_max, reduce_tree_max, allreduce_doubling_max, allgather_doubling_max,
      exchange_bruck_max, gather_tree_max, rscatter_halving_max,
      scan_doubling_max; /* bytes up to which the first of the two forms in the name is used */
  bool verbose;          /* announce which algorithms are used */
  uint64_t nodes_max;    /* data of a rank up to which teams over several nodes use leaders */
};

/* Values where no setting and no table says otherwise; without those read from settings. */
extern const struct tmb_coll_tuning tmb_coll_thresholds;

enum tmb_coll_reason { TMB_CHOICE_FORCED, TMB_CHOICE_RULE, TMB_CHOICE_THRESHOLD };

struct tmb_coll_choice {
  const struct tmb_coll_alg *alg;
  uint32_t radix;
  uint64_t segment;
  enum tmb_coll_reason reason;
  uint32_t line; /* of the table, for a rule */
};

/* Whether a collective that could be done over the team's shared memory is. in shown: bytes that a
 * member would show. out choice: the algorithm and why, or NULL. */
bool tmb_coll_select_shared(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t,
                            uint64_t shown, struct tmb_coll_choice *choice);

/* Adapt two lengths to the members of an oversubscribed host, and to two whose processors are near:
 * the one from which a message waits for its receiver, and the one from which the receiver reads it
 * in the sender's memory. There a copy into a ring, in the cache, and out of it often takes less
 * time than the kernel's walk through page tables. Data in a mapped segment are offered all the
 * same, once their receiver is ready (send.c). in,out c: equal on all members. */
void tmb_coll_select_lengths(struct tmb_coll_shape *c, const struct tmb_coll_tuning *t);

/* Choose the algorithm of a collective that is done with messages. */
struct tmb_coll_choice tmb_coll_select(const struct tmb_coll_shape *c,
                                       const struct tmb_coll_tuning *t);

#endif
