/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing an algorithm, see select.h.
 *
 * Owns: the table of algorithms, the defaults' logic. Called by plan.c and tests. Calls nothing.
 * Order of precedence: an algorithm forced by a setting, the measured table, the thresholds.
 * Invariants: an algorithm that needs a commuting operator or a node map is never returned without
 * one, whatever is forced.
 */
#include "coll/select/select.h"

#include "base/compiler.h"
#include "base/log.h"
#include "coll/algorithms/alg.h"

#include <string.h>

/* Team size up to which every member combines the data of all by itself at the full length
 * limit; the limit of larger teams is lower. */
#define SHARED_COMBINERS          4u

/* Bytes that a member shows at most where ranks outnumber processors: in exchanges, its blocks for
 * all; in all-reduces, which the last member combines for all; where every member combines the data
 * of all. Measured with 4 to 32 ranks on 2 processors and by study/compare/forms.py
 * (study/journal/0025). Beyond, other forms are faster. */
#define CROWDED_EXCHANGE          (16 * KB)
#define CROWDED_FOLD              (128 * KB)
#define CROWDED_COMBINE           (8 * KB)

/* Bytes that others send a member of a oversubscribed host before it asks for them: in an exchange
 * all together, in an all-reduce one of them. Data that find no room make their sender sleep.
 * Measured with 4, 8 and 16 ranks on 2 processors: in exchanges 96 to 120 KB are
 * fastest, and with 190 KB times triple. */
#define CROWDED_UNASKED           (128 * KB)
#define CROWDED_UNASKED_BY_ONE    (32 * KB)

/* Bytes of a block of an exchange that are sent even where reading is faster than two copies: an
 * offer and an answer take time, too. Measured with 4, 8 and 16 ranks on 2 processors of a Xeon
 * (study/journal/0025): reading 16 KiB takes 1.2, 1.3 and 0.8 of the time, 32 KiB 0.95,
 * 0.75 and 0.45. */
#define CROWDED_SENT              (16 * KB)

/* Members of a oversubscribed host up to which a member exchanges with all others at once: with
 * each round of a form in rounds, all members take turns on the processors. Measured with 8, 16 and
 * 32 ranks on 2 processors. */
#define CROWDED_FLAT              16u

/* Block of an exchange up to which two members near each other send it. Longer ones fill their own
 * caches, as each of them moves its block twice (study/journal/0025). */
#define PAIR_EXCHANGED            (1024 * KB)

/* Data of a rank up to which a team acts through leaders where the ranks of a node share memory: of
 * a broadcast, or of the blocks of a gather; of the vector of a reduction, or of the blocks of an
 * all-gather; of an exchange or scan. Measured with 8, 16 and 32 ranks on 2 pretended hosts of one
 * machine with 2 processors, over udp (docs/COLLECTIVES_INSIDE.md). An exchange of few
 * ranks has a lower limit: leaders sort all blocks, and flat it is one step. */
#define BOARD_ONE_WAY             (256 * KB)
#define BOARD_BOTH_WAYS           (1024 * KB)
#define BOARD_PAIR                (1024 * KB) /* of a broadcast over two nodes */
#define BOARD_GATHERED            (4096 * KB) /* of an all-gather of four ranks a node and more */
#define BOARD_SORTED              (64 * KB)
#define BOARD_SORTED_FEW          (32 * KB)

/* Nodes up to which the leaders broadcast and reduce long vectors along a tree without pipelines.
 * An estimate. */
#define BOARD_TREE_NODES          4u

/* Blocks that a leader moves one by one. An estimate. */
#define NODES_EXCHANGE_BLOCKS_MAX 16384u

/* Members, or nodes, up to which pipelines are chains of long segments; a longer chain loses to a
 * binomial tree. Simulated (`tombolo sim`). */
#define CHAIN_HOPS                8u

/* Segments of a broadcast for each node. Measured with 8 ranks on 2 and 4 pretended hosts, beside
 * other work: segments of 32 KiB take up to 1.3 of the processor time of these. */
#define BOARD_SEGMENTS            2u

#define KB                        UINT64_C(1024)

