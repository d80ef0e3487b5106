/* SPDX-License-Identifier: BSD-3-Clause */
/* NAS IS, CG (class S) and EP in the manner of older UPC programs, with the published values. */
/* ranks: 1 3 8 */
#include "check.h"
#include <math.h>
#include <string.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#define SEED   314159265.0
#define AMULT  1220703125.0
#define R23    0x1p-23
#define T23    0x1p23
#define T46    0x1p46
#define BLOCK_LOW(id, p, n)  ((id) * (n) / (p))
#define BLOCK_HIGH(id, p, n) BLOCK_LOW((id) + 1, p, n)
double randlc(x, a) double *x, a;
{
  double t1 = R23 * a, a1 = (int)t1, a2 = a - T23 * a1;
  double x1 = (int)(R23 * *x), x2 = *x - T23 * x1;
  t1 = a1 * x2 + a2 * x1;
  double z = t1 - T23 * (int)(R23 * t1), t3 = T23 * z + a2 * x2;
  *x = t3 - T46 * (int)(R23 * R23 * t3);
  return R23 * R23 * *x;
}
/* the seed after n numbers */
double skip(double seed, double a, long n) {
  for (; n; n >>= 1) {
    if (n & 1) (void)randlc(&seed, a);
    (void)randlc(&a, a);
  }
  return seed;
}

/* ---- IS */
#define NUM_KEYS  (1 << 16)
#define MAX_KEY   (1 << 11)
#define NUM_ITER  10
#define TEST_SIZE 5
typedef int INT_TYPE;
typedef struct {
  INT_TYPE count[MAX_KEY];
} hist_t;
shared hist_t sh_hist[THREADS];
shared [] INT_TYPE *shared sh_keys[THREADS];
shared int passed;
INT_TYPE test_index[TEST_SIZE] = {48427, 17148, 23627, 62548, 4431},
         test_rank[TEST_SIZE] = {0, 18, 346, 64917, 65463};

static int owner(long i) {
  int t = 0;
  while (BLOCK_HIGH((long)t, THREADS, NUM_KEYS) <= i) t++;
  return t;
}
#define KEY(i) (sh_keys[owner(i)][(i) - BLOCK_LOW((long)owner(i), THREADS, NUM_KEYS)])

static void rank(int iteration) {
  static INT_TYPE below[MAX_KEY + 1];
  hist_t *mine = (hist_t *)&sh_hist[MYTHREAD];
  INT_TYPE *keys = (INT_TYPE *)sh_keys[MYTHREAD];
  long n = BLOCK_HIGH((long)MYTHREAD, THREADS, NUM_KEYS) - BLOCK_LOW((long)MYTHREAD, THREADS, NUM_KEYS);
  int i, j;
  if (MYTHREAD == 0) {
    KEY(iteration) = iteration;
    KEY(iteration + NUM_ITER) = MAX_KEY - iteration;
  }
  memset(mine, 0, sizeof *mine);
  upc_barrier 1;
  for (i = 0; i < n; i++) mine->count[keys[i]]++;
  upc_barrier 2;
  memset(below, 0, sizeof below);
  for (i = 0; i < THREADS; i++) {
    hist_t theirs;
    upc_memget(&theirs, &sh_hist[i], sizeof theirs);
    for (j = 0; j < MAX_KEY; j++) below[j + 1] += theirs.count[j];
  }
  for (j = 0; j < MAX_KEY; j++) below[j + 1] += below[j];
  upc_forall (i = 0; i < TEST_SIZE; i++; i) {
    INT_TYPE expected = test_rank[i] + (i <= 2 ? iteration : -iteration);
    CHECK_EQ(below[KEY((long)test_index[i])], expected);
  }
  upc_barrier 3;
}

