/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matmul.upc: C = A * B with rows of A and C, and columns of B, spread over the threads.
 *
 * Shows: layouts, upc_forall with pointer affinity, a bulk get of what is used often.
 * Compile: tombolo upcc -O2 matmul.upc -o matmul
 * Run:     tombolo run -n 4 ./matmul
 */
/* ranks: 1 2 4 */
#include <stdio.h>
#include <upc_relaxed.h>

#define N 32 /* rows of each thread */
#define K 48
#define P (N * THREADS)

shared [N * K] double a[N * THREADS][K];
shared [N * K] double c[N * THREADS][K];
shared [K] double b[THREADS][K][K]; /* columns */
shared int wrong;

int main(void) {
  static double column[K][K];
  upc_forall (int i = 0; i < P; i++; &a[i][0])
    for (int j = 0; j < K; j++) a[i][j] = i + j;
  if (MYTHREAD == 0)
    for (int j = 0; j < K; j++)
      for (int k = 0; k < K; k++) b[0][j][k] = j == k ? 2 : 0;
  upc_barrier;
  for (int j = 0; j < K; j++) upc_memget(column[j], &b[0][j][0], K * sizeof(double));
  upc_forall (int i = 0; i < P; i++; &c[i][0])
    for (int j = 0; j < K; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += a[i][k] * column[j][k];
      c[i][j] = sum;
    }
  upc_barrier;
  if (MYTHREAD == 0) {
    for (int i = 0; i < P; i++)
      for (int j = 0; j < K; j++) wrong += c[i][j] != 2.0 * (i + j);
    printf("%s: %d rows on %d threads\n", wrong ? "FAILED" : "ok", P, THREADS);
  }
  upc_barrier;
  return wrong != 0;
}