/* Where neither TOMBOLO_COLL_ALG nor a table decides: measured on hosts of 2 to 16 ranks, except
 * for nodes_max, which is an estimate (docs/COLLECTIVES_INSIDE.md). Lengths in bytes. */
const struct tmb_coll_tuning tmb_coll_thresholds = {
    .radix = 4,
    .segment = 32 * KB,
    .segment_far = 16 * KB,
    .flat_ranks_max = 8,
    .direct_min = 8 * KB,
    .bcast_tree_max = 16 * KB,
    .reduce_tree_max = 16 * KB,
    .allreduce_doubling_max = 8 * KB,
    .allgather_doubling_max = 64 * KB,
    .exchange_bruck_max = 128,
    .gather_tree_max = 4 * KB,
    .rscatter_halving_max = 64 * KB,
    .scan_doubling_max = 32 * KB,
    .nodes_max = 16 * KB,
    .shared_copy_max = 16 * KB,
    .shared_ranks_max = 32,
};

static const struct tmb_coll_alg algs[] = {
    {"flat", TMB_ALG_FLAT, TMB_COLL_BROADCAST, tmb_alg_bcast_flat, 0},
    {"knomial", TMB_ALG_KNOMIAL, TMB_COLL_BROADCAST, tmb_alg_bcast_knomial, 0},
    {"chain", TMB_ALG_CHAIN, TMB_COLL_BROADCAST, tmb_alg_bcast_chain, 0},
    {"tree", TMB_ALG_TREE, TMB_COLL_BROADCAST, tmb_alg_bcast_tree, 0},
    {"scatter", TMB_ALG_SCATTER, TMB_COLL_BROADCAST, tmb_alg_bcast_scatter, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_REDUCE, tmb_alg_reduce_flat, 0},
    {"binomial", TMB_ALG_BINOMIAL, TMB_COLL_REDUCE, tmb_alg_reduce_binomial, 0},
    {"chain", TMB_ALG_CHAIN, TMB_COLL_REDUCE, tmb_alg_reduce_chain, 0},
    {"tree", TMB_ALG_TREE, TMB_COLL_REDUCE, tmb_alg_reduce_tree, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_ALLREDUCE, tmb_alg_allreduce_flat, 0},
    {"doubling", TMB_ALG_DOUBLING, TMB_COLL_ALLREDUCE, tmb_alg_allreduce_doubling, 0},
    {"halving", TMB_ALG_HALVING, TMB_COLL_ALLREDUCE, tmb_alg_allreduce_halving, 0},
    {"ring", TMB_ALG_RING, TMB_COLL_ALLREDUCE, tmb_alg_allreduce_ring, TMB_ALG_COMMUTES},
    {"flat", TMB_ALG_FLAT, TMB_COLL_SCATTER, tmb_alg_scatter_flat, 0},
    {"binomial", TMB_ALG_BINOMIAL, TMB_COLL_SCATTER, tmb_alg_scatter_binomial, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_GATHER, tmb_alg_gather_flat, 0},
    {"binomial", TMB_ALG_BINOMIAL, TMB_COLL_GATHER, tmb_alg_gather_binomial, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_SCATTERV, tmb_alg_scatter_flat, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_GATHERV, tmb_alg_gather_flat, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_ALLGATHER, tmb_alg_allgather_flat, 0},
    {"ring", TMB_ALG_RING, TMB_COLL_ALLGATHER, tmb_alg_allgather_ring, 0},
    {"bruck", TMB_ALG_BRUCK, TMB_COLL_ALLGATHER, tmb_alg_allgather_bruck, 0},
    {"doubling", TMB_ALG_DOUBLING, TMB_COLL_ALLGATHER, tmb_alg_allgather_doubling, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_ALLGATHERV, tmb_alg_allgather_flat, 0},
    {"ring", TMB_ALG_RING, TMB_COLL_ALLGATHERV, tmb_alg_allgather_ring, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_EXCHANGE, tmb_alg_exchange_flat, 0},
    {"pairwise", TMB_ALG_PAIRWISE, TMB_COLL_EXCHANGE, tmb_alg_exchange_pairwise, 0},
    {"bruck", TMB_ALG_BRUCK, TMB_COLL_EXCHANGE, tmb_alg_exchange_bruck, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_EXCHANGEV, tmb_alg_exchange_flat, 0},
    {"pairwise", TMB_ALG_PAIRWISE, TMB_COLL_EXCHANGEV, tmb_alg_exchange_pairwise, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_flat, 0},
    {"pairwise", TMB_ALG_PAIRWISE, TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_pairwise,
     TMB_ALG_COMMUTES},
    {"halving", TMB_ALG_HALVING, TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_halving, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_SCAN, tmb_alg_scan_chain, 0},
    {"doubling", TMB_ALG_DOUBLING, TMB_COLL_SCAN, tmb_alg_scan_doubling, 0},
    {"flat", TMB_ALG_FLAT, TMB_COLL_EXSCAN, tmb_alg_exscan_chain, 0},
    {"doubling", TMB_ALG_DOUBLING, TMB_COLL_EXSCAN, tmb_alg_exscan_doubling, 0},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_BROADCAST, tmb_alg_bcast_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_REDUCE, tmb_alg_reduce_nodes,
     TMB_ALG_NODES | TMB_ALG_COMMUTES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_ALLREDUCE, tmb_alg_allreduce_nodes,
     TMB_ALG_NODES | TMB_ALG_COMMUTES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_SCATTER, tmb_alg_scatter_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_GATHER, tmb_alg_gather_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_ALLGATHER, tmb_alg_allgather_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_ALLGATHERV, tmb_alg_allgather_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_EXCHANGE, tmb_alg_exchange_nodes, TMB_ALG_NODES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_REDUCE_SCATTER, tmb_alg_rscatter_nodes,
     TMB_ALG_NODES | TMB_ALG_COMMUTES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_SCAN, tmb_alg_scan_nodes, TMB_ALG_NODES | TMB_ALG_RANGES},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_EXSCAN, tmb_alg_exscan_nodes,
     TMB_ALG_NODES | TMB_ALG_RANGES},
    {"board", TMB_ALG_BOARD, TMB_COLL_BROADCAST, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_REDUCE, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_ALLREDUCE, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_SCATTER, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_GATHER, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_ALLGATHER, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_EXCHANGE, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_REDUCE_SCATTER, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_SCAN, NULL, TMB_ALG_SHARED},
    {"board", TMB_ALG_BOARD, TMB_COLL_EXSCAN, NULL, TMB_ALG_SHARED},
    {"nodes", TMB_ALG_BY_NODES, TMB_COLL_SYNC, tmb_alg_sync_nodes, TMB_ALG_NODES},
    {"dissemination", TMB_ALG_DISSEMINATION, TMB_COLL_SYNC, tmb_alg_sync, 0},
};

