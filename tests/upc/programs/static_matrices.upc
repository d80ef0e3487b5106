/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of fixed numbers of threads: layouts with THREADS in the block size, odd sizes, [*]. */
/* ranks: 4 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <upc_relaxed.h>
#define N 16
#define P 16
#define M 16
shared[N * P / THREADS] int a[N][P] = {{1, 2, 3, 4}, {5, 6, 7, 8}, [15] = {9}}, c[N][M];
shared[M / THREADS] int b[P][M] = {{0, 1, 0, 1}, {0, 1, 0, 1}};
shared[P] double rows[N][P];
shared[N] int d1[N * THREADS];
shared int x2[2][THREADS][3];
shared[N / THREADS] int xx[N / THREADS * THREADS];
shared int plain[100];
shared[*] int star[100];
shared[*] int star2[10][13];
shared[7] char odd[101];
int dims[THREADS];
static double local[N * THREADS][2];
enum { E = THREADS * 2 };
#if THREADS != 4
# error
#endif
int main(void) {
  int i, j, l;
  upc_forall(i = 0; i < N; i++; &c[i][0]) for (j = 0; j < M; j++) {
    c[i][j] = 0;
    for (l = 0; l < P; l++) c[i][j] += a[i][l] * b[l][j];
  }
  upc_barrier;
  CK(c[0][1] == 3 && c[0][0] == 0 && c[1][3] == 11 && c[15][1] == 9);
  CK(upc_threadof(&c[4][0]) == 1 && upc_threadof(&b[3][4]) == 1 && upc_blocksizeof(a) == 64);
  upc_forall(i = 0; i < N; i++; &rows[i]) for (j = 0; j < P; j++) rows[i][j] = i * P + j;
  upc_barrier;
  for (i = 0; i < N; i++) {
    CK(upc_threadof(&rows[i][3]) == i % 4);
    shared[P] double *r = rows[i];
    CK(r[5] == i * P + 5);
    CK((*(rows + i))[6] == i * P + 6);
  }
  for (i = 0; i < 100; i++)
    if (i % THREADS == MYTHREAD) plain[i] = i, star[i] = 2 * i;
  upc_barrier;
  for (i = 0; i < 100; i++) {
    CK(plain[i] == i && star[i] == 2 * i);
    CK(upc_threadof(&star[i]) == i / 25);
  }
  upc_forall(i = 0; i < 10; i++; i) for (j = 0; j < 13; j++) star2[i][j] = i * 13 + j;
  upc_barrier;
  CK(upc_blocksizeof(star2) == 33);
  shared[33] int *q = &star2[0][0];
  for (i = 0; i < 130; i++) CK(q[i] == i && upc_threadof(&q[i]) == i / 33);
  upc_forall(i = 0; i < 101; i++; &odd[i]) odd[i] = i;
  upc_barrier;
  for (i = 0; i < 101; i++) {
    CK(odd[i] == i);
    CK(upc_threadof(&odd[i]) == i / 7 % 4 && upc_phaseof(&odd[i]) == i % 7);
  }
  CK(sizeof odd == 101);
  x2[1][MYTHREAD][2] = MYTHREAD;
  upc_barrier;
  for (i = 0; i < THREADS; i++) CK(x2[1][i][2] == i);
  switch (MYTHREAD) {
  case THREADS - 1: CK(MYTHREAD == 3); break;
  case 0: break;
  }
  CK(sizeof dims == 16 && E == 8);
  upc_barrier;
  return 0;
}
