/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers of all kinds: arithmetic, members, parameters, conditions, initialisers. */
/* ranks: 1 4 */
#include "check.h"
#include <stdint.h>
#include <string.h>
#include <upc_relaxed.h>
#define N 24
shared [3] int x[N * THREADS];
shared int y[N * THREADS];
shared [] int z[N];
shared [3] int *p, *q;
shared [5] int *p5;
shared int *p1;
shared [] int *p0;
shared void *v;
int *shared sp;
shared [3] int *shared ssp;
shared [3] int *shared *pps;
shared [3] int *shared dirs[THREADS];
shared [3] int *(*fpp)(shared [3] int *, int);
shared [3] int *step(shared [3] int *a, int n) {
  return a + n;
}
shared [3] int *tab[4];
struct holder {
  shared [3] int *h;
  int *l;
  shared void *v;
  struct holder *next;
  shared struct holder *snext;
};
struct holder H;
shared struct holder SH;
static int cmp(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv) {
  long i;
  for (i = MYTHREAD; i < N * THREADS; i += THREADS) {
    x[i] = i;
    y[i] = -i;
  }
  if (MYTHREAD == 0)
    for (i = 0; i < N; i++) z[i] = i * i;
  upc_barrier;
  p = x;
  q = &x[N * THREADS - 1];
  CK(q - p == N * THREADS - 1);
  CK(*q == N * THREADS - 1);
  CK(p < q && p <= q && q > p && q >= p && p != q && !(p == q));
  for (i = 0; p <= q && i < N * THREADS; p++, i++) CK(*p == i);
  p = x + 5;
  CK(p[-3] == 2);
  CK(*(p - 1) == 4);
  CK(3 [p] == 8);
  p += 4;
  CK(*p == 9);
  p -= 2;
  CK(*p == 7);
  CK(*p++ == 7);
  CK(*p == 8);
  CK(*--p == 7);
  CK(*++p == 8);
  CK(*p-- == 8);
  p1 = y;
  for (i = 0; i < N * THREADS; i++) CK(p1[i] == -i);
  p0 = z;
  for (i = 0; i < N; i++) CK(p0[i] == i * i);
  v = p;
  p = v;
  CK(*p == 7);
  CK(upc_phaseof(p) == 1);
  p5 = (shared [5] int *)p;
  CK(upc_phaseof(p5) == 0);
  CK(*p5 == 7);
  p0 = (shared [] int *)&x[3 * MYTHREAD];
  CK(p0[2] == 3 * MYTHREAD + 2);
  upc_barrier; /* others still read what is changed now */
  {
    int *l = (int *)&x[3 * MYTHREAD];
    CK(l[1] == 3 * MYTHREAD + 1);
    l[1] = 99;
    CK(x[3 * MYTHREAD + 1] == 99);
    l[1] = 3 * MYTHREAD + 1;
  }
  upc_barrier;
  sp = NULL;
  ssp = &x[4];
  CK(*ssp == 4);
  CK(ssp[1] == 5);
  upc_barrier;
  dirs[MYTHREAD] = &x[MYTHREAD];
  upc_barrier;
  for (i = 0; i < THREADS; i++) CK(*dirs[i] == i && dirs[i][2] == i + 2);
  pps = &dirs[0];
  CK(**pps == 0);
  CK(*pps[0] == 0);
  CK((*pps)[1] == 1);
  fpp = step;
  CK(*fpp(x, 3) == 3);
  CK(*(*fpp)(x, 4) == 4);
  tab[0] = x;
  tab[1] = &x[1];
  tab[2] = tab[1] + 1;
  CK(*tab[2] == 2);
  H.h = x + 2;
  H.v = H.h;
  H.snext = &SH;
  CK(*H.h == 2);
  CK(H.v == x + 2);
  if (MYTHREAD == 0) {
    SH.h = x;
    SH.snext = &SH;
  }
  upc_barrier;
  CK(SH.snext->snext->h[6] == 6);
  CK(H.snext->h == x);
  CK((p = &x[2]) != NULL);
  if (p)
    CK(1);
  else
    CK(0);
  CK(!!p);
  CK(p && q);
  CK(p || 0);
  p = NULL;
  CK(!p);
  CK(p == NULL);
  CK(p == 0);
  CK(NULL == p);
  CK(p != x);
  while (p) break;
  q = p ? p : x;
  CK(q == x);
  q = 1 ? NULL : q;
  CK(q == NULL);
  q = (MYTHREAD >= 0) ? x : 0;
  CK(q == x);
  CK((uintptr_t)(int *)&x[3 * MYTHREAD] != 0);
  CK(upc_addrfield(&x[1]) - upc_addrfield(&x[0]) == 4);
  CK(upc_threadof(&x[3]) == 1 % THREADS);
  CK(upc_phaseof(&x[4]) == 1);
  CK(upc_phaseof(upc_resetphase(&x[4])) == 0);
  {
    shared [3] int *a[] = {x, x + 1, NULL, &x[3]};
    CK(sizeof a / sizeof *a == 4);
    CK(*a[3] == 3);
  }
  {
    struct holder h = {.h = x + 1, .v = x}, h2 = h;
    CK(*h2.h == 1);
    CK(h2.v == x);
  }
  {
    int loc[5];
    upc_memget(loc, &z[3], sizeof loc);
    CK(loc[2] == 25);
  }
  {
    shared void *vv[2] = {x, y};
    CK(*(shared int *)vv[1] == 0);
    CK(*(shared [3] int *)vv[0] == 0);
  }
  {
    shared [3] int *const cp = x;
    shared [3] const int *pc = x;
    CK(*cp == *pc);
    pc++;
  }
  {
    shared [3] int *restrict rp = x;
    CK(*rp == 0);
  }
  {
    register shared [3] int *rg = x;
    rg++;
    CK(*rg == 1);
  }
  {
    volatile int vi = 3;
    CK(x[vi] == 3);
  }
  {
    unsigned u = 4;
    short s = 2;
    char c = 1;
    size_t z = 6;
    CK(x[u] == 4 && x[s] == 2 && x[c] == 1 && x[z] == 6);
  }
  {
    shared [3] int *r = x;
    long n = 0;
    do {
      n += *r;
    } while (++r - x < 5);
    CK(n == 10);
  }
  CK(&x[4] - &x[1] == 3);
  CK((&x[4] - 3) == &x[1]);
  CK(&*(&x[4]) == &x[4]);
  CK(*&x[4] == 4);
  CK((shared [] int *)&x[0] == &x[0]);
  upc_barrier;
  x[MYTHREAD] += 5;
  upc_barrier;
  CK(x[THREADS - 1] == THREADS + 4);
  upc_barrier;
  if (MYTHREAD == 0) {
    int k = x[0]++;
    CK(k == 5 && x[0] == 6);
    k = ++x[0];
    CK(k == 7);
    k = x[0]--;
    CK(k == 7);
    k = --x[0];
    CK(k == 5);
    x[0] *= 3;
    x[0] /= 2;
    x[0] %= 5;
    x[0] <<= 3;
    x[0] |= 1;
    x[0] &= ~8;
    x[0] ^= 2;
    x[0] >>= 1;
    CK(x[0] == 9);
    x[0] = x[1] = 4;
    CK(x[0] == 4 && x[1] == 4);
  }
  return 0;
}
