/* SPDX-License-Identifier: BSD-3-Clause */
/* How programs of twenty years write: old-style functions, macros with statements. */
/* match: ok */
#include <upc.h>
#include <stdio.h>
#define fail(n) (fprintf(stderr, "old_programs: check %d failed\n", n), upc_global_exit(1))
#ifdef __UPC_VERSION__
#define LA(n,b) upc_alloc((n)*(b))
#else
#define LA upc_local_alloc
#endif
#define BARRIER upc_barrier __LINE__;
#define DO_ALL(v,n) { int v; upc_forall(v=0; v<(n); v++; v) {
#define END_ALL }} upc_barrier;
shared int x, *p;
shared [2] int * shared sp[THREADS];
typedef struct { shared [] int *sd; int n; } vec;
vec v[4];
shared [] int *(*alloc_fn)(size_t);
shared [] int *my_alloc(size_t n) { return upc_alloc(n); }
static shared [] int *getsd(vec *q) { return q->sd; }
shared strict int sflag;
relaxed shared int rr[THREADS];
shared volatile int vv[THREADS];
shared const int cc = 4;
extern int printf(const char *, ...);
int (*table[2])(shared int *) = { 0 };
int usep(shared int *q) { return q == NULL ? -1 : *q; }
struct tree { struct tree *l, *r; shared struct tree *g; } ;
shared struct tree troot;
int sum(shared int *a, int n) { int s = 0, i; for (i = 0; i < n; i++) s += a[i]; return s; }
#define SWAP(a,b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while(0)
enum { SZ = 5 * sizeof(int) };
shared [SZ] char szb[SZ*THREADS];
shared double A[THREADS][10], B[10][THREADS];
shared long long hist[16*THREADS];
char *names[] = { "a", "b" };
shared char msg[THREADS*8];
void pr(shared char *s) { while (*s) putchar(*s++); }
int fib(int n) { return n < 2 ? n : fib(n-1) + fib(n-2); }
shared [4] struct { int a; double b[2]; } cplx[4*THREADS];
int main(argc, argv) int argc; char **argv;
{
  int i, j; shared [] int *s; shared [] int *t;
  vec *w = &v[1];
  register shared int *rp = &x; rp++; --rp;
  p = &x; if (MYTHREAD == 0) *p = 3;
  BARRIER
  w->sd = my_alloc(40); w->n = 10;
  alloc_fn = my_alloc; s = (*alloc_fn)(16); t = alloc_fn(16);
  SWAP(s, t);
  s[0] = 1; t[0] = 2; { int a_ = s[0]; if (a_ + *t != 3) fail(1); }
  getsd(w)[3] = 7; if (w->sd[3] != 7 || (*w).sd[3] != 7 || v[1].sd[3] != 7) fail(2);
  sp[MYTHREAD] = NULL; sp[MYTHREAD] = (shared [2] int *)&x; 
  if (usep(p) != 3 || usep(0) != -1 || usep(NULL) != -1) fail(3);
  table[0] = usep; table[1] = &usep; if (table[0](&x) + (*table[1])(p) != 6) fail(4);
  DO_ALL(k, 16) hist[k] += k * 2; END_ALL
  for (i = j = 0; i < 16; i++) j += hist[i]; if (j != 240) fail(5);
  vv[MYTHREAD] = MYTHREAD; while (vv[MYTHREAD] != MYTHREAD) upc_poll();
  rr[MYTHREAD]++, rr[MYTHREAD]--, ++rr[MYTHREAD];
  rr[MYTHREAD] <<= 3; rr[MYTHREAD] |= 1; rr[MYTHREAD] ^= 3; rr[MYTHREAD] %= 7; if (rr[MYTHREAD] != (((1<<3)|1)^3)%7) fail(6);
  if (MYTHREAD == 0) { const char *q = "hi"; for (i = 0; q[i]; i++) msg[i] = q[i]; msg[i] = '\0'; troot.g = &troot; troot.l = NULL; }
  upc_barrier;
  if (MYTHREAD == THREADS-1) { pr(msg); putchar('\n'); }
  if (troot.g != &troot || troot.g->g->g != troot.g) fail(7);
  upc_forall(i=0;i<THREADS;i++;&A[i][0]) for (j=0;j<10;j++) A[i][j] = i*j; 
  upc_forall(i=0;i<10;i++;continue) upc_forall(j=0;j<THREADS;j++;&B[i][j]) B[i][j] = i+j;
  upc_barrier;
  for (i=0;i<10;i++) for(j=0;j<THREADS;j++) if (B[i][j] != i+j || A[j][i] != i*j) fail(8);
  switch (x) { case 3: { int z = x; if (z != 3) fail(9); break; } default: fail(10); }
  i = (x > 2 && !(x == 4)) || x; i = x ? cc : x; if (i != 4) fail(11);
  i = -x + ~x + (x, 5); double dv = (double)x / 2; float fv = x; if (dv != 1.5 || fv != 3) fail(12);
  printf("%d %d %ld %zu %p\n", MYTHREAD, (int)THREADS, (long)upc_threadof(&x), sizeof(A), (void*)p ? (void *)0 : (void *)1);
  cplx[MYTHREAD*4].b[1] = 2.5; { shared [] double *d = &cplx[MYTHREAD*4].b[0]; if (d[1] != 2.5) fail(13); }
  { struct { int a; shared int *q; } loc = { 3, &x }, *lp = &loc; if (*lp->q != 3 || *loc.q != 3) fail(14); lp->q = 0; }
  { int arr[x]; arr[x-1] = x; if (arr[2] != 3) fail(15); }
  for (shared int *q = &rr[0], *e = q + THREADS; q < e; q++) if (*q != (((1<<3)|1)^3)%7) fail(16);
  if (sum((shared int *)rr, THREADS) != THREADS * 3) fail(17);
  { extern shared long long hist[16*THREADS]; if (hist[3] != 6) fail(18); }
  { size_t ls = upc_localsizeof(A); if (ls != 10 * sizeof(double)) fail(19); }
  x = x; 
  goto done;
done: upc_fence;
  upc_barrier;
  printf("ok\n");
  return 0;
}
