/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall: continue, break, goto, nesting, all kinds of affinity. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <upc_relaxed.h>
#define M 24
shared int a[M * THREADS], b[M * THREADS];
shared[3] int c[M * THREADS];
shared[*] double d[M * THREADS];
shared[] int ind[M];
shared[M] int m2[THREADS][M];
shared int cnt[THREADS];
int nested(void) {
  int n = 0, j;
  upc_forall(j = 0; j < 10; j++; j) n++;
  return n;
}
int main() {
  int i, j, n;
  upc_forall(i = 0; i < M * THREADS; i++; &a[i]) {
    if (i % 3 == 0) continue;
    a[i] = i;
  }
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(a[i] == (i % 3 ? i : 0));
  upc_forall(i = 0; i < M * THREADS; i++; &c[i]) {
    c[i] = i;
    for (j = 0; j < 5; j++) {
      if (j == 3) break;
      c[i]++;
    }
    switch (i % 2) {
    case 0: c[i] += 100; break;
    case 1: c[i] += 200;
    }
  }
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(c[i] == i + 3 + (i % 2 ? 200 : 100));
  n = 0;
  upc_forall(i = 0; i < 30; i++; i) n += nested();
  {
    int e = 0;
    for (i = MYTHREAD; i < 30; i += THREADS) e += 10;
    CK(n == e);
  }
  n = 0;
  upc_forall(i = 0; i < 30; i++; continue) n += nested();
  {
    int e = 0;
    for (i = MYTHREAD; i < 10; i += THREADS) e += 30;
    CK(n == e);
  }
  n = 0;
  upc_forall(i = 0; i < 30; i++;) n++;
  CK(n == 30);
  n = 0;
  upc_forall(i = 100; i > 0; i -= 3; i) n++;
  {
    int e = 0;
    for (i = 100; i > 0; i -= 3)
      if (i % THREADS == MYTHREAD) e++;
    CK(n == e);
  }
  n = 0;
  upc_forall(i = 0, j = 10; i < 10 && j > 0; i++, j--; &ind[i]) n++;
  CK(n == (MYTHREAD == 0 ? 10 : 0));
  CK(i == 10 && j == 0);
  shared[M] int *p;
  n = 0;
  upc_forall(p = m2[0]; p < m2[0] + M * THREADS; p++; p) {
    *p = p - m2[0];
    n++;
  }
  CK(n == M);
  upc_barrier;
  for (i = 0; i < THREADS; i++)
    for (j = 0; j < M; j++) CK(m2[i][j] == i * M + j);
  upc_barrier;
  upc_forall(i = 0; i < THREADS; i++; &m2[i][0]) upc_forall(j = 0; j < M; j++; &m2[i][j]) m2[i][j] =
      -j;
  upc_barrier;
  for (i = 0; i < THREADS; i++)
    for (j = 0; j < M; j++) CK(m2[i][j] == -j);
  for (j = 0; j < 3; j++) upc_forall(i = 1; i < M * THREADS - 1; i++; &d[i]) {
      d[i] = i + j;
      if (d[i] > 1e9) goto out;
    }
out:
  upc_barrier;
  for (i = 1; i < M * THREADS - 1; i++) CK(d[i] == i + 2);
  upc_barrier;
  upc_forall(int k = 0; k < THREADS; k++; &cnt[k]) {
    int q = 0;
    while (1) {
      if (++q > 7) break;
      if (q == 2) continue;
      cnt[k]++;
    }
  }
  upc_barrier;
  for (i = 0; i < THREADS; i++) CK(cnt[i] == 6);
  upc_forall(i = 0; i < M * THREADS; i += 2; &a[i]) a[i] = -1;
  upc_barrier;
  for (i = 0; i < M * THREADS; i += 2) CK(a[i] == -1);
  upc_barrier;
  upc_forall(i = 0; i < M * THREADS; i++; a[i] * 0 + i) b[i] = 5 * i;
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(b[i] == 5 * i);
  upc_barrier;
  upc_forall(i = 1; i < M * THREADS; i++; &a[i - 1]) {
    a[i - 1] = b[i] - b[i - 1];
  }
  upc_barrier;
  for (i = 0; i < M * THREADS - 1; i++) CK(a[i] == 5);
  upc_forall(long long k = 0; k < M * THREADS; ++k; (shared void *)&c[k]) c[k] = 7;
  upc_forall(unsigned k = 0u; k < M * THREADS; k += 1u; &c[k]) c[k] += k;
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(c[i] == 7 + i);
  upc_barrier;
  {
    shared[3] int *q = &c[2];
    upc_forall(i = 0; i < M * THREADS - 2; i++; &q[i]) {
      q[i] = i;
      *(q + i) += 1;
    }
  }
  upc_barrier;
  for (i = 0; i < M * THREADS - 2; i++) CK(c[i + 2] == i + 1);
  upc_barrier;
  upc_forall(i = 0; i < M * THREADS; i++; upc_threadof(&c[i])) c[i] = upc_threadof(&c[i]);
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(c[i] == (i / 3) % THREADS);
  n = 0;
  upc_forall(;;; continue) {
    if (++n > 5) break;
  }
  CK(n == 6);
  upc_barrier;
  switch (n) { /* a case inside a loop that belongs to a switch outside stands once only */
  case 6:
    upc_forall(i = 0; i < M * THREADS; i++; &a[i]) {
    case 7:
      switch (i % 2) {
      default: a[i] = 10; break;
      case 1: a[i] = i;
      }
    }
  }
  upc_barrier;
  for (i = 0; i < M * THREADS; i++) CK(a[i] == (i % 2 ? i : 10));
  upc_barrier;
  return 0;
}