static void is(void) {
  long first = BLOCK_LOW((long)MYTHREAD, THREADS, NUM_KEYS), i;
  long last = BLOCK_HIGH((long)MYTHREAD, THREADS, NUM_KEYS);
  double seed = skip(SEED, AMULT, 4 * first), x;
  INT_TYPE *keys;
  int k;
  sh_keys[MYTHREAD] = (shared [] INT_TYPE *)upc_alloc((last - first + 1) * sizeof(INT_TYPE));
  keys = (INT_TYPE *)sh_keys[MYTHREAD];
  for (i = 0; i < last - first; i++) {
    for (x = 0, k = 0; k < 4; k++) x += randlc(&seed, AMULT);
    keys[i] = MAX_KEY / 4 * x;
  }
  upc_barrier;
  for (k = 1; k <= NUM_ITER; k++) rank(k);
  upc_free(sh_keys[MYTHREAD]);
}

/* ---- CG */
#define NA     1400
#define NONZER 7
#define NITER  15
#define SHIFT  10.0
#define RCOND  0.1
#define CGITER 25
typedef struct cg_vec {
  double arr[NA];
} cg_vec_t;
shared cg_vec_t sh_p[THREADS], sh_z[THREADS];
shared double sh_part[THREADS];
shared [] double *shared sh_dir[THREADS];
shared double sh_total;
static int row_first, row_last, *rowstr, *colidx;
static double *a;

static void element(double (*dense)[NA], int row, int col, double value) {
  if (row >= row_first && row < row_last) dense[row - row_first][col] += value;
}
static void makea(void) {
  double(*dense)[NA] = calloc(row_last - row_first + 1, sizeof *dense);
  double tran = SEED, size = 1.0, ratio = pow(RCOND, 1.0 / NA), v[NONZER + 1];
  int iv[NONZER + 1], i, j, k, n, nz = 0;
  randlc(&tran, AMULT);
  for (i = 0; i < NA; i++) {
    for (n = 0; n < NONZER;) {
      double element = randlc(&tran, AMULT), place = randlc(&tran, AMULT);
      int at = 2048 * place;
      for (k = 0; k < n && iv[k] != at; k++) continue;
      if (at >= NA || k < n) continue;
      v[n] = element, iv[n++] = at;
    }
    for (k = 0; k < n && iv[k] != i; k++) continue;
    v[k] = .5, iv[k] = i;
    if (k == n) n++;
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++) element(dense, iv[k], iv[j], v[k] * size * v[j]);
    element(dense, i, i, RCOND - SHIFT);
    size *= ratio;
  }
  for (i = 0; i < (row_last - row_first) * NA; i++) nz += dense[0][i] != 0;
  a = malloc((nz + 1) * sizeof *a), colidx = malloc((nz + 1) * sizeof *colidx);
  rowstr = malloc((row_last - row_first + 1) * sizeof *rowstr);
  for (i = nz = 0; i < row_last - row_first; rowstr[++i] = nz)
    for (j = 0, rowstr[i] = nz; j < NA; j++)
      if (dense[i][j] != 0) a[nz] = dense[i][j], colidx[nz++] = j;
  free(dense);
}
/* the sum over all threads */
static double total(double mine) {
  double s = 0;
  int i;
  sh_part[MYTHREAD] = mine;
  upc_barrier;
  for (i = 0; i < THREADS; i++) s += sh_part[i];
  upc_barrier;
  return s;
}
/* every thread gets all of the vector of which each has its rows */
static void gather_rows(shared cg_vec_t *v, double *whole) {
  int t;
  upc_barrier;
  for (t = 0; t < THREADS; t++) {
    int low = BLOCK_LOW(t, THREADS, NA), high = BLOCK_HIGH(t, THREADS, NA);
    upc_memget(&whole[low], &v[t].arr[low], (high - low) * sizeof(double));
  }
  upc_barrier;
}
static double dot(const double *x, const double *y) {
  double s = 0;
  for (int i = row_first; i < row_last; i++) s += x[i] * y[i];
  return total(s);
}
static void multiply(const double *p, double *q) {
  for (int i = row_first; i < row_last; i++) {
    double sum = 0;
    for (int k = rowstr[i - row_first]; k < rowstr[i - row_first + 1]; k++) sum += a[k] * p[colidx[k]];
    q[i] = sum;
  }
}
static void conj_grad(double *x, double *z) {
  static double r[NA], q[NA], whole[NA];
  double *p = (double *)&sh_p[MYTHREAD].arr[0], rho, rho0, alpha, beta;
  int i, it;
  for (i = row_first; i < row_last; i++) z[i] = 0, p[i] = r[i] = x[i];
  rho = dot(r, r);
  for (it = 0; it < CGITER; it++) {
    gather_rows(sh_p, whole);
    multiply(whole, q);
    alpha = rho / dot(p, q);
    rho0 = rho;
    for (i = row_first; i < row_last; i++) z[i] += alpha * p[i], r[i] -= alpha * q[i];
    rho = dot(r, r);
    beta = rho / rho0;
    for (i = row_first; i < row_last; i++) p[i] = r[i] + beta * p[i];
  }
}
static void cg(void) {
  static double x[NA];
  double *z = ((cg_vec_t *)&sh_z[MYTHREAD])->arr, zeta = 0, norm;
  int i, it;
  row_first = BLOCK_LOW(MYTHREAD, THREADS, NA), row_last = BLOCK_HIGH(MYTHREAD, THREADS, NA);
  makea();
  for (i = 0; i < NA; i++) x[i] = 1;
  for (it = 1; it <= NITER; it++) {
    conj_grad(x, z);
    zeta = SHIFT + 1 / dot(x, z);
    norm = 1 / sqrt(dot(z, z));
    for (i = row_first; i < row_last; i++) x[i] = norm * z[i];
  }
  CHECK(fabs(zeta - 8.5971775078648) < 1e-10);
  free(a), free(colidx), free(rowstr);
}

