/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall: every form of its clauses and affinity. */
/* ranks: 1 4 */
#include "check.h"
#include <upc_relaxed.h>
#define N 40
shared int a[N * THREADS], b[N * THREADS];
shared [4] int c[N * THREADS];
shared [N] int d[N * THREADS];
shared int m[N][THREADS];
shared int aff[THREADS];
shared int cnt[THREADS];
static int inner(int k) {
  int j, n = 0;
  upc_forall(j = 0; j < 10; j++; j) n++;
  return n;
}
int main() {
  int i, j, k, n = 0;
  upc_forall(i = 0; i < N * THREADS; i++; &a[i]) a[i] = i;
  upc_forall(i = 0; i < N * THREADS; i++; i) {
    b[i] = 2 * i;
  }
  upc_barrier;
  for (i = 0; i < N * THREADS; i++) {
    CK(a[i] == i);
    CK(b[i] == 2 * i);
  }
  upc_barrier;
  upc_forall(i = N * THREADS - 1; i >= 0; i--; &c[i]) c[i] = a[i] + b[i];
  CK(i == -1);
  upc_barrier;
  for (i = 0; i < N * THREADS; i++) CK(c[i] == 3 * i);
  upc_forall(i = 0; i < N * THREADS; i += 3; &d[i]) {
    if (i % 2) continue;
    d[i] = 1;
    CK(upc_threadof(&d[i]) == MYTHREAD);
  }
  upc_barrier;
  for (i = 0; i < N * THREADS; i++) CK(d[i] == (i % 3 == 0 && i % 2 == 0));
  upc_forall(i = 0, j = 10; i < j; i++, j--; i * 2 + 1) n++;
  CK(i == 5 && j == 5);
  upc_forall(int q = 0; q < 5; q++; continue) n = 100;
  n = 0;
  upc_forall(i = 0; i < 5; i++;) n++;
  CK(n == 5);
  n = 0;
  upc_forall(i = 0; i < 5; i++; continue) n++;
  CK(n == 5);
  i = 0;
  n = 0;
  upc_forall(; i < 5;;) {
    i++;
    n++;
  }
  CK(n == 5);
  i = 0;
  n = 0;
  upc_forall(;;;) {
    if (++n >= 4) break;
  }
  CK(n == 4);
  n = 0;
  upc_forall(i = 0; i < THREADS; i++; i) {
    CK(i == MYTHREAD);
    upc_forall(j = 0; j < 10; j++; j) n++;
  }
  CK(n == 10);
  CK(i == THREADS);
  n = 0;
  upc_forall(i = 0; i < THREADS; i++; &a[i]) n += inner(i);
  CK(n == 10);
  n = 0;
  upc_forall(i = 0; i < 3; i++; continue) {
    upc_forall(j = 0; j < THREADS; j++; j) n++;
    upc_barrier;
  }
  CK(n == 3);
  n = 0;
  for (i = 0; i < 3; i++) upc_forall(j = 0; j < THREADS; j++; &m[i][j]) {
      m[i][j] = i;
      n++;
    }
  CK(n == 3);
  n = 0;
  upc_forall(i = 0; i < 2 * THREADS; i++; a) n++;
  CK(n == (MYTHREAD == 0 ? 2 * THREADS : 0));
  upc_forall(shared int *p = a; p < a + N * THREADS; p++; p) *p = -1;
  upc_barrier;
  for (i = 0; i < N * THREADS; i++) CK(a[i] == -1);
  aff[MYTHREAD] = THREADS - 1 - MYTHREAD;
  upc_barrier;
  n = 0;
  upc_forall(i = 0; i < THREADS; i++; aff[i]) {
    n++;
    CK(aff[i] == MYTHREAD);
  }
  CK(n == 1);
  n = 0;
  upc_forall(i = 0; i < THREADS; i++; (MYTHREAD, i)) n++;
  CK(n == 1);
  n = 0;
  upc_forall(long long L = 0; L < 3LL * THREADS; ++L; L) n++;
  CK(n == 3);
  n = 0;
  upc_forall(unsigned char u = 0; u < 3; u++; MYTHREAD) n++;
  CK(n == 3);
  upc_forall(i = 0; i < 4 * THREADS; i++; i) switch (i & 3) {
  case 0: n += 1; break;
  case 1: {
    n += 2;
  } break;
  default: continue;
  }
  n = 0;
  upc_forall(i = 0; i < 4 * THREADS; ++i; i / 4) {
    n++;
    CK(i / 4 == MYTHREAD);
  }
  CK(n == 4);
  n = 0;
  upc_forall(i = 0; i < 4 * THREADS; i++; i % THREADS) n++;
  CK(n == 4);
  n = 0;
  upc_forall(i = 1; i < 4 * THREADS - 1; i++; &c[i]) {
    n += 1;
  }
  cnt[MYTHREAD] = n;
  upc_barrier;
  for (i = k = 0; i < THREADS; i++) k += cnt[i];
  CK(k == 4 * THREADS - 2);
  n = 0;
  {
    upc_forall(i = 0; i < N; i++; &m[i][0]) upc_forall(j = 0; j < THREADS; j++; &m[i][j]) {
      m[i][j]++;
      n++;
    }
    CK(n == (MYTHREAD == 0 ? N * THREADS : 0));
  }
  upc_barrier;
  n = 0;
  upc_forall(i = 0; i < N; i++; i) for (j = 0; j < 3; j++) {
    if (j == 1) continue;
    if (j == 2) break;
    n++;
  }
  upc_forall(i = 0; i <= N; i++; i);
  if (MYTHREAD == 0)
    upc_forall(i = 0; i < 2; i++; i) n = 7;
  else
    n = 8;
  upc_forall(i = 0; i < N * THREADS; i++; &(a[i])) {
    int i2 = i;
    a[i] = i2;
  }
  upc_forall(i = 0; i < N * THREADS; i++; a + i) a[i] += 1;
  upc_barrier;
  CK(a[N * THREADS - 1] == N * THREADS);
  upc_barrier;
  upc_forall(i = 0; i < N * THREADS - 1; i++; &a[i + 1]) a[i + 1] = 5;
  upc_forall(i = 0; i < N * THREADS; i++; &a[(i + 1) % THREADS]);
  n = 0;
  upc_forall(i = 0; i < 10; i++; - 1 * i) n++;
  goto end;
end:
  return 0;
}
