/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall: affinity of each kind, nested in the text and through calls, ends of ranges (6.6.2). */
/* again: TOMBOLO_TEST_SHM=0 */
#include <upc_relaxed.h>
#include "check.h"

#define N 23

shared int plain[N * THREADS], count[N * THREADS];
shared [4] int four[N * THREADS];
shared [6] int rows[N * THREADS][6];
shared [12] int pairs[N * THREADS][6];
shared [3] int thirds[N * THREADS][6];
shared [4] struct item {
  int value;
  int list[3];
  unsigned narrow : 5;
} items[N * THREADS];

/* A second array with another layout, whose elements are not local where four's are. */
static void by_pointer(int first, int last) {
  int i;
  upc_barrier;
  upc_forall (i = 0; i < N * THREADS; i++; &plain[i]) plain[i] = four[i] = -1;
  upc_barrier;
  upc_forall (i = first; i < last; i++; &four[i]) {
    CHECK_EQ(upc_threadof(&four[i]), MYTHREAD);
    if (i % 5 == 0) continue;
    four[i] = i;
    plain[i] = i;
    four[i] += 1;
    four[i]++;
  }
  CHECK_EQ(i, first > last ? first : last);
  upc_barrier;
  for (i = 0; i < N * THREADS; i++) {
    const int in = i >= first && i < last && i % 5;
    CHECK_EQ(four[i], in ? i + 2 : -1);
    CHECK_EQ(plain[i], in ? i : -1);
  }
  upc_barrier;
}

static void by_integer(void) {
  int i, done = 0;
  upc_forall (i = 3; i <= N * THREADS - 2; ++i; i) {
    plain[i] = 2 * i;
    done++;
    CHECK_EQ(i % THREADS, MYTHREAD);
  }
  CHECK_EQ(i, N * THREADS - 1);
  upc_barrier;
  for (int k = 3; k < N * THREADS - 1; k++) CHECK_EQ(plain[k], 2 * k);
  done = 0;
  upc_forall (i = 0; i < N * THREADS; i += 2; i) done++;
  upc_forall (i = N; i > 0; i--; i * 3) {
    CHECK_EQ(i * 3 % THREADS, MYTHREAD);
    done++;
  }
  CHECK_EQ(i, 0);
  for (int k = 0; k < N * THREADS; k += 2) done -= k % THREADS == MYTHREAD;
  for (int k = N; k > 0; k--) done -= k * 3 % THREADS == MYTHREAD;
  CHECK_EQ(done, 0);
  upc_forall (i = -7; i < 7; i++; i) CHECK_EQ((i + 70 * THREADS) % THREADS, MYTHREAD);
  upc_barrier;
}

static void by_row(void) {
  upc_forall (int i = 0; i < N * THREADS; i++; &rows[i][0])
    for (int j = 0; j < 6; j++) rows[i][j] = i * 6 + j;
  upc_forall (int i = 0; i < N * THREADS; i++; &pairs[i][5])
    for (int j = 0; j < 6; j++) {
      pairs[i][j] = i * 6 + j;
      CHECK_EQ(upc_threadof(&pairs[i][j]), MYTHREAD);
    }
  upc_forall (int i = 0; i < N * THREADS; i++; &thirds[i][3])
    for (int j = 0; j < 6; j++) thirds[i][j] = i * 6 + j;
  upc_forall (int i = 0; i < N * THREADS; i++; &items[i]) {
    items[i].value = i;
    items[i].list[2] = -i;
    items[i].narrow = i;
    items[i].narrow += 1;
  }
  upc_barrier;
  for (int i = 0; i < N * THREADS; i++) {
    for (int j = 0; j < 6; j++) {
      CHECK_EQ(rows[i][j], i * 6 + j);
      CHECK_EQ(pairs[i][j], i * 6 + j);
      CHECK_EQ(thirds[i][j], i * 6 + j);
    }
    CHECK_EQ(items[i].value + items[i].list[2], 0);
    CHECK_EQ(items[i].narrow, (i + 1) % 32);
  }
  upc_barrier;
}

static int inner_iterations(void) {
  int n = 0;
  upc_forall (int i = 0; i < N; i++; &plain[i % (N * THREADS)]) n++;
  return n;
}

static int inner_pattern(void) {
  int n = 0;
  upc_forall (int i = 0; i < N; i++; &plain[i]) {
    n++;
    count[(MYTHREAD * N + i) % (N * THREADS)] = i;
  }
  return n;
}

static void nested(void) {
  int outer = 0, all = 0;
  const int alone = inner_iterations();
  CHECK_EQ(alone, (N - MYTHREAD + THREADS - 1) / THREADS);
  CHECK_EQ(inner_pattern(), alone);
  upc_forall (int i = 0; i < 2 * THREADS; i++; i) {
    outer++;
    CHECK_EQ(inner_iterations(), N);
    CHECK_EQ(inner_pattern(), N);
    upc_forall (int j = 0; j < 5; j++; j) all++;
  }
  CHECK_EQ(outer, 2);
  CHECK_EQ(all, 10);
  all = 0;
  upc_forall (int i = 0; i < 3; i++; continue) {
    upc_barrier i;
    upc_forall (int j = 0; j < THREADS; j++; j) all++;
    upc_forall (int j = 0; j < 2; j++;) all += 100;
  }
  CHECK_EQ(all, 603);
  CHECK_EQ(inner_iterations(), alone);
  for (int i = 0; i < 4; i++)
    if (i > 1) upc_forall (int j = 0; j < THREADS; j++; j) all = j;
    else all = -1;
  CHECK_EQ(all, MYTHREAD);
}

static void pointers(void) {
  shared [4] int *p;
  int n = 0;
  upc_forall (p = four; p < four + N * THREADS; p++; p) {
    CHECK_EQ(upc_threadof(p), MYTHREAD);
    *p = n++;
  }
  upc_barrier;
  shared int *q = &plain[1 % (N * THREADS)];
  upc_forall (int i = 0; i < N; i++; &q[i % THREADS])
    CHECK_EQ((i % THREADS + 1) % THREADS, MYTHREAD);
  upc_forall (int i = 0; i < N; i++; plain) CHECK_EQ(MYTHREAD, 0);
  upc_barrier;
}

int main(void) {
  by_pointer(0, N * THREADS);
  by_pointer(0, N * THREADS - 3);
  by_pointer(5, N * THREADS);
  by_pointer(6, 9);
  by_pointer(7, 7);
  by_pointer(9, 3);
  by_integer();
  by_row();
  nested();
  pointers();
  return 0;
}