_Static_assert(TMB_ARRAY_LEN(algs) <= TMB_COLL_ALGS_MAX, "see plan.c");

const struct tmb_coll_alg *tmb_coll_algs(uint32_t *count) {
  *count = TMB_ARRAY_LEN(algs);
  return algs;
}

const struct tmb_coll_alg *tmb_coll_alg_find(uint32_t kind, const char *name) {
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(algs); i++)
    if (algs[i].kind == kind && strcmp(algs[i].name, name) == 0) return &algs[i];
  return NULL;
}

/* Find by kind and number; NULL when there is none. */
static const struct tmb_coll_alg *alg_of(uint32_t kind, enum tmb_coll_alg_id id) {
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(algs); i++)
    if (algs[i].kind == kind && algs[i].id == id) return &algs[i];
  return NULL;
}

const char *tmb_coll_kind_name(uint32_t kind) {
  static const char *const name[TMB_COLL_KINDS] = {
      "broadcast", "reduce",   "allreduce",      "scatter",   "gather",
      "allgather", "exchange", "reduce-scatter", "scan",      "exscan",
      "scatterv",  "gatherv",  "allgatherv",     "exchangev", "sync"};
  return kind < TMB_COLL_KINDS ? name[kind] : "unknown";
}

bool tmb_coll_alg_legal(const struct tmb_coll_alg *alg, const struct tmb_coll_shape *c) {
  const bool ranges = c->nodes && c->nodes->ranges;
  if ((alg->needs & TMB_ALG_NODES) && !c->nodes) return false;
  if ((alg->needs & TMB_ALG_RANGES) && !ranges) return false;
  if ((alg->needs & TMB_ALG_SHARED) && !c->shared) return false;
  /* Over nodes that are ranges of ranks, operands stay in order. */
  return !(alg->needs & TMB_ALG_COMMUTES) || c->commutes ||
         ((alg->needs & TMB_ALG_NODES) && ranges);
}