/* ---- EP: PAIRS is 24 in class S */
#ifndef PAIRS
# define PAIRS 16
#endif
#define NQ 10
typedef struct {
  double sx, sy, q[NQ];
} ep_t;
shared ep_t sh_ep[THREADS];
upc_lock_t *sum_lock;
shared double sx, sy;
shared [] long gc[NQ];
static void ep(void) {
  long first = BLOCK_LOW((long)MYTHREAD, THREADS, 1L << PAIRS), n = 0;
  long last = BLOCK_HIGH((long)MYTHREAD, THREADS, 1L << PAIRS), i;
  double seed = skip(271828183.0, AMULT, 2 * first);
  ep_t *e = (ep_t *)&sh_ep[MYTHREAD];
  for (i = first; i < last; i++) {
    double x = 2 * randlc(&seed, AMULT) - 1, y = 2 * randlc(&seed, AMULT) - 1, t = x * x + y * y;
    if (t > 1) continue;
    t = sqrt(-2 * log(t) / t);
    e->sx += x *= t, e->sy += y *= t;
    e->q[(int)fmax(fabs(x), fabs(y))]++;
  }
  sum_lock = upc_all_lock_alloc();
  upc_lock(sum_lock);
  sx += sh_ep[MYTHREAD].sx;
  sy += sh_ep[MYTHREAD].sy;
  for (i = 0; i < NQ; i++) gc[i] += sh_ep[MYTHREAD].q[i];
  upc_unlock(sum_lock);
  upc_barrier;
  for (i = 0; i < NQ; i++) n += gc[i];
  if (PAIRS == 24) {
    CHECK(fabs((sx + 3.247834652034740e3) / sx) < 1e-8);
    CHECK(fabs((sy + 6.958407078382297e3) / sy) < 1e-8);
  }
  CHECK(fabs((double)n / (1L << PAIRS) - M_PI / 4) < 5e-3);
  upc_barrier;
  if (MYTHREAD == 0) upc_lock_free(sum_lock);
}

int main(int argc, char **argv) {
  is();
  cg();
  ep();
  upc_barrier 99;
  if (MYTHREAD == 0) printf("ok\n");
  return 0;
}
