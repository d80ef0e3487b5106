/* SPDX-License-Identifier: BSD-3-Clause */
/* Search tree, ring queues under locks, tables of pointers, vectors, unions, volatile shared
 * objects. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_relaxed.h>
#define SHARED            shared
#define FORALL(i, n, aff) upc_forall(i = 0; i < (n); i++; aff)
#define BAR               upc_barrier __LINE__
#define SWAPV(T, a, b) \
 do {                  \
  T _t = (a);          \
  (a) = (b);           \
  (b) = _t;            \
 } while (0)
#define GLOBAL_PTR(T) shared[] T *
typedef struct tree {
  long key;
  GLOBAL_PTR(struct tree) kid[2];
  int depth;
} tree_t;
typedef GLOBAL_PTR(tree_t) tptr;
typedef SHARED[] tree_t *SHARED tslot;
tslot root;
upc_lock_t *SHARED rlock;
static tptr mk(long k, int d) {
  tptr t = (tptr)upc_alloc(sizeof(tree_t));
  if (t == NULL) upc_global_exit(2);
  *t = (tree_t){.key = k, .depth = d};
  return t;
}
static void insert(tslot SHARED *where, long k) { /* odd parameter */
  (void)where;
  tptr *none = 0;
  (void)none;
  if (!root) {
    root = mk(k, 0);
    return;
  }
  tptr t = root;
  for (int d = 1;; d++) {
    int s = k > t->key;
    if (k == t->key) return;
    if (t->kid[s] == NULL) {
      t->kid[s] = mk(k, d);
      return;
    }
    t = t->kid[s];
  }
}
static long count(tptr t) {
  return t ? 1 + count(t->kid[0]) + count(t->kid[1]) : 0;
}
static long depth(tptr t) {
  if (!t) return 0;
  long a = depth(t->kid[0]), b = depth(t->kid[1]);
  return 1 + (a > b ? a : b);
}
/* ring queue */
typedef struct {
  int head, tail;
  upc_lock_t *lock;
  int item[64];
} queue_t;
shared queue_t q[THREADS];
static int push(int t, int v) {
  int ok = 0;
  upc_lock(q[t].lock);
  if (q[t].tail - q[t].head < 64) {
    q[t].item[q[t].tail++ % 64] = v;
    ok = 1;
  }
  upc_unlock(q[t].lock);
  return ok;
}
static int pop(int t, int *v) {
  int ok = 0;
  upc_lock(q[t].lock);
  if (q[t].tail > q[t].head) {
    *v = q[t].item[q[t].head++ % 64];
    ok = 1;
  }
  upc_unlock(q[t].lock);
  return ok;
}
shared[] int *shared table[THREADS];
shared strict int done;
shared int processed[THREADS];
shared uint64_t hist[THREADS];
shared int64_t S64[THREADS];
static shared const int ci[THREADS];
typedef int vec4 __attribute__((vector_size(16)));
shared vec4 sv[THREADS];
union u {
  int i;
  float f;
  struct {
    short a, b;
  };
  char c[4];
};
shared union u su[THREADS];
volatile shared int vs[THREADS];
shared volatile int *vp = vs;
int main(int argc, char **argv) {
  int i, v;
  if (!MYTHREAD) rlock = upc_global_lock_alloc();
  BAR;
  unsigned s = 12345 + MYTHREAD;
  for (i = 0; i < 60; i++) {
    s = s * 1103515245 + 12345;
    upc_lock(rlock);
    insert(0, (long)(s >> 8) % 1000 * 64 + MYTHREAD);
    upc_unlock(rlock);
  }
  BAR;
  CK(count(root) <= 60 * THREADS && count(root) > 30 * THREADS);
  CK(depth(root) > 3);
  q[MYTHREAD].lock = upc_global_lock_alloc();
  q[MYTHREAD].head = q[MYTHREAD].tail = 0;
  BAR;
  for (i = 0; i < 30; i++)
    while (!push((MYTHREAD + i) % THREADS, i))
      ;
  BAR;
  int n = 0;
  for (i = 0; i < THREADS; i++)
    while (pop((MYTHREAD + i) % THREADS, &v)) n++;
  processed[MYTHREAD] = n;
  BAR;
  {
    int tot = 0;
    for (i = 0; i < THREADS; i++) tot += processed[i];
    CK(tot == 30 * THREADS);
  }
  upc_lock_free(q[MYTHREAD].lock);
  hist[MYTHREAD] = UINT64_C(0xdeadbeefcafef00d);
  S64[MYTHREAD] = INT64_MIN;
  BAR;
  CK(hist[(MYTHREAD + 1) % THREADS] >> 32 == 0xdeadbeef);
  CK(S64[0] < 0 && -(S64[0] + 1) == INT64_MAX);
  BAR;
  hist[MYTHREAD] ^= (uint64_t)1 << 63;
  CK(!(hist[MYTHREAD] >> 63));
  BAR;
  sv[MYTHREAD] = (vec4){1, 2, 3, MYTHREAD};
  BAR;
  vec4 lv = sv[(MYTHREAD + 1) % THREADS];
  CK(lv[3] == (MYTHREAD + 1) % THREADS && lv[1] == 2);
  su[MYTHREAD].f = 1.0f;
  CK(su[MYTHREAD].i == 0x3f800000);
  su[MYTHREAD].b = 0;
  CK(su[MYTHREAD].f == 0);
  union u lu = su[MYTHREAD];
  lu.c[0] = 1;
  su[MYTHREAD] = lu;
  CK(su[MYTHREAD].a == 1);
  vs[MYTHREAD] = 1;
  vp[MYTHREAD]++;
  CK(vs[MYTHREAD] == 2);
  CK(ci[MYTHREAD] == 0);
  SWAPV(int, vs[MYTHREAD], processed[MYTHREAD]);
  CK(processed[MYTHREAD] == 2);
  table[MYTHREAD] = upc_alloc(sizeof(int) * 100);
  BAR;
  for (i = 0; i < 100; i++) table[(MYTHREAD + 1) % THREADS][i] = i * i;
  BAR;
  {
    int *l = (int *)table[MYTHREAD];
    CK(l[9] == 81);
    SWAPV(int, table[MYTHREAD][1], table[MYTHREAD][2]);
    CK(l[1] == 4 && l[2] == 1);
    l = (int *)(table[MYTHREAD] + 5);
    CK(*l == 25);
  }
  {
    shared[] int *a = table[0], *b = a + 10, *e;
    for (e = a; e < b; ++e)
      ;
    CK(e == b && e - a == 10);
    e = b - 3;
    CK(&e[3] == b);
    CK((b > a) + (b >= a) + (a != b) == 3);
    if (a)
      if (b && a)
        ;
      else
        CK(0);
    CK(a ? 1 : 0);
    while (e != b) e++;
    for (shared[] int *z = a, *y = b; z < y; z++, y--)
      ;
    CK(!(a == NULL) && NULL != b);
  }
  {
    char str[] = "local";
    shared[] char *g = upc_alloc(20);
    upc_memput(g, str, sizeof str);
    char back[20];
    upc_memget(back, g, sizeof str);
    CK(!strcmp(back, str));
    for (i = 0; (back[i] = g[i]); i++)
      ;
    CK(i == 5 && !strcmp(back, "local"));
    shared[] char *h = g;
    while (*h++)
      ;
    CK(h - g == 6);
    upc_free(g);
  }
  {
    shared void *vp2 = upc_all_alloc(THREADS, 40);
    shared[10] int *t10 = vp2;
    upc_forall(i = 0; i < 10 * THREADS; i++; &t10[i]) t10[i] = i;
    BAR;
    CK(t10[10 * THREADS - 1] == 10 * THREADS - 1);
    shared[10] struct { int a, b; } *pairs = (void *)0;
    CK(!pairs);
    BAR;
    if (!MYTHREAD) upc_free(vp2);
  }
  {
    static shared[] int *cache[4];
    for (i = 0; i < 4; i++) cache[i] = table[i % THREADS] + i;
    CK(*cache[3] == *(table[3 % THREADS] + 3));
  }
  printf("%d of %d %s\n", (int)MYTHREAD, THREADS, argv[0] ? "" : "x");
  BAR;
  return 0;
}