/* Length that rules and thresholds compare; equal on all members. Of the V forms only all-gather
 * gives all lengths to all: their mean. */
static uint64_t length_of(const struct tmb_coll_shape *c) {
  uint64_t sum = 0;
  if (c->kind < TMB_COLL_SCATTERV || c->kind > TMB_COLL_EXCHANGEV) return c->bytes;
  if (c->kind != TMB_COLL_ALLGATHERV || !c->recv.bytes) return 0;
  for (uint32_t i = 0; i < c->size; i++) sum += c->recv.bytes[i];
  return (sum + c->size - 1) / c->size;
}

/* Data of a rank, its vector or all its blocks, up to which the ranks of a node act through one of
 * them. */
static uint64_t nodes_limit(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  if (!c->board) return t->nodes_max;
  switch (c->kind) {
  case TMB_COLL_BROADCAST:
    if (c->nodes->count == 2) return BOARD_PAIR;
    return c->nodes->count <= BOARD_TREE_NODES ? BOARD_ONE_WAY : t->nodes_max;
  case TMB_COLL_SCATTER:
    return c->nodes->count == 2 || c->size >= 4 * c->nodes->count ? BOARD_ONE_WAY : t->nodes_max;
  case TMB_COLL_REDUCE: return c->nodes->count <= BOARD_TREE_NODES ? BOARD_BOTH_WAYS : t->nodes_max;
  case TMB_COLL_GATHER: return BOARD_ONE_WAY;
  case TMB_COLL_ALLREDUCE: return BOARD_BOTH_WAYS;
  case TMB_COLL_ALLGATHER: return c->size >= 4 * c->nodes->count ? BOARD_GATHERED : BOARD_BOTH_WAYS;
  case TMB_COLL_EXCHANGE: return c->size > t->flat_ranks_max ? BOARD_SORTED : BOARD_SORTED_FEW;
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN: return BOARD_SORTED;
  default: return t->nodes_max;
  }
}

/* Whether the ranks of a node should act through one of them: the data of a rank must be few, for a
 * leader handles those of its whole node. */
static bool by_nodes(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t,
                     uint64_t length) {
  const struct tmb_coll_alg *alg = alg_of(c->kind, TMB_ALG_BY_NODES);
  if (!t->nodes_max || !alg || !tmb_coll_alg_legal(alg, c)) return false;
  switch (c->kind) {
  case TMB_COLL_EXCHANGE: /* bounds the number of steps of a leader */
    if ((uint64_t)c->nodes->largest * c->size > NODES_EXCHANGE_BLOCKS_MAX) return false;
    /* fallthrough */
  case TMB_COLL_SCATTER:
  case TMB_COLL_GATHER:
  case TMB_COLL_ALLGATHER:
  case TMB_COLL_ALLGATHERV:
  case TMB_COLL_REDUCE_SCATTER: return length <= nodes_limit(c, t) / c->size;
  default: return length <= nodes_limit(c, t);
  }
}

/* Whether a pipeline from rank to rank, or from node to node, is over before one along a binary
 * tree, which sends everything twice: hops + segments against 2 (log hops + segments) steps. in
 * segment: bytes. */
static bool chain_is_short(const struct tmb_coll_shape *c, uint64_t segment) {
  const uint64_t hops = c->nodes ? c->nodes->count : c->size;
  uint64_t log = 0;
  while (UINT64_C(1) << log < hops) log++;
  return hops <= CHAIN_HOPS || hops <= c->bytes / segment + 2 * log;
}

