/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 7 */
/* again: TOMBOLO_WAIT=block TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 02.8: GASNET_BLOCKUNTIL on a word that no handler changes, but a put of a peer or a plain
 * store through a mapped segment: the waiter sees it although the other rank then stays outside of
 * the library, and no message comes.
 */
#include "job.h"

enum { ROUNDS = 12, LIMIT_MS = 20000 };

/* Changes the partner's word by one of several methods. */
static void change(gex_Rank_t partner, uint64_t value) {
  void *there = job.peer[partner];
  void *mapped = NULL;
  if (value % 3 == 0) gex_Segment_QueryBound(job.tm, partner, NULL, &mapped, NULL);
  if (mapped)
    __atomic_store_n((uint64_t *)mapped, value, __ATOMIC_RELEASE);
  else if (value % 3 == 1)
    gex_RMA_PutBlockingVal(job.tm, partner, there, value, sizeof value, 0);
  else
    gex_RMA_PutBlocking(job.tm, partner, there, &value, sizeof value, 0);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  oob_open();
  volatile uint64_t *const word = (volatile uint64_t *)(void *)job.base;
  const gex_Rank_t partner = job.rank ^ 1u;
  job_barrier();
  for (uint64_t i = 1; partner < job.size && i <= ROUNDS; i++) {
    if (job.rank % 2) {
      GASNET_BLOCKUNTIL(*word == i);
      oob_send(partner, (int)i);
    } else {
      sleep_ms(i % 4 == 0 ? 0 : 5 * (unsigned)(i % 4)); /* the partner sleeps, or does not yet */
      change(partner, i);
      CHECK_EQ(oob_wait(LIMIT_MS), (int)i);
    }
  }
  return job_finish();
}
