/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting, searching and loops in functions that get pointers; statics of functions. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <string.h>
static int f1(void) {
  static shared int n;
  static shared [2] int a[2 * THREADS] = {7};
  return a[0] + (n == 0);
}
static int f2(void) {
  static shared int n = 9;
  static shared int a[THREADS];
  {
    static shared int n = 4;
    CK(n == 4);
  }
  return n + a[0];
}
static inline int f3(int k) {
  static shared int cnt[THREADS];
  return cnt[MYTHREAD] += k;
}
struct pt {
  int x, y;
};
shared struct pt P[THREADS];
void out(shared struct pt *q, int n) {
  int i;
  upc_forall(i = 0; i < n; i++; &q[i]) {
    q[i].x = i;
    q[i].y = q[i].x * 2;
  }
  upc_barrier;
}
shared [4] int blk[4 * THREADS * 3];
int sumall(shared [4] int *p, int n) {
  int i, s = 0;
  upc_forall(i = 0; i < n; ++i; &p[i]) s += p[i];
  return s;
}
double work(int n, shared double *v, double *priv) {
  int i;
  double s = 0;
  upc_forall(i = 0; i < n; i++; &v[i]) {
    v[i] = sqrt(i);
    priv[i] = v[i];
    s += priv[i];
  }
  return s;
}
shared double V[10 * THREADS];
int bsearch_(shared int *a, int n, int key) {
  int lo = 0, hi = n - 1;
  while (lo <= hi) {
    int mid = (lo + hi) / 2;
    if (a[mid] == key) return mid;
    if (a[mid] < key)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  return -1;
}
shared int srt[16 * THREADS];
void bubble(shared int *a, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j + 1 < n - i; j++)
      if (a[j] > a[j + 1]) {
        int t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
      }
}
void swap(shared int *x, shared int *y) {
  int t = *x;
  *x = *y;
  *y = t;
}
void quick(shared int *a, int lo, int hi) {
  if (lo < hi) {
    int p = a[hi], i = lo;
    for (int j = lo; j < hi; j++)
      if (a[j] < p) swap(&a[i++], &a[j]);
    swap(&a[i], &a[hi]);
    quick(a, lo, i - 1);
    quick(a, i + 1, hi);
  }
}
int main() {
  int i, n;
  CK(f1() == 8);
  CK(f2() == 9);
  CK(f3(2) == 2);
  CK(f3(3) == 5);
  out(P, THREADS);
  CK(P[THREADS - 1].y == 2 * (THREADS - 1));
  out(&P[0] + 0, THREADS);
  upc_forall(i = 0; i < 12 * THREADS; i++; &blk[i]) blk[i] = 1;
  upc_barrier;
  n = sumall(blk, 12 * THREADS);
  CK(n == 12);
  n = sumall(&blk[2], 8 * THREADS);
  CK(n >= 8 - 4 && n <= 12);
  {
    double pr[10 * THREADS];
    double s = work(10 * THREADS, V, pr);
    CK(s >= 0);
    upc_barrier;
    CK(fabs(V[10 * THREADS - 1] - sqrt(10 * THREADS - 1)) < 1e-12);
  }
  upc_forall(i = 0; i < 16 * THREADS; i++; i) srt[i] = (i * 7919) % 1000;
  upc_barrier;
  if (MYTHREAD == 0) quick(srt, 0, 16 * THREADS - 1);
  upc_barrier;
  for (i = 1; i < 16 * THREADS; i++) CK(srt[i - 1] <= srt[i]);
  CK(bsearch_(srt, 16 * THREADS, srt[5]) >= 0);
  upc_barrier;
  if (MYTHREAD == THREADS - 1) bubble(srt, 16 * THREADS);
  upc_barrier;
  {
    shared int *p = srt;
    int lim = 4 * THREADS;
    upc_forall(i = 0; i < lim; i++; p + i) {
      p[i] = -1;
    }
    upc_barrier;
    upc_forall(i = lim; i > 0; i--; &p[i - 1]) CK(p[i - 1] == -1);
    upc_forall(int k = 0, m = 3; k < m; k++; k) m = m;
  }
  return 0;
}
