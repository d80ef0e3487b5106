/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall over elements behind pointers that begin anywhere: whole and split
 * loops agree. */
#include "check.h"
#define N 7
shared int a[40 * THREADS], b[40 * THREADS], seen[40 * THREADS];
shared [N] int c[40 * N * THREADS], d[40 * N * THREADS];
shared [6] int m[20 * THREADS][3];
shared [6] int w[20 * THREADS][3];
static void clear(void) {
  int i;
  for (i = MYTHREAD; i < 40 * THREADS; i += THREADS)
    seen[i] = 0;
  upc_barrier;
}
static void check(int lo, int hi) {
  int i;
  upc_barrier;
  for (i = 0; i < 40 * THREADS; i++)
    CHECK_EQ(seen[i], i >= lo && i < hi);
  upc_barrier;
}
static void cyclic(shared int *p, shared int *q, int lo, int hi) {
  int i;
  clear();
  upc_forall(i = lo; i < hi; i++; &p[i]) {
    CHECK(upc_threadof(&p[i]) == MYTHREAD);
    p[i] = i;
    q[i] = p[i] + 1;
    seen[i]++;
  }
  CHECK_EQ(i, hi > lo ? hi : lo);
  upc_barrier;
  for (i = lo; i < hi; i++) {
    CHECK_EQ(p[i], i);
    CHECK_EQ(q[i], i + 1);
  }
  check(lo, hi);
}
static void integer(shared int *p, int lo, int hi) {
  int i;
  clear();
  upc_forall(i = lo; i <= hi - 1; i++; i) {
    p[i] = 2 * i;
    seen[i]++;
    if (i & 1)
      continue;
    p[i] += 1;
  }
  upc_barrier;
  for (i = lo; i < hi; i++)
    CHECK_EQ(p[i], 2 * i + !(i & 1));
  check(lo, hi);
}
static void blocked(shared [N] int *p, shared [N] int *q, unsigned lo,
                    unsigned hi) {
  unsigned i;
  int sum = 0;
  clear();
  upc_forall(i = lo; i < hi; ++i; &p[i]) {
    CHECK(upc_threadof(&p[i]) == MYTHREAD);
    p[i] = i;
    q[i] = p[i];
    q[i]++;
    seen[i]++;
    sum += q[i];
  }
  CHECK_EQ(i, hi > lo ? hi : lo);
  for (i = lo; i < hi; i++) sum -= upc_threadof(&p[i]) == MYTHREAD ? (int)i + 1 : 0;
  CHECK_EQ(sum, 0);
  upc_barrier;
  for (i = lo; i < hi; i++) {
    CHECK_EQ(p[i], i);
    CHECK_EQ(q[i], i + 1);
  }
  check(lo, hi);
}
static void rows(shared [6] int (*p)[3], shared [6] int (*q)[3], long lo,
                 long hi) {
  int j;
  clear();
  upc_forall(long i = lo; i < hi; i += 1; &p[i][0]) {
    for (j = 0; j < 3; j++) {
      p[i][j] = 3 * i + j;
      q[i][j] = p[i][j] + 1;
    }
    seen[i]++;
  }
  upc_barrier;
  for (long i = lo; i < hi; i++)
    for (j = 0; j < 3; j++) {
      CHECK_EQ(p[i][j], 3 * i + j);
      CHECK_EQ(q[i][j], 3 * i + j + 1);
    }
  check(lo, hi);
}
static shared [N] int *global;
static int bound;
static void globals(void) {
  int i, *alias = &bound;
  global = c + 2 * N * THREADS;
  bound = 2 * N * THREADS;
  upc_forall(i = 0; i < bound; i++; &global[i]) global[i] = 5;
  upc_barrier;
  upc_forall(i = 0; i < bound; i++; &global[i]) {
    global[i]++;
    if (i == 3 * N)
      *alias = 4 * N; /* ends the loop for the thread that has this element */
  }
  upc_barrier;
  CHECK(bound == 4 * N || bound == 2 * N * THREADS);
  CHECK_EQ(global[3 * N % (2 * N * THREADS)], 6);
if (THREADS > 3) CHECK_EQ(global[3 * N + N * THREADS], 5);
  CHECK_EQ(global[0], 6);
  upc_barrier;
}
static void nested(shared [N] int *p) {
  int i, n = 0;
  upc_forall(i = 0; i < 20; i++; &p[i]) n++;
  CHECK_EQ(n, 20);
}
int main(void) {
  int lo, s, t;
  for (s = 0; s < 5; s++)
    for (t = 0; t < 5; t += 2)
      for (lo = 0; lo < 12; lo += 5) {
        if (THREADS > 1 && (s + t / 2 + lo / 5) % 3 != THREADS % 3)
          continue; /* 1, 2 and 3 threads together have them all */
        cyclic(&a[s], &b[t], lo, 13);
        cyclic(a + s, b + s, lo, 20 * THREADS);
        cyclic(a + s, b + s, lo, lo);
        integer(&a[t], lo, 23);
        blocked(&c[s], &d[t], lo, 37);
        blocked(c + 3 * s, d + 3 * s, lo, 31);
        blocked(c + 20 * s, d + 20 * s, lo, 33);
        blocked(c, d, lo, lo);
        rows(&m[s], &w[t], lo, 14);
        rows(m, w, lo, 14);
        rows(m + 2 * s, w + 2 * s, lo, 14);
        rows((shared [6] int(*)[3])(&m[0][0] + 1), w, lo, 14);
      }
  {
    int k;
    upc_forall(k = 0; k < THREADS; k++; k) nested(c);
  }

  globals();
  return 0;
}