static enum tmb_coll_alg_id broadcast_by_threshold(const struct tmb_coll_shape *c,
                                                   const struct tmb_coll_tuning *t) {
  /* Receivers read in the sender's memory, all concurrently. Of several hosts one may forbid that,
   * and the others do not know. */
  const bool pulled = c->bytes > c->pull && !c->far;
  if (pulled && c->size <= t->flat_ranks_max) return TMB_ALG_FLAT;
  if (c->size == 2 || c->bytes <= t->bcast_tree_max) return TMB_ALG_KNOMIAL;
  return chain_is_short(c, t->segment_far) ? TMB_ALG_CHAIN : TMB_ALG_TREE;
}

static enum tmb_coll_alg_id reduce_by_threshold(const struct tmb_coll_shape *c,
                                                const struct tmb_coll_tuning *t) {
  if (c->bytes <= t->reduce_tree_max) return TMB_ALG_BINOMIAL;
  return chain_is_short(c, t->segment_far) ? TMB_ALG_CHAIN : TMB_ALG_TREE;
}

static enum tmb_coll_alg_id allreduce_by_threshold(const struct tmb_coll_shape *c,
                                                   const struct tmb_coll_tuning *t) {
  /* Two members that read each other's memory pass over the data once; halving does so twice. */
  const bool pair = c->size == 2 && c->bytes > c->pull && !c->far && !c->crowded;
  return pair || c->bytes <= t->allreduce_doubling_max ? TMB_ALG_DOUBLING : TMB_ALG_HALVING;
}

static enum tmb_coll_alg_id allgather_by_threshold(const struct tmb_coll_shape *c,
                                                   const struct tmb_coll_tuning *t) {
  const bool few = c->bytes * c->size <= t->allgather_doubling_max;
  /* Around a ring a block enters a node once; flat, once for each member of the node. */
  if (c->size <= t->flat_ranks_max && (few || !c->nodes)) return TMB_ALG_FLAT;
  return few ? TMB_ALG_DOUBLING : TMB_ALG_RING;
}

/* In doubling every member sends its whole vector once for each power of two below the size. A
 * chain sends it once, in segments: members + segments against log members * segments steps. Inside
 * a host where each member has a processor both take the same time. */
static enum tmb_coll_alg_id scan_by_threshold(const struct tmb_coll_shape *c,
                                              const struct tmb_coll_tuning *t) {
  uint64_t log = 0;
  while (UINT64_C(1) << log < c->size) log++;
  const bool chain = (c->far || c->crowded) && log > 1 && c->bytes > t->scan_doubling_max &&
                     c->size <= (log - 1) * (c->bytes / t->segment_far);
  return chain ? TMB_ALG_FLAT : TMB_ALG_DOUBLING;
}

/* The algorithm that the thresholds give. */
static enum tmb_coll_alg_id by_threshold(const struct tmb_coll_shape *c,
                                         const struct tmb_coll_tuning *t, uint64_t length) {
  if (c->nodes && by_nodes(c, t, length)) return TMB_ALG_BY_NODES;
  switch (c->kind) {
  case TMB_COLL_BROADCAST: return broadcast_by_threshold(c, t);
  case TMB_COLL_REDUCE: return reduce_by_threshold(c, t);
  case TMB_COLL_ALLREDUCE: return allreduce_by_threshold(c, t);
  case TMB_COLL_SCATTER:
  case TMB_COLL_GATHER: return c->bytes <= t->gather_tree_max ? TMB_ALG_BINOMIAL : TMB_ALG_FLAT;
  case TMB_COLL_ALLGATHER: return allgather_by_threshold(c, t);
  case TMB_COLL_EXCHANGE:
    if (c->size <= t->flat_ranks_max) return TMB_ALG_FLAT;
    if (c->crowded && !c->far && c->size <= CROWDED_FLAT) return TMB_ALG_FLAT;
    return c->bytes <= t->exchange_bruck_max ? TMB_ALG_BRUCK : TMB_ALG_PAIRWISE;
  case TMB_COLL_REDUCE_SCATTER:
    if (c->bytes * c->size <= t->rscatter_halving_max) return TMB_ALG_HALVING;
    return c->commutes ? TMB_ALG_PAIRWISE : TMB_ALG_FLAT;
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN: return scan_by_threshold(c, t);
  case TMB_COLL_ALLGATHERV: return TMB_ALG_RING;
  case TMB_COLL_EXCHANGEV: return TMB_ALG_PAIRWISE;
  case TMB_COLL_SYNC: return TMB_ALG_DISSEMINATION;
  default: return TMB_ALG_FLAT;
  }
}

