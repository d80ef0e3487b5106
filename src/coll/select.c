/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing an algorithm, see select.h.
 *
 * Owns: the table of algorithms, the defaults' logic. Called by plan.c and tests. Calls nothing.
 * Order of precedence: an algorithm forced by a setting, the measured table, the thresholds.
 * Invariants: an algorithm that needs a commuting operator or a node map is never returned without
 * one, whatever is forced.
 */
#include "coll/select.h"

#include "base/compiler.h"
#include "coll/alg.h"

#include <string.h>

static const struct tmb_coll_alg algs[] = {
    {"flat", TMB_COLL_BROADCAST, tmb_alg_bcast_flat, false, false},
    {"knomial", TMB_COLL_BROADCAST, tmb_alg_bcast_knomial, false, false},
    {"chain", TMB_COLL_BROADCAST, tmb_alg_bcast_chain, false, false},
    {"scatter", TMB_COLL_BROADCAST, tmb_alg_bcast_scatter, false, false},
    {"flat", TMB_COLL_REDUCE, tmb_alg_reduce_flat, false, false},
    {"binomial", TMB_COLL_REDUCE, tmb_alg_reduce_binomial, false, false},
    {"chain", TMB_COLL_REDUCE, tmb_alg_reduce_chain, false, false},
    {"flat", TMB_COLL_ALLREDUCE, tmb_alg_allreduce_flat, false, false},
    {"doubling", TMB_COLL_ALLREDUCE, tmb_alg_allreduce_doubling, false, false},
    {"halving", TMB_COLL_ALLREDUCE, tmb_alg_allreduce_halving, false, false},
    {"ring", TMB_COLL_ALLREDUCE, tmb_alg_allreduce_ring, true, false},
    {"flat", TMB_COLL_SCATTER, tmb_alg_scatter_flat, false, false},
    {"binomial", TMB_COLL_SCATTER, tmb_alg_scatter_binomial, false, false},
    {"flat", TMB_COLL_GATHER, tmb_alg_gather_flat, false, false},
    {"binomial", TMB_COLL_GATHER, tmb_alg_gather_binomial, false, false},
    {"flat", TMB_COLL_SCATTERV, tmb_alg_scatter_flat, false, false},
    {"flat", TMB_COLL_GATHERV, tmb_alg_gather_flat, false, false},
    {"flat", TMB_COLL_ALLGATHER, tmb_alg_allgather_flat, false, false},
    {"ring", TMB_COLL_ALLGATHER, tmb_alg_allgather_ring, false, false},
    {"bruck", TMB_COLL_ALLGATHER, tmb_alg_allgather_bruck, false, false},
    {"doubling", TMB_COLL_ALLGATHER, tmb_alg_allgather_doubling, false, false},
    {"flat", TMB_COLL_ALLGATHERV, tmb_alg_allgather_flat, false, false},
    {"ring", TMB_COLL_ALLGATHERV, tmb_alg_allgather_ring, false, false},
    {"flat", TMB_COLL_EXCHANGE, tmb_alg_exchange_flat, false, false},
    {"pairwise", TMB_COLL_EXCHANGE, tmb_alg_exchange_pairwise, false, false},
    {"bruck", TMB_COLL_EXCHANGE, tmb_alg_exchange_bruck, false, false},
    {"flat", TMB_COLL_EXCHANGEV, tmb_alg_exchange_flat, false, false},
    {"pairwise", TMB_COLL_EXCHANGEV, tmb_alg_exchange_pairwise, false, false},
    {"flat", TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_flat, false, false},
    {"pairwise", TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_pairwise, true, false},
    {"flat", TMB_COLL_SCAN, tmb_alg_scan_chain, false, false},
    {"doubling", TMB_COLL_SCAN, tmb_alg_scan_doubling, false, false},
    {"flat", TMB_COLL_EXSCAN, tmb_alg_exscan_chain, false, false},
    {"doubling", TMB_COLL_EXSCAN, tmb_alg_exscan_doubling, false, false},
    {"nodes", TMB_COLL_BROADCAST, tmb_alg_bcast_nodes, false, true},
    {"nodes", TMB_COLL_REDUCE, tmb_alg_reduce_nodes, true, true},
    {"nodes", TMB_COLL_ALLREDUCE, tmb_alg_allreduce_nodes, true, true},
    {"nodes", TMB_COLL_ALLGATHER, tmb_alg_allgather_nodes, false, true},
    {"nodes", TMB_COLL_SYNC, tmb_alg_sync_nodes, false, true},
    {"dissemination", TMB_COLL_SYNC, tmb_alg_sync, false, false},
};

