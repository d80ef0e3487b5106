/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shape of a collective: all that its schedule depends on.
 *
 * Owns: struct tmb_coll_shape, the kinds and the algorithms' names. Included by select.c,
 * algorithms, engine and tests. Calls nothing. A shape names the members by their index in a group,
 * so that a two-level algorithm is a sequence of ordinary ones over groups. Invariants: equal
 * shapes give equal schedules; everything in it except rank, the buffers, the counts of V forms and
 * `crowded` is equal on all members; addresses are no part of it.
 */
#ifndef TMB_COLL_SHAPE_H
#define TMB_COLL_SHAPE_H

#include "coll/schedule/nodes.h"
#include "coll/schedule/schedule.h"

enum tmb_coll_kind {
  TMB_COLL_BROADCAST,
  TMB_COLL_REDUCE,
  TMB_COLL_ALLREDUCE,
  TMB_COLL_SCATTER,
  TMB_COLL_GATHER,
  TMB_COLL_ALLGATHER,
  TMB_COLL_EXCHANGE,
  TMB_COLL_REDUCE_SCATTER,
  TMB_COLL_SCAN,
  TMB_COLL_EXSCAN,
  TMB_COLL_SCATTERV,
  TMB_COLL_GATHERV,
  TMB_COLL_ALLGATHERV,
  TMB_COLL_EXCHANGEV,
  TMB_COLL_SYNC, /* no data: completes when every member has called */
  TMB_COLL_KINDS
};

/* Lengths and places of the blocks of a V form, in bytes; [size] each, NULL where unused. */
struct tmb_coll_blocks {
  const uint64_t *bytes, *at;
};

struct tmb_coll_shape {
  uint32_t kind;
  uint32_t size, rank, root; /* of the group; rank and root are indices in it */
  const uint32_t *group;     /* [size] team ranks, NULL: the team itself */
  uint64_t bytes;            /* of the vector, or of one block */
  uint64_t elem;             /* bytes of an element; 1 where nothing is reduced */
  uint64_t segment;          /* bytes of a pipeline segment */
  uint64_t eager;            /* longest message that is sent before its receiver asks for it */
  uint64_t pull; /* longest message that is sent to a rank of this host; longer ones are read */
  const uint8_t *far; /* [team ranks] those on other hosts, to which all is sent; NULL: none */
  uint32_t radix;     /* of trees, at least 2 */
  uint32_t tag;       /* base of the tags of this phase */
  bool commutes;
  struct tmb_ref src, dst;
  struct tmb_coll_blocks send, recv; /* V forms */
  /* [size + 1] where blocks of different lengths begin that lie one behind another, known to all;
   * NULL: blocks of `bytes` each. Not in V forms, where no member needs them all. */
  const uint64_t *block_at;
  bool crowded; /* ranks of this host outnumber its processors; equal on all members of a node */
  bool shared;  /* the collective could be done over the team's shared memory */
  bool board;   /* what is done inside a node may be done over the memory that its members share */
  bool folds;   /* there, one member combines the data of all where ranks outnumber processors */
  const struct tmb_coll_nodes *nodes; /* of the team, where it has several; NULL: one level */
};

/* Bits of a tag that an algorithm may use; the rest distinguishes phases of two-level forms. */
#define TMB_TAG_PHASE (1u << 26)

static inline uint32_t tmb_coll_member(const struct tmb_coll_shape *c, uint32_t index) {
  return c->group ? c->group[index] : index;
}

/* Index `steps` above rank, in a circle. */
static inline uint32_t tmb_coll_up(const struct tmb_coll_shape *c, uint32_t index, uint32_t steps) {
  return (uint32_t)(((uint64_t)index + steps) % c->size);
}

/* Bytes of `count` blocks from that of member `first` on, in a circle. */
static inline uint64_t tmb_coll_span(const struct tmb_coll_shape *c, uint32_t first,
                                     uint32_t count) {
  const uint64_t *at = c->block_at;
  if (!at) return count * c->bytes;
  if (count <= c->size - first) return at[first + count] - at[first];
  return at[c->size] - at[first] + at[count - (c->size - first)] - at[0];
}

/* An algorithm: emits the schedule of c->rank. */
typedef void tmb_coll_alg_fn(struct tmb_sched *s, const struct tmb_coll_shape *c);

#endif
