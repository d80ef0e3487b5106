/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of routines of OpenSHMEM: one program that the oshcc of each library compiles.
 *
 * Owns: the samples. Run by cells.py, group shmem, with two PEs or more. Calls: OpenSHMEM 1.4,
 * which Open MPI has, too. PE 0 measures; all take part where a row says so. Lines "ROW BYTES NS":
 * the median of RUNS samples. `rate`: from one put of a window to the next. `bandwidth`: of a put
 * that is complete at the target. It ends without shmem_finalize, in which that of Open MPI 4.1 may
 * fail.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

enum { RUNS = 21, LARGE = 1 << 20, WINDOW = 64, SYNCS = 1 << 10 };

static long sync_array[SYNCS], sync_other[SYNCS], work[SYNCS];
static long word, flag, value = 3, results[SYNCS], sources[SYNCS];
static int me, n;
static char *here, *there;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void put(int i, size_t bytes) {
  (void)i;
  shmem_putmem(here, there, bytes, 1);
  shmem_quiet();
}

static void get(int i, size_t bytes) {
  (void)i;
  shmem_getmem(there, here, bytes, 1);
}

static void window(int i, size_t bytes) {
  shmem_putmem_nbi(here + 8 * (i % WINDOW), there, bytes, 1);
  if (i % WINDOW == WINDOW - 1) shmem_quiet();
}

static void fetch_add(int i, size_t bytes) {
  (void)i;
  (void)bytes;
  value = shmem_long_atomic_fetch_add(&word, 1, 1);
}

static void compare_swap(int i, size_t bytes) {
  (void)i;
  (void)bytes;
  value = shmem_long_atomic_compare_swap(&word, value, value, 1);
}

/* A round trip: a put, a fence and a flag each way. */
static void trip(int i, size_t bytes) {
  const long turn = ++results[0];
  (void)i;
  if (me > 1) return;
  if (me) shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn);
  shmem_putmem(here, there, bytes, 1 - me);
  shmem_fence();
  shmem_long_p(&flag, turn, 1 - me);
  if (!me) shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn);
}

static void barrier(int i, size_t bytes) {
  (void)i;
  (void)bytes;
  shmem_barrier_all();
}

static void broadcast(int i, size_t bytes) {
  shmem_broadcast64(here, there, bytes / 8, 0, 0, 0, n, i % 2 ? sync_array : sync_other);
}

static void collect(int i, size_t bytes) {
  shmem_fcollect64(here, there, bytes / 8, 0, 0, n, i % 2 ? sync_array : sync_other);
}

static void sum(int i, size_t bytes) {
  shmem_long_sum_to_all(results + 8, sources, (int)bytes / 8, 0, 0, n, work,
                        i % 2 ? sync_array : sync_other);
}

struct row {
  const char *name;
  void (*operation)(int i, size_t bytes);
  size_t bytes;
  int count, all; /* operations of a sample; all PEs take part */
};
static const struct row rows[] = {
    {"put", put, 8, 2000, 0},
    {"get", get, 8, 2000, 0},
    {"put", put, 4096, 500, 0},
    {"get", get, 4096, 500, 0},
    {"rate", window, 8, 6400, 0},
    {"bandwidth", put, LARGE, 10, 0},
    {"get_bandwidth", get, LARGE, 10, 0},
    {"fetch_add", fetch_add, 8, 2000, 0},
    {"compare_swap", compare_swap, 8, 2000, 0},
    {"trip", trip, 8, 300, 1},
    {"barrier", barrier, 0, 300, 1},
    {"broadcast", broadcast, 8, 300, 1},
    {"broadcast", broadcast, 4096, 300, 1},
    {"collect", collect, 8, 300, 1},
    {"sum", sum, 8, 300, 1},
    {"sum", sum, 4096, 300, 1},
};

static double sample(const struct row *r) {
  shmem_barrier_all();
  const double start = now_ns();
  for (int i = 0; i < r->count; i++) r->operation(i, r->bytes);
  const double end = now_ns();
  shmem_barrier_all();
  return (end - start) / r->count;
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  here = shmem_malloc(LARGE);
  there = shmem_malloc(LARGE);
  if (!here || !there || n < 2) return 1;
  for (int i = 0; i < LARGE; i++) here[i] = there[i] = 1;
  for (int i = 0; i < SYNCS; i++) sync_array[i] = sync_other[i] = SHMEM_SYNC_VALUE;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double ns[RUNS];
    const struct row *r = &rows[i];
    if (!r->all && me) { /* PE 0 alone */
      for (int k = 0; k <= 2 * RUNS + 1; k++) shmem_barrier_all();
      continue;
    }
    for (int k = -1; k < RUNS; k++) ns[k < 0 ? 0 : k] = sample(r);
    qsort(ns, RUNS, sizeof *ns, by_value);
    if (me == 0) printf("%s %zu %.1f\n", r->name, r->bytes, ns[RUNS / 2]);
    fflush(stdout);
  }
  shmem_barrier_all();
  shmem_global_exit(0);
}