const struct tmb_coll_alg *tmb_coll_algs(uint32_t *count) {
  *count = TMB_ARRAY_LEN(algs);
  return algs;
}

const struct tmb_coll_alg *tmb_coll_alg_find(uint32_t kind, const char *name) {
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(algs); i++)
    if (algs[i].kind == kind && strcmp(algs[i].name, name) == 0) return &algs[i];
  return NULL;
}

const char *tmb_coll_kind_name(uint32_t kind) {
  static const char *const name[TMB_COLL_KINDS] = {
      "broadcast", "reduce",   "allreduce",      "scatter",   "gather",
      "allgather", "exchange", "reduce-scatter", "scan",      "exscan",
      "scatterv",  "gatherv",  "allgatherv",     "exchangev", "sync"};
  return kind < TMB_COLL_KINDS ? name[kind] : "unknown";
}

static bool legal(const struct tmb_coll_alg *alg, const struct tmb_coll_shape *c) {
  return (!alg->commutes || c->commutes) && (!alg->nodes || c->node);
}

/* Name of the algorithm that the thresholds give. */
static const char *by_threshold(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  const bool pulled = c->bytes > c->pull; /* receivers copy, all at once */
  switch (c->kind) {
  case TMB_COLL_BROADCAST:
    if (pulled && c->size <= t->flat_ranks_max) return "flat";
    return c->size == 2 || c->bytes <= t->bcast_tree_max ? "knomial" : "chain";
  case TMB_COLL_REDUCE: return c->bytes <= t->reduce_tree_max ? "binomial" : "chain";
  case TMB_COLL_ALLREDUCE: return c->bytes <= t->allreduce_doubling_max ? "doubling" : "halving";
  case TMB_COLL_SCATTER:
  case TMB_COLL_GATHER: return c->bytes <= t->gather_tree_max ? "binomial" : "flat";
  case TMB_COLL_ALLGATHER:
    if (c->size <= t->flat_ranks_max) return "flat";
    return c->bytes * c->size <= t->allgather_doubling_max ? "doubling" : "ring";
  case TMB_COLL_EXCHANGE:
    if (c->size <= t->flat_ranks_max) return "flat";
    return c->bytes <= t->exchange_bruck_max ? "bruck" : "pairwise";
  case TMB_COLL_REDUCE_SCATTER: return c->commutes ? "pairwise" : "flat";
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN: return "doubling";
  case TMB_COLL_ALLGATHERV: return "ring";
  case TMB_COLL_EXCHANGEV: return "pairwise";
  case TMB_COLL_SYNC: return "dissemination";
  default: return "flat";
  }
}

static const struct tmb_coll_rule *by_rule(const struct tmb_coll_shape *c,
                                           const struct tmb_coll_tuning *t) {
  for (uint32_t i = 0; i < t->rule_count; i++) {
    const struct tmb_coll_rule *r = &t->rules[i];
    if (r->kind == c->kind && c->size >= r->size_min && c->size <= r->size_max &&
        c->bytes <= r->bytes && legal(r->alg, c))
      return r;
  }
  return NULL;
}

struct tmb_coll_choice tmb_coll_select(const struct tmb_coll_shape *c,
                                       const struct tmb_coll_tuning *t) {
  struct tmb_coll_choice choice = {NULL, t->radix, t->segment};
  const struct tmb_coll_alg *forced = t->forced[c->kind];
  if (forced && legal(forced, c)) {
    choice.alg = forced;
    return choice;
  }
  const struct tmb_coll_rule *rule = by_rule(c, t);
  if (rule) return (struct tmb_coll_choice){rule->alg, rule->radix, rule->segment};
  choice.alg = tmb_coll_alg_find(c->kind, by_threshold(c, t));
  if (!choice.alg) choice.alg = tmb_coll_alg_find(c->kind, "flat");
  return choice;
}
