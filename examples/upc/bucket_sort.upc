/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bucket_sort.upc: sorts keys that are spread over all threads, as the benchmark IS does: each thread
 * counts how many of its keys belong to each thread, all exchange the counts, then the keys, by one
 * non-blocking put for each pair of threads, and each sorts what it got.
 *
 * Shows: exchange and reductions of the collective library, a directory, puts that do not wait.
 * Compile: tombolo upcc -O2 bucket_sort.upc -o bucket_sort
 * Run:     tombolo run -n 4 ./bucket_sort
 */
/* ranks: 1 2 4 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bupc_collectivev.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

#define KEYS (1 << 15) /* of each thread */
#define RANGE (1u << 20)

typedef shared [] uint32_t *list_t;
list_t shared buckets[THREADS];
shared long last[THREADS]; /* greatest key of each bucket; -1: none */

static uint32_t own[KEYS], sorted[KEYS];

static int bucket_of(uint32_t key) {
  return (int)((uint64_t)key * THREADS / RANGE);
}

static int by_value(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* begin[t]: where the keys of bucket t begin in `sorted`; begin[THREADS] is KEYS. */
static void split(long *begin) {
  memset(begin, 0, (THREADS + 1) * sizeof *begin);
  for (int i = 0; i < KEYS; i++) begin[bucket_of(own[i]) + 1]++;
  for (int t = 0; t < THREADS; t++) begin[t + 1] += begin[t];
  long *next = malloc(THREADS * sizeof *next);
  memcpy(next, begin, THREADS * sizeof *next);
  for (int i = 0; i < KEYS; i++) sorted[next[bucket_of(own[i])]++] = own[i];
  free(next);
}

/* Exchanges counts and keys. Returns how many keys this thread has now. */
static long exchange(const long *begin) {
  shared long *out = upc_all_alloc(THREADS, THREADS * sizeof(long));
  shared long *in = upc_all_alloc(THREADS, THREADS * sizeof(long));
  long *mine = (long *)&out[MYTHREAD], *got = (long *)&in[MYTHREAD];
  for (int t = 0; t < THREADS; t++) mine[t] = begin[t + 1] - begin[t];
  upc_all_exchange(in, out, sizeof(long), 0);
  long total = 0;
  for (int t = 0; t < THREADS; t++) { /* where the keys of thread t go here */
    const long n = got[t];
    got[t] = total;
    total += n;
  }
  buckets[MYTHREAD] = upc_alloc((total + 1) * sizeof(uint32_t));
  upc_all_exchange(out, in, sizeof(long), 0); /* mine[t]: where this thread's keys go at t */
  for (int k = 0; k < THREADS; k++) {
    const int t = (MYTHREAD + k) % THREADS;
    upc_memput_nbi(buckets[t] + mine[t], &sorted[begin[t]],
                   (begin[t + 1] - begin[t]) * sizeof(uint32_t));
  }
  upc_synci();
  upc_barrier;
  upc_all_free(out);
  upc_all_free(in);
  return total;
}

int main(void) {
  uint64_t x = 88172645463325252u + 7919u * MYTHREAD, before = 0, after = 0;
  long *begin = malloc((THREADS + 1) * sizeof *begin);
  for (int i = 0; i < KEYS; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    own[i] = (uint32_t)(x % RANGE);
    before += own[i] * (uint64_t)own[i];
  }
  split(begin);
  const long total = exchange(begin);
  uint32_t *mine = (uint32_t *)buckets[MYTHREAD];
  qsort(mine, total, sizeof *mine, by_value);
  int right = 1;
  for (long i = 0; i < total; i++) {
    right &= bucket_of(mine[i]) == MYTHREAD && (i == 0 || mine[i - 1] <= mine[i]);
    after += mine[i] * (uint64_t)mine[i];
  }
  last[MYTHREAD] = total ? (long)mine[total - 1] : -1;
  const long keys = bupc_allv_reduce_all(long, total, UPC_ADD);
  before = bupc_allv_reduce_all(uint64_t, before, UPC_ADD);
  after = bupc_allv_reduce_all(uint64_t, after, UPC_ADD);
  right = bupc_allv_reduce_all(int, right, UPC_LOGAND);
  right = right && keys == (long)KEYS * THREADS && before == after;
  if (MYTHREAD == 0) printf("%s: %ld keys\n", right ? "ok" : "FAILED", keys);
  free(begin);
  upc_barrier;
  upc_free(buckets[MYTHREAD]);
  return !right;
}
