/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives with each layout, reductions, sort (UPC 1.3 library 7.3). */
/* again: TOMBOLO_TEST_SHM=0 */
#include <upc_collective.h>
#include <upc_strict.h>
#include <string.h>
#include "check.h"

#define N 5

shared [N] int per_thread[N * THREADS];
shared [N] int result[N * THREADS];
shared int perm[THREADS];
shared int total;
shared [3] int blocked[10 * THREADS];
shared [3] int prefix[10 * THREADS];
shared double reals[7 * THREADS];
shared double real_sum;
shared [N] long all_sums[N * THREADS];
shared [4] long longs[8 * THREADS];

static const upc_flag_t modes[] = {0,
                                   UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC,
                                   UPC_IN_MYSYNC | UPC_OUT_MYSYNC,
                                   UPC_IN_ALLSYNC | UPC_OUT_MYSYNC};

static void moves(upc_flag_t mode) {
  shared [] int *root = NULL;
  static shared [] int *shared published;
  const int from = THREADS - 1;
  if (MYTHREAD == from) {
    root = upc_alloc(N * THREADS * sizeof(int));
    for (int i = 0; i < N * THREADS; i++) root[i] = 100 + i;
    published = root;
  }
  upc_barrier;
  root = published;
  upc_all_broadcast(result, root, N * sizeof(int), mode);
  for (int i = 0; i < N; i++) CHECK_EQ(result[MYTHREAD * N + i], 100 + i);
  upc_barrier;
  upc_all_scatter(result, root, N * sizeof(int), mode);
  for (int i = 0; i < N; i++) CHECK_EQ(result[MYTHREAD * N + i], 100 + MYTHREAD * N + i);
  for (int i = 0; i < N; i++) per_thread[MYTHREAD * N + i] = MYTHREAD * 1000 + i;
  upc_barrier;
  upc_all_gather(root, per_thread, N * sizeof(int), mode);
  upc_barrier;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < N; i++) CHECK_EQ(root[t * N + i], t * 1000 + i);
  upc_barrier;
  perm[MYTHREAD] = (MYTHREAD + 1) % THREADS;
  upc_barrier;
  upc_all_permute(result, per_thread, perm, N * sizeof(int), mode);
  upc_barrier;
  for (int i = 0; i < N; i++)
    CHECK_EQ(result[MYTHREAD * N + i], (MYTHREAD + THREADS - 1) % THREADS * 1000 + i);
  upc_barrier;
  if (MYTHREAD == from) upc_free(root);
  upc_barrier;
}

/* Results of T blocks on each thread. */
static void many(upc_flag_t mode) {
  shared void *a = upc_all_alloc(THREADS, THREADS * N * sizeof(int));
  shared void *b = upc_all_alloc(THREADS, THREADS * N * sizeof(int));
  int *mine = (int *)&((shared [] char *)a)[0];
  shared [] int *own = (shared [] int *)((shared [1] char *)b + MYTHREAD);
  for (int i = 0; i < N; i++) per_thread[MYTHREAD * N + i] = MYTHREAD * 1000 + i;
  upc_all_gather_all(b, per_thread, N * sizeof(int), mode);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < N; i++) CHECK_EQ(own[t * N + i], t * 1000 + i);
  upc_barrier;
  shared [] int *out = (shared [] int *)((shared [1] char *)a + MYTHREAD);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < N; i++) out[t * N + i] = MYTHREAD * 10000 + t * 100 + i;
  upc_barrier;
  upc_all_exchange(b, a, N * sizeof(int), mode);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < N; i++) CHECK_EQ(own[t * N + i], t * 10000 + MYTHREAD * 100 + i);
  upc_barrier;
  (void)mine;
  upc_all_free(a);
  upc_barrier;
  if (MYTHREAD == 0) upc_free(b);
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

/* Not commutative: keeps the second operand where it is not 0. */
static int last(int a, int b) {
  return b ? b : a;
}

static void reductions(upc_flag_t mode) {
  const int n = 10 * THREADS;
  upc_forall (int i = 0; i < n; i++; &blocked[i]) blocked[i] = i + 1;
  upc_forall (int i = 0; i < 7 * THREADS; i++; &reals[i]) reals[i] = 0.5 * i;
  upc_all_reduceI(&total, blocked, UPC_ADD, n, 3, NULL, mode);
  upc_barrier;
  CHECK_EQ(total, n * (n + 1) / 2);
  upc_all_reduceI(&total, &blocked[4], UPC_ADD, n - 4, 3, NULL, 0);
  CHECK_EQ(total, n * (n + 1) / 2 - 10);
  upc_barrier;
  upc_all_reduceI(&total, blocked, UPC_MAX, n, 3, NULL, 0);
  CHECK_EQ(total, n);
  upc_barrier;
  upc_all_reduceI(&total, blocked, UPC_FUNC, n, 3, larger, 0);
  CHECK_EQ(total, n);
  upc_barrier;
  upc_all_reduceI(&total, blocked, UPC_NONCOMM_FUNC, n - 1, 3, last, 0);
  CHECK_EQ(total, n - 1);
  upc_barrier;
  upc_all_reduceD(&real_sum, reals, UPC_ADD, 7 * THREADS, 1, NULL, 0);
  CHECK(real_sum == 0.5 * (7 * THREADS) * (7 * THREADS - 1) / 2);
  upc_all_prefix_reduceI(prefix, blocked, UPC_ADD, n, 3, NULL, mode);
  upc_barrier;
  for (int i = 0; i < n; i++) CHECK_EQ(prefix[i], (i + 1) * (i + 2) / 2);
  upc_forall (int i = 0; i < 8 * THREADS; i++; &longs[i]) longs[i] = 1L << (i % 40);
  upc_barrier;
  bupc_all_reduce_allL(all_sums, longs, UPC_OR, 8 * THREADS, 4, NULL, 0);
  CHECK_EQ(all_sums[MYTHREAD * N], 8 * THREADS >= 40 ? (1L << 40) - 1 : (1L << 8 * THREADS) - 1);
  upc_barrier;
}

static int compare(shared void *a, shared void *b) {
  const int x = *(shared int *)a, y = *(shared int *)b;
  return (x > y) - (x < y);
}

static void sorting(void) {
  const int n = 10 * THREADS;
  upc_forall (int i = 0; i < n; i++; &blocked[i]) blocked[i] = i * 7919 % 101;
  upc_all_sort(blocked, sizeof(int), n, 3, compare, 0);
  for (int i = 1; i < n; i++) CHECK(blocked[i - 1] <= blocked[i]);
  upc_barrier;
}

int main(void) {
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    moves(modes[i]);
    many(modes[i]);
    reductions(modes[i]);
  }
  sorting();
  return 0;
}
