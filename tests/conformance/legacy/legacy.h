/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of a test of the GASNet-1 layer: gasnet_init, gasnet_attach, segment table, barrier, end.
 * legacy_init.c does these steps by hand instead.
 */
#ifndef TMB_TEST_LEGACY_H
#define TMB_TEST_LEGACY_H

#include <gasnet.h>

#include "check.h"

struct g1_job {
  gasnet_node_t rank, size;
  gasnet_seginfo_t *seg; /* [size] segments as their owners see them */
  char *base;            /* own segment */
};
static struct g1_job g1;

static GEXX_UNUSED void g1_barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  CHECK_EQ(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

/* Fills g1; ends the program on failure. in segsize: the same on all ranks. */
static GEXX_UNUSED void g1_start(int *argc, char ***argv, gasnet_handlerentry_t *table, int entries,
                                 uintptr_t segsize) {
  REQUIRE(gasnet_init(argc, argv) == GASNET_OK);
  g1.rank = gasnet_mynode();
  g1.size = gasnet_nodes();
  check_set_rank(g1.rank);
  REQUIRE(gasnet_attach(table, entries, segsize, 0) == GASNET_OK);
  gasnet_seginfo_t *const seg = (gasnet_seginfo_t *)check_room(g1.size, sizeof *seg);
  g1.seg = seg;
  REQUIRE(gasnet_getSegmentInfo(g1.seg, (int)g1.size) == GASNET_OK);
  for (gasnet_node_t r = 0; r < g1.size; r++) REQUIRE(g1.seg[r].size >= segsize);
  g1.base = (char *)g1.seg[g1.rank].addr;
  g1_barrier();
}

/* Failed here: ends the job with code 1 at once. Otherwise waits for all ranks and returns 0. */
static GEXX_UNUSED int g1_finish(void) {
  if (check_done()) gasnet_exit(1);
  g1_barrier();
  free(g1.seg);
  return 0;
}

#endif
