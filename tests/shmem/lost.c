/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 5 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/* A PE dies under the policy that reports it: the others learn its number, what they do towards it
 * completes, and they come to their end. */
#define GASNET_PARSYNC 1
#include <gasnetex_ext.h>
#include <shmem.h>
#include <unistd.h>

#include "check.h"

static long word;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes(), last = n - 1;
  check_set_rank((unsigned)me);
  CHECK_EQ(gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT), GASNET_OK);
  if (me == last) _exit(0);
  while (gexx_Peer_Query((gex_Rank_t)last) != GEXX_PEER_FAILED) gasnet_AMPoll();
  shmem_p(&word, 1, last);
  shmem_atomic_inc(&word, last);
  shmem_quiet();
  shmem_barrier_all();
  if (me == 0) shmem_p(&word, 7, 0);
  if (me == 0) shmem_wait_until(&word, SHMEM_CMP_EQ, 7);
  shmem_finalize();
  return check_done();
}
