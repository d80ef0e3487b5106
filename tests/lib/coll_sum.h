/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of 64-bit words to all ranks, and whether they are right, for tests of collectives.
 *
 * Owns nothing. Included by tests that define the words of each rank. Calls: the public API,
 * check.h.
 */
#ifndef TMB_TEST_COLL_SUM_H
#define TMB_TEST_COLL_SUM_H

#include "job.h"

#include <gasnet_coll.h>

/* A client's function that adds, as GEX_OP_ADD does. */
static void sum_add(const void *x, void *y, size_t count, const void *cdata) {
  (void)cdata;
  for (size_t i = 0; i < count; i++) ((uint64_t *)y)[i] += ((const uint64_t *)x)[i];
}

/* Reduce n words of `in` to `out` and check them. in op: GEX_OP_ADD, or an operator for a client's
 * function; word: what a rank has given in a round at an index. */
static void sum_check(uint64_t *out, const uint64_t *in, size_t n, gex_OP_t op, int round,
                      uint64_t (*word)(gex_Rank_t rank, int round, size_t index)) {
  const gex_DT_t dt = op == GEX_OP_ADD ? GEX_DT_U64 : GEX_DT_USER;
  size_t bad = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, out, in, dt, 8, n, op, sum_add, NULL, 0));
  for (size_t i = 0; i < n; i++) {
    uint64_t want = 0;
    for (gex_Rank_t r = 0; r < job.size; r++) want += word(r, round, i);
    bad += out[i] != want;
  }
  CHECK_EQ(bad, 0);
}

#endif