/* Whether two members near each other send what one has for the other. */
static bool pair_sends(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  if (!t->pairs_near || c->size != 2 || c->crowded || c->far) return false;
  return c->kind == TMB_COLL_BROADCAST || c->kind == TMB_COLL_SCATTER ||
         (c->kind == TMB_COLL_EXCHANGE && c->bytes <= PAIR_EXCHANGED);
}

void tmb_coll_select_lengths(struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  const bool exchange = c->kind == TMB_COLL_EXCHANGE;
  if (pair_sends(c, t)) {
    c->pull = UINT64_MAX;
    c->eager = TMB_MIN(c->eager, t->shared_copy_max);
  }
  if (!(exchange || c->kind == TMB_COLL_ALLREDUCE) || !c->crowded || c->far || c->size < 2) return;
  c->pull = exchange && t->crowded_read ? TMB_MAX(c->pull, CROWDED_SENT) : UINT64_MAX;
  c->eager = TMB_MIN(c->eager, exchange ? CROWDED_UNASKED / (c->size - 1) : CROWDED_UNASKED_BY_ONE);
}

static const struct tmb_coll_rule *by_rule(const struct tmb_coll_shape *c,
                                           const struct tmb_coll_tuning *t, uint64_t length) {
  for (uint32_t i = 0; i < t->rule_count; i++) {
    const struct tmb_coll_rule *r = &t->rules[i];
    if (r->kind == c->kind && c->size >= r->size_min && c->size <= r->size_max &&
        length <= r->bytes && tmb_coll_alg_legal(r->alg, c))
      return r;
  }
  return NULL;
}

/* Bytes that a member shows at most where every member combines the data of all: work that grows
 * with the team, while algorithms with messages divide it among the members. */
static uint64_t combine_limit(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  return c->size <= SHARED_COMBINERS ? t->shared_max : t->shared_max * SHARED_COMBINERS / c->size;
}

/* Bytes that a member shows at most where ranks outnumber processors. */
static uint64_t crowded_limit(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  switch (c->kind) {
  case TMB_COLL_ALLREDUCE:
    if (c->folds) return CROWDED_FOLD;
    /* fallthrough */
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN:
    return TMB_MAX(combine_limit(c, t), c->size <= SHARED_COMBINERS ? 0 : CROWDED_COMBINE);
  case TMB_COLL_SCATTER:
  case TMB_COLL_REDUCE_SCATTER: return t->shared_max;
  case TMB_COLL_EXCHANGE: return CROWDED_EXCHANGE;
  default: return UINT64_MAX;
  }
}

/* The limit of two members with a processor each; 0: none of its own. */
static uint64_t pair_limit(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  switch (c->kind) {
  case TMB_COLL_GATHER:
    /* Where slots are filled by ordinary stores and the root can read the other's memory, reading
     * takes half of the time: 32 KiB 4.4 us in place of 8.9, 1 MiB half of the processor time. */
    if (!t->shared_near && !t->shared_streams && c->pull != UINT64_MAX) return t->shared_copy_max;
    /* fallthrough */
  case TMB_COLL_REDUCE:
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN:
    /* One only reads or combines what the other shows, and both go on at once: up to 4 MiB near
     * ones take 0.3 to 0.5 of the time that messages take, far ones 0.7 to 1 (study/journal/0025).
     */
    return UINT64_MAX;
  case TMB_COLL_REDUCE_SCATTER:
    if (t->shared_near) return UINT64_MAX;
    /* fallthrough */
  case TMB_COLL_ALLREDUCE:
    /* Each reads the other's data once. Far ones wait for each line of what is shown: messages take
     * 0.54 to 0.74 of the time from 16 to 64 KiB. */
    return t->shared_far && c->pull != UINT64_MAX ? t->shared_copy_max : 0;
  default: return 0;
  }
}

