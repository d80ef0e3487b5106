/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions: operators, conversions, side effects once, aggregates. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <string.h>
typedef struct node node;
typedef shared node *nodeptr;
struct node {
  int v;
  nodeptr next;
  double w[3];
};
typedef struct {
  double x, y, z;
} vec;
typedef struct {
  vec pos, vel;
  int id;
  char name[8];
} body;
shared node N[4 * THREADS];
shared body B[2 * THREADS];
shared int a[8 * THREADS], b[8 * THREADS];
shared [4] int c4[8 * THREADS];
shared float fl;
shared char ch;
shared unsigned char uch;
shared short sh;
shared unsigned un;
shared long lo;
shared double db;
shared unsigned long long ull;
shared int flag;
shared signed char sch;
shared unsigned short ush;
shared [10] double M[THREADS][10];
shared [] int *shared dir[THREADS];
shared [] char *shared strs[THREADS];
shared const int *cp;
volatile shared int vs;
shared volatile strict int svs;
int shared *ip;
int *shared *lpp;
nodeptr shared heads[THREADS];
shared int *shared *tabp;
shared node *shared *hp;
double norm(vec v) {
  return v.x * v.x + v.y * v.y + v.z * v.z;
}
vec mk(double x) {
  vec v = {x, x + 1, x + 2};
  return v;
}
int arrsum(shared [] double *p, int n) {
  double s = 0;
  int i;
  for (i = 0; i < n; i++) s += p[i];
  return s;
}
static double lsum(double *p, int n) {
  double s = 0;
  while (n-- > 0) s += *p++;
  return s;
}
int fptr(shared int *, shared [] double *const, shared void *, int (*)(shared int *));
int fptr(shared int *p, shared [] double *const q, shared void *r, int (*f)(shared int *)) {
  return f(p) + (q != NULL) + (r == p);
}
int deref(shared int *p) {
  return *p;
}
int (*ops[])(shared int *) = {deref, deref};
shared int *(*choose(int k))(int);
shared int *pick(int i) {
  return &a[i];
}
shared int *(*choose(int k))(int) {
  return k ? pick : NULL;
}
#define SWAP(T, x, y) \
 do {                 \
  T _t = (x);         \
  (x) = (y);          \
  (y) = _t;           \
 } while (0)
#define GEN(T)                          \
 static T sum_##T(shared T *p, int n) { \
  T s = 0;                              \
  int i;                                \
  for (i = 0; i < n; i++) s += p[i];    \
  return s;                             \
 }
