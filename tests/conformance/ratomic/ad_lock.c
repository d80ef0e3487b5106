/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=1 */
/* timeout: 60 */
/*
 * API 05.4: a lock by compare-and-swap or swap on a word of the last rank, which spins on it like
 * the others and polls nowhere else, while the holder reads and writes that rank's memory: the
 * holder is served, so the lock goes round. What it guards counts right.
 */
#include <gasnet_ratomic.h>

#include "job.h"

enum { TURNS = 100 };

static gex_AD_t ad;
static gex_Rank_t home; /* of lock and count */
static uint64_t *lock, *count;

static uint64_t swap_in(uint64_t value, int compares) {
  uint64_t old;
  const gex_OP_t op = compares ? GEX_OP_FCAS : GEX_OP_SWAP;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, home, lock, op, compares ? 0 : value, value,
                                 GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL));
  return old;
}

static uint64_t swap_in_nbi(uint64_t value) {
  uint64_t old;
  CHECK_EQ(gex_AD_OpNBI_U64(ad, &old, home, lock, GEX_OP_FCAS, 0, value, GEX_FLAG_AD_ACQ), 0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  return old;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  home = job.size - 1;
  lock = (uint64_t *)(void *)job.peer[home];
  count = lock + 1;
  if (job.rank == home) lock[0] = lock[1] = 0;
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FCAS | GEX_OP_SWAP, 0);
  job_barrier();
  for (int i = 0; i < TURNS; i++) {
    const uint64_t mine = job.rank + 1;
    while (i % 3 == 2 ? swap_in_nbi(mine) : swap_in(mine, i % 3)) {}
    const uint64_t seen = gex_RMA_GetBlockingVal(job.tm, home, count, sizeof *count, 0);
    gex_RMA_PutBlockingVal(job.tm, home, count, seen + 1, sizeof *count, 0);
    (void)swap_in(0, 0);
  }
  job_barrier();
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, home, count, sizeof *count, 0),
           (uint64_t)TURNS * job.size);
  gex_AD_Destroy(ad);
  return job_finish();
}
