/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts that need a fixed number of threads. */
/* ranks: 4 */
#include "check.h"
#include <upc.h>
#define NR 16
#define NC 8
#if THREADS > 2 && UPC_MAX_BLOCK_SIZE > 1000
shared [NR * NC / THREADS] double A[NR][NC];
shared [NC / THREADS] double B[NR][NC];
shared [*] double C[NR][NC];
shared int D[10];
shared [THREADS] int E[THREADS * 10][THREADS];
shared int F[THREADS][THREADS];
shared [3] int G[17];
shared [*] int H[13];
shared int I[THREADS + 1];
shared [NC] double *rows[THREADS];
shared [THREADS * NC] double big[2 * THREADS * NC];
int priv[THREADS];
enum { T = THREADS };
shared int J[5] = {1, 2, 3, 4, 5};
shared [2] int K[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
shared int L[2][THREADS] = {{1, 2}, {3, 4, 5, 6}};
shared double m[4096][64];
shared [] int all[THREADS];
#else
# error THREADS
#endif
int main() {
  int i, j;
  CK(upc_blocksizeof(A) == 32);
  CK(upc_blocksizeof(C) == 32);
  CK(upc_blocksizeof(H) == 4);
  for (i = 0; i < NR; i++)
    for (j = 0; j < NC; j++) {
      CK(upc_threadof(&A[i][j]) == (i * NC + j) / 32);
      CK(upc_threadof(&B[i][j]) == (i * NC + j) / 2 % THREADS);
    }
  switch (MYTHREAD) {
  case THREADS - 1: CK(MYTHREAD == 3); break;
  default: CK(MYTHREAD != 3);
  }
  for (i = 0; i < 5; i++) CK(J[i] == i + 1);
  for (i = 0; i < 9; i++) CK(K[i / 3][i % 3] == i + 1);
  CK(L[1][3] == 6 && L[0][1] == 2);
  CK(sizeof(D) == 40);
  CK(upc_localsizeof(D) == 12);
  CK(sizeof(G) == 68);
  CK(upc_localsizeof(G) == 24);
  CK(sizeof(F) == 64);
  upc_forall(i = 0; i < 17; i++; &G[i]) G[i] = i;
  upc_barrier;
  for (i = 0; i < 17; i++) CK(G[i] == i);
  upc_forall(i = 0; i < 4096; i++; &m[i][0]) m[i][0] = i;
  upc_forall(i = 0; i < NR; i++; &A[i][0]) for (j = 0; j < NC; j++) A[i][j] = i + j;
  upc_barrier;
  for (i = 0; i < NR; i++)
    for (j = 0; j < NC; j++) CK(A[i][j] == i + j);
  upc_forall(i = 0; i < NC; i++; i * THREADS / NC) for (j = 0; j < NR; j++) B[j][i] = A[j][i];
  upc_barrier;
  CK(B[3][4] == 7);
  static int si = THREADS;
  CK(si == 4);
  char x[THREADS == 4 ? 1 : -1];
  (void)x;
  return 0;
}
