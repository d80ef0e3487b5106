/* SPDX-License-Identifier: BSD-3-Clause */
/* What older compilers took: implicit int, K&R, layouts assigned without a cast. */
/* ranks: 1 4 */
#include "check.h"
#include <upc_relaxed.h>
shared int a[THREADS];
shared [3] int b3[3 * THREADS];
shared [] int *ip;
shared int *p1;
shared [3] int *p3;
shared upc_lock_t *lk;
upc_lock_t *shared lks[THREADS];
static counter;
extern oldglob;
func(x) {
  return x + 1;
}
func2(x, p) shared int *p;
{ return x + *p; }
static noargs() {
  return 3;
}
shared int *getp();
void vf();
double half();
int later(n)
int n;
{ return implicit_fn(n) + noproto_ptr(a, n); }
int implicit_fn(int n) {
  return n * 2;
}
int noproto_ptr(shared int *q, int n) {
  return q[n % THREADS];
}
main(argc, argv) int argc;
char **argv;
{
  int i;
  register r;
  const cc = 5;
  auto int au = 4;
  p1 = b3; /* different block sizes */
  p3 = a;
  ip = b3;
  ip = &a[MYTHREAD];
  p1 = ip;
  p3 = p1;
  p1 = upc_all_alloc(THREADS, sizeof(int));
  if (p1 == ip)
    ;
  CK(upc_threadof(p1) == 0);
  for (r = 0; r < 3; r++)
    ;
  CK(func(2) == 3);
  CK(func2(2, a) == 2);
  CK(noargs() == 3);
  CK(later(3) == 6);
  CK(getp(2) == a);
  vf(1);
  CK(half(3.0) == 1.5);
  counter = cc + au;
  CK(counter == 9);
  lk = upc_all_lock_alloc();
  lks[MYTHREAD] = upc_global_lock_alloc();
  upc_lock(lk);
  upc_unlock(lk);
  upc_lock_init(lk);
  exitcheck(0);
  upc_barrier;
  return (0);
}
shared int *getp(n) {
  return a;
}
void vf(n) int n;
{ return; }
double half(x)
double x;
{ return x / 2; }
int exitcheck(int k) {
  return k;
}
