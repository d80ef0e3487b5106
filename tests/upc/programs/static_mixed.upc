/* SPDX-License-Identifier: BSD-3-Clause */
/* THREADS as a constant: in enumerations, bounds, block sizes, structures and #if. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <string.h>
#define N 12
enum { NT = THREADS, M = N * THREADS };
shared int sq[THREADS * THREADS];
shared[THREADS] int zz[THREADS][THREADS];
shared[N * N / THREADS] double A[N][N];
shared[(N + THREADS - 1) / THREADS] int v[N];
shared[*] int st[N + 1];
shared int plain[100];
shared[3] int three[10][7];
struct per {
  int c[THREADS];
  int n;
};
shared struct per ps[THREADS];
static int priv[THREADS][2];
shared[N] double g[N][N];
typedef int tv[THREADS];
shared tv rows[4];
shared[THREADS] tv rowb[4];
static int t0 = THREADS;
int arr[] = {[THREADS] = 1};
shared[N / THREADS ? N / THREADS : 1] int hb[N];
shared char z[10 + THREADS];
shared[] int ind[THREADS];
shared int dflt[] = {1, 2, 3, 4};
#if THREADS > 2
# define BIG 1
#else
# define BIG 0
#endif
#ifndef __UPC_STATIC_THREADS__
# error static
#endif
int main(void) {
  int i, j;
  CK(NT == THREADS && sizeof arr == (THREADS + 1) * 4 && BIG == (THREADS > 2) && t0 == THREADS &&
     sizeof(sq) == 4 * THREADS * THREADS);
  switch (MYTHREAD) {
  case THREADS: CK(0);
  default:;
  }
  for (i = 0; i < THREADS * THREADS; i++) CK(upc_threadof(&sq[i]) == i % THREADS);
  upc_forall(i = 0; i < THREADS; i++; &zz[i][0]) for (j = 0; j < THREADS; j++) zz[i][j] = i * j;
  upc_forall(i = 0; i < N * N; i++; &A[i / N][i % N]) A[i / N][i % N] = i;
  upc_barrier;
  for (i = 0; i < THREADS; i++)
    for (j = 0; j < THREADS; j++) CK(zz[i][j] == i * j && upc_threadof(&zz[i][j]) == i);
  for (i = 0; i < N * N; i++)
    CK(A[i / N][i % N] == i && upc_threadof(&A[i / N][i % N]) == i / (N * N / THREADS) % THREADS);
  CK(upc_blocksizeof(st) == (N + 1 + THREADS - 1) / THREADS &&
     upc_blocksizeof(v) == (N + THREADS - 1) / THREADS);
  for (i = 0; i < N; i++) CK(upc_threadof(&v[i]) == i / ((N + THREADS - 1) / THREADS));
  for (i = 0; i < 10; i++)
    for (j = 0; j < 7; j++)
      CK(upc_threadof(&three[i][j]) == (i * 7 + j) / 3 % THREADS &&
         upc_phaseof(&three[i][j]) == (i * 7 + j) % 3 && &three[i][j] - &three[0][0] == i * 7 + j);
  ps[MYTHREAD].n = THREADS;
  for (i = 0; i < THREADS; i++) ps[MYTHREAD].c[i] = i;
  upc_barrier;
  CK(ps[THREADS - 1].c[THREADS - 1] == THREADS - 1 &&
     upc_localsizeof(plain) == (100 + THREADS - 1) / THREADS * 4 && sizeof(rows) == 16 * THREADS);
  rows[3][MYTHREAD] = 3;
  CK(upc_threadof(&rows[3][MYTHREAD]) == MYTHREAD && upc_threadof(&rowb[3][0]) == 3 % THREADS &&
     upc_threadof(&rowb[3][THREADS - 1]) == 3 % THREADS);
  priv[THREADS - 1][1] = 2;
  for (i = 0; i < 4; i++) CK(dflt[i] == i + 1 && upc_threadof(&dflt[i]) == i % THREADS);
  CK(upc_threadof(&ind[THREADS - 1]) == 0 && sizeof dflt == 16);
  upc_forall(i = 1; i < N - 1; i++; &g[i][0]) for (j = 0; j < N; j++) g[i][j] = i + j;
  upc_barrier;
  for (i = 1; i < N - 1; i++) CK(g[i][3] == i + 3);
  upc_forall(i = 0; i < N; i++; &hb[i]) hb[i] = i * i;
  upc_barrier;
  shared[N / THREADS ? N / THREADS : 1] int *hp = hb;
  for (i = 0; i < N; i++, hp++) CK(*hp == i * i);
  char vla[THREADS];
  CK(sizeof vla == THREADS);
  upc_barrier;
  return 0;
}
