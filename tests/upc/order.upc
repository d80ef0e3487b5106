/* SPDX-License-Identifier: BSD-3-Clause */
/* Order of accesses (UPC 1.3 5.1.2.3, B.3): accesses of one thread to the same bytes are in order,
 * whatever their sizes; relaxed writes are there behind a strict write, a lock, a semaphore. */
/* again: TOMBOLO_TEST_SHM=0 */
#include <string.h>
#include <upc_relaxed.h>
#include "check.h"

#define N 300

struct wide {
  long a[7];
};
shared [] char *shared areas[THREADS];
shared [N] int data[N * THREADS];
strict shared int flags[THREADS];
bupc_sem_t *shared sems[THREADS];
upc_lock_t *lock;
shared long counter;

static void same_bytes(shared [] char *there) {
  shared [] long *words = (shared [] long *)there;
  shared [] int *halves = (shared [] int *)there;
  shared [] struct wide *wide = (shared [] struct wide *)there;
  for (int i = 0; i < N; i++) {
    words[i % 40] = i;
    words[i % 40] = i + 1;
    CHECK_EQ(words[i % 40], i + 1);
    halves[2 * (i % 40) + 1] = 5;
    CHECK_EQ(words[i % 40], 5L << 32 | (i + 1));
    struct wide w = wide[1];
    w.a[i % 7] = -i;
    wide[1] = w;
    CHECK_EQ(words[7 + i % 7], -i);
    words[7] = i;
    char bytes[16], set[16];
    upc_memget(bytes, there + 56, 8);
    CHECK(memcmp(bytes, &(long){i}, 8) == 0);
    upc_memset(there + 100, i, 16);
    memset(set, i, sizeof set);
    upc_memget(bytes, there + 100, 16);
    CHECK(memcmp(bytes, set, 16) == 0);
    upc_memcpy(there + 200, there + 100, 16);
    CHECK_EQ(there[207], (char)i);
    upc_handle_t h = upc_memget_nb(bytes, there + 200, 16);
    upc_sync(h);
    CHECK(memcmp(bytes, set, 16) == 0);
  }
}

/* Each thread writes all of its neighbour's data, then says so, by three methods. */
static void published(int next) {
  for (int round = 1; round <= 20; round++) {
    for (int i = 0; i < N; i++) data[next * N + i] = round * 1000 + i;
    flags[next] = round;
    while (flags[MYTHREAD] != round) bupc_poll();
    for (int i = 0; i < N; i += 7) CHECK_EQ(data[MYTHREAD * N + i], round * 1000 + i);
    upc_barrier;
    for (int i = 0; i < N; i++) data[next * N + i] = round * 2000 + i;
    bupc_sem_post(sems[next]);
    bupc_sem_wait(sems[MYTHREAD]);
    for (int i = 0; i < N; i += 7) CHECK_EQ(data[MYTHREAD * N + i], round * 2000 + i);
    upc_lock(lock);
    counter = counter + 1;
    upc_unlock(lock);
    upc_barrier;
    CHECK_EQ(counter, round * THREADS);
    upc_barrier;
  }
}

int main(void) {
  const int next = (MYTHREAD + 1) % THREADS;
  lock = upc_all_lock_alloc();
  areas[MYTHREAD] = upc_alloc(4096);
  sems[MYTHREAD] = bupc_sem_alloc(0);
  upc_barrier;
  same_bytes(areas[next]);
  upc_barrier;
  published(next);
  return 0;
}
