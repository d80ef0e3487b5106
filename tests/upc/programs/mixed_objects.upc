/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures, rows, typedefs, functions and pointers of all kinds, each in several forms. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef struct pt {
  int x, y;
  struct {
    char c;
    double w[3];
  } in;
  union {
    int i;
    float f;
  };
} pt_t;
shared pt_t a[3 * THREADS];
shared[2] pt_t a2[4 * THREADS];
extern shared int ex;
shared int ex = 3;
shared const int kk = 9;
shared[] char msg[] = "hello world";
shared[] char msg16[16] = "hi";
shared[] int m34[3][4] = {{1, 2}, {3}, [2][3] = 7};
shared int m2[2][THREADS] = {{1}, {2}};
shared[] const char *shared nm = 0;
shared double sd = 1.5, *sdp = &sd;
static shared struct {
  shared[] int *p;
  int (*f)(int);
  enum { R, G } e;
} st;
typedef int arr_t[10];
shared arr_t ar[THREADS];
shared[10] arr_t ar10[THREADS];
typedef shared int sint;
sint sa[THREADS];
sint *sp = sa;
typedef shared[4] int s4;
s4 q4[4 * THREADS];
s4 *p4 = q4 + 2;
int shared ish[THREADS];
int shared[3] ish3[3 * THREADS];
long shared int unsigned weird[THREADS];
shared int *const cp = sa;
shared int *restrict rp;
const shared int *const *cc;
volatile shared int vv;
register_t unused_;
static pt_t mk(pt_t p, int k) {
  p.x += k;
  p.in.w[2] = k;
  return p;
}
static shared int *ret(shared int *p) {
  return p + 1;
}
shared int *(*fp)(shared int *) = ret;
typedef shared int *fn_t(shared int *);
fn_t *ft = ret;
fn_t *tab[2] = {ret, ret};
shared int *(*getf(int k))(shared int *) {
  return k ? ret : fp;
}
static int rows(shared[] double m[][4], int n) {
  return (int)m[n][3];
}
static double vla(int n, shared[] double (*m)[n], int i, int j) {
  return m[i][j];
}
static int first(shared int p[restrict static 1]) {
  return p[0];
}
static int rowp(shared[] int (*p)[4]) {
  return p[2][3] + (*p)[1];
}
_Static_assert(upc_blocksizeof(q4) == 4, "b");
_Static_assert(upc_elemsizeof(ar) == sizeof(int), "e");
char sized[upc_blocksizeof(ish3) + upc_localsizeof(shared int)];
struct flex {
  int n;
  int d[];
};
static int nargs(int n, shared int *x) {
  return n;
}
#define SYNC     upc_barrier
#define SYNCN(n) upc_barrier(n)
int main(int argc, char **argv) {
  pt_t l = {1, 2, {'c', {1, 2, 3}}, {5}};
  int i, j, k, n;
  shared pt_t *p = &a[MYTHREAD], *q;
  shared[2] pt_t *p2 = &a2[2 * MYTHREAD];
  a[MYTHREAD] = l;
  a[MYTHREAD].x = MYTHREAD;
  CK(mk(a[MYTHREAD], 4).x == MYTHREAD + 4 && mk(a[MYTHREAD], 4).in.w[2] == 4);
  a[MYTHREAD + THREADS] = mk(*p, 7);
  CK(p[THREADS].x == MYTHREAD + 7 && p[THREADS].in.w[0] == 1 && p[THREADS].i == 5);
  CK((MYTHREAD >= 0 ? a[MYTHREAD] : a[MYTHREAD + THREADS]).in.w[1] == 2);
  CK((0, a[MYTHREAD]).y == 2);
  *p2 = l;
  p2->in.w[1]++;
  ++p2->in.w[1];
  p2->in.w[1] *= 2;
  CK(a2[2 * MYTHREAD].in.w[1] == 8);
  p2[1] = *p2;
  (&p2[1])->f = 1;
  CK(p2[1].i == 0x3f800000);
  (*(p2 + 1)).in.c++;
  CK(p2[1].in.c == 'd');
  l = *p;
  l.y = p->y++ + ++p->y;
  CK(p->y == 4);
  typeof(a[0]) *tp = p;
  CK(tp == p);
  typeof(&a[0]) tq = p + 1;
  __typeof__(a[0].x) tx = 4;
  CK(tx == 4 && tq - p == 1);
  __auto_type au = p;
  CK(au == p);
  CK(sizeof(a[0].in.w) == 24 && sizeof p->in.w[0] == 8 && sizeof a[0] == sizeof(pt_t) &&
     offsetof(pt_t, y) == 4 && sizeof(*p2) == sizeof l && _Alignof(pt_t) == 8);
  CK(ex == 3 && kk == 9 && msg[4] == 'o' && msg[11] == 0 && sizeof msg == 12 && msg16[1] == 'i' &&
     msg16[15] == 0 && m34[0][1] == 2 && m34[2][3] == 7 && m34[1][0] == 3 && m2[0][0] == 1 &&
     m2[1][0] == 2 && sd == 1.5 && *sdp == 1.5);
  for (shared[] char *c = msg, *e = msg + 11; c < e; c++) CK(*c == "hello world"[c - msg]);
  i = 0;
  while (msg[i++])
    ;
  CK(i == 12);
  char cb[12], *d = cb;
  shared[] char *s = msg;
  while ((*d++ = *s++))
    ;
  CK(!strcmp(cb, "hello world"));
  ar[MYTHREAD][3] = 5;
  CK(upc_threadof(&ar[0][3]) == 3 % THREADS);
  ar10[MYTHREAD][9] = 4;
  CK(upc_threadof(&ar10[MYTHREAD][9]) == MYTHREAD);
  SYNC;
  CK(upc_threadof(&p4[1]) == 0 && p4[2 % (4 * THREADS)] == 0 && upc_phaseof(p4) == 2 && sp == cp);
  sa[MYTHREAD] = 10 * MYTHREAD;
  ish[MYTHREAD] = ish3[3 * MYTHREAD + 1] = weird[MYTHREAD] = sa[MYTHREAD] + 1;
  SYNCN(__LINE__);
  CK(ish3[3 * MYTHREAD + 1] == 10 * MYTHREAD + 1 && weird[0] == 1);
  CK(*ret(sa - 1) == 0 && *fp(&sa[-1]) == 0 && *(*ft)(sa - 1) == 0 && *tab[1](sa - 1) == 0 &&
     *getf(1)(sa - 1) == 0 && getf(0) == fp && first(sa) == 0);
  if (THREADS > 1) {
    CK(ret(sa)[0] == 10 && 1 [sa] == 10 && (&sa[1])[-1] == 0 && *&sa[1] == 10 && (&*sp)[1] == 10 &&
       (sp + 1)[0] == 10);
  }
  shared[] double *h = upc_alloc(16 * sizeof(double));
  for (i = 0; i < 16; i++) h[i] = i;
  CK(rows((shared[] double(*)[4])h, 2) == 11 && vla(4, (shared[] double(*)[4])h, 1, 2) == 6 &&
     vla(8, (shared[] double(*)[8])h, 1, 2) == 10 && rowp(m34) == 9);
  shared[] double(*hv)[2] = (void shared *)h;
  CK(hv[3][1] == 7 && (*(hv + 1))[0] == 2 && **hv == 0 && *hv[2] == 4 && *(*(hv + 2) + 1) == 5);
  shared[] struct flex *fx = upc_alloc(sizeof(struct flex) + 5 * sizeof(int));
  fx->n = 5;
  for (i = 0; i < fx->n; i++) fx->d[i] = i * i;
  CK(fx->d[4] == 16 && *(fx->d + 3) == 9 && &fx->d[2] - fx->d == 2);
  char c8;
  shared[] char *c1 = upc_alloc(3);
  k = (c1[0] = 300);
  CK(k == (char)300);
  k = c8 = c1[1] = n = 0x1ff;
  CK(k == (char)0x1ff && n == 0x1ff);
  c1[1] = c1[2] = 'x';
  CK(c1[1] == 'x');
  q = NULL;
  CK(q == NULL && !q && q == 0 && p != NULL && p && (q || p) && !(q && q->x));
  q = p ? p : NULL;
  CK(q == p);
  q = p ?: NULL;
  CK(q == p);
  if (q)
    ;
  else
    CK(0);
  while (q) {
    q = 0;
  }
  uintptr_t up = (uintptr_t)(pt_t *)p;
  CK(up != 0);
  CK((void *)&a[MYTHREAD] == (void *)up);
  pt_t *lp = (pt_t *)p;
  lp->x = 77;
  CK(p->x == 77 && a[MYTHREAD].x == lp->x);
  a[MYTHREAD] = *lp;
  *lp = a[MYTHREAD + THREADS];
  memcpy(&l, (void *)&a[MYTHREAD], sizeof l);
  CK(l.x == MYTHREAD + 7);
  if (MYTHREAD == 0) {
    st.p = m34[1];
    st.f = 0;
    st.e = G;
    st.p[1] = 12;
    st.p++;
    CK(*st.p == 12 && st.e == G);
    *st.p++ = 13;
    CK(m34[1][1] == 13);
    --st.p;
    st.p[0]--;
    CK(m34[1][1] == 12);
    vv = 3;
    vv++;
  }
  SYNC;
  shared[] int *z = st.p;
  CK(z[0] == 12 && *st.p == 12 && st.p[-1] == 3 && upc_threadof(st.p) == 0);
  for (i = 0, rp = sa; i < THREADS; i++, rp++) CK(*rp == 10 * i);
  upc_forall(i = 0, j = 5; i < 3 * THREADS; i++, j += 2; &a[i]) {
    CK(j == 5 + 2 * i);
    if (i % 2) continue;
    a[i].y = i;
  }
  CK(i == 3 * THREADS);
  n = 0;
  upc_forall(i = 0; i < 12; i++; (i * THREADS) / 12) n++;
  SYNC;
  static shared int tot[THREADS];
  tot[MYTHREAD] = n;
  SYNC;
  for (i = n = 0; i < THREADS; i++) n += tot[i];
  CK(n == 12);
  upc_forall(int r = 0; r < THREADS; r++; ar10[r]) CK(r == MYTHREAD);
  upc_forall(int r = 0; r < 4 * THREADS; r++; q4 + r) CK(r / 4 == MYTHREAD);
  upc_forall(i = 0; i < 5; i++; continue) n--;
  CK(n == 7);
  upc_forall(; n > 0; n--;);
  CK(n == 0);
  upc_barrier sa[0];
  switch (sa[MYTHREAD] - 10 * MYTHREAD) {
  case sizeof(char) - 1: break;
  case upc_elemsizeof(ish):
  default: CK(0);
  }
  CK(nargs(sizeof(shared[2] int) + sa[0], &sa[0]) == 4 && sizeof sized == 7);
  printf("%s %p\n", "shared int x; upc_barrier", (void *)&sa[MYTHREAD]);
  CK(msg[0] == 'h' ? 1 : 0);
  {
    int shared_ = 1;
    struct {
      int strict, relaxed;
    } o = {1, 2};
    CK(o.strict + o.relaxed + shared_ == 4);
  }
  {
    shared int *arr[3] = {sa, sa + 1};
    shared int **pp = arr, ***ppp = &pp;
    CK(**pp == 0 && ***ppp == 0 && *(*ppp)[1 - 1] == 0 && arr[2] == NULL && pp[1] - pp[0] == 1);
    *pp++ += 1;
    (*pp)--;
    CK(pp == arr + 1 && arr[0] == arr[1] + 1);
  }
  SYNC;
  upc_free(h);
  return 0;
}
