/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit-fields, nested structures, anonymous unions and pointers of all kinds in shared memory. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>
typedef struct {
  unsigned a : 3, b : 13;
  int c : 5;
  unsigned : 0;
  long d : 40;
  _Bool e : 1;
  unsigned char f : 7;
  short g;
} bits_t;
shared bits_t bb[THREADS * 3];
shared[] bits_t *bp;
enum color { RED, GREEN = 5, BLUE };
struct node {
  int v;
  shared struct node *next;
  shared[] struct node *child;
  struct {
    union {
      int i;
      float f;
      double d;
    };
    enum color col : 4;
  } u;
  char name[13];
  int (*fn)(int);
};
shared struct node nodes[5 * THREADS];
shared struct node *shared head;
static int sq(int x) {
  return x * x;
}
struct inner {
  char c;
  double x[3];
  struct bitz {
    unsigned p : 5, q : 6;
  } z[2];
};
struct outer {
  int n;
  struct inner in[4];
  shared[] double *row;
};
shared[2] struct outer oo[2 * THREADS];
struct __attribute__((packed)) pk {
  char c;
  int i;
  long l;
  short s : 9;
};
shared struct pk pks[THREADS];
int main(void) {
  int i;
  for (i = 0; i < 3; i++) {
    shared bits_t *p = &bb[MYTHREAD + i * THREADS];
    p->a = 7;
    p->b = 4099;
    p->c = -7;
    p->d = -123456789012L;
    p->e = 5;
    p->f = 101;
    p->g = -3;
    p->a++;
    p->c--;
    p->d += 5;
    p->f ^= 3;
    p->b <<= 1;
  }
  upc_barrier;
  for (i = 0; i < 3 * THREADS; i++) {
    CK(bb[i].a == 0);
    CK(bb[i].b == ((4099 << 1) & 8191));
    CK(bb[i].c == -8);
    CK(bb[i].d == -123456789007L);
    CK(bb[i].e == 1);
    CK(bb[i].f == (101 ^ 3));
    CK(bb[i].g == -3);
  }
  bits_t loc = bb[(MYTHREAD + 1) % THREADS];
  CK(loc.c == -8 && loc.d == -123456789007L);
  upc_barrier;
  upc_forall(i = 0; i < 5 * THREADS; i++; &nodes[i]) {
    nodes[i].v = i;
    nodes[i].next = i + 1 < 5 * THREADS ? &nodes[i + 1] : NULL;
    nodes[i].child = (shared[] struct node *)&nodes[i];
    nodes[i].u.d = i * 0.5;
    nodes[i].u.col = BLUE;
    nodes[i].fn = sq;
    char nm[13];
    sprintf(nm, "node%d", i);
    for (int k = 0; k < 13; k++) nodes[i].name[k] = nm[k];
  }
  if (MYTHREAD == 0) head = nodes;
  upc_barrier;
  int n = 0;
  for (shared struct node *p = head; p; p = p->next, n++) {
    CK(p->v == n);
    CK(p->child->v == n);
    CK(p->u.d == n * 0.5);
    CK(p->u.col == BLUE);
    CK(p->fn(3) == 9);
    CK((*p).name[4] == '0' + (n >= 10 ? n / 10 : n));
    struct node l = *p;
    char e[13];
    sprintf(e, "node%d", n);
    CK(!strcmp(l.name, e));
    CK(l.next == p->next);
  }
  CK(n == 5 * THREADS);
  CK(upc_threadof(&head->name[3]) == 0);
  CK(upc_blocksizeof(head->name) == 0);
  shared[] char *np = head->name;
  CK(np[0] == 'n');
  CK(np - &head->name[0] == 0);
  CK(&np[2] == &head->name[2]);
  upc_barrier;
  for (i = 0; i < 2; i++) {
    int j = MYTHREAD * 2 + i;
    oo[j].n = j;
    oo[j].row = upc_alloc(8 * 10);
    for (int k = 0; k < 10; k++) oo[j].row[k] = j * 100 + k;
    for (int k = 0; k < 4; k++) {
      oo[j].in[k].c = 'a' + k;
      oo[j].in[k].x[1] = j + k / 4.;
      oo[j].in[k].z[1].q = 33 + k;
      oo[j].in[k].z[1].p = k;
    }
  }
  upc_barrier;
  for (i = 0; i < 2 * THREADS; i++) {
    CK(oo[i].n == i);
    CK(oo[i].row[7] == i * 100 + 7);
    for (int k = 0; k < 4; k++) {
      CK(oo[i].in[k].c == 'a' + k);
      CK(oo[i].in[k].x[1] == i + k / 4.);
      CK(oo[i].in[k].z[1].q == 33 + k && oo[i].in[k].z[1].p == k);
    }
    struct inner z = oo[i].in[2];
    CK(z.c == 'c');
    CK(upc_threadof(&oo[i].in[2].x[1]) == i / 2);
    CK(upc_threadof(oo[i].row) == i / 2);
    shared[] struct inner *ip = oo[i].in;
    CK(ip[3].z[1].q == 36);
    CK((++ip)->c == 'b');
    CK(ip++->c == 'b');
    CK((*ip).c == 'c');
    CK(ip[-1].c == 'b');
  }
  upc_barrier;
  pks[MYTHREAD].c = 1;
  pks[MYTHREAD].i = MYTHREAD + 77;
  pks[MYTHREAD].l = 1L << 40;
  pks[MYTHREAD].s = -5;
  upc_barrier;
  for (i = 0; i < THREADS; i++) {
    CK(pks[i].i == i + 77 && pks[i].l == 1L << 40 && pks[i].s == -5);
  }
  CK(sizeof(struct pk) == offsetof(struct pk, l) + 8 + 2);
  upc_barrier;
  return 0;
}
