/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures, unions and bit-fields in shared memory. */
/* ranks: 1 4 */
#include "check.h"
#include <string.h>
#include <upc.h>
typedef struct in_s {
  char tag[3];
  short s;
} in_t;
typedef struct node {
  int val;
  struct node *l;
  shared struct node *next;
  shared [] char *name;
  in_t in[2];
  union {
    int i;
    float f;
    struct {
      unsigned char r, g, b, a;
    } c;
  } u;
  unsigned f1 : 1, f2 : 7;
  signed f3 : 12;
  double d;
  long double ld;
  _Bool flag;
  enum { A, B, C } kind;
  int (*fn)(int);
  int grid[3][4];
} node;
shared node nodes[2 * THREADS];
shared [2] node nb[2 * THREADS];
shared [] node *np;
shared node single;
struct big {
  int a[1000];
};
shared struct big bigs[THREADS];
int twice(int x) {
  return 2 * x;
}
shared struct {
  int x;
  struct {
    int y;
    int z[2];
  } s;
} nested[THREADS];
union u {
  int i;
  char c[4];
  double d;
};
shared union u us[THREADS];
shared struct {
  unsigned a : 4, : 4, b : 8;
  int : 0;
  unsigned long c : 33;
  signed char d : 3;
  _Bool e : 1;
} bits[THREADS];
typedef struct list_s *list;
struct list_s {
  int v;
  list n;
};
list shared heads[THREADS];
shared struct fwd *fw;
struct fwd {
  int q;
};
shared struct fwd fws;
typedef struct {
  shared [] double *row;
  int n;
} rowd;
shared rowd rows[THREADS];
rowd priv[4];
int main() {
  int i;
  node loc, *lp;
  shared node *p = &nodes[MYTHREAD], *q;
  shared [2] node *pb;
  memset(&loc, 0, sizeof loc);
  p->val = 3;
  (*p).val++;
  nodes[MYTHREAD].val += 2;
  CK(p->val == 6);
  p->in[1].tag[2] = 'z';
  CK(nodes[MYTHREAD].in[1].tag[2] == 'z');
  p->in[0].s = -7;
  CK(p->in[0].s == -7);
  p->u.i = 0x01020304;
  CK(p->u.c.r == 4 && p->u.c.a == 1);
  p->u.f = 1.0f;
  CK(p->u.i == 0x3f800000);
  p->f1 = 1;
  p->f2 = 100;
  p->f3 = -5;
  CK(p->f1 == 1 && p->f2 == 100 && p->f3 == -5);
  p->f2 += 27;
  CK(p->f2 == 127);
  p->f3--;
  CK(p->f3 == -6);
  p->f2++;
  CK(p->f2 == 0);
  p->d = 1.5;
  p->d *= 2;
  CK(p->d == 3.0);
  p->ld = 1.25L;
  p->ld += 1;
  CK(p->ld == 2.25L);
  p->flag = 7;
  CK(p->flag == 1);
  p->kind = C;
  CK(p->kind == 2);
  p->fn = twice;
  CK(p->fn(4) == 8);
  CK((*p->fn)(5) == 10);
  p->grid[2][3] = 11;
  CK(p->grid[2][3] == 11);
  CK(*(p->grid[2] + 3) == 11);
  CK((*(p->grid + 2))[3] == 11);
  {
    shared [] int *g = p->grid[1];
    g[2] = 5;
    CK(p->grid[1][2] == 5);
    CK(upc_threadof(g) == MYTHREAD);
    shared [] int(*gr)[4] = p->grid;
    CK(gr[1][2] == 5);
  }
  loc = *p;
  CK(loc.val == 6 && loc.grid[2][3] == 11);
  loc.val = 77;
  *p = loc;
  CK(p->val == 77);
  nb[MYTHREAD] = nodes[MYTHREAD];
  CK(nb[MYTHREAD].val == 77);
  lp = (node *)p;
  CK(lp->val == 77);
  lp->val = 1;
  CK(p->val == 1);
  p->next = &nodes[(MYTHREAD + 1) % (2 * THREADS)];
  p->name = upc_alloc(10);
  p->name[0] = 'h';
  p->name[1] = 0;
  upc_barrier;
  for (q = &nodes[0], i = 0; q && i < THREADS; q = q->next, i++) {
    CK(upc_threadof(q) == i);
    CK(q->name[0] == 'h');
  }
  np = upc_alloc(5 * sizeof(node));
  for (i = 0; i < 5; i++) {
    np[i].val = i;
    np[i].next = 0;
  }
  CK((np + 3)->val == 3);
  CK((&np[4])->val == 4);
  CK(&np[4] - np == 4);
  bigs[MYTHREAD].a[999] = 5;
  {
    struct big b = bigs[MYTHREAD];
    CK(b.a[999] == 5);
  }
  nested[MYTHREAD].s.z[1] = 4;
  nested[MYTHREAD].s.y = 3;
  CK(nested[MYTHREAD].s.z[1] == 4 && nested[MYTHREAD].s.y == 3);
  us[MYTHREAD].d = 2.0;
  CK(us[MYTHREAD].c[3] == 0);
  us[MYTHREAD].i = 258;
  CK(us[MYTHREAD].c[1] == 1);
  bits[MYTHREAD].a = 9;
  bits[MYTHREAD].b = 200;
  bits[MYTHREAD].c = 0x1ffffffffUL;
  bits[MYTHREAD].d = -3;
  bits[MYTHREAD].e = 1;
  CK(bits[MYTHREAD].a == 9 && bits[MYTHREAD].b == 200 && bits[MYTHREAD].c == 0x1ffffffffUL &&
     bits[MYTHREAD].d == -3 && bits[MYTHREAD].e);
  CK((bits[MYTHREAD].a <<= 1) == 2);
  heads[MYTHREAD] = 0;
  {
    struct list_s e = {4, 0};
    heads[MYTHREAD] = &e;
    CK(heads[MYTHREAD]->v == 4);
    heads[MYTHREAD]->v = 5;
    CK(e.v == 5);
  }
  fw = &fws;
  if (MYTHREAD == 0) fw->q = 8;
  upc_barrier;
  CK(fws.q == 8);
  rows[MYTHREAD].row = upc_alloc(8 * sizeof(double));
  rows[MYTHREAD].n = 8;
  for (i = 0; i < 8; i++) rows[MYTHREAD].row[i] = i + MYTHREAD;
  upc_barrier;
  priv[0] = rows[THREADS - 1];
  CK(priv[0].row[3] == 3 + THREADS - 1);
  CK(rows[(MYTHREAD + 1) % THREADS].row[2] == 2 + (MYTHREAD + 1) % THREADS);
  CK(upc_threadof(&nodes[1].val) == 1 % THREADS);
  CK(upc_blocksizeof(nodes[0].val) == 0);
  CK(sizeof(nodes[0].grid) == 48);
  CK(sizeof p->grid[0] == 16);
  CK(sizeof(*p) == sizeof(node));
  CK(upc_elemsizeof(nodes) == sizeof(node));
  {
    int *ip = (int *)&p->grid[0][0];
    ip[5] = 42;
    CK(p->grid[1][1] == 42);
  }
  {
    shared [] int *vp = &p->val;
    *vp = 13;
    CK(p->val == 13);
    shared void *gv = &p->val;
    CK(*(shared int *)gv == 13);
  }
  pb = &nb[0];
  pb += 2;
  CK(upc_threadof(pb) == 1 % THREADS);
  {
    in_t t = nodes[MYTHREAD].in[1];
    CK(t.tag[2] == 'z');
    nodes[MYTHREAD].in[0] = t;
    CK(nodes[MYTHREAD].in[0].tag[2] == 'z');
    nodes[MYTHREAD].in[0] = (in_t){"ab", 4};
    CK(nodes[MYTHREAD].in[0].s == 4);
  }
  p->u.c.g++;
  ++p->u.c.g;
  p->in[0].s <<= 2;
  CK(p->in[0].s == 16);
  upc_barrier;
  return 0;
}
