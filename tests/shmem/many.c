/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 64 */
/* 64 PEs on few processors: barriers, a sum and a ring of signals end. */
#include "check.h"

#include <shmem.h>

static uint64_t token;
static long sum, one = 1;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  for (int k = 0; k < 20; k++) shmem_barrier_all();
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
  CHECK_EQ(sum, n);
  for (uint64_t k = 1; k <= 5; k++) {
    if (me > 0) shmem_signal_wait_until(&token, SHMEM_CMP_GE, k);
    shmem_signal_set(&token, k, (me + 1) % n);
    if (me == 0) shmem_signal_wait_until(&token, SHMEM_CMP_GE, k);
  }
  shmem_barrier_all();
  CHECK_EQ(token, 5);
  shmem_finalize();
  return check_done();
}
