/* SPDX-License-Identifier: BSD-3-Clause */
/* gcc: functions within functions */
/* Typedefs with layouts, arrays of function pointers, statics in functions, setjmp, nested
 * functions. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <upc_relaxed.h>
typedef shared[2] double block2;
typedef block2 *pblock2;
typedef block2 arr_t[10];
shared[2] double d2[10 * THREADS];
arr_t *pa;
typedef double row[8];
shared row rows[THREADS];
shared[3] row rows3[3 * THREADS];
typedef row rr[2];
shared rr rrs[THREADS];
int (*table_of[3])(shared int *, int);
static int f0(shared int *p, int i) {
  return p[i];
}
static int f1(shared int *p, int i) {
  return *p + i;
}
shared int base[4 * THREADS];
shared int (*shared rowp)[4];
static shared[] struct {
  int n;
  struct {
    int m[3];
  } k[2];
} anon;
struct fwd;
shared struct fwd *fp;
struct fwd {
  int v;
  shared struct fwd *n;
};
shared struct fwd sfwd;
extern shared int later[];
static int use_later(void) {
  return later[0];
}
shared int later[THREADS];
shared struct { int j, k; } pairs = {2, 3};
static shared enum { A1, B1 = 7 } en = B1;
shared long lng = -1L, *plng = &lng, arr2[2 * THREADS];
shared float flt = 1.5f;
shared char ch = 'x';
static int *const cp = 0;
shared int *const csp = &base[2];
const shared int *const *volatile vcp;
double work(double x) {
  static shared int calls[THREADS];
  static int depth;
  calls[MYTHREAD]++;
  depth++;
  double r = x > 1 ? work(x / 2) + 1 : calls[MYTHREAD];
  depth--;
  return r;
}
int nested_fn(int k) {
  int add(int z) {
    return z + k + base[0];
  }
  return add(1);
}
inline static int ilog2(unsigned x) {
  int r = 0;
  while (x >>= 1) r++;
  return r;
}
static jmp_buf jb;
_Thread_local int tls = 3;
static _Noreturn void die(void) {
  upc_global_exit(9);
}
int sum_rows(shared double (*m)[8], int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 8; j++) s += m[i][j];
  return (int)s;
}
int sumv(int n, int m, shared[] int (*v)[m]) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += v[i][j];
  return s;
}
int main() {
  int i, j;
  base[MYTHREAD] = MYTHREAD;
  upc_barrier;
  table_of[0] = f0;
  table_of[1] = &f1;
  CK(table_of[0](base, MYTHREAD) == MYTHREAD);
  CK((*table_of[1])(&base[MYTHREAD], 5) == MYTHREAD + 5);
  CK((i ? f0 : f1) != 0);
  for (i = 0; i < 8; i++) {
    rows[MYTHREAD][i] = i;
    rows3[3 * MYTHREAD + 1][i] = i;
    rrs[MYTHREAD][1][i] = i;
  }
  upc_barrier;
  CK(sum_rows(rows, THREADS) == 28 * THREADS);
  CK(rows3[1][3] == 3);
  CK(upc_blocksizeof(rows3) == 3);
  CK(upc_threadof(&rows[1 % THREADS][7]) == 0 || 1);
  {
    shared double *e = &rows[0][0];
    for (i = 0; i < 8 * THREADS; i++) CK(e[i] == i % 8 || 1);
  }
  shared[] int *m = upc_alloc(12 * sizeof(int));
  for (i = 0; i < 12; i++) m[i] = i;
  CK(sumv(3, 4, (shared[] int(*)[4])m) == 66);
  CK(pairs.j == 2 && pairs.k == 3 && en == B1 && *plng == -1 && flt == 1.5f && ch == 'x');
  CK(csp == &base[2]);
  if (!MYTHREAD) {
    anon.k[1].m[2] = 6;
    fp = &sfwd;
    sfwd.v = 4;
    sfwd.n = fp;
  }
  upc_barrier;
  CK(anon.k[1].m[2] == 6);
  if (!MYTHREAD) CK(fp->n->n->v == 4);
  later[MYTHREAD] = 3;
  upc_barrier;
  CK(use_later() == 3);
  CK(work(8) == 4 + 3);
  CK(nested_fn(2) == 3);
  upc_barrier; /* base[0] was read by all before it changes */
  if (setjmp(jb) == 0) {
    base[MYTHREAD]++;
    longjmp(jb, 1);
  } else
    CK(base[MYTHREAD] == MYTHREAD + 1);
  base[MYTHREAD]--;
  upc_barrier;
  CK(ilog2(base[MYTHREAD] * 0 + 8) == 3);
  tls += base[MYTHREAD];
  CK(tls == 3 + MYTHREAD);
  rowp = (shared int(*)[4])base;
  upc_barrier;
  CK(&(*rowp)[1] == &base[1] && rowp + 1 == (shared int(*)[4]) & base[4]);
  i = ({
    int t = 0;
    upc_forall(int k = 0; k < 4 * THREADS; k++; &base[k]) t++;
    t;
  });
  CK(i == 4);

  for (i = 0, j = 3; base[0] == 0 && i < j; i++) {
    if (base[MYTHREAD] < 0) break;
  }
  CK(i == 3);
  {
    int base = 4;
    CK(base == 4);
    {
      extern shared int base[];
      CK(base[0] == 0);
    }
  }
  {
    int THR = THREADS, MYT = MYTHREAD;
    CK(THR > MYT);
  }
  struct loc {
    shared int *p;
    int a[2];
  } l[2] = {{base, {1, 2}}, {.p = base + 1, .a[1] = 5}}, *lp = l;
  CK(lp[1].p == &base[1] && (lp + 1)->a[1] == 5 && *lp->p == 0);
  struct loc l3 = (struct loc){lp->p + 1, {base[0]}};
  CK(l3.p - base == 1);
  shared int *vla[THREADS];
  for (i = 0; i < THREADS; i++) vla[i] = &base[i];
  CK(*vla[THREADS - 1] == THREADS - 1);
  CK(sizeof vla == THREADS * sizeof(shared int *));
  double dl[2][3] = {{base[0], 1}, {[2] = rows[0][0]}};
  CK(dl[0][1] == 1);
  const char *s = "a"
                  "b";
  CK(s[base[0]] == 'a');
  CK("xyz"[base[0] + 1] == 'y');
  CK(toupper('a' + base[0]) == 'A');
  CK(abs(-3 - base[0]) == 3);
  errno = 0;
  base[MYTHREAD] = MYTHREAD;
  size_t sz = sizeof(shared int *) + sizeof(int[3]) + upc_elemsizeof(shared[3] double[3 * THREADS]);
  CK(sz >= 12);
  CK(upc_localsizeof(shared[3] char[3 * THREADS]) == 3);
  CK(upc_blocksizeof(shared[7] int) == 7 && upc_blocksizeof(block2) == 2 &&
     upc_elemsizeof(rows) == 8);
  if (THREADS > 4096) die();
  upc_barrier;
  upc_barrier;
  return (0);
}
