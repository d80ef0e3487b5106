/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialisers of shared objects: arrays, addresses, THREADS in inner dimensions, in functions. */
/* ranks: 1 3 */
#include "check.h"
#include <string.h>
#include <upc.h>
shared int s0 = 5;
shared int a1[3 * THREADS] = {1, 2, 3};
shared [2] int a2[4 * THREADS] = {[0] = 7, [3] = 9};
shared [] int ai[6] = {1, 2, 3, 4, 5, 6};
shared [] char str[] = "hello";
shared [] char str2[10] = {"abc"};
shared char sc[6 * THREADS] = "hello";
shared int m1[2][THREADS] = {{1}, {2}};
shared int m2[THREADS][3] = {{1, 2, 3}};
shared [3] int m3[THREADS][3] = {{1, 2, 3}};
shared [2] int m4[2][2][THREADS] = {{{1}, {2}}, {{3}, {4}}};
shared struct {
  int a;
  double b;
  char c[4];
} st = {1, 2.5, "xyz"};
shared struct { int a, b; } sa[THREADS] = {{1, 2}};
shared int *p = &a1[1];
shared [2] int *pb = &a2[3];
shared [2] int *pb2 = a2 + 1;
shared [] int *pi = ai;
shared void *pv = &s0;
shared int *pn = NULL, *pz = 0;
shared [] char *ps = str;
shared int *shared spp = &a1[2];
shared int *shared spa[THREADS] = {&a1[0]};
shared [] int *shared [] spi[3] = {&ai[1], 0, ai};
shared int *tab[] = {&a1[0], &s0, NULL, a1 + 1};
struct {
  shared int *x;
  int y;
} pst = {&s0, 3}, pst2[2] = {{a1, 1}, {.x = &s0}};
static shared struct {
  shared [] int *x;
  int k;
} sst = {ai, 4};
int *shared lp;
shared double dd = 1.0 / 3;
shared long ll = 1L << 40;
shared unsigned char uc = 255;
shared float ff = -1;
enum { Q = 3 };
shared int en = Q * 2;
shared int neg = -4;
shared int sz = sizeof(double);
shared int bs = upc_blocksizeof(a2);
shared const char *shared const cs = 0;
shared [2] struct {
  int x;
  shared int *q;
} sq[2 * THREADS] = {{1, &s0}, {2, a1}};
int (*shared fp)(void);
static int one(void) {
  return 1;
}
shared struct {
  int (*f)(void);
  char *nm;
} disp = {one, "name"};
static shared int *fn(void) {
  static shared int cnt[THREADS];
  static shared int once = 11;
  static shared int *q = &cnt[0];
  static shared int *shared sq2 = &cnt[0];
  static shared [] int loc[3] = {1, 2, 3};
  CK(once == 11 && loc[2] == 3);
  CK(sq2 == q);
  return q;
}
typedef shared [2] int blk_t[2 * THREADS];
blk_t tb = {4, 5};
int main() {
  CK(s0 == 5 && a1[0] == 1 && a1[1] == 2 && a1[2] == 3);
  CK(a2[0] == 7 && a2[3] == 9 && a2[1] == 0);
  CK(ai[5] == 6);
  CK(str[4] == 'o' && str[5] == 0 && sizeof str == 6);
  CK(str2[2] == 'c' && str2[3] == 0);
  CK(sc[1] == 'e' && sc[4] == 'o' && sc[5] == 0);
  CK(m1[0][0] == 1 && m1[1][0] == 2);
  if (THREADS > 1) CK(m1[0][1] == 0);
  CK(m2[0][0] == 1 && m2[0][2] == 3);
  CK(m3[0][1] == 2);
  CK(m4[0][0][0] == 1 && m4[0][1][0] == 2 && m4[1][0][0] == 3 && m4[1][1][0] == 4);
  CK(st.a == 1 && st.b == 2.5 && st.c[2] == 'z');
  CK(sa[0].b == 2);
  CK(*p == 2 && *pb == 9 && *pb2 == 0 && pi[3] == 4 && *(shared int *)pv == 5 && !pn && !pz &&
     ps[0] == 'h');
  CK(upc_phaseof(pb) == 1);
  CK(*spp == 3 && *spa[0] == 1 && *spi[0] == 2 && spi[1] == NULL && spi[2][2] == 3);
  CK(*tab[1] == 5 && tab[3] == &a1[1] && !tab[2]);
  CK(*pst.x == 5 && pst.y == 3 && *pst2[1].x == 5 && pst2[0].x == a1);
  CK(sst.x[1] == 2 && sst.k == 4);
  CK(dd > 0.3 && ll == 1L << 40 && uc == 255 && ff == -1 && en == 6 && neg == -4 && sz == 8 &&
     bs == 2);
  CK(sq[1].x == 2 && *sq[0].q == 5 && sq[1].q == a1);
  CK(tb[1] == 5);
  if (MYTHREAD == 0) {
    CK(disp.f() == 1);
    CK(disp.nm[0] == 'n');
  }
  {
    shared int *q = fn();
    q[MYTHREAD] = MYTHREAD;
    upc_barrier;
    q = fn();
    CK(q[THREADS - 1] == THREADS - 1);
    CK(upc_threadof(q) == 0);
  }
  return 0;
}