GEN(int) GEN(double) int main(int argc, char **argv) {
  int i, j, k, *lp;
  int base = MYTHREAD * 8;
  body me;
  vec v;
  shared body *bp = &B[MYTHREAD];
  shared int *p, *q;
  upc_forall(i = 0; i < 8 * THREADS; i++; i) {
    a[i] = i;
    b[i] = 0;
  }
  upc_barrier;
  i = MYTHREAD;
  b[i] = a[i]++;
  CK(b[i] == MYTHREAD && a[i] == MYTHREAD + 1);
  a[i]--;
  j = i;
  b[j] += 2;
  b[(j++, j - 1)] += 3;
  CK(b[i] == MYTHREAD + 5 && j == i + 1);
  j = i;
  b[i] = 0;
  lp = &j;
  b[(*lp)++] += 1;
  CK(j == i + 1 && b[i] == 1);
  upc_barrier;
  p = &c4[4 * MYTHREAD] ? (shared int *)0 : NULL;
  CK(!p);
  {
    shared [] int *s = (shared [] int *)&c4[4 * MYTHREAD], *d = s;
    *d++ = 1;
    *d++ = 2;
    *d++ = *s++;
    *d = s[0];
    CK(c4[4 * MYTHREAD + 2] == 1 && c4[4 * MYTHREAD + 3] == 2);
    *s = *(s - 1) = 9;
    CK(c4[4 * MYTHREAD] == 9 && c4[4 * MYTHREAD + 1] == 9);
    CK(d - s == 2);
  }
  upc_barrier;
  if (MYTHREAD == 0) {
    fl = 1 / 2.0;
    CK(fl == 0.5f);
    i = fl * 4;
    CK(i == 2);
    fl += 1.25;
    CK(fl == 1.75f);
    ch = 'a';
    ch += 1;
    CK(ch == 'b');
    uch = 200;
    uch += 100;
    CK(uch == 44);
    sch = 127;
    sch++;
    CK(sch == -128);
    sh = -1;
    ush = sh;
    CK(ush == 65535);
    CK((unsigned short)sh == 65535);
    un = -1;
    CK(un > 0);
    un >>= 1;
    CK(un == 0x7fffffff);
    lo = 1L << 40;
    lo |= 1;
    CK(lo % 2);
    db = 3;
    db /= 2;
    CK(db == 1.5);
    i = 5;
    i += db;
    CK(i == 6);
    ull = ~0ULL;
    CK(ull == 18446744073709551615ULL);
    CK(ull + 1 == 0);
    a[0] = 3;
    a[0] *= 1.5;
    CK(a[0] == 4);
    a[0] = db;
    CK(a[0] == 1);
    a[0] = a[1] = a[2] = 7;
    CK(a[0] == 7 && a[1] == 7);
    CK((a[0] = 5) + 1 == 6);
    CK((db = 2.75, (int)db) == 2);
    a[0] = a[1] == 7 ? a[2] : a[3];
    a[a[0]] = 3;
    CK(a[7] == 3);
    a[a[a[0]]] = 2;
    k = -a[0];
    CK(k == -7);
    CK(~a[0] == -8);
    CK(!a[0] == 0);
    CK(+ch == 98);
    if (a[0] && !flag || 0) k = 1;
    CK(k == 1);
    while (a[0] > 3) a[0]--;
    CK(a[0] == 3);
    for (; a[0]; a[0]--)
      ;
    switch (a[0]) {
    case 0: k = 3; break;
    default: k = 4;
    }
    CK(k == 3);
    do a[0]++;
    while (a[0] < 4);
    CK(a[0] == 4);
    CK((a[0] > 3) + (a[0] << 2) - (a[0] & 4) == 13);
    {
      int arr[10] = {0, 1, 2, 3, 44};
      CK(arr[a[0]] == 44);
      int ini[] = {a[0], b[0], a[0] + 1};
      CK(ini[2] == 5);
    }
    {
      char buf[40];
      sprintf(buf, "%d %c %.1f %ld %hd %g", a[0], ch, fl, lo >> 39, sh, db);
      CK(!strcmp(buf, "4 b 1.8 2 -1 2.75"));
    }
    CK(abs(-a[0]) == 4);
    CK(sqrt(a[0]) == 2);
    CK(pow(db, 1) == 2.75);
    SWAP(int, a[0], a[1]);
    CK(a[0] == 7 && a[1] == 4);
    a[0] = !!a[1];
    CK(a[0] == 1);
    a[0] = (a[1] > 2, 6);
    CK(a[0] == 6);
    a[0] ^= a[1] ^= a[0] ^= 0;
    CK(a[0] == (6 ^ 2));
    a[0] = sizeof a[0];
    CK(a[0] == 4);
    CK(sizeof(a[0] + 1L) == 8 && sizeof(ch) == 1 && sizeof fl == 4 && sizeof(ch + 1) == 4);
  }
  upc_barrier;
  me.pos = mk(1);
  me.vel = mk(0);
  me.id = 3;
  strcpy(me.name, "body");
  *bp = me;
  bp->pos.x += 1;
  CK(B[MYTHREAD].pos.x == 2);
  v = bp->pos;
  CK(v.y == 2);
  CK(norm(bp->vel) == 5);
  CK(norm(B[MYTHREAD].vel) == 5);
  B[MYTHREAD].vel = mk(2);
  CK(bp->vel.z == 4);
  bp->vel = bp->pos;
  CK(B[MYTHREAD].vel.x == 2);
  me = B[MYTHREAD];
  CK(me.id == 3 && !strcmp(me.name, "body"));
  {
    body c = *bp;
    CK(c.vel.x == 2);
    body d[2] = {*bp, B[MYTHREAD]};
    CK(d[1].id == 3);
    vec w = {bp->pos.x, bp->pos.y};
    CK(w.y == 2);
  }
  B[MYTHREAD] = 1 ? *bp : me;
  v = MYTHREAD >= 0 ? bp->pos : mk(9);
  CK(v.x == 2);
  bp->name[0] = 'B';
  CK(((body *)bp)->name[0] == 'B');
  CK(!strcmp((char *)bp->name, "Body"));
  CK((mk(1), bp->id) == 3);
  for (i = 0; i < 10; i++) M[MYTHREAD][i] = i;
  CK(lsum((double *)M[MYTHREAD], 10) == 45);
  CK(lsum((double *)&M[MYTHREAD], 10) == 45);
  CK(lsum((double *)&M[MYTHREAD][0], 10) == 45);
  {
    double(*row)[10] = (double(*)[10]) & M[MYTHREAD];
    CK((*row)[3] == 3);
    shared [10] double(*sr)[10] = &M[MYTHREAD];
    CK((*sr)[3] == 3);
    sr = M;
    CK(sr[MYTHREAD][4] == 4);
    sr += MYTHREAD;
    CK((*sr)[2] == 2);
    CK(sr - M == MYTHREAD);
    CK(&M[MYTHREAD] == sr);
    CK(&sr[0][1] - &sr[0][0] == 1);
    CK(upc_threadof(sr) == MYTHREAD);
    shared [10] double *e = M[MYTHREAD];
    e = *sr;
    CK(*e == 0 && e[9] == 9);
    CK(&M[THREADS - 1] - &M[0] == THREADS - 1);
    CK(sizeof M[0] == 80 && sizeof *M == 80 && sizeof(M[0][0]) == 8);
  }
  upc_barrier;
  {
    double buf[10];
    upc_memget(buf, M[(MYTHREAD + 1) % THREADS], sizeof buf);
    CK(buf[7] == 7);
    upc_barrier;
    upc_memput(&M[MYTHREAD][2], &buf[3], 2 * sizeof(double));
    CK(M[MYTHREAD][3] == 4);
    upc_memcpy(&M[MYTHREAD][0], &M[MYTHREAD][5], sizeof(double));
    CK(M[MYTHREAD][0] == 5);
    upc_memset(M[MYTHREAD], 0, 10 * sizeof(double));
    CK(M[MYTHREAD][9] == 0);
  }
  dir[MYTHREAD] = upc_alloc(4 * sizeof(int));
  for (i = 0; i < 4; i++) dir[MYTHREAD][i] = 10 * MYTHREAD + i;
  upc_barrier;
  CK(dir[(MYTHREAD + 1) % THREADS][3] == 10 * ((MYTHREAD + 1) % THREADS) + 3);
  upc_barrier;
  dir[MYTHREAD][dir[MYTHREAD][1] - 10 * MYTHREAD] += 1;
  CK(*(dir[MYTHREAD] + 1) == 10 * MYTHREAD + 2);
  CK(*dir[MYTHREAD]++ == 10 * MYTHREAD);
  CK(*dir[MYTHREAD] == 10 * MYTHREAD + 2);
  --dir[MYTHREAD];
  (*dir[MYTHREAD])++;
  CK(dir[MYTHREAD][0] == 10 * MYTHREAD + 1);
  dir[MYTHREAD] += 2;
  CK(dir[MYTHREAD][0] == 10 * MYTHREAD + 2);
  lp = (int *)dir[MYTHREAD];
  CK(lp[1] == 10 * MYTHREAD + 3);
  strs[MYTHREAD] = upc_alloc(32);
  strcpy((char *)strs[MYTHREAD], "hello");
  CK(strs[MYTHREAD][4] == 'o');
  {
    char t[32];
    upc_memget(t, strs[MYTHREAD], 6);
    CK(!strcmp(t, "hello"));
  }
  CK(fptr(&a[1], NULL, &a[1], deref) == a[1] + 1);
  CK(ops[1](&a[1]) == a[1]);
  CK(choose(1)(3) == &a[3]);
  CK(*choose(1)(3) == a[3]);
  CK(!choose(0));
  CK(*pick(2) == a[2]);
  upc_barrier;
  (*pick(base))++;
  pick(base)[0] -= 1;
  CK(sum_int(a + 3, 0) == 0);
  heads[MYTHREAD] = NULL;
  for (i = 0; i < 3; i++) {
    nodeptr n = (nodeptr)upc_alloc(sizeof(node));
    n->v = i;
    n->next = heads[MYTHREAD];
    n->w[2] = i * .5;
    heads[MYTHREAD] = n;
  }
  upc_barrier;
  k = 0;
  for (i = 0; i < THREADS; i++) {
    nodeptr n;
    for (n = heads[i]; n != NULL; n = n->next) k += n->v;
  }
  CK(k == 3 * THREADS);
  CK(heads[0]->next->next->w[2] == 0);
  CK(heads[THREADS - 1]->next->v == 1);
  hp = &heads[0];
  CK((*hp)->v == 2);
  CK((**hp).v == 2);
  CK(hp[THREADS - 1]->v == 2);
  CK(arrsum(heads[0]->w, 3) == 1);
  CK(arrsum(&heads[0]->w[0], 3) == 1);
  cp = a;
  CK(*cp == a[0]);
  ip = b;
  CK(ip == b);
  upc_barrier;
  if (!MYTHREAD) {
    vs = 1;
    svs = 2;
  }
  upc_barrier;
  CK(vs + svs == 3);
  CK(&a[0] && 1);
  CK(!(&a[0] == NULL));
  q = a;
  p = q + 2;
  CK(p - q == 2 && q - p == -2);
  CK(*(2 + q) == a[2]);
  p = q;
  CK((p += 3) == &a[3]);
  CK((p -= 1) == &a[2]);
  CK(p++ == &a[2] && p-- == &a[3] && ++p == &a[3] && --p == &a[2]);
  q = p = a;
  CK(q == a && p == a);
  CK(upc_affinitysize(sizeof(a), sizeof(int), MYTHREAD) == 32);
  return 0;
}
