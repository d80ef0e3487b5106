/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations as programs have them: typedefs, forward declarations, functions of pointers. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <string.h>
// macros generating; declarations oddities
#define DECL(t, n, b) shared [b] t n[(b)*THREADS]
DECL(int, q1, 4);
DECL(double, q2, 2);
shared int (*pa)[THREADS];
shared int arr2[3][THREADS];
shared [] int (*pi)[4];
typedef shared [] struct tree *tree_p;
struct tree {
  int key;
  tree_p left, right;
};
tree_p shared root;
typedef shared int sint;
sint x1;
sint *xp = &x1;
typedef sint *sintp;
sintp shared spp;
typedef shared [4] struct { int a[2]; } rec4;
rec4 recs[8 * THREADS];
rec4 *rp = recs;
extern shared int later[];
shared int later[5 * THREADS];
extern shared [2] double ext2[];
shared [2] double ext2[2 * THREADS];
shared int tent;
shared int tent;
extern shared int tent;
static shared int stent;
static shared int stent = 4;
void proto(shared int[], shared [4] int[4], shared int (*)[3], shared int *[2], int n,
           shared [] double m[n][n]);
void proto(shared int a[], shared [4] int b[4], shared int (*c)[3], shared int *d[2], int n,
           shared [] double m[n][n]) {
  a[0] = 1;
  m[1][1] = n;
  CK(&m[1][1] - &m[0][0] == n + 1);
  CK(sizeof(m[0]) == n * 8);
}
struct s1 {
  shared struct s2 *p;
};
struct s2 {
  shared struct s1 *q;
  int v;
};
shared struct s2 S2;
shared struct s1 S1;
enum tag { T1, T2 = 5 };
shared enum tag et[THREADS];
shared _Bool bb[THREADS];
int insert(tree_p *t, int k) {
  if (!*t) {
    *t = upc_alloc(sizeof(struct tree));
    (*t)->key = k;
    (*t)->left = (*t)->right = NULL;
    return 1;
  }
  return k < (*t)->key ? insert2(t, k) : 0;
}
int insert2(tree_p *t, int k) {
  tree_p l = (*t)->left;
  int r = insert(&l, k);
  (*t)->left = l;
  return r;
}
shared int *const fixed = &x1;
const shared int cc = 4;
shared int *shared *shared triple;
shared int *shared dbl;
static shared [] int *shared gdir[THREADS];
struct wrapper {
  struct {
    shared int *deep;
  } in;
  shared int *arr[3];
} W;
shared int *fa(void), *fb(void), fc;
shared int *fa(void) {
  return &x1;
}
shared int *fb(void) {
  return fa();
}
int (*(*fpp)(shared int *))(int);
int inc(int x) {
  return x + 1;
}
int (*getinc(shared int *p))(int) {
  *p = *p;
  return inc;
}
inline static int inl(shared int *p) {
  return *p;
}
struct bitsy {
  unsigned int lo : 16;
  unsigned int hi : 16;
};
shared struct bitsy *bp2;
shared struct bitsy bts[THREADS];
union un {
  int i;
  struct bitsy b;
};
shared union un uns[THREADS];
shared struct {
  int n;
  int data[];
} * flexp;
shared [] struct flexs {
  int n;
  double d[1];
} * fx;
int main() {
  int i, j;
  shared int *p = &later[0], **pp = &p, *(*ppp) = pp;
  CK(upc_blocksizeof(q1) == 4 && upc_blocksizeof(q2) == 2);
  pa = arr2;
  CK(&pa[1][0] == &arr2[1][0]);
  pa++;
  CK(&(*pa)[0] == &arr2[1][0]);
  pi = upc_alloc(4 * 4 * 4);
  pi[2][3] = 5;
  CK(((int *)pi)[11] == 5);
  {
    tree_p t = NULL;
    CK(insert(&t, 5));
    CK(insert(&t, 3));
    CK(t->left->key == 3);
    root = t;
  }
  upc_barrier;
  if (!MYTHREAD) {
    *xp = 3;
    x1 += 1;
  }
  upc_barrier;
  CK(x1 == 4 && *xp == 4);
  CK(inl(xp) == 4);
  spp = xp;
  CK(*spp == 4);
  rp = &recs[4];
  CK(upc_threadof(rp) == 1 % THREADS);
  recs[MYTHREAD * 4].a[1] = 6;
  CK(recs[MYTHREAD * 4].a[1] == 6);
  CK(upc_blocksizeof(*rp) == 4);
  CK(*pp == p && *ppp == p);
  (*pp)++;
  CK(p == &later[1]);
  {
    double tmp[9];
    shared [] double *m = upc_alloc(9 * 8);
    shared int *dd[2];
    proto(later, q1, (shared int(*)[3])later, dd, 3, (shared [] double(*)[])m);
    CK(m[4] == 3);
    (void)tmp;
  }
  upc_barrier;
  if (!MYTHREAD) {
    S1.p = &S2;
    S2.q = &S1;
    S2.v = 9;
  }
  upc_barrier;
  CK(S1.p->q->p->v == 9);
  et[MYTHREAD] = T2;
  CK(et[MYTHREAD] == 5);
  bb[MYTHREAD] = et[MYTHREAD];
  CK(bb[MYTHREAD] == 1);
  bb[MYTHREAD] = xp;
  CK(bb[MYTHREAD] == 1);
  CK(*fixed == 4 && cc == 4 && stent == 4);
  dbl = &x1;
  triple = &dbl;
  CK(**triple == 4);
  W.in.deep = xp;
  W.arr[2] = xp;
  CK(*W.in.deep == 4 && *W.arr[2] == 4);
  CK(*fb() == 4);
  fpp = getinc;
  CK(fpp(&later[MYTHREAD])(3) == 4);
  CK((*(*fpp)(&later[MYTHREAD]))(4) == 5);
  bts[MYTHREAD].lo = 0x1234;
  bts[MYTHREAD].hi = 0xabcd;
  CK(*(unsigned *)&bts[MYTHREAD] == 0xabcd1234);
  bp2 = &bts[MYTHREAD];
  CK(bp2->hi == 0xabcd);
  uns[MYTHREAD].b.hi = 1;
  CK(uns[MYTHREAD].i >> 16 == 1);
  fx = upc_alloc(sizeof(*fx) + 9 * sizeof(double));
  fx->d[9] = 4;
  CK(fx->d[9] == 4);
  flexp = upc_alloc(sizeof(*flexp) + 10 * sizeof(int));
  flexp->data[7] = 2;
  CK(flexp->data[7] == 2);
  CK((shared [] char *)&flexp->data[7] - (shared [] char *)flexp == 32);
  for (shared int *it = later; it < later + 5 * THREADS; it += THREADS) CK(upc_threadof(it) == 0);
  for (int u = 0, *w = &u; u < 2; ++*w)
    ;
  {
    static int calls;
    static shared int sc;
    static shared [2] int scarr[4 * THREADS];
    calls++;
    if (!MYTHREAD) sc = 5;
    scarr[2 * MYTHREAD] = 4;
    CK(scarr[2 * MYTHREAD] == 4);
    upc_barrier;
    CK(sc == 5);
  }
  {
    extern shared int later[];
    CK(&later[1] == p);
    typedef shared int loc_t;
    extern loc_t x1;
    loc_t *lp = &x1;
    CK(*lp == 4);
    enum { Z = 3 };
    static shared int zz[Z * THREADS] = {Z};
    CK(zz[0] == 3);
    struct L {
      int a;
      shared int *b;
    } L = {1, &x1};
    static shared struct L sl[THREADS];
    sl[MYTHREAD] = L;
    CK(*sl[MYTHREAD].b == 4);
  }
  if (MYTHREAD == 0)
    goto skip;
  else
    ;
skip:
  i = 0;
again:
  if (++i < 3) goto again;
  { ; };
  switch (i)
  case 3:
    CK(i == 3);
  CK(sizeof(shared int *) == sizeof(p));
  CK(sizeof(struct wrapper) >= 4 * sizeof(p));
  CK(upc_localsizeof(shared [4] int[8 * THREADS]) == 32);
  CK(upc_elemsizeof(recs[0]) == 8);
  CK(upc_blocksizeof(q1[0]) == 4);
  CK(sizeof(arr2) / sizeof(arr2[0][0]) == 3 * THREADS);
  CK(upc_localsizeof arr2 == 12);
  {
    int THR = THREADS, my = MYTHREAD;
    CK(my < THR);
    long long int *z = 0;
    unsigned u = THREADS;
    CK(u - 1 >= MYTHREAD);
    double f = 1.0 * MYTHREAD / THREADS;
    CK(f < 1);
    char *e = MYTHREAD ? "a" : "b";
    CK(*e);
    int ar[3] = {MYTHREAD, THREADS};
    CK(ar[1] == THREADS);
  }
  return !!0;
}
