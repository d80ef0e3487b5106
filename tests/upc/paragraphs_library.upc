/* SPDX-License-Identifier: BSD-3-Clause */
/* A function for each part of <upc.h> (UPC 1.3, 7.2) as docs/UPC.md lists them. */
/* ranks: 1 2 3 4 5 8 */
/* again: TOMBOLO_TEST_SHM=0 */
#include <string.h>
#include <upc_relaxed.h>
#include <unistd.h>
#include "check.h"

shared[4] int blocked[8 * THREADS];
shared[] char *shared parts[THREADS];
upc_lock_t *shared kept[THREADS];
shared int counter;

/* 7.2.2: each thread's call of upc_global_alloc is an array of its own. */
static void global_alloc(void) {
  shared[4] int *a = (shared[4] int *)upc_global_alloc(2 * THREADS, 4 * sizeof(int));
  CHECK(a && upc_threadof(a) == 0 && upc_phaseof(a) == 0);
  for (int i = 0; i < 8 * THREADS; i++) {
    CHECK_EQ(upc_threadof(&a[i]), i / 4 % THREADS);
    a[i] = i + MYTHREAD;
  }
  for (int i = 0; i < 8 * THREADS; i++) CHECK_EQ(a[i], i + MYTHREAD);
  upc_free(a);
  CHECK(upc_global_alloc(0, 8) == NULL && upc_global_alloc(8, 0) == NULL);
}

/* 7.2.2: upc_all_alloc gives all threads one array; one free in total. */
static void all_alloc(void) {
  shared int *a = (shared int *)upc_all_alloc(3 * THREADS, sizeof(int));
  a[MYTHREAD] = MYTHREAD;
  upc_barrier;
  for (int i = 0; i < THREADS; i++) CHECK_EQ(a[i], i);
  upc_barrier;
  if (MYTHREAD == THREADS - 1) upc_free(a);
  shared int *b = (shared int *)upc_all_alloc(THREADS, 8);
  upc_all_free(b);
}

/* Not in the standard, but in programs: upc_all_alloc is a barrier. */
static void all_alloc_waits(void) {
  static shared int came[THREADS];
  if (MYTHREAD == THREADS - 1) usleep(20000);
  came[MYTHREAD] = 1;
  shared void *a = upc_all_alloc(THREADS, 8);
  for (int i = 0; i < THREADS; i++) CHECK_EQ(came[i], 1);
  upc_all_free(a);
}

/* 7.2.2: upc_alloc is memory of the caller, indefinite. */
static void alloc(void) {
  parts[MYTHREAD] = (shared[] char *)upc_alloc(100);
  upc_barrier;
  const int next = (MYTHREAD + 1) % THREADS;
  CHECK(upc_threadof(parts[next]) == next && upc_threadof(parts[next] + 99) == next);
  parts[next][99] = 'x';
  upc_barrier;
  CHECK(parts[MYTHREAD][99] == 'x' && upc_alloc(0) == NULL);
  upc_barrier;
  upc_free(parts[next]); /* by any thread */
  upc_free(NULL);
}

/* 7.2.3: the parts of a pointer. */
static void parts_of_pointers(void) {
  shared[4] int *p = &blocked[6];
  CHECK(upc_threadof(p) == 1 % THREADS && upc_phaseof(p) == 2);
  CHECK(upc_phaseof(upc_resetphase(p)) == 0 && upc_resetphase(p) == p);
  CHECK_EQ(upc_addrfield(p + 1) - upc_addrfield(p), sizeof(int));
  CHECK_EQ(upc_addrfield(p), upc_addrfield(upc_resetphase(p)));
}

/* 7.2.3: the bytes that a thread has of an array. */
static void affinity_sizes(void) {
  size_t all = 0, mine = 0;
  for (int t = 0; t < THREADS; t++) all += upc_affinitysize(4 * 9 + 3, 9, t);
  CHECK_EQ(all, 39);
  for (int i = 0; i < 8 * THREADS; i++) mine += upc_threadof(&blocked[i]) == MYTHREAD;
  CHECK_EQ(upc_affinitysize(sizeof blocked, 4 * sizeof(int), MYTHREAD), mine * sizeof(int));
  CHECK(upc_affinitysize(7, 0, 0) == 7 && upc_affinitysize(7, 9, 0) == 7);
  if (THREADS > 1) CHECK(upc_affinitysize(7, 0, 1) == 0);
}

/* 7.2.4: locks exclude, of both kinds of allocation; freed by anyone, also while locked. */
static void locks(void) {
  upc_lock_t *one = upc_all_lock_alloc();
  kept[MYTHREAD] = upc_global_lock_alloc();
  for (int i = 0; i < 20; i++) {
    upc_lock(one);
    counter++;
    upc_unlock(one);
  }
  upc_barrier;
  CHECK_EQ(counter, 20 * THREADS);
  upc_lock_t *theirs = kept[(MYTHREAD + 1) % THREADS];
  CHECK(upc_lock_attempt(theirs) == 1 && upc_lock_attempt(theirs) == 0);
  upc_lock_free(theirs);
  upc_all_lock_free(one);
}

/* 7.2.5: copies between and within threads, fills, of nothing as well. */
static void copies(void) {
  int local[4] = {1, 2, 3, MYTHREAD}, got[4];
  const int next = (MYTHREAD + 1) % THREADS;
  upc_memput(&blocked[4 * next], local, sizeof local);
  upc_barrier;
  upc_memget(got, &blocked[4 * MYTHREAD], sizeof got);
  CHECK(got[0] == 1 && got[3] == (MYTHREAD + THREADS - 1) % THREADS);
  upc_memcpy(&blocked[4 * (next + THREADS)], &blocked[4 * MYTHREAD], 3 * sizeof(int));
  upc_barrier;
  CHECK_EQ(blocked[4 * (MYTHREAD + THREADS) + 2], 3);
  upc_memset(&blocked[4 * next], 0xff, 2 * sizeof(int));
  upc_memcpy(&blocked[0], &blocked[4], 0);
  upc_barrier;
  CHECK(blocked[4 * MYTHREAD + 1] == -1 && blocked[4 * MYTHREAD + 2] == 3);
}

int main(void) {
  static void (*const all[])(void) = {global_alloc, all_alloc, all_alloc_waits, alloc,  parts_of_pointers,
                                      affinity_sizes, locks,   copies};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    all[i]();
    upc_barrier;
  }
  return 0;
}
