/* SPDX-License-Identifier: BSD-3-Clause */
/* _Generic and __builtin_choose_expr with pointers to shared; #pragma pack among members. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>
struct a1 {
  char c;
#pragma pack(1)
  int i;
  double d;
#pragma pack()
};
struct a2 {
  char c;
#pragma pack(push, 2)
  int i;
  double d;
};
#pragma pack(pop)
_Pragma("pack(push,1)") struct a3 {
  char c;
  long l;
  struct {
    short s;
    int q;
  } in;
};
_Pragma("pack(pop)") struct a4 {
  char c;
  int i __attribute__((aligned(16)));
  char e;
} __attribute__((aligned(32)));
struct a5 {
  char c;
  long long l : 33;
  int : 3;
  char f;
  _Alignas(8) char g;
};
struct a6 {
  int n;
  char flex[];
};
typedef struct a7 {
  union {
    struct {
      short x, y;
    };
    int xy;
  };
  struct a7 *self;
  shared struct a7 *sself;
} a7;
shared struct a1 v1[THREADS];
shared struct a2 v2[THREADS];
shared struct a3 v3[THREADS];
shared struct a4 v4[THREADS];
shared struct a5 v5[THREADS];
shared a7 v7[THREADS];
#define KIND(p) _Generic((p), shared int * : 1, shared[] int * : 2, int * : 3, default : 4)
#define SEL(x)  _Generic((x), int : &si[0], double : (shared int *)&sd[0])
shared int si[THREADS];
shared double sd[THREADS];
enum sizes { POINTER = sizeof(shared int *), BLOCK = upc_blocksizeof(shared [7] int), AFTER };
int main(void) {
  CK(POINTER == sizeof(shared int *) && BLOCK == 7 && AFTER == 8);
  int m = MYTHREAD, nx = (m + 1) % THREADS;
  v1[m].i = 11 + m;
  v1[m].d = .5;
  v1[m].c = 1;
  v2[m].i = 12 + m;
  v2[m].d = .25;
  v3[m].l = 13 + m;
  v3[m].in.q = 5;
  v4[m].i = 14 + m;
  v4[m].e = 3;
  v5[m].l = -15 - m;
  v5[m].f = 2;
  v5[m].g = 9;
  v7[m].x = 1;
  v7[m].y = m;
  v7[m].sself = &v7[nx];
  upc_barrier;
  {
    struct a1 l = v1[nx];
    CK(l.i == 11 + nx && l.d == .5 && l.c == 1);
    CK(((struct a1 *)&v1[m])->i == 11 + m);
    CK(sizeof v1[0] == sizeof(struct a1));
  }
  {
    struct a2 l = v2[nx];
    CK(l.i == 12 + nx && l.d == .25);
    CK(v2[nx].d == .25);
  }
  {
    struct a3 l = v3[nx];
    CK(l.l == 13 + nx && l.in.q == 5);
    CK(v3[nx].in.q == 5);
  }
  {
    struct a4 l = v4[nx];
    CK(l.i == 14 + nx && l.e == 3);
    CK(upc_elemsizeof(v4) == sizeof(struct a4));
  }
  {
    struct a5 l = v5[nx];
    CK(l.l == -15 - nx && l.f == 2 && l.g == 9);
    CK(v5[nx].l == -15 - nx && v5[nx].g == 9);
  }
  CK(v7[m].sself->y == nx && v7[m].sself->xy != 0);
  shared[] struct a6 *f = upc_alloc(sizeof(struct a6) + 10);
  f->n = 10;
  for (int i = 0; i < 10; i++) f->flex[i] = i;
  CK(f->flex[7] == 7);
  CK(&f->flex[3] - &f->flex[0] == 3);
  shared int *p = si;
  shared[] int *q = (shared[] int *)&si[m];
  int *r = (int *)q;
  CK(KIND(r) == 3);
  si[m] = m;
  upc_barrier;
  CK(*SEL(1) == 0);
  upc_barrier;
  SEL(3)[m] = 5 + m;
  upc_barrier;
  CK(si[m] == 5 + m);
  __typeof__(p) p2 = p + 1;
  CK(p2 - p == 1);
  typeof(&si[0]) p3 = &si[m];
  CK(*p3 == 5 + m);
  __typeof__(shared[] int *) p4 = q;
  CK(*p4 == 5 + m);
  shared int *z = __builtin_choose_expr(1, p, 0);
  CK(z == si);
  __auto_type ap = &si[m];
  CK(*ap == 5 + m);
  shared int *se = ({
    shared int *t = si;
    t + m;
  });
  CK(*se == 5 + m);
  if (__builtin_expect(si[m] == 5 + m, 1))
    ;
  else
    CK(0);
  CK(__builtin_types_compatible_p(__typeof__(si[0]), int) || 1);
  CK(__builtin_constant_p(si[0]) == 0);
  shared int *tern = m ? p : NULL;
  CK(!tern == !m);
  tern = m ? 0 : p;
  tern = m & 1 ? &si[0] : &si[m];
  CK(tern);
  (m ? p : p2)[0];
  (void)si[0];
  (void)(shared void *)p;
  long off = offsetof(struct a3, in.q);
  CK(off == 11);
  shared void *vp = p;
  CK((shared int *)vp == p);
  const shared void *cvp = vp;
  shared const int *cip = p;
  CK(cip == vp);
  /* qualifiers of what a pointer points to are a part of its type */
  CK(_Generic(cip, shared int *: 1, shared const int *: 2, default: 3) == 2);
  CK(_Generic(&si[0], shared const int *: 1, strict shared int *: 2, shared int *: 3) == 3);
  CK(_Generic((const int *)0, int *: si[0], const int *: 2, default: 3) == 2);
  CK(!__builtin_types_compatible_p(shared int *, shared const int *));
  CK(__builtin_types_compatible_p(shared int *, shared int *const));
  CK(cvp == (void *)0 ? 0 : 1);
  shared int *arr[3] = {p, p + 1, [2] = p + 2};
  shared int **pa = arr;
  CK(*++pa == p + 1);
  CK(pa[1] == p + 2);
  CK((*pa++)[0] == *(p + 1));
  CK(pa == arr + 2);
  struct {
    shared int *a;
    struct {
      shared[] int *b[2];
    } in;
  } st = {p, {{q, q}}}, *ps = &st, st2 = st;
  CK(*ps->in.b[1] == 5 + m);
  ps->in.b[1] += 0;
  ps->a++;
  CK(ps->a == p + 1);
  --ps->a;
  CK(st2.a == ps->a);
  upc_barrier;
  memset(r, 0, 4);
  memcpy((void *)&sd[m], &(double){4.5}, 8);
  upc_barrier;
  CK(sd[nx] == 4.5);
  char buf[30];
  sprintf(buf, "%d %g %s", si[m], sd[nx], "x");
  CK(!strcmp(buf, "0 4.5 x"));
  upc_barrier;
  return 0;
}
