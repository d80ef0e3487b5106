/* SPDX-License-Identifier: BSD-3-Clause */
/* Skeletons of CG, IS and MG: sparse product, bucket sort by locks, grids behind pointers. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#define NA 64
#define NZ 5
typedef struct {
  int row;
  double val[NZ];
  int col[NZ];
} row_t;
shared[*] double x[NA * THREADS], p[NA * THREADS], q[NA * THREADS], r[NA * THREADS],
    zv[NA * THREADS];
shared[NA] row_t mat[NA * THREADS];
shared double redux[THREADS];
shared double result;
static double dot(shared[] double *a, shared[] double *b, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
double allsum(double v) {
  redux[MYTHREAD] = v;
  upc_all_reduceD(&result, redux, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  double s = result;
  upc_barrier;
  return s;
}
struct dbl {
  double v;
};
typedef struct dbl dbl;
/* IS */
#define KEYS 256
#define MAXK 128
shared[KEYS] int keys[KEYS * THREADS];
shared[MAXK] int bucket[MAXK * THREADS];
shared[] int *shared dir[THREADS];
shared int counts[THREADS];
static unsigned long long seed = 314159265ULL;
double randlc(void) {
  seed = (seed * 1220703125ULL) & ((1ULL << 46) - 1);
  return seed / (double)(1ULL << 46);
}
/* MG */
#define G 8
typedef shared[G * G * G] double (*grid_t)[G][G];
shared[G * G * G] double u[THREADS][G][G][G], w[THREADS][G][G][G];
typedef shared[] double *sdptr;
shared sdptr face[THREADS][2];
int main(int argc, char *argv[]) {
  int i, j, n = NA * THREADS;
  upc_forall(i = 0; i < n; i++; &mat[i]) {
    mat[i].row = i;
    for (j = 0; j < NZ; j++) {
      int c = i + j - 2;
      mat[i].col[j] = c < 0 || c >= n ? i : c;
      mat[i].val[j] = c < 0 || c >= n ? 0 : j == 2 ? 4.5 : -1;
    }
    x[i] = 1;
  }
  upc_barrier;
  upc_forall(i = 0; i < n; i++; &p[i]) {
    zv[i] = 0;
    r[i] = x[i];
    p[i] = r[i];
  }
  double rho = allsum(
             dot((shared[] double *)&r[MYTHREAD * NA], (shared[] double *)&r[MYTHREAD * NA], NA)),
         r0 = rho;
  for (int it = 0; it < 25; it++) {
    upc_barrier;
    upc_forall(i = 0; i < n; i++; &q[i]) {
      double s = 0;
      for (j = 0; j < NZ; j++) s += mat[i].val[j] * p[mat[i].col[j]];
      q[i] = s;
    }
    double pq = 0;
    upc_forall(i = 0; i < n; i++; &p[i]) pq += p[i] * q[i];
    double alpha = rho / allsum(pq);
    upc_forall(i = 0; i < n; i++; &zv[i]) {
      zv[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double rr = 0;
    upc_forall(i = 0; i < n; i++; &r[i]) rr += r[i] * r[i];
    double rho1 = allsum(rr), beta = rho1 / rho;
    rho = rho1;
    upc_forall(i = 0; i < n; i++; &p[i]) p[i] = r[i] + beta * p[i];
  }
  CK(rho < r0 * 1e-12);
  upc_barrier;
  double err = 0;
  upc_forall(i = 0; i < n; i++; &zv[i]) {
    double s = 0;
    for (j = 0; j < NZ; j++) s += mat[i].val[j] * zv[mat[i].col[j]];
    err = err > (s > x[i] ? s - x[i] : x[i] - s) ? err : (s > x[i] ? s - x[i] : x[i] - s);
  }
  CK(err < 1e-5);
  /* IS */
  for (i = 0; i <= MYTHREAD; i++) seed = seed * 69069 + 5;
  for (i = 0; i < KEYS; i++) keys[MYTHREAD * KEYS + i] = (int)(randlc() * MAXK * THREADS);
  for (i = 0; i < MAXK; i++) bucket[MYTHREAD * MAXK + i] = 0;
  static upc_lock_t *shared locks[THREADS];
  locks[MYTHREAD] = upc_global_lock_alloc();
  upc_barrier;
  int *mine = (int *)&keys[MYTHREAD * KEYS];
  for (i = 0; i < KEYS; i++) {
    upc_lock(locks[mine[i] / MAXK]);
    bucket[mine[i]]++;
    upc_unlock(locks[mine[i] / MAXK]);
  }
  upc_barrier;
  long tot = 0;
  for (i = 0; i < MAXK * THREADS; i++) tot += bucket[i];
  CK(tot == (long)KEYS * THREADS);
  int own = 0;
  for (i = 0; i < MAXK; i++) own += bucket[MYTHREAD * MAXK + i];
  dir[MYTHREAD] = (shared[] int *)upc_alloc((own + 1) * sizeof(int));
  counts[MYTHREAD] = 0;
  upc_barrier;
  for (i = 0; i < KEYS; i++) {
    int d = mine[i] / MAXK;
    upc_lock(locks[d]);
    dir[d][counts[d]++] = mine[i];
    upc_unlock(locks[d]);
  }
  upc_barrier;
  CK(counts[MYTHREAD] == own);
  int *lo = (int *)dir[MYTHREAD];
  for (i = 0; i < own; i++) CK(lo[i] / MAXK == MYTHREAD);
  upc_barrier;
  upc_lock_free(locks[(MYTHREAD + 1) % THREADS]);
  /* MG */
  grid_t mg = u[MYTHREAD];
  for (i = 0; i < G; i++)
    for (j = 0; j < G; j++)
      for (int k = 0; k < G; k++) {
        u[MYTHREAD][i][j][k] = MYTHREAD * 1000 + i * 100 + j * 10 + k;
        CK(mg[i][j][k] == u[MYTHREAD][i][j][k]);
      }
  face[MYTHREAD][0] = (sdptr)&u[MYTHREAD][0][0][0];
  face[MYTHREAD][1] = (sdptr)&u[MYTHREAD][G - 1][0][0];
  upc_barrier;
  {
    int nb = (MYTHREAD + 1) % THREADS;
    double halo[G][G];
    upc_memget(halo, face[nb][0], sizeof halo);
    for (i = 0; i < G; i++)
      for (j = 0; j < G; j++) CK(halo[i][j] == nb * 1000 + i * 10 + j);
    CK(face[nb][1][9] == nb * 1000 + 700 + 11);
    upc_memcpy(&w[MYTHREAD][0][0][0], &u[nb][0][0][0], G * G * G * sizeof(double));
    CK(w[MYTHREAD][3][2][1] == nb * 1000 + 321);
  }
  upc_barrier;
  upc_forall(i = 0; i < THREADS; i++; &w[i][0][0][0]) for (j = 0; j < G; j++) w[i][j][j][j] = -1;
  upc_barrier;
  for (i = 0; i < THREADS; i++) CK(w[i][4][4][4] == -1);
  upc_free(dir[MYTHREAD]);
  upc_barrier;
  return 0;
}
