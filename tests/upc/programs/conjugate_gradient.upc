/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients over blocked vectors. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#define NPT 20
shared [NPT] double x[NPT * THREADS], r[NPT * THREADS], p[NPT * THREADS], q[NPT * THREADS],
    b[NPT * THREADS];
shared double part[THREADS];
shared double res;
static double dot(shared [NPT] double *u, shared [NPT] double *v) {
  int i;
  double s = 0;
  upc_forall(i = 0; i < NPT * THREADS; i++; &u[i]) s += u[i] * v[i];
  part[MYTHREAD] = s;
  upc_barrier;
  s = 0;
  for (i = 0; i < THREADS; i++) s += part[i];
  upc_barrier;
  return s;
}
static double dot2(shared [NPT] double *u, shared [NPT] double *v) {
  double s = 0;
  double *lu = (double *)&u[MYTHREAD * NPT], *lv = (double *)&v[MYTHREAD * NPT];
  for (int i = 0; i < NPT; i++) s += lu[i] * lv[i];
  part[MYTHREAD] = s;
  upc_all_reduceD(&res, part, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  return res;
}
static void matvec(shared [NPT] double *out, shared [NPT] double *in) {
  int i, n = NPT * THREADS;
  upc_forall(i = 0; i < n; i++; &out[i]) {
    double s = 4 * in[i];
    if (i > 0) s -= in[i - 1];
    if (i < n - 1) s -= in[i + 1];
    out[i] = s;
  }
  upc_barrier;
}
int main() {
  int i, it, n = NPT * THREADS;
  double rho, rho0, alpha, beta;
  upc_forall(i = 0; i < n; i++; &b[i]) {
    b[i] = 1;
    x[i] = 0;
    r[i] = p[i] = b[i];
  }
  upc_barrier;
  rho = dot(r, r);
  {
    double d2 = dot2(r, r);
    if (fabs(d2 - rho) > 1e-9) printf("FAIL dot %g %g\n", rho, d2);
  }
  upc_barrier;
  for (it = 0; it < 100 && rho > 1e-20; it++) {
    matvec(q, p);
    alpha = rho / dot(p, q);
    upc_forall(i = 0; i < n; i++; &x[i]) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    upc_barrier;
    rho0 = rho;
    rho = dot(r, r);
    beta = rho / rho0;
    upc_forall(i = 0; i < n; i++; &p[i]) p[i] = r[i] + beta * p[i];
    upc_barrier;
  }
  matvec(q, x);
  upc_forall(i = 0; i < n; i++; &q[i]) if (fabs(q[i] - 1) > 1e-8)
      printf("FAIL q[%d]=%g\n", i, q[i]);
  return 0;
}
