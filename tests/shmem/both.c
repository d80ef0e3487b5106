/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* OpenSHMEM beside another client of the library in one process: segments and barriers do not
 * meet. */
#include "check.h"

#define GASNET_PARSYNC 1
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <shmem.h>

static long word;

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
  check_set_rank((unsigned)me);
  CHECK_EQ(gexx_Client_Join(&client, &ep, &tm, "OTHER", &argc, &argv, 0), GASNET_OK);
  CHECK_EQ(gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE), GASNET_OK);
  CHECK_EQ(gex_TM_QueryRank(tm), me);
  void *there = NULL;
  CHECK_EQ(gex_Segment_QueryBound(tm, (gex_Rank_t)right, &there, NULL, NULL), 0);
  const int value = 100 + me;
  gex_RMA_PutBlocking(tm, (gex_Rank_t)right, there, &value, sizeof value, 0);
  shmem_p(&word, 200L + me, right);
  gex_Coll_BarrierBlocking(tm, 0);
  shmem_barrier_all();
  CHECK_EQ(*(int *)gex_Segment_QueryAddr(segment), 100 + (me + n - 1) % n);
  CHECK_EQ(word, 200 + (me + n - 1) % n);
  shmem_finalize();
  return check_done();
}
