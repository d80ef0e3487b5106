/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual reduction of any number of members to a power of two.
 *
 * Owns: struct tmb_fold. Included by algorithms that double or halve. Calls nothing. R.
 * Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004, LNCS 3036,
 * doi:10.1007/978-3-540-24685-5_1: with rem members above the power, of the first 2*rem members the
 * even ones sit out and give their vectors to the next one. Invariants: folded ranks ascend with
 * ranks, and stand for neighbouring ones, so operands stay in order.
 */
#ifndef TMB_COLL_FOLD_H
#define TMB_COLL_FOLD_H

#include "coll/schedule/shape.h"

/* The members that take part in a power of two. */
struct tmb_fold {
  uint32_t power; /* largest power of two that is at most the size */
  uint32_t rem;   /* members above it */
  uint32_t rank;  /* of this member among the `power`; UINT32_MAX when it sits out */
};

static inline struct tmb_fold tmb_fold_of(const struct tmb_coll_shape *c) {
  struct tmb_fold f = {.power = 1};
  while (f.power <= c->size / 2) f.power *= 2;
  f.rem = c->size - f.power;
  f.rank = c->rank >= 2 * f.rem ? c->rank - f.rem : c->rank % 2 ? c->rank / 2 : UINT32_MAX;
  return f;
}

/* Index of the member with a folded rank. */
static inline uint32_t tmb_fold_member(const struct tmb_fold *f, uint32_t rank) {
  return rank < f->rem ? 2 * rank + 1 : rank + f->rem;
}

/* First of the members that a folded rank stands for; f->power gives the size. */
static inline uint32_t tmb_fold_first(const struct tmb_fold *f, uint32_t rank) {
  return rank < f->rem ? 2 * rank : rank + f->rem;
}

/* Folded rank that stands for a member. */
static inline uint32_t tmb_fold_of_member(const struct tmb_fold *f, uint32_t index) {
  return index < 2 * f->rem ? index / 2 : index - f->rem;
}

#endif
