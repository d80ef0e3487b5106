/* SPDX-License-Identifier: BSD-3-Clause */
/* THREADS in sizes and types with a number of threads that is not fixed. */
/* ranks: 3 */
#include "check.h"
#include <upc.h>
shared int a[THREADS * 100 * 20];
shared int b[(10) * THREADS];
shared int c[2 * THREADS * 3];
int main() {
  int n = THREADS;
  int v[THREADS];
  v[THREADS - 1] = 1;
  int *w = malloc(THREADS * sizeof *w);
  w[0] = 0;
  CK(sizeof(a) == 8000ul * n);
  CK(sizeof(c) / sizeof(c[0]) == 6 * n);
  double m[THREADS][2];
  m[0][0] = 1;
  switch (n) {
  case 1: break;
  }
  char buf[upc_elemsizeof(a)];
  CK(sizeof buf == 4);
  CK(sizeof(v) == 4 * THREADS);
  for (int i = 0; i < THREADS; ++i) v[i] = i;
  return 0;
}
