/* SPDX-License-Identifier: BSD-3-Clause */
/* K&R functions with pointers to shared and arrays as parameters, old-style returns, strict
 * accesses. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <upc_strict.h>
#define N 20
shared[N] int table[THREADS][N];
shared int count;
shared char *names;
static shared[N] int (*rows)[N];
int sum(a, n) shared[N] int *a;
int n;
{
  int i, s = 0;
  for (i = 0; i < n; i++) s += a[i];
  return s;
}
double avg(a, n)
register int n;
shared[N] int a[];
{ return (double)sum(a, n) / n; }
void fill(t, v) int t, v;
{
  register int i;
  for (i = 0; i < N; ++i) table[t][i] = v + i;
}
shared[N] int *row(t) {
  return &table[t][0];
}
static swap(a, b) shared int *a, *b;
{
  int t = *a;
  *a = *b;
  *b = t;
}
shared int sw[2 * THREADS];
upc_lock_t *lk;
main(argc, argv) int argc;
char **argv;
{
  int t, i;
  fill(MYTHREAD, MYTHREAD * 100);
  upc_barrier 1;
  for (t = 0; t < THREADS; t++) {
    CK(sum(row(t), N) == N * 100 * t + N * (N - 1) / 2);
    CK(avg(table[t], 2) == 100 * t + .5);
  }
  rows = table;
  CK(rows[THREADS - 1][3] == (THREADS - 1) * 100 + 3);
  CK((*(rows + THREADS - 1))[3] == rows[THREADS - 1][3]);
  rows++;
  CK(rows - table == 1);
  CK(upc_threadof(rows) == 1 % THREADS);
  upc_barrier 2;
  sw[2 * MYTHREAD] = 1;
  sw[2 * MYTHREAD + 1] = 2;
  upc_barrier;
  swap(&sw[2 * MYTHREAD], &sw[2 * MYTHREAD + 1]);
  upc_barrier;
  for (i = 0; i < 2 * THREADS; i++) CK(sw[i] == (i % 2 ? 1 : 2));
  lk = upc_all_lock_alloc();
  for (i = 0; i < 50; i++) {
    upc_lock(lk);
    count++;
    upc_unlock(lk);
  }
  upc_barrier;
  CK(count == 50 * THREADS);
  i = 0;
again:
  i++;
  if (i < 5) goto again;
  upc_notify 5;
  i = count;
  upc_wait 5;
  if (MYTHREAD == 0) upc_lock_free(lk);
  upc_barrier;
  exit(0);
}
