/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall over one index of matrices that are written as vectors: each element once, on its own
 * thread, and other elements untouched. */
#include "check.h"
#define ROWS 4
static volatile int none;
shared int seen[ROWS * 13 * THREADS], cyclic[ROWS * 12 * THREADS];
shared [5] int fives[60 * THREADS], others[60 * THREADS];
shared [12] int dozens[ROWS * 12 * THREADS];
shared [] int alone[ROWS * 12];

#define LOOPS(NAME, LAYOUT, BASE)                                   \
  static void NAME(LAYOUT int *p, int n, int lo, int hi) {          \
    int j;                                                          \
    for (int i = MYTHREAD; i < ROWS * n; i += THREADS)              \
      (BASE)[i] = seen[i] = 0;                                      \
    upc_barrier;                                                    \
    for (int i = 0; i < ROWS; i++) {                                \
      upc_forall (j = lo; j < hi; j++; &(BASE)[i * n + j]) {        \
        CHECK_EQ(upc_threadof(&(BASE)[i * n + j]), MYTHREAD);       \
        (BASE)[i * n + j] = 3 * i + j;                              \
        (BASE)[j + i * n] += (BASE)[(i * n) + j];                   \
        for (int n = 1; n < 2; n++) /* another n */                 \
          if (i * n + j < lo)                                       \
            (BASE)[i * n + j] += 0;                                 \
        if (j % 3 == 0)                                             \
          continue;                                                 \
        p[i * n + j]++;                                             \
        seen[i * n + j]++;                                          \
        p[j]++;                                                     \
        p[j]--;                                                     \
      }                                                             \
      CHECK_EQ(j, hi > lo ? hi : lo);                               \
      upc_barrier;                                                  \
    }                                                               \
    for (int i = 0; i < ROWS; i++)                                  \
      for (j = 0; j < n; j++) {                                     \
        const int in = j >= lo && j < hi, more = in && j % 3 != 0;  \
        CHECK_EQ(seen[i * n + j], more);                            \
        CHECK_EQ((BASE)[i * n + j], in ? 2 * (3 * i + j) + more : 0); \
      }                                                             \
    upc_barrier;                                                    \
  }
LOOPS(over_cyclic, shared, cyclic)
LOOPS(over_fives, shared [5], fives)
LOOPS(over_dozens, shared [12], dozens)
LOOPS(over_alone, shared [], alone)
LOOPS(by_pointer, shared [5], p)

/* The pointer of the access begins elsewhere than the affinity's. */
static void beside(shared [5] int *to, shared [5] int *from, int base) {
  for (int i = MYTHREAD; i < 60 * THREADS; i += THREADS) {
    fives[i] = 0;
    others[i] = i;
  }
  upc_barrier;
  upc_forall (long j = 0; j < 30; j++; &to[base + j]) to[base + j] = from[base + j] + from[j];
  upc_barrier;
  for (int j = 0; j < 30; j++)
    CHECK_EQ(to[base + j], from[base + j] + from[j]);
  upc_barrier;
}

/* What is added may be less than 0, change in the body, or not be there without an iteration. */
static void offsets(int zero) {
  int n = 0, m = 0, base = 7;
  upc_forall (int j = 7; j < 40; j++; &fives[-7 + j]) {
    CHECK_EQ(upc_threadof(&fives[j - 7]), MYTHREAD);
    fives[-7 + j] = j;
    n++;
  }
  for (int j = 7; j < 40; j++)
    m += upc_threadof(&fives[j - 7]) == MYTHREAD;
  CHECK_EQ(n, m);
  upc_barrier;
  for (int j = 7; j < 40; j++)
    CHECK_EQ(fives[j - 7], j);
  upc_forall (int j = 0; j < 20; j++; &fives[base + j]) {
    n++;
    base ^= 1;
  }
  base = 7;
  for (int j = 0; j < 20; j++)
    if (upc_threadof(&fives[base + j]) == MYTHREAD) {
      m++;
      base ^= 1;
    }
  CHECK_EQ(n, m);
  upc_forall (int j = 0; j < zero; j++; &fives[base / zero + j]) n++;
  shared [5] int *p;
  upc_forall (p = fives; p < fives; p += base / zero; p) n++;
  CHECK_EQ(n, m);
}

int main(void) {
  static const int ranges[][2] = {{0, 12}, {1, 11}, {3, 3}, {5, 2}, {4, 12}};
  for (int k = 0; k < 5; k++) {
    const int lo = ranges[k][0], hi = ranges[k][1];
    over_cyclic(cyclic, 12, lo, hi);
    over_cyclic(cyclic, 12 * THREADS, lo, hi * THREADS);
    over_fives(fives, 12, lo, hi);
    over_fives(fives, 12 * THREADS, lo, hi * THREADS);
    over_dozens(dozens, 12 * THREADS, lo, hi * THREADS);
    over_alone(alone, 12, lo, hi);
    by_pointer(fives + 3, 12, lo, hi);
    by_pointer(fives + 5, 13 * THREADS, lo, hi);
  }
  for (int base = 0; base < 11; base++) {
    beside(fives, others, base);
    beside(fives + 5, others + 5, base);
    beside(fives + 5, others, base);
    beside(fives + 2, others + 4, base);
  }
  offsets(none);
  return 0;
}
