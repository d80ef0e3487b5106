/* SPDX-License-Identifier: BSD-3-Clause */
/* Relaxed puts to consecutive memory that is not mapped: they travel together, and nothing that
 * reads or writes the same bytes, in whatever order, sees a difference. */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_CONDUIT=loop+TOMBOLO_PLACES=cyclic:2+TOMBOLO_STATS=1 */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>

#define N 1000

shared [] double *shared parts[THREADS];
strict shared int turn[THREADS];
int gexx_Stats_Query(int kind, unsigned jobrank, uint64_t *count, uint64_t *bytes);
enum { PUTS = 3 };

/* Puts that this thread has sent, or -1 where nobody counts. */
static long puts_so_far(void) {
  uint64_t count = 0;
  return gexx_Stats_Query(PUTS, ~0u, &count, NULL) ? -1 : (long)count;
}

static void rows(void) {
  const int right = (MYTHREAD + 1) % THREADS, left = (MYTHREAD + THREADS - 1) % THREADS;
  shared [] double *there = parts[right];
  upc_barrier;
  long before = puts_so_far();
  for (int i = 0; i < N; i++) there[i] = i + right;
  upc_fence;
  const long sent = puts_so_far() - before;
  if (before >= 0 && !bupc_castable(there)) {
#ifdef __OPTIMIZE__
    CHECK(sent > 0);
    CHECK(sent <= 2 + 8 * N / 1024);
#else
    CHECK_EQ(sent, N);
#endif
  }
  before = puts_so_far();
  for (int i = N; i > 0; i--) there[i - 1] = i; /* each for itself */
  upc_fence;
  if (before >= 0 && !bupc_castable(there)) CHECK_EQ(puts_so_far() - before, N);
  upc_barrier;
  for (int i = 0; i < N; i++) CHECK_EQ(parts[MYTHREAD][i], i + 1);
  (void)left;
}

/* A put that is kept is seen by a thread that this one notifies, by every kind of notification. */
static void notified(void) {
  const int right = (MYTHREAD + 1) % THREADS;
  shared [] double *there = parts[right], *mine = parts[MYTHREAD];
  static upc_lock_t *lock;
  lock = upc_all_lock_alloc();
  for (int round = 1; round <= 20; round++) {
    for (int i = 0; i < 7; i++) there[i] = round + i;
    turn[right] = round;
    while (turn[MYTHREAD] != round) {}
    for (int i = 0; i < 7; i++) CHECK_EQ(mine[i], round + i);
    upc_barrier;
    upc_lock(lock);
    for (int i = 0; i < 5; i++) parts[0][100 + i] = parts[0][100 + i] + 1;
    upc_unlock(lock);
    upc_barrier;
    for (int i = 0; i < 5; i++) CHECK_EQ(parts[0][100 + i], round * THREADS + (i + 101));
    for (int i = 0; i < 9; i++) there[200 + i] = -round;
    upc_notify;
    upc_wait;
    for (int i = 0; i < 9; i++) CHECK_EQ(mine[200 + i], -round);
    upc_barrier;
  }
  upc_barrier;
  if (MYTHREAD == 0) upc_lock_free(lock);
}

/* Puts and gets of all sizes, against the same in private memory. */
static void mixed(void) {
  enum { BYTES = 512 };
  static unsigned char model[BYTES];
  shared [] char *there = (shared [] char *)parts[(MYTHREAD + 1) % THREADS];
  int at = 0;
  srand(7 + MYTHREAD);
  upc_memset(there, 0, BYTES);
  for (int step = 0; step < 3000; step++) {
    const int size = 1 << rand() % 4, what = rand() % 16;
    const uint64_t value = (uint64_t)rand() * 0x9e3779b97f4a7c15u;
    if (what < 4 || at + 8 > BYTES) at = rand() % (BYTES - 8);
    if (what == 15) {
      unsigned char got[8];
      upc_memget(got, there + at, 8);
      CHECK(!memcmp(got, model + at, 8));
    } else if (what == 14) {
      upc_memput(there + at, &value, 8);
      memcpy(model + at, &value, 8);
    } else if (what == 13) {
      CHECK_EQ(*(shared [] unsigned char *)(there + at), model[at]);
    } else if (what == 12) {
      upc_fence;
    } else {
      memcpy(model + at, &value, (size_t)size);
      if (size == 1) *(shared [] uint8_t *)(there + at) = (uint8_t)value;
      if (size == 2) *(shared [] uint16_t *)(there + at) = (uint16_t)value;
      if (size == 4) *(shared [] uint32_t *)(there + at) = (uint32_t)value;
      if (size == 8) *(shared [] uint64_t *)(there + at) = value;
      at += size;
    }
  }
  for (int i = 0; i < BYTES; i++) CHECK_EQ(*(shared [] unsigned char *)(there + i), model[i]);
  upc_barrier;
}

int main(void) {
  parts[MYTHREAD] = upc_alloc(N * sizeof(double));
  upc_barrier;
  rows();
  upc_barrier;
  notified();
  mixed();
  return 0;
}