/* Bytes that a member shows in shared memory at most. in c->size: at least 2. */
static uint64_t shared_limit(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  const bool reads = c->size == 2 && c->pull != UINT64_MAX;
  if (t->shared_near && c->size <= SHARED_COMBINERS && !reads) return UINT64_MAX;
  if (t->shared_long) return crowded_limit(c, t);
  const uint64_t pair = t->shared_pairs && c->size == 2 ? pair_limit(c, t) : 0;
  if (pair) return pair;
  switch (c->kind) {
  case TMB_COLL_ALLREDUCE:
  case TMB_COLL_SCAN:
  case TMB_COLL_EXSCAN: return combine_limit(c, t);
  case TMB_COLL_EXCHANGE:
  case TMB_COLL_ALLGATHER:
    /* Every member copies its data into its row and then copies all rows out: twice the copying
     * of a direct read, with nothing to overlap it. */
    return c->pull == UINT64_MAX ? t->shared_max : TMB_MIN(t->shared_max, t->shared_copy_max);
  case TMB_COLL_BROADCAST:
    /* Both copies go on at once, and neither waits for lines of another processor's cache. */
    if (t->shared_streams && c->size <= SHARED_COMBINERS) return UINT64_MAX;
    /* Twice the copying of a direct read, where few read the root's memory at once. */
    if (c->pull != UINT64_MAX && c->size <= SHARED_COMBINERS)
      return TMB_MIN(t->shared_max, t->shared_copy_max);
    break;
  default: break;
  }
  return t->shared_max;
}

bool tmb_coll_select_shared(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t,
                            uint64_t shown, struct tmb_coll_choice *choice) {
  const struct tmb_coll_rule *rule = NULL;
  const struct tmb_coll_alg *alg = t->forced[c->kind].alg;
  enum tmb_coll_reason reason = TMB_CHOICE_FORCED;
  if (TMB_UNLIKELY(!alg && t->rule_count) && (rule = by_rule(c, t, c->bytes)) != NULL) {
    alg = rule->alg;
    reason = TMB_CHOICE_RULE;
  }
  const bool is = alg ? alg->needs & TMB_ALG_SHARED
                      : c->size <= t->shared_ranks_max && shown <= shared_limit(c, t);
  if (TMB_UNLIKELY(choice != NULL) && is)
    *choice = (struct tmb_coll_choice){.alg = alg_of(c->kind, TMB_ALG_BOARD),
                                       .reason = alg ? reason : TMB_CHOICE_THRESHOLD,
                                       .line = rule ? rule->line : 0};
  return is;
}

/* Bytes of a segment of a pipeline. Where the members of a node share memory a broadcast has few,
 * long ones: each segment wakes all of them. */
static uint64_t segment_of(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t) {
  const uint64_t hops = c->nodes ? c->nodes->count : c->size;
  const uint64_t segment = hops <= CHAIN_HOPS ? t->segment : t->segment_far;
  if (c->kind != TMB_COLL_BROADCAST || !c->nodes || !c->board) return segment;
  return TMB_MAX(segment, TMB_ALIGN_UP(c->bytes / (BOARD_SEGMENTS * hops), 4 * KB));
}

struct tmb_coll_choice tmb_coll_select(const struct tmb_coll_shape *c,
                                       const struct tmb_coll_tuning *t) {
  const uint64_t length = length_of(c);
  const struct tmb_coll_forced *forced = &t->forced[c->kind];
  if (forced->alg && tmb_coll_alg_legal(forced->alg, c))
    return (struct tmb_coll_choice){forced->alg, forced->radix ? forced->radix : t->radix,
                                    forced->segment ? forced->segment : t->segment,
                                    TMB_CHOICE_FORCED, 0};
  const struct tmb_coll_rule *rule = by_rule(c, t, length);
  if (rule)
    return (struct tmb_coll_choice){rule->alg, rule->radix, rule->segment, TMB_CHOICE_RULE,
                                    rule->line};
  const enum tmb_coll_alg_id id = by_threshold(c, t, length);
  const struct tmb_coll_alg *alg = alg_of(c->kind, id);
  if (!alg) tmb_bug("no algorithm %d for %s", (int)id, tmb_coll_kind_name(c->kind));
  return (struct tmb_coll_choice){alg, t->radix, segment_of(c, t), TMB_CHOICE_THRESHOLD, 0};
}
