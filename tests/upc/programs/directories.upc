/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared strings, directories, shared void, casts, allocation. */
/* ranks: 1 4 */
#include "check.h"
#include <math.h>
#include <string.h>
/* shared strings, arrays of pointers, directory, void* round trip, casts */
shared [] char *shared names[THREADS];
typedef struct {
  shared [] char *s;
  size_t len;
} str_t;
shared str_t table[4 * THREADS];
typedef shared [] double *shared_ptr;
shared shared_ptr A[THREADS];
shared_ptr priv[100];
shared void *shared vp[THREADS];
shared void *vq;
shared [7] int blocked[7 * THREADS * 2];
struct msg {
  int tag;
  shared void *payload;
  shared [] struct msg *reply;
};
shared struct msg box[THREADS];
union pu {
  shared int *p;
  shared void *v;
  unsigned long raw[2];
};
shared [] int *getdir(shared [] int *shared *d, int i) {
  return d[i];
}
shared [] int *shared ddir[THREADS];
shared [] int *shared *ddp;
static shared void *id(shared void *p) {
  return p;
}
int cmp(const void *x, const void *y) {
  shared int *const *a = x;
  shared int *const *b = y;
  return **a - **b;
}
shared int vals[4 * THREADS];
int main(void) {
  int i;
  char buf[64];
  size_t n;
  sprintf(buf, "thread %d", MYTHREAD);
  n = strlen(buf) + 1;
  names[MYTHREAD] = (shared [] char *)upc_alloc(n);
  upc_memput(names[MYTHREAD], buf, n);
  upc_barrier;
  for (i = 0; i < THREADS; i++) {
    char t[64], w[64];
    int j = 0;
    shared [] char *s = names[i];
    while ((t[j] = s[j]) != '\0') j++;
    sprintf(w, "thread %d", i);
    CK(!strcmp(t, w));
    shared [] char *e = s;
    while (*e) e++;
    CK(e - s == j);
    CK((int)upc_threadof(e) == i);
  }
  table[MYTHREAD].s = names[MYTHREAD];
  table[MYTHREAD].len = n;
  upc_barrier;
  {
    str_t t = table[(MYTHREAD + 1) % THREADS];
    CK(t.s[0] == 't');
    CK(t.len == strlen("thread ") + 2 || THREADS > 10);
    CK(table[0].s[7] == '0');
  }
  A[MYTHREAD] = upc_alloc(10 * sizeof(double));
  for (i = 0; i < 10; i++) A[MYTHREAD][i] = MYTHREAD * 10 + i;
  upc_barrier;
  for (i = 0; i < THREADS; i++) priv[i] = A[i];
  for (i = 0; i < THREADS; i++) CK(priv[i][5] == i * 10 + 5);
  upc_barrier;
  upc_memcpy(priv[MYTHREAD], priv[(MYTHREAD + 1) % THREADS] + 5, 5 * sizeof(double));
  upc_barrier;
  CK(A[MYTHREAD][0] == (MYTHREAD + 1) % THREADS * 10 + 5);
  vp[MYTHREAD] = &blocked[7 * MYTHREAD + 3];
  upc_barrier;
  vq = vp[THREADS - 1];
  CK(upc_phaseof(vq) == 3);
  {
    shared [7] int *b = vq;
    CK(b == &blocked[7 * (THREADS - 1) + 3]);
    b = id(b);
    CK(upc_phaseof(b) == 3);
    shared int *c = id(&blocked[3]);
    CK(upc_phaseof(c) == 0);
    b = (shared [7] int *)(shared void *)&blocked[6];
    b++;
    CK(b == &blocked[7]);
    CK(upc_threadof(b) == 1 % THREADS);
    shared [7] char *bc = (shared [7] char *)&blocked[5];
    CK(upc_phaseof(bc) == 0);
    shared [7] unsigned *bu = (shared [7] unsigned *)&blocked[5];
    CK(upc_phaseof(bu) == 5);
  }
  box[MYTHREAD].tag = MYTHREAD;
  box[MYTHREAD].payload = &vals[MYTHREAD];
  box[MYTHREAD].reply = (shared [] struct msg *)&box[(MYTHREAD + 1) % THREADS];
  vals[MYTHREAD] = MYTHREAD * MYTHREAD;
  upc_barrier;
  CK(box[MYTHREAD].reply->tag == (MYTHREAD + 1) % THREADS);
  CK(*(shared int *)box[MYTHREAD].reply->payload ==
     ((MYTHREAD + 1) % THREADS) * ((MYTHREAD + 1) % THREADS));
  {
    union pu u;
    u.raw[0] = u.raw[1] = 0;
    CK(u.p == NULL);
    u.p = &vals[1 % THREADS];
    CK(u.v == &vals[1 % THREADS]);
    CK(*u.p == 1 % THREADS);
  }
  ddir[MYTHREAD] = upc_alloc(sizeof(int));
  *ddir[MYTHREAD] = 5 + MYTHREAD;
  upc_barrier;
  CK(*getdir(ddir, THREADS - 1) == 4 + THREADS);
  ddp = ddir;
  CK(**ddp == 5);
  CK(*ddp[THREADS - 1] == THREADS + 4);
  ddp++;
  CK(THREADS == 1 || **ddp == 6);
  {
    shared int *s[8];
    for (i = 0; i < THREADS; i++) s[i] = &vals[THREADS - 1 - i];
    qsort(s, THREADS, sizeof s[0], cmp);
    for (i = 1; i < THREADS; i++) CK(*s[i - 1] <= *s[i]);
    shared int **d = malloc(4 * sizeof(shared int *));
    d[0] = vals;
    d[1] = d[0] + 1;
    *d[0] == 0;
    CK(d[1] - *d == 1);
    shared int *(*pa)[8] = &s;
    CK((*pa)[0] == s[0]);
    free(d);
  }
  {
    shared int *p = upc_all_alloc(THREADS, sizeof(int));
    shared [] int *g = upc_global_alloc(1, 40);
    shared [4] int *h = (shared [4] int *)upc_all_alloc(THREADS, 4 * sizeof(int));
    int *l = (int *)p;
    p[MYTHREAD] = 1;
    h[4 * MYTHREAD + 3] = 2;
    g[3] = 4;
    CK(g[3] == 4);
    CK(((int *)&h[4 * MYTHREAD])[3] == 2);
    l = (int *)(p + MYTHREAD);
    CK(*l == 1);
    upc_free(g);
    upc_barrier;
    if (!MYTHREAD) {
      upc_free(p);
      upc_free(h);
    }
    upc_free(NULL);
    upc_free(0);
    upc_barrier;
  }
  CK(bupc_cast(&vals[MYTHREAD]) == (int *)&vals[MYTHREAD]);
  printf("%p %lx\n", (void *)&vals[MYTHREAD], (unsigned long)upc_addrfield(&vals[1]));
  return 0;
}
