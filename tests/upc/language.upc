/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with most constructs of the language once. */
/* again: TOMBOLO_TEST_SHM=0 */
/* match: ok */
#include <upc_relaxed.h>
#include <stdio.h>
#include <string.h>
typedef shared [] int *P;
typedef struct node { int v; shared struct node *next; P arr; } node_t;
shared node_t *shared head;
upc_lock_t *lock;
upc_lock_t *shared locks[THREADS];
shared int cnt;
strict shared int flag;
shared struct { int j, k; } s = {2, 3};
shared int init = 7;
shared [2] int ia[4*THREADS] = {1,2,3,4};
shared [2] int *pq = &ia[3];
static shared int *tbl[3] = { &init, NULL, &cnt };
shared struct bf { unsigned a:3; int b:5; unsigned long c:40; } bf;
int *shared lp[THREADS];
extern shared [2] int ia[4*THREADS];
shared [] double *shared dir[THREADS];
shared float f; shared double d; shared long double ld; shared char c; shared short h; shared long long ll;
int (*fp)(shared int *);
shared void *gen;
#define fail(...) (fprintf(stderr, __VA_ARGS__), upc_global_exit(1))
int sq(shared int *x) { return *x * *x; }
shared int *id(shared int *p, int n) { return p + n; }
int old(p, n) shared int *p; int n; { return p[n]; }
int main(int argc, char **argv)
{
  int i, j;
  static shared int loc[THREADS];
  static int once = 5;
  upc_forall(i = 0; i < THREADS; i++; i) loc[i] = i * 10;
  upc_barrier 1;
  for (i = 0; i < THREADS; i++) if (loc[i] != i*10) fail("bad %d\n", i);
  lock = upc_all_lock_alloc();
  for (i = 0; i < 100; i++) { upc_lock(lock); cnt++; upc_unlock(lock); }
  upc_barrier(2);
  if (MYTHREAD == 0) printf("cnt %d s %d %d init %d ia3 %d pq %d tbl %d %d\n", cnt, s.j, s.k, init, ia[3], *pq, *tbl[0], tbl[1] == NULL);
  dir[MYTHREAD] = upc_alloc(10 * sizeof(double));
  for (i = 0; i < 10; i++) dir[MYTHREAD][i] = MYTHREAD + i * 0.5;
  upc_barrier;
  double x = dir[(MYTHREAD+1)%THREADS][4];
  if (x != (MYTHREAD+1)%THREADS + 2.0) fail("dir bad %g\n", x);
  if (MYTHREAD == 0) {
    int n;
    for (n = 0; n < 5; n++) {
      shared node_t *q = upc_alloc(sizeof(node_t));
      q->v = n; q->next = head; head = q; q->arr = upc_alloc(4*sizeof(int)); q->arr[2] = n*n;
    }
    bf.a = 9; bf.b = -3; bf.c = 123456789012UL; bf.b += 1; bf.a++;
    f = 1.5; f *= 2; d = 3; ld = 4.25L; c = 'x'; h = -3; ll = 1LL << 40; ll >>= 3; c += 1;
  }
  upc_barrier;
  shared node_t *q; int sum = 0;
  for (q = head; q; q = q->next) sum += q->v + q->arr[2];
  if (sum != 40) fail("sum %d\n", sum);
  if (bf.a != 2 || bf.b != -2 || bf.c != 123456789012UL) fail("bf %d %d %lu\n", bf.a, bf.b, (unsigned long)bf.c);
  if (f != 3 || d != 3 || ld != 4.25L || c != 'y' || h != -3 || ll != 1LL << 37) fail("scal\n");
  if (sq(&init) != 49) fail("sq");
  if (id((shared int *)ia, 0) != (shared int*)&ia[0]) fail("id");
  if (old(&loc[0], 1 % THREADS) != 10 * (1 % THREADS)) fail("old");
  gen = upc_all_alloc(THREADS, 100);
  shared [100] char *g = gen;
  g[100 * MYTHREAD + 5] = 'a' + MYTHREAD;
  upc_barrier;
  char buf[10]; upc_memget(buf, &g[100*((MYTHREAD+1)%THREADS)], 10);
  if (buf[5] != 'a' + (MYTHREAD+1)%THREADS) fail("memget");
  lp[MYTHREAD] = &once; (*lp[MYTHREAD])++;
  if (once != 6) fail("lp");
  int *ptr = (int *)&loc[MYTHREAD]; if (*ptr != 10*MYTHREAD) fail("local");
  upc_forall(i = 0; i < 4*THREADS; i++; &ia[i]) { upc_forall(j=0;j<2;j++; j) ia[i] = i + j; if (i == 3) continue; }
  upc_notify; upc_wait;
  for (i = 0; i < 4*THREADS; i++) if (ia[i] != i + 1) fail("forall");
  while (flag != MYTHREAD) ; 
  flag = MYTHREAD + 1;
  node_t cp = *head; if (cp.v != 4) fail("copy");
  shared [2] int *r = &ia[1]; int v = *r++ + *r; if (v != (1+1)+(2+1)) fail("inc %d\n", v);
  switch (ia[0]) { case 1: break; default: fail("switch"); }
  printf("ok %d %s\n", MYTHREAD, __func__);
  return 0;
}
