/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* env: CONFORM_VALUE=one_two */
/*
 * API 08.3 (calls of gasnetex.h): getenv, node and segment tables, wait modes, barrier with names.
 */
#include "job.h"

static void check_tables(void) {
  gasnet_nodeinfo_t node[8];
  gasnet_seginfo_t seg[8];
  memset(node, 0x77, sizeof node);
  memset(seg, 0x77, sizeof seg);
  CHECK_EQ(gasnet_getNodeInfo(node, 8), GASNET_OK);
  CHECK_EQ(gasnet_getSegmentInfo(seg, 8), GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    CHECK(node[r].host < job.size && node[r].supernode < job.size);
    CHECK_PTR(seg[r].addr, job.peer[r]);
    CHECK_EQ(seg[r].size, job.bytes);
    if (node[r].supernode == node[job.rank].supernode) CHECK_EQ(node[r].host, node[job.rank].host);
  }
  CHECK_EQ(node[job.rank].offset, 0);
  for (gex_Rank_t r = job.size; r < 8; r++) {
    CHECK_EQ(fill_diff(&node[r], sizeof node[r], 0x77), sizeof node[r]);
    CHECK_EQ(fill_diff(&seg[r], sizeof seg[r], 0x77), sizeof seg[r]);
  }
  CHECK_EQ(gasnet_getNodeInfo(node, -1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_getSegmentInfo(seg, -1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_getNodeInfo(node, 0), GASNET_OK);
  CHECK_EQ(gasnet_getSegmentInfo(seg, 0), GASNET_OK);
}

static void check_barriers(void) {
  int id = -1;
  CHECK_EQ(gasnet_barrier(42, 0), GASNET_OK);
  CHECK_EQ(gasnet_barrier_result(&id), 0);
  CHECK_EQ(id, 42);
  gasnet_barrier_notify((int)job.rank, GASNET_BARRIERFLAG_ANONYMOUS);
  CHECK_EQ(gasnet_barrier_wait((int)job.rank, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  CHECK_CMP(gasnet_barrier_result(&id), !=, 0);
  const int named = (int)job.rank % 2;
  gasnet_barrier_notify(named, 0);
  int rc;
  while ((rc = gasnet_barrier_try(named, 0)) == GASNET_ERR_NOT_READY) {}
  CHECK_EQ(rc, job.size > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
  CHECK_EQ(
      gasnet_barrier(0, job.rank == 0 ? GASNET_BARRIERFLAG_MISMATCH : GASNET_BARRIERFLAG_ANONYMOUS),
      GASNET_ERR_BARRIER_MISMATCH);
  CHECK_EQ(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 3 * GASNET_PAGESIZE, NULL, 0);
  CHECK_STR(gasnet_getenv("CONFORM_VALUE"), "one_two");
  CHECK_PTR(gasnet_getenv("CONFORM_SURELY_UNSET"), NULL);
  CHECK_EQ(gasnet_set_waitmode(GASNET_WAIT_SPIN), GASNET_OK);
  job_barrier();
  CHECK_EQ(gasnet_set_waitmode(GASNET_WAIT_BLOCK), GASNET_OK);
  job_barrier();
  CHECK_EQ(gasnet_set_waitmode(77), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_set_waitmode(-1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK), GASNET_OK);
  check_tables();
  check_barriers();
  return job_finish();
}
