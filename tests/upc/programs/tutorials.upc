/* SPDX-License-Identifier: BSD-3-Clause */
/* Tutorial programs: pi, sieve, matrix by vector, life, heat, Mandelbrot, Fibonacci. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <sys/time.h>
#include <upc.h>
#include <upc_relaxed.h>
/* pi, matvec, sieve, life, heat, mandel, fib, prefix, transposes */
#define N      (24 * THREADS)
#define TRIALS 20000
shared int hits[THREADS];
shared [*] int sieve[1000 * THREADS];
shared double a[8][THREADS], v[THREADS], c[8 * THREADS];
shared [16] int grid[2][THREADS][16];
shared [100] double T0[100 * THREADS], T1[100 * THREADS];
shared [] double *old, *new_;
shared int color[THREADS * 16][16];
shared int fib[THREADS * 10];
upc_lock_t *l;
shared double pi = 0.0;
#define seed_ 123
int hit() {
  int const rand_max = 0xFFFFFF;
  double x = ((double)(rand() & rand_max)) / rand_max;
  double y = ((double)(rand() & rand_max)) / rand_max;
  if ((x * x + y * y) <= 1.0)
    return 1;
  else
    return 0;
}
static int rows(int r) {
  return (r + THREADS) % THREADS;
}
int main(int argc, char *argv[]) {
  int i, j, g, k, total;
  double dmax;
  srand(MYTHREAD * 17 + seed_);
  for (i = 0; i < TRIALS; i++) hits[MYTHREAD] += hit();
  upc_barrier;
  if (MYTHREAD == 0) {
    for (total = 0, i = 0; i < THREADS; i++) total += hits[i];
    if (fabs(4.0 * total / TRIALS / THREADS - 3.14) > .1) printf("FAIL pi\n");
  }
  l = upc_all_lock_alloc();
  {
    double lp = 0;
    int n = 10000;
    upc_forall(i = 0; i < n; i++; i) lp += 4.0 / (1 + ((i + .5) / n) * ((i + .5) / n));
    upc_lock(l);
    pi += lp / n;
    upc_unlock(l);
    upc_barrier;
    if (fabs(pi - M_PI) > 1e-6) printf("FAIL pi2 %g\n", pi);
  }
  {
    int n = 1000 * THREADS;
    upc_forall(i = 0; i < n; i++; &sieve[i]) sieve[i] = i > 1;
    upc_barrier;
    for (i = 2; i * i < n; i++) {
      if (sieve[i]) upc_forall(j = i * i; j < n; j += i; &sieve[j]) sieve[j] = 0;
      upc_barrier;
    }
    int cnt = 0;
    for (i = 0; i < 1000; i++) cnt += sieve[i];
    if (cnt != 168) printf("FAIL sieve %d\n", cnt);
  }
  upc_forall(j = 0; j < THREADS; j++; j) {
    v[j] = 1;
    for (i = 0; i < 8; i++) a[i][j] = i;
  }
  upc_barrier;
  upc_forall(i = 0; i < 8; i++; &c[i]) {
    c[i] = 0;
    for (j = 0; j < THREADS; j++) c[i] += a[i][j] * v[j];
  }
  upc_barrier;
  for (i = 0; i < 8; i++)
    if (c[i] != i * THREADS) printf("FAIL mv\n");
  upc_forall(i = 0; i < THREADS; i++; &grid[0][i]) for (j = 0; j < 16; j++) grid[0][i][j] =
      (i * 16 + j) % 3 == 0;
  upc_barrier;
  for (g = 0; g < 4; g++) {
    int s = g & 1;
    upc_forall(i = 0; i < THREADS; i++; &grid[!s][i][0]) for (j = 0; j < 16; j++) {
      int n = 0, di, dj;
      for (di = -1; di <= 1; di++)
        for (dj = -1; dj <= 1; dj++)
          if (di || dj) n += grid[s][rows(i + di)][(j + dj + 16) % 16];
      grid[!s][i][j] = n == 3 || (n == 2 && grid[s][i][j]);
    }
    upc_barrier;
  }
  upc_forall(i = 0; i < 100 * THREADS; i++; &T0[i]) T0[i] = T1[i] =
      (i == 0 || i == 100 * THREADS - 1) ? 100.0 : 0.0;
  upc_barrier;
  for (k = 0; k < 20; k++) {
    shared [100] double *src = k % 2 ? T1 : T0, *dst = k % 2 ? T0 : T1;
    upc_forall(i = 1; i < 100 * THREADS - 1; i++; &dst[i]) dst[i] = (src[i - 1] + src[i + 1]) / 2;
    upc_barrier;
  }
  if (!(T0[1] > 10 && T0[1] < 100)) printf("FAIL heat %g\n", T0[1]);
  upc_forall(i = 0; i < 16 * THREADS; i++; &color[i][0]) for (j = 0; j < 16; j++) {
    double cr = -2 + 3.0 * i / (16 * THREADS), ci = -1 + 2.0 * j / 16, zr = 0, zi = 0, t;
    int n = 0;
    while (n < 50 && zr * zr + zi * zi < 4) {
      t = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = t;
      n++;
    }
    color[i][j] = n;
  }
  upc_barrier;
  if (color[0][0] > 5) printf("FAIL mandel\n");
  if (MYTHREAD == 0) {
    fib[0] = fib[1] = 1;
    for (i = 2; i < 10 * THREADS; i++) fib[i] = fib[i - 1] + fib[i - 2];
    if (fib[9] != 55) printf("FAIL fib\n");
  }
  upc_barrier;
  upc_lock_free(MYTHREAD == 0 ? l : NULL);
  return 0;
}
