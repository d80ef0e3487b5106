/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat, life, sample sort, breadth-first search, conjugate gradients, edges of an image: each
 * beside its serial form. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <math.h>
#include <string.h>
#include <upc_collective.h>
#ifndef N
# define N 24
#endif
/* heat 2-D with rows by pointer to row */
shared[N] double grid[2][THREADS * 4][N];
shared double dmax_s[THREADS];
#define ROWS (THREADS * 4)
static void heat(void) {
  shared[N] double(*cur)[N] = grid[0], (*nxt)[N] = grid[1], (*t)[N];
  double ref[2][64][N];
  int c = 0;
  memset(ref, 0, sizeof ref);
  int i, j, it;
  upc_forall(i = 0; i < ROWS; i++; &grid[0][i][0]) for (j = 0; j < N; j++) grid[0][i][j] =
      grid[1][i][j] = (i * 7 + j * 3) % 11;
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < N; j++) ref[0][i][j] = ref[1][i][j] = (i * 7 + j * 3) % 11;
  upc_barrier;
  for (it = 0; it < 6; it++) {
    upc_forall(i = 1; i < ROWS - 1; i++; &cur[i][0]) for (j = 1; j < N - 1; j++) nxt[i][j] =
        0.25 * (cur[i - 1][j] + cur[i + 1][j] + cur[i][j - 1] + cur[i][j + 1]);
    for (i = 1; i < ROWS - 1; i++)
      for (j = 1; j < N - 1; j++)
        ref[!c][i][j] =
            0.25 * (ref[c][i - 1][j] + ref[c][i + 1][j] + ref[c][i][j - 1] + ref[c][i][j + 1]);
    c = !c;
    upc_barrier it;
    t = cur;
    cur = nxt;
    nxt = t;
  }
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < N; j++) CK(cur[i][j] == ref[c][i][j]);
  upc_barrier;
}
/* life with char cells, [*] and indefinite */
#define LW 16
shared[LW * 2] unsigned char world[2][THREADS * 2][LW];
static void life(void) {
  int g, i, j, di, dj;
  unsigned char r[2][32][LW];
  int H = THREADS * 2;
  upc_forall(i = 0; i < H; i++; &world[0][i][0]) for (j = 0; j < LW; j++) world[0][i][j] =
      (i * 5 + j * j) % 3 == 0;
  for (i = 0; i < H; i++)
    for (j = 0; j < LW; j++) r[0][i][j] = (i * 5 + j * j) % 3 == 0;
  upc_barrier;
  for (g = 0; g < 5; g++) {
    int a = g & 1, b = !a;
    upc_forall(i = 0; i < H; i++; &world[b][i][0]) for (j = 0; j < LW; j++) {
      int n = 0;
      for (di = -1; di <= 1; di++)
        for (dj = -1; dj <= 1; dj++)
          if (di || dj) n += world[a][(i + di + H) % H][(j + dj + LW) % LW];
      world[b][i][j] = n == 3 || (n == 2 && world[a][i][j]);
    }
    for (i = 0; i < H; i++)
      for (j = 0; j < LW; j++) {
        int n = 0;
        for (di = -1; di <= 1; di++)
          for (dj = -1; dj <= 1; dj++)
            if (di || dj) n += r[a][(i + di + H) % H][(j + dj + LW) % LW];
        r[b][i][j] = n == 3 || (n == 2 && r[a][i][j]);
      }
    upc_barrier;
  }
  for (i = 0; i < H; i++)
    for (j = 0; j < LW; j++) CK(world[1][i][j] == r[1][i][j]);
}
/* sample sort */
#define PER 50
shared[PER] int keys[PER * THREADS];
shared int splitters[THREADS];
shared int counts[THREADS][32];
typedef shared[] int *ip;
shared ip buckets[THREADS];
shared int blen[THREADS];
static int cmp(const void *a, const void *b) {
  return *(int *)a - *(int *)b;
}
static void ssort(void) {
  int *mine = (int *)&keys[MYTHREAD * PER], i;
  for (i = 0; i < PER; i++) mine[i] = ((MYTHREAD * PER + i) * 7919) % 1009;
  qsort(mine, PER, sizeof(int), cmp);
  splitters[MYTHREAD] = MYTHREAD * 1009 / THREADS;
  upc_barrier;
  int c[32] = {0};
  for (i = 0; i < PER; i++) {
    int b = THREADS - 1;
    while (b && mine[i] < splitters[b]) b--;
    c[b]++;
  }
  for (i = 0; i < THREADS; i++) counts[MYTHREAD][i] = c[i];
  upc_barrier;
  int tot = 0;
  for (i = 0; i < THREADS; i++) tot += counts[i][MYTHREAD];
  blen[MYTHREAD] = tot;
  buckets[MYTHREAD] = upc_alloc((tot + 1) * sizeof(int));
  upc_barrier;
  int off = 0;
  for (i = 0; i < THREADS; i++) {
    int at = 0, k;
    for (k = 0; k < MYTHREAD; k++) at += counts[k][i];
    if (c[i]) upc_memput(buckets[i] + at, mine + off, c[i] * sizeof(int));
    off += c[i];
  }
  upc_barrier;
  qsort((int *)buckets[MYTHREAD], tot, sizeof(int), cmp);
  upc_barrier;
  if (MYTHREAD == 0) {
    long sum = 0;
    int prev = -1, n = 0;
    for (i = 0; i < THREADS; i++)
      for (int k = 0; k < blen[i]; k++) {
        int v = buckets[i][k];
        CK(v >= prev);
        prev = v;
        sum += v;
        n++;
      }
    for (i = 0; i < PER * THREADS; i++) sum -= (i * 7919) % 1009;
    CK(sum == 0 && n == PER * THREADS);
  }
}
/* BFS */
#define V 40
shared[4] int adj[V][4 * THREADS];
shared int dist[V * THREADS];
shared int changed;
shared int more[THREADS];
static void bfs(void) {
  int nv = V * THREADS, level, i, k;
  upc_forall(i = 0; i < nv; i++; &dist[i]) dist[i] = -1;
  if (!MYTHREAD) dist[0] = 0;
  upc_barrier;
  for (level = 0;; level++) {
    more[MYTHREAD] = 0;
    upc_forall(i = 0; i < nv; i++; &dist[i]) if (dist[i] == level) for (k = 1; k <= 3; k++) {
      int w = (i * k + k * 7 + 1) % nv;
      if (dist[w] < 0) {
        dist[w] = level + 1;
        more[MYTHREAD] = 1;
      }
    }
    upc_barrier;
    int any = 0;
    for (i = 0; i < THREADS; i++) any |= more[i];
    upc_barrier;
    if (!any) break;
  }
  int *d = malloc(nv * sizeof *d), *q = malloc(nv * sizeof *q), h = 0, t = 0;
  for (i = 0; i < nv; i++) d[i] = -1;
  d[0] = 0;
  q[t++] = 0;
  while (h < t) {
    i = q[h++];
    for (k = 1; k <= 3; k++) {
      int w = (i * k + k * 7 + 1) % nv;
      if (d[w] < 0) {
        d[w] = d[i] + 1;
        q[t++] = w;
      }
    }
  }
  for (i = 0; i < nv; i++) CK(dist[i] == d[i]);
  free(d);
  free(q);
}
/* CG with a tridiagonal matrix */
#define M 10
shared[M] double X[M * THREADS], R[M * THREADS], P[M * THREADS], Q[M * THREADS];
shared double part[THREADS];
strict shared double res;
static double dot(shared[M] double *a, shared[M] double *b) {
  double s = 0;
  int i;
  upc_forall(i = 0; i < M * THREADS; i++; &a[i]) s += a[i] * b[i];
  part[MYTHREAD] = s;
  upc_barrier;
  if (MYTHREAD == 0) {
    double t = 0;
    for (i = 0; i < THREADS; i++) t += part[i];
    res = t;
  }
  upc_barrier;
  double r = res;
  upc_barrier;
  return r;
}
static void cg(void) {
  int i, n = M * THREADS, it;
  upc_forall(i = 0; i < n; i++; &X[i]) {
    X[i] = 0;
    R[i] = P[i] = 1 + i % 4;
  }
  upc_barrier;
  double rr = dot(R, R);
  for (it = 0; it < n && rr > 1e-20; it++) {
    upc_forall(i = 0; i < n; i++; &Q[i]) Q[i] =
        4 * P[i] - (i ? P[i - 1] : 0) - (i < n - 1 ? P[i + 1] : 0);
    upc_barrier;
    double al = rr / dot(P, Q);
    upc_forall(i = 0; i < n; i++; &X[i]) {
      X[i] += al * P[i];
      R[i] -= al * Q[i];
    }
    upc_barrier;
    double nr = dot(R, R), be = nr / rr;
    rr = nr;
    upc_forall(i = 0; i < n; i++; &P[i]) P[i] = R[i] + be * P[i];
    upc_barrier;
  }
  for (i = 0; i < n; i++) {
    double v = 4 * X[i] - (i ? X[i - 1] : 0) - (i < n - 1 ? X[i + 1] : 0);
    CK(fabs(v - (1 + i % 4)) < 1e-7);
  }
}
/* sobel with edges; unsigned char image of row pointers */
#define IM 20
shared[IM * 3] unsigned char img[THREADS * 3][IM], edge[THREADS * 3][IM];
static void sobel(void) {
  int i, j, H = THREADS * 3;
  upc_forall(i = 0; i < H; i++; &img[i][0]) {
    unsigned char *row = (unsigned char *)img[i];
    for (j = 0; j < IM; j++) row[j] = (i * 31 + j * j * 7) & 255;
  }
  upc_barrier;
  upc_forall(i = 1; i < H - 1; i++; &edge[i][0]) for (j = 1; j < IM - 1; j++) {
    int d1 = (int)img[i - 1][j + 1] - img[i - 1][j - 1] + ((img[i][j + 1] - img[i][j - 1]) << 1) +
             img[i + 1][j + 1] - img[i + 1][j - 1];
    int d2 = img[i - 1][j - 1] + 2 * img[i - 1][j] + img[i - 1][j + 1] - img[i + 1][j - 1] -
             2 * img[i + 1][j] - img[i + 1][j + 1];
    double m = sqrt(d1 * d1 + d2 * d2);
    edge[i][j] = m > 255 ? 255 : (unsigned char)m;
  }
  upc_barrier;
#define PX(i, j) (((i)*31 + (j) * (j)*7) & 255)
  for (i = 1; i < H - 1; i++)
    for (j = 1; j < IM - 1; j++) {
      int d1 = PX(i - 1, j + 1) - PX(i - 1, j - 1) + 2 * (PX(i, j + 1) - PX(i, j - 1)) +
               PX(i + 1, j + 1) - PX(i + 1, j - 1),
          d2 = PX(i - 1, j - 1) + 2 * PX(i - 1, j) + PX(i - 1, j + 1) - PX(i + 1, j - 1) -
               2 * PX(i + 1, j) - PX(i + 1, j + 1);
      double m = sqrt(d1 * d1 + d2 * d2);
      CK(edge[i][j] == (m > 255 ? 255 : (unsigned char)m));
    }
}
int main(int argc, char **argv) {
  heat();
  life();
  ssort();
  bfs();
  cg();
  sobel();
  upc_barrier;
  return 0;
}
