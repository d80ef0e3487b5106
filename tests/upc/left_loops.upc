/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall that is left by longjmp, return, goto or break: later loops are controlled again.
 * Loops whose variable cannot get past the bound do what is written. */
#include "check.h"
#include <setjmp.h>
#define N 10
shared int cyclic[N * THREADS];
shared [5] int fives[N * THREADS];
static shared int later[];
static shared int later[2 * THREADS];
static jmp_buf home;

static void hop(int i) {
  if (i >= 2 * THREADS)
    longjmp(home, i + 1);
}

/* Iterations of this thread, of a loop in a function. */
static int controlled(void) {
  int n = 0;
  upc_forall (int i = 0; i < N * THREADS; i++; i)
    n++;
  return n;
}

static int find(int value) {
  upc_forall (int i = 0; i < N * THREADS; i++; &fives[i]) {
    hop(0);
    if (fives[i] == value)
      return i;
  }
  return -1;
}

static void by_longjmp(void) {
  const int came = setjmp(home);
  if (came == 0)
    upc_forall (int i = 0; i < N * THREADS; i++; &cyclic[i])
      hop(i);
  CHECK_EQ(came, 2 * THREADS + MYTHREAD + 1);
  CHECK_EQ(controlled(), N);
}

/* What was controlled where setjmp stands still is. */
static void inside(void) {
  volatile int times = 0;
  upc_forall (int i = 0; i < THREADS; i++; i) {
    if (sigsetjmp(home, 0) == 0)
      hop(2 * THREADS);
    times++;
    CHECK_EQ(controlled(), N * THREADS);
  }
  CHECK_EQ(times, 1);
  CHECK_EQ(controlled(), N);
}

static void by_jumps(void) {
  int n = 0;
  upc_forall (int i = 0; i < N * THREADS; i++; &fives[i]) {
    if (n == 7) /* in the second of this thread's blocks */
      break;
    hop(0);
    n++;
  }
  CHECK_EQ(n, 7);
  CHECK_EQ(controlled(), N);
  upc_forall (int i = 0; i < N * THREADS; i++; &fives[i]) {
    switch (i % 2) {
    case 0: break; /* of the switch */
    default: n++;
    }
    for (int j = 0;; j++)
      if (j == 2)
        break;
  }
  CHECK(n >= 7 + 4 && n <= 7 + 6);
  upc_forall (int i = 0; i < N * THREADS; i++; i) {
    hop(0);
    if (i >= THREADS)
      goto out;
  }
out:
  CHECK_EQ(controlled(), N);
}

static void endless(void) {
  int n = 0;
  signed char c;
  upc_forall (c = 0; c < 200; c++; c) {
    n++;
    if (c < 0)
      break;
  }
  CHECK(c < 0 && n > 127 / THREADS);
  n = 0;
  unsigned char u;
  upc_forall (u = 250; u < 256; u++; u)
    if (++n == 1000)
      break;
  CHECK_EQ(n, 1000);
  const unsigned five = 5;
  int i;
  n = 0;
  upc_forall (i = -3; i < five; i++; i)
    n++;
  CHECK(n == 0 && i == -3);
}

int main(void) {
  upc_forall (int i = 0; i < N * THREADS; i++; &fives[i])
    fives[i] = i;
  later[MYTHREAD] = 1;
  by_longjmp();
  inside();
  upc_barrier;
  CHECK_EQ(find(MYTHREAD * 5 + 3), MYTHREAD * 5 + 3);
  CHECK_EQ(controlled(), N);
  by_jumps();
  endless();
  upc_barrier;
  return 0;
}
