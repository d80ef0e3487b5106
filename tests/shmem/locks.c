/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Locks exclude, are fair, and end with all words zero; what is written under a lock is seen by the
 * next holder. */
#include "check.h"

#include <shmem.h>
#include <stdint.h>

enum { TURNS = 40, LOCKS = 3 };
static long lock[LOCKS];
static long long count[LOCKS], served;

static void check_exclusion(int n) {
  for (int k = 0; k < TURNS; k++) {
    long *l = &lock[k % LOCKS];
    if (k % 5 == 4)
      while (shmem_test_lock(l)) {}
    else
      shmem_set_lock(l);
    const long long value = shmem_g(&count[k % LOCKS], 0);
    shmem_p(&count[k % LOCKS], value + 1, 0);
    shmem_clear_lock(l);
  }
  shmem_barrier_all();
  long long sum = 0;
  for (int k = 0; k < LOCKS; k++) sum += shmem_g(&count[k], 0);
  CHECK_EQ(sum, TURNS * n);
  for (int k = 0; k < LOCKS; k++) CHECK_EQ(lock[k], 0);
}

/* Whether PE `last` is the last that has asked: the second word on the home of the lock, which is
 * some PE, says so. */
static int has_asked(int last, int n) {
  for (int pe = 0; pe < n; pe++) {
    uint32_t words[2];
    shmem_getmem(words, &lock[0], sizeof words, pe);
    if (words[1] == (uint32_t)last + 1) return 1;
  }
  return 0;
}

/* PEs ask one after the other while PE 0 holds the lock, and get it in that order. */
static void check_order(int me, int n) {
  shmem_barrier_all();
  if (me == 0) shmem_set_lock(&lock[0]);
  shmem_barrier_all();
  if (me == 0) {
    while (!has_asked(n - 1, n)) {}
    CHECK_EQ(shmem_test_lock(&lock[0]), 1);
  } else {
    while (!has_asked(me - 1, n)) {}
    shmem_set_lock(&lock[0]);
    CHECK_EQ(shmem_atomic_fetch_inc(&served, 0), me - 1);
  }
  shmem_clear_lock(&lock[0]);
  shmem_barrier_all();
  CHECK_EQ(shmem_g(&served, 0), n - 1);
  CHECK_EQ(lock[0], 0);
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  check_exclusion(n);
  check_order(me, n);
  shmem_finalize();
  return check_done();
}
