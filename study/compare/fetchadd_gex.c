/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetch-and-adds of Tombolo, for study/compare/fetchadd.py: remote atomics of a domain.
 *
 * Owns: the domain, addresses of the words. Compiled by fetchadd.py; not part of the build. Calls:
 * the public API, fetchadd_loop.h. Exit codes: 0 done, 1 a word does not have the sum.
 */
#define GASNET_SEQ 1
#include "fetchadd_loop.h"

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>

static gex_TM_t tm;
static gex_AD_t domain;
static void *word[2]; /* of rank 0, of the right neighbour */

static uint64_t fadd_one(int rank) {
  uint64_t old = 0;
  gex_Event_Wait(
      gex_AD_OpNB_U64(domain, &old, (gex_Rank_t)rank, word[rank != 0], GEX_OP_FADD, 1, 0, 0));
  return old;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static uint64_t sum(uint64_t value) {
  uint64_t all = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, &all, &value, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  return all;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "FADD", &argc, &argv, 0);
  const int rank = (int)gex_TM_QueryRank(tm), size = (int)gex_TM_QuerySize(tm);
  const int right = (rank + 1) % size;
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK) gasnet_exit(1);
  uint64_t *const mine = gex_Segment_QueryAddr(segment);
  *mine = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 0, &word[0], NULL, NULL, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (gex_Rank_t)right, &word[1], NULL, NULL, 0));
  gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  for (int spread = 0; spread < 2; spread++) {
    *mine = 0;
    barrier();
    const double begin = fadd_now();
    barrier();
    const uint64_t n = fadd_run(spread ? right : 0);
    barrier();
    const double took = fadd_now() - begin;
    const uint64_t all = sum(n), found = spread ? sum(*mine) : sum(rank == 0 ? *mine : 0);
    if (all != found) gasnet_exit(1);
    if (rank == 0)
      printf("%s %llu %.6f\n", spread ? "spread" : "hot", (unsigned long long)all, took);
    fflush(stdout);
    barrier();
  }
  gasnet_exit(0);
}
