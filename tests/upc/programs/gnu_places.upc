/* SPDX-License-Identifier: BSD-3-Clause */
/* gcc: parameters declared ahead, and _Alignas in compound literals */
/* GNU C in places where it is rare, beside shared objects: attributes at the front of casts and
 * statements, parameters declared ahead, letters beyond ASCII, constants of a condition. */
/* ranks: 1 3 */
#include <upc_relaxed.h>
#include "check.h"

#define FOUR __attribute__((vector_size(4 * sizeof(float)))) float

typedef int T;
shared int größe[THREADS];
shared [2] double pairs[2 * THREADS];

static float third(void) {
  FOUR a = (FOUR){1, 2, 3, 4} + (FOUR){pairs[0], 1, 1, 1};
  return a[2];
}

static int last_of(int n; int a[n], int n) {
  return a[n - 1];
}

static int through(int (__attribute__((unused)) *f)(int *, int), int *a) {
  return f(a, 3) + (__attribute__((unused)) int)größe[MYTHREAD];
}

static int plain(int *a, int n) {
  [[gnu::unused]] int m = n;
  [[]] if (m > 2) { return a[m - 1]; }
  return 0;
}

static int shadowed(int *a) {
  if (sizeof(enum { T, U }) > 0 && U)
    a[0]++;
  T x = 3;
  return x + größe[MYTHREAD];
}

int main(void) {
  größe[MYTHREAD] = MYTHREAD;
  pairs[2 * MYTHREAD] = MYTHREAD;
  upc_barrier;
  int a[] = {4, 5, 6};
  CHECK(third() == 4);
  CHECK(last_of(a, 3) == 6);
  CHECK(through(plain, a) == 6 + MYTHREAD);
  CHECK(shadowed(a) == 3 + MYTHREAD);
  CHECK((_Alignas(16) char[]){7}[0] == 7);
  return 0;
}
