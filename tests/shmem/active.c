/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Collectives of active sets: all PEs, every second one, and the last ones; pSync holds its value
 * again after each; names of OpenSHMEM 1.0. */
#include "check.h"

#include <mpp/shmem.h>
#include <string.h>

enum { COUNT = 5, MOST = 16 };
static long sync_a[_SHMEM_BARRIER_SYNC_SIZE], sync_b[SHMEM_REDUCE_SYNC_SIZE];
static long long from[MOST * COUNT * 3], to[MOST * COUNT * 3], work[COUNT];
static int start, logarithm, size, rank; /* of the set under test */

static void check_sync(void) {
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) CHECK_EQ(sync_b[i], SHMEM_SYNC_VALUE);
  shmem_barrier(start, logarithm, size, sync_a);
}

static void check_move(void) {
  for (int i = 0; i < MOST * COUNT; i++) from[i] = rank * 100 + i, to[i] = -1;
  shmem_barrier(start, logarithm, size, sync_a);
  const int root = size - 1;
  shmem_broadcast64(to, from, COUNT, root, start, logarithm, size, sync_b);
  for (int i = 0; i < COUNT; i++) CHECK_EQ(to[i], rank == root ? -1 : root * 100 + i);
  check_sync();
  shmem_fcollect64(to, from, COUNT, start, logarithm, size, sync_b);
  for (int i = 0; i < size * COUNT; i++) CHECK_EQ(to[i], i / COUNT * 100 + i % COUNT);
  check_sync();
  shmem_collect32(to, from, 2 * (size_t)(rank % 3), start, logarithm, size, sync_b);
  for (int pe = 0, k = 0; pe < size; pe++)
    for (int i = 0; i < pe % 3; i++) CHECK_EQ(to[k++], pe * 100 + i);
  check_sync();
  shmem_alltoall64(to, from, COUNT, start, logarithm, size, sync_b);
  for (int i = 0; i < size * COUNT; i++)
    CHECK_EQ(to[i], i / COUNT * 100 + rank * COUNT + i % COUNT);
  check_sync();
  shmem_alltoalls64(to, from, 3, 1, COUNT, start, logarithm, size, sync_b);
  for (int i = 0; i < size * COUNT; i++)
    CHECK_EQ(to[3 * i], i / COUNT * 100 + rank * COUNT + i % COUNT);
  check_sync();
}

static void check_reduce(void) {
  for (int i = 0; i < COUNT; i++) from[i] = rank + i;
  shmem_longlong_sum_to_all(to, from, COUNT, start, logarithm, size, work, sync_b);
  for (int i = 0; i < COUNT; i++) CHECK_EQ(to[i], size * (size - 1) / 2 + size * i);
  check_sync();
  shmem_longlong_max_to_all(from, from, COUNT, start, logarithm, size, work, sync_b);
  for (int i = 0; i < COUNT; i++) CHECK_EQ(from[i], size - 1 + i);
  check_sync();
  static double d[2], e[2], pd[2];
  d[0] = rank + 1, d[1] = 2;
  shmem_double_prod_to_all(e, d, 2, start, logarithm, size, pd, sync_b);
  CHECK(e[1] == (double)(1 << size));
  check_sync();
  static short s[1], t[1], ps[2];
  s[0] = (short)(1 << rank);
  shmem_short_or_to_all(t, s, 1, start, logarithm, size, ps, sync_b);
  CHECK_EQ(t[0], (1 << size) - 1);
  check_sync();
  static float _Complex c[1], f[1], pc[2];
  c[0] = 1;
  shmem_complexf_sum_to_all(f, c, 1, start, logarithm, size, pc, sync_b);
  CHECK(f[0] == (float)size);
  check_sync();
}

static void check_set(int first, int log_stride, int count) {
  const int away = _my_pe() - first, stride = 1 << log_stride;
  if (away < 0 || away % stride || away / stride >= count) return;
  start = first, logarithm = log_stride, size = count, rank = away / stride;
  check_move();
  check_reduce();
  for (int i = 0; i < 100; i++) shmem_sync(start, logarithm, size, sync_a);
}

int main(void) {
  start_pes(0);
  start_pes(0); /* nothing more */
  const int n = _num_pes();
  check_set_rank((unsigned)_my_pe());
  long *p = shmalloc(64);
  CHECK(p != NULL);
  p = shrealloc(p, 128);
  shfree(p);
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync_a[i] = sync_b[i] = _SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  check_set(0, 0, n);
  shmem_barrier_all(); /* another set uses pSync */
  check_set(0, 1, (n + 1) / 2);
  shmem_barrier_all();
  check_set(n / 2, 0, n - n / 2);
  shmem_barrier_all();
  shmem_udcflush();
  return check_done();
}
