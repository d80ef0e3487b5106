/* SPDX-License-Identifier: BSD-3-Clause */
/* GNU and C11 constructs with shared operands: asm, typeof, _Generic, VLA, va_arg, compound
 * literals. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <complex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#pragma upc relaxed
#define MAXI(a, b)       \
 ({                      \
 __typeof__(a) _a = (a); \
 __typeof__(b) _b = (b); \
 _a > _b ? _a : _b;      \
 })
#define TYPENAME(x) \
 _Generic((x), int: "int", double: "double", float: "float", char *: "char *", default: "other")
shared int si[THREADS];
shared double sd;
shared[4] long sl[4 * THREADS];
shared float complex sc;
shared long double sld;
shared _Bool sb;
shared __int128 s128;
struct pt {
  int x, y;
  double w[2];
};
shared struct pt spt;
_Static_assert(sizeof(struct pt) == 24, "pt");
typedef int (*cmp_t)(shared const void *, shared const void *);
static int cmp_int(shared const void *a, shared const void *b) {
  int x = *(shared const int *)a, y = *(shared const int *)b;
  return (x > y) - (x < y);
}
static shared[] int *pick(shared[] int *a, shared[] int *b, cmp_t c) {
  return c((shared const void *)a, (shared const void *)b) < 0 ? a : b;
}
static double vsum(int n, ...) {
  va_list ap;
  va_start(ap, n);
  double s = 0;
  while (n-- > 0) {
    shared double *p = va_arg(ap, shared double *);
    s += *p;
  }
  va_end(ap);
  return s;
}
static int vla(int n, shared[] int *src) {
  int a[n][n + 1];
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n; j++) a[i][j] = src[i] * j;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n; j++) s += a[i][j];
  return s + (int)(sizeof a / sizeof a[0]);
}
static inline __attribute__((always_inline)) int add1(int v) {
  return v + 1;
}
int arr_arg(shared int a[], shared[3] int b[10], shared[] const char s[static 2]) {
  return a[0] + b[1] + s[1];
}
static shared int *(*chooser[2])(int);
static shared int *at0(int i) {
  return &si[i];
}
static shared int *at1(int i) {
  return &si[(i + 1) % THREADS];
}
typedef shared int *spi;
typedef spi spi_arr[3];
/* Attributes as C2x writes them; gcc takes them in C11, too, and clang from 17 on. */
#if !defined(__clang__) || __clang_major__ >= 17
#define ATTRIBUTES 1
[[gnu::noinline]] static int attributes(int a, [[maybe_unused]] int b, shared int *p [[gnu::unused]]) {
  [[maybe_unused]] int kept [[gnu::aligned(8)]] = a, more[[gnu::unused]];
  static [[maybe_unused]] shared int counted [[gnu::unused]];
  struct [[gnu::packed]] {
    char c;
    int i [[gnu::unused]];
  } packed = {1, 2};
  struct __attribute__((packed)) {
    char c;
    shared int *p;
  } with_pointer = {1, p};
  if (with_pointer.p != p || sizeof with_pointer != 1 + sizeof p) return 0;
  switch (a) {
  case 1: kept++; [[fallthrough]];
  case 2: kept += a; break;
  default: break;
  }
  return kept + (int)(sizeof packed - 5);
}
#endif
int main(int argc, char **argv) {
  si[MYTHREAD] = MYTHREAD * 10;
  upc_barrier;
  CK(MAXI(si[MYTHREAD], 5) == (MYTHREAD * 10 > 5 ? MYTHREAD * 10 : 5));
  CK(!strcmp(TYPENAME(si[0]), "int"));
  CK(!strcmp(TYPENAME(sd), "double"));
  CK(!strcmp(TYPENAME((float)sd), "float"));
  __typeof__(si[0]) lv = 4;
  lv++;
  CK(lv == 5);
  __typeof__(spt.w[0]) dv = 1.5;
  CK(dv == 1.5);
  if (!MYTHREAD) {
    sd = 2.5;
    sc = 1.0f + 2.0f * I;
    sld = 1.25L;
    sb = 7;
    s128 = ((__int128)1 << 100) + 3;
    spt = (struct pt){.y = 4, .x = 3, .w = {[1] = 9}};
  }
  upc_barrier;
  CK(creal(sc) == 1 && cimag(sc) == 2);
  CK(sld == 1.25L);
  CK(sb == 1);
  CK((int)(s128 >> 100) == 1);
  CK(spt.x == 3 && spt.y == 4 && spt.w[0] == 0 && spt.w[1] == 9);
  struct pt cp = spt;
  cp = spt;
  CK(cp.w[1] == 9);
  upc_barrier;
  shared[] int *h = upc_alloc(10 * sizeof(int));
  for (int i = 0; i < 10; i++) h[i] = 10 - i;
  CK(pick(&h[2], &h[5], cmp_int) == &h[5]);
  CK(vla(3, h) == (10 + 9 + 8) * 6 + 3);
  shared double *pd = &sd;
  CK(vsum(3, pd, pd, &sd) == 7.5);
  int as;
#ifdef __x86_64__
  __asm__ volatile("movl %1, %0" : "=r"(as) : "r"(si[MYTHREAD]) : "memory");
#else
  __asm__ volatile("" : "=r"(as) : "0"(si[MYTHREAD]) : "memory");
#endif
  CK(as == MYTHREAD * 10);
  CK(add1(si[MYTHREAD]) == MYTHREAD * 10 + 1);
  chooser[0] = at0;
  chooser[1] = at1;
  CK(*chooser[1](MYTHREAD) == (MYTHREAD + 1) % THREADS * 10);
  CK(*(*chooser[0])(MYTHREAD) == MYTHREAD * 10);
  spi_arr q = {&si[0], &si[THREADS - 1], NULL};
  CK(*q[1] == (THREADS - 1) * 10);
  CK(!q[2]);
  int sw = 0;
  switch (si[MYTHREAD]) {
  case 0: sw = 1; break;
  case 10 ... 30: sw = 2; break;
  default: sw = 3;
  }
  CK(sw == (MYTHREAD == 0 ? 1 : MYTHREAD <= 3 ? 2 : 3));
  int k = 0;
  do {
    k += 1;
  } while (k < si[THREADS - 1] && k < 5);
  while (si[MYTHREAD] > 1000)
    ;
  int t = si[MYTHREAD] ?: -1;
  CK(t == (MYTHREAD ? MYTHREAD * 10 : -1));
  int c = si[MYTHREAD] ? si[0], 3 : 4;
  CK(c == (MYTHREAD ? 3 : 4));
  int *lp = (int *)&si[MYTHREAD];
  *lp += 1;
  CK(si[MYTHREAD] == MYTHREAD * 10 + 1);
  lp[0]--;
  upc_barrier;
  sl[MYTHREAD * 4 + 2] = argc;
  CK(sl[MYTHREAD * 4 + 2] == 1);
  const char *nm = __func__;
  CK(!strcmp(nm, "main"));
  struct {
    shared int *p;
    int n;
  } lo = {.p = &si[1 % THREADS], .n = 3};
  CK(*lo.p == 1 % THREADS * 10);
  shared int **pp = &lo.p;
  CK(**pp == 1 % THREADS * 10);
  (*pp)++;
  CK(lo.p == &si[1 % THREADS] + 1);
  lo.p = at0(0);
  CK(lo.p[0] == 0);
  CK(((struct pt *)&spt == 0) == 0);
  CK(sizeof(spt) == 24 && sizeof spt.w == 16 && sizeof si == THREADS * 4 &&
     _Alignof(shared double) == 8);
  CK((si[MYTHREAD], 3) == 3);
  CK(!!si[MYTHREAD] == !!MYTHREAD);
  CK(-si[MYTHREAD] == -10 * MYTHREAD);
  CK(~si[MYTHREAD] == ~(10 * MYTHREAD));
  CK(({
       int z = si[MYTHREAD];
       z * 2;
     }) == 20 * MYTHREAD);
  __auto_type av = si[MYTHREAD];
  CK(av == 10 * MYTHREAD);
#ifdef ATTRIBUTES
  CK(attributes(1, 2, 0) == 3);
#endif
  goto *(&&lab);
  CK(0);
lab:;
  for (int i = 0, *ip = (int[]){1, 2, 3}; i < 3; i++, ip++) CK(*ip == i + 1);
  {
    register shared int *r = si;
    CK(r == si);
    r += THREADS;
    CK(r - si == THREADS);
  }
  upc_barrier;
  return 0;
}
