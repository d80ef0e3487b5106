/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall that reads and writes neighbours of its own elements, in its block and beyond. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdio.h>
#include <upc_relaxed.h>
#define N 23
shared[N] double a[N * THREADS * 3], b[N * THREADS * 3];
shared[4] int c[4 * THREADS * 5], d[4 * THREADS * 5];
shared[6] int g[3 * THREADS * 4][2], h[3 * THREADS * 4][2];
shared[*] long s1[9 * THREADS], s2[9 * THREADS];
static double ra[N * 64 * 3], rb[N * 64 * 3];
static int rc[4 * 64 * 5], rd[4 * 64 * 5], rg[3 * 64 * 4][2], rh[3 * 64 * 4][2];
static long r1[9 * 64], r2[9 * 64];
int main() {
  const int n = N * THREADS * 3, m = 4 * THREADS * 5, r = 3 * THREADS * 4, z = 9 * THREADS;
  int i, it;
  upc_forall(i = 0; i < n; i++; &a[i]) a[i] = i * 7 % 31;
  for (i = 0; i < n; i++) ra[i] = i * 7 % 31;
  upc_forall(i = 0; i < m; i++; &c[i]) {
    c[i] = i * 5 % 17;
    d[i] = 0;
  }
  for (i = 0; i < m; i++) rc[i] = i * 5 % 17;
  upc_forall(i = 0; i < r; i++; &g[i]) {
    g[i][0] = i;
    g[i][1] = -i * i;
  }
  for (i = 0; i < r; i++) {
    rg[i][0] = i;
    rg[i][1] = -i * i;
  }
  upc_forall(i = 0; i < z; i++; &s1[i]) s1[i] = i * 3;
  for (i = 0; i < z; i++) r1[i] = i * 3;
  upc_barrier;
  for (it = 0; it < 3; it++) {
    upc_forall(i = 1; i < n - 1; i++; &a[i]) b[i] = a[i - 1] + 2 * a[i] + a[i + 1];
    CK(i == n - 1);
    upc_barrier;
    upc_forall(i = 0; i < n; i++; &a[i]) a[i] = (int)b[i] % 1000;
    upc_barrier;
    for (i = 1; i < n - 1; i++) rb[i] = ra[i - 1] + 2 * ra[i] + ra[i + 1];
    for (i = 0; i < n; i++) ra[i] = (int)rb[i] % 1000;
  }
  for (i = 0; i < n; i++) CK(a[i] == ra[i]);
  upc_forall(i = 3; i < m - 2; i++; &d[i]) {
    d[i] = c[i - 3] - c[2 + i];
    if (c[i + 1] > 8) continue;
    d[i] += c[(i)];
  }
  upc_barrier;
  for (i = 3; i < m - 2; i++) {
    rd[i] = rc[i - 3] - rc[i + 2];
    if (rc[i + 1] > 8) continue;
    rd[i] += rc[i];
  }
  for (i = 0; i < m; i++) CK(d[i] == rd[i]);
  upc_barrier;
  upc_forall(i = 2; i < m - 2; i++; &d[i - 1]) d[i - 1] = c[i - 1] + c[i];
  upc_barrier;
  for (i = 2; i < m - 2; i++) rd[i - 1] = rc[i - 1] + rc[i];
  for (i = 0; i < m; i++) CK(d[i] == rd[i]);
  upc_forall(int k = 1; k < r - 1; k++; &g[k]) {
    h[k][0] = g[k - 1][1] + g[k + 1][0];
    h[k][1] = g[k][0] - g[k - 1][0];
  }
  upc_barrier;
  for (i = 1; i < r - 1; i++) {
    rh[i][0] = rg[i - 1][1] + rg[i + 1][0];
    rh[i][1] = rg[i][0] - rg[i - 1][0];
  }
  for (i = 0; i < r; i++) CK(h[i][0] == rh[i][0] && h[i][1] == rh[i][1]);
  upc_forall(long k = 0; k < z - 9; k++; &s2[k]) s2[k] = s1[k + 9] + s1[k + 8] - s1[k];
  upc_barrier;
  for (i = 0; i < z - 9; i++) CK(s2[i] == r1[i + 9] + r1[i + 8] - r1[i]);
  {
    shared[4] int *p = &c[2], *q = &d[2];
    upc_forall(i = 1; i < m - 4; i++; &q[i]) q[i] = p[i - 1] + p[i + 1];
    upc_barrier;
    for (i = 1; i < m - 4; i++) CK(d[i + 2] == rc[i + 1] + rc[i + 3]);
  }
  upc_barrier;
  upc_forall(i = 1; i < m; i++; &d[i]) d[i - 1] = 100 + i;
  upc_barrier;
  for (i = 1; i < m; i++) CK(d[i - 1] == 100 + i);
  upc_barrier;
  return 0;
}
