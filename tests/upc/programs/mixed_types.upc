/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures that refer to each other, narrow types, directories, blocks of structures, sorting. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <upc_relaxed.h>
/* forward structs, recursive shared types, mutual */
struct B;
struct A {
  shared struct B *b;
  int v;
};
struct B {
  shared struct A *a;
  shared[] struct A *arr;
  int w;
  upc_lock_t *lk;
  struct {
    shared int *p[2];
  } deep[2];
};
shared struct A As[THREADS];
shared struct B Bs[THREADS];
typedef enum { E0, E1 = 7, E2 } en;
typedef shared en sen;
sen es[THREADS];
shared unsigned char flags[THREADS];
shared int8_t i8[THREADS];
shared uint32_t u32[THREADS];
shared uint64_t u64[THREADS];
shared short sh[THREADS];
shared float f[THREADS];
shared _Bool bb[THREADS];
shared[] int *shared[3] dirs[3 * THREADS];
shared int *shared *shared pps;
int *shared lp[THREADS];
shared struct {
  int n;
  shared int *shared *t;
} hd;
struct big {
  double m[40];
  int id;
};
shared struct big bigs[2 * THREADS];
shared[2] struct big bigs2[2 * THREADS];
static struct big *local_big(int i) {
  return (struct big *)&bigs[i * THREADS + MYTHREAD];
}
shared int matrix[4][5][THREADS];
shared[2] char chars[6 * THREADS];
static shared long counter;
extern shared double late[];
shared double late[2 * THREADS];
typedef shared int *vec;
typedef vec shared *vecs_t;
shared vec vv[2 * THREADS];
struct ops {
  int (*get)(shared int *, int);
  void (*set)(shared int *, int, int);
  shared int *base;
};
static int g_(shared int *p, int i) {
  return p[i];
}
static void s_(shared int *p, int i, int v) {
  p[i] = v;
}
shared int data[6 * THREADS];
union conv {
  uint64_t u;
  double d;
};
shared union conv cv[THREADS];
static int sw(int x) {
  switch (x) {
  case 0: return data[0];
  case 1 ... 3: return data[1 % (6 * THREADS)] + 1;
  default: break;
  }
  return -1;
}
static inline shared int *at(int i) {
  return &data[i];
}
static int side;
static int nx(void) {
  return side++;
}
static double avg(const shared double *p, size_t n) {
  double s = 0;
  size_t i;
  for (i = 0; i < n; ++i) s += p[i];
  return n ? s / n : 0;
}
static void swap(shared int *x, shared int *y) {
  int t = *x;
  *x = *y, *y = t;
}
static void qs(shared int *a, int lo, int hi) {
  if (lo >= hi) return;
  int i = lo, j = hi, p = a[(lo + hi) / 2];
  while (i <= j) {
    while (a[i] < p) i++;
    while (a[j] > p) j--;
    if (i <= j) swap(&a[i++], &a[j--]);
  }
  qs(a, lo, j);
  qs(a, i, hi);
}
int main(int argc, char **argv) {
  int i, j, k, me = MYTHREAD, nt = THREADS, r = (MYTHREAD + 1) % THREADS;
  As[me].b = &Bs[r];
  Bs[me].a = &As[me];
  As[me].v = me;
  Bs[me].w = me * 2;
  Bs[me].arr = upc_alloc(3 * sizeof(struct A));
  Bs[me].arr[2].v = me + 100;
  Bs[me].deep[1].p[1] = &data[me];
  data[me] = me;
  upc_barrier;
  CK(As[me].b->w == r * 2 && As[me].b->a->v == r && As[me].b->a->b->a->v == (r + 1) % nt &&
     As[me].b->arr[2].v == r + 100 && (*As[me].b).arr[2].v == r + 100 &&
     *As[me].b->deep[1].p[1] == r && As[me].b->deep[0].p[1] == NULL);
  es[me] = E2;
  CK(es[me] == 8 && es[me] > E1);
  es[me]--;
  CK(es[me] == E1);
  flags[me] = 255;
  flags[me]++;
  CK(flags[me] == 0);
  flags[me] = ~0;
  CK(flags[me] == 255 && (flags[me] & 0x0f) == 15 && flags[me] >> 4 == 15);
  i8[me] = 127;
  i8[me] += 1;
  CK(i8[me] == -128);
  i8[me] = -i8[me];
  CK(i8[me] == -128);
  u32[me] = 0;
  u32[me] -= 1;
  CK(u32[me] == 0xffffffffu && u32[me] > 0 && (int64_t)u32[me] > 0);
  u64[me] = 1ull << 63;
  CK(u64[me] >> 63 == 1 && (u64[me] | 1) & 1);
  u64[me] >>= 62;
  CK(u64[me] == 2);
  sh[me] = 40000;
  CK(sh[me] == -25536);
  sh[me] /= 2;
  sh[me] %= 1000;
  CK(sh[me] == -768);
  f[me] = 16777217;
  CK(f[me] == 16777216.0f);
  f[me]++;
  f[me] /= 3;
  f[me] -= .5;
  bb[me] = 0.25;
  CK(bb[me]);
  bb[me] = &side;
  CK(bb[me] == 1);
  bb[me] += 5;
  CK(bb[me] == 1);
  i8[me] = 3.99;
  CK(i8[me] == 3);
  u32[me] = 2.5e9;
  CK(u32[me] == 2500000000u);
  sh[me] = (i8[me] = 77, i8[me] + 1);
  CK(sh[me] == 78 && -i8[me] == -77 && !i8[me] == 0 && ~i8[me] == -78 && +i8[me] == 77);
  for (i = 0; i < 3; i++) {
    dirs[3 * me + i] = (shared[] int *)upc_alloc(4 * sizeof(int));
    for (j = 0; j < 4; j++) dirs[me * 3 + i][j] = me * 100 + i * 10 + j;
  }
  lp[me] = &k;
  *lp[me] = 5;
  CK(k == 5);
  lp[me][0]++;
  CK(k == 6 && *lp[me] == 6);
  upc_barrier;
  for (i = 0; i < 3 * nt; i++)
    for (j = 0; j < 4; j++)
      CK(dirs[i][j] == (i / 3) * 100 + (i % 3) * 10 + j && *(dirs[i] + j) == j[dirs[i]]);
  {
    shared[] int *shared[3] *pd = &dirs[1];
    CK((*pd)[2] == 12 && pd[1][3] == 23 && **pd == 10);
    shared[] int *mine[3];
    upc_memget(mine, &dirs[3 * r], sizeof mine);
    CK(mine[1][1] == r * 100 + 11);
  }
  if (!me) {
    pps = upc_global_alloc(nt, sizeof(shared int *));
    for (i = 0; i < nt; i++) pps[i] = &data[i];
    hd.n = nt;
    hd.t = pps;
  }
  upc_barrier;
  CK(*pps[r] == r && pps[r][0] == r && **(pps + r) == r && *hd.t[r] == r &&
     hd.t[hd.n - 1] == &data[nt - 1]);
  vv[me] = data + me;
  CK(*vv[me] == me);
  vecs_t vt = vv;
  vt += me;
  CK(**vt == me);
  (*vt) += 1;
  upc_barrier;
  CK(vv[me] - data == me + 1);
  local_big(0)->m[39] = me + .5;
  local_big(1)->id = me;
  bigs2[2 * me + 1] = bigs[me];
  upc_barrier;
  CK(bigs[r].m[39] == r + .5 && bigs[nt + r].id == r && bigs2[2 * r + 1].m[39] == r + .5);
  {
    struct big x = bigs[r], *px = &x;
    CK(px->m[39] == r + .5);
    shared[2] struct big *pb = bigs2 + 1;
    pb += 2 * r;
    CK(pb->m[39] == r + .5 && upc_threadof(pb) == r);
    double *lm = ((struct big *)&bigs[me])->m;
    CK(lm[39] == me + .5);
    shared[] double *sm = &bigs[r].m[10];
    CK(sm[29] == r + .5);
  }
  for (i = 0; i < 4; i++)
    for (j = 0; j < 5; j++) matrix[i][j][me] = i * 50 + j * 10 + me;
  upc_barrier;
  for (i = 0; i < 4; i++)
    for (j = 0; j < 5; j++)
      for (k = 0; k < nt; k++) CK(matrix[i][j][k] == i * 50 + j * 10 + k);
  int(*lm)[5] = (int(*)[5]) & matrix[0][0][me];
  CK(lm[3][4] == 190 + me);
  int *flat = (int *)&matrix[0][0][me];
  for (i = 0; i < 20; i++) CK(flat[i] == i * 10 + me);
  for (i = 0; i < 6; i++) chars[2 * (i / 2 * nt + me) + i % 2] = 'a' + i;
  CK(!strncmp((char *)&chars[2 * me], "abcdef", 6));
  strcpy((char *)&chars[2 * me], "xyz");
  CK(chars[2 * me + 1] == 'y');
  struct ops o = {g_, .base = data, .set = s_}, *po = &o;
  upc_barrier;
  po->set(po->base, 2 * nt + me, 9);
  CK(o.get(o.base, 2 * nt + me) == 9 && (*po->get)(data + nt, nt + me) == 9);
  cv[me].d = 1.0;
  CK(cv[me].u == 0x3ff0000000000000ull);
  cv[me].u |= 1ull << 63;
  CK(cv[me].d == -1.0);
  CK(sw(0) == 0 && sw(2) == 1 % nt + 1 && sw(9) == -1);
  *at(3 * nt + me) = 4;
  CK(*at(3 * nt + me) == 4 && at(5) - at(2) == 3);
  side = 0;
  data[4 * nt + me + nx() * 0] += nx() + 1;
  CK(side == 2 && data[4 * nt + me] == 2);
  data[4 * nt + me + 0 * nx()]++;
  --data[4 * nt + me + 0 * nx()];
  CK(side == 4);
  late[2 * me] = late[2 * me + 1] = 0;
  upc_barrier;
  late[me] = 1;
  late[nt + me] = 3;
  upc_barrier;
  CK(avg(late, 2 * nt) == 2 && avg(&late[nt], nt) == 3 && avg(NULL, 0) == 0);
  upc_barrier;
  if (me == nt - 1) {
    for (i = 0; i < 6 * nt; i++) data[i] = (i * 7919 + 13) % 101;
    qs(data, 0, 6 * nt - 1);
    for (i = 1; i < 6 * nt; i++) CK(data[i - 1] <= data[i]);
  }
  upc_barrier;
  {
    int n = 0;
    upc_forall(i = 6 * nt - 1; i >= 0; i--; &data[i]) n++;
    CK(n == 6);
    n = 0;
    upc_forall(i = 0; i < 6 * nt; i += 2; &data[i]) {
      n++;
      CK(i % nt == me);
    }
    upc_forall(i = 1; i < 1000; i *= 2; i) CK(i % nt == me);
    upc_forall(shared int *p = data; p < data + 6 * nt; p++; p) *p = me;
    upc_barrier;
    for (i = 0; i < 6 * nt; i++) CK(data[i] == i % nt);
    upc_forall(i = 0; i < nt; i++; i) {
      int x = i;
      {
        int i = 3;
        x += i;
      }
      CK(x == me + 3);
      goto next;
    next:;
    }
    upc_forall(i = 0; i < 3; i++; i) if (i == me) n += 0;
    else CK(i % nt == me);
  }
  upc_barrier;
  double acc = 0;
  for (i = 0; i < nt; i++) acc += bigs[i].m[39] * (i & 1 ? -1 : 1) + (double)matrix[1][2][i] / 2;
  acc = acc < 0 ? -acc : acc;
  char buf[64];
  snprintf(buf, sizeof buf, "%d %g %c %s", data[0], f[me], chars[0], bb[me] ? "t" : "f");
  CK(strlen(buf) > 5);
  upc_barrier;
  return EXIT_SUCCESS;
}
