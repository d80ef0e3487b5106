/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash table with locks, arrays of three dimensions, wavefront, blocked product, trees in a slab.
 */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <string.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#define NB 16
typedef struct ent {
  unsigned key;
  int val;
  shared struct ent *next;
} ent_t;
typedef shared ent_t *ent_p;
typedef struct {
  ent_p head;
  upc_lock_t *lk;
  int n;
} bucket_t;
shared bucket_t ht[NB * THREADS];
static void ht_add(unsigned k, int v) {
  shared bucket_t *b = &ht[k * 2654435761u % (NB * THREADS)];
  upc_lock(b->lk);
  for (ent_p e = b->head; e; e = e->next)
    if (e->key == k) {
      e->val += v;
      upc_unlock(b->lk);
      return;
    }
  ent_p e = (ent_p)upc_alloc(sizeof *e);
  e->key = k;
  e->val = v;
  e->next = b->head;
  b->head = e;
  b->n++;
  upc_unlock(b->lk);
}
static int ht_get(unsigned k) {
  shared bucket_t *b = &ht[k * 2654435761u % (NB * THREADS)];
  for (ent_p e = b->head; e != NULL; e = e->next)
    if (e->key == k) return e->val;
  return -1;
}
/* 3-D */
#define NX 5
#define NY 4
shared[NX * NY] float v3[THREADS * 2][NY][NX];
shared float w3[2][NY][THREADS];
shared[NX] struct { float r, g, b; } px[NY][NX * THREADS];
/* wavefront */
#define W 12
shared[W] int wf[THREADS][W];
strict shared int done[THREADS];
/* matmul: A by rows, B by columns, C by rows */
#define P 8
#define M 6
shared[P] int A[4 * THREADS][P];
shared[M] int B[P * THREADS][M];
shared[M] int C[4 * THREADS][M];
/* parallel prefix with pointers to shared arrays of pointers */
typedef struct {
  shared[] int *data;
  size_t len;
} vec_t;
shared vec_t vecs[THREADS];
static vec_t vec_new(size_t n) {
  vec_t v;
  v.data = (shared[] int *)upc_alloc(n * sizeof(int));
  v.len = n;
  return v;
}
/* own allocator in a shared slab */
typedef shared[] char *slab_t;
static slab_t slab;
static size_t slab_at;
static shared void *slab_get(size_t n) {
  slab_t p = slab + slab_at;
  slab_at += (n + 15) & ~(size_t)15;
  return (shared void *)p;
}
typedef shared[] struct tn {
  int k;
  shared[] struct tn *l, *r;
} * tn_p;
static tn_p tins(tn_p t, int k) {
  if (!t) {
    t = (tn_p)slab_get(sizeof(struct tn));
    t->k = k;
    t->l = t->r = NULL;
  } else if (k < t->k)
    t->l = tins(t->l, k);
  else if (k > t->k)
    t->r = tins(t->r, k);
  return t;
}
static int tsum(tn_p t) {
  return t ? t->k + tsum(t->l) + tsum(t->r) : 0;
}
shared tn_p troots[THREADS];
static int depth;
static void rec(int d) {
  upc_forall(int i = 0; i < THREADS; i++; i) {
    depth++;
    if (d) rec(d - 1);
  }
}
int main() {
  int i, j, k;
  upc_forall(i = 0; i < NB * THREADS; i++; &ht[i]) {
    ht[i].lk = upc_global_lock_alloc();
    ht[i].head = NULL;
  }
  upc_barrier;
  for (i = 0; i < 60; i++) ht_add(i * 3 + 1, 1 + (i & 3));
  upc_barrier;
  for (i = 0; i < 60; i++) CK(ht_get(i * 3 + 1) == THREADS * (1 + (i & 3)));
  CK(ht_get(2) == -1);
  int n = 0;
  for (i = 0; i < NB * THREADS; i++) n += ht[i].n;
  CK(n == 60);
  upc_barrier;
  upc_forall(i = 0; i < 2 * THREADS; i++;
             &v3[i][0][0]) for (j = 0; j < NY; j++) for (k = 0; k < NX; k++) v3[i][j][k] =
      i * 100 + j * 10 + k;
  for (i = 0; i < 2; i++)
    for (j = 0; j < NY; j++) {
      w3[i][j][MYTHREAD] = i + j;
    }
  for (i = 0; i < NY; i++)
    for (j = 0; j < NX; j++) {
      px[i][MYTHREAD * NX + j].g = i;
      px[i][MYTHREAD * NX + j].b = j;
    }
  upc_barrier;
  for (i = 0; i < 2 * THREADS; i++) {
    CK(upc_threadof(v3[i]) == i % THREADS);
    for (j = 0; j < NY; j++)
      for (k = 0; k < NX; k++) {
        CK(v3[i][j][k] == i * 100 + j * 10 + k);
        CK(*(*(*(v3 + i) + j) + k) == v3[i][j][k]);
      }
  }
  CK(v3[1] - v3[0] == NY && &v3[1] - &v3[0] == 1 &&
     &v3[1][1][1] - &v3[0][0][0] == NX * NY + NX + 1);
  for (i = 0; i < 2; i++)
    for (j = 0; j < NY; j++)
      for (k = 0; k < THREADS; k++) CK(w3[i][j][k] == i + j && upc_threadof(&w3[i][j][k]) == k);
  for (i = 0; i < NY; i++)
    for (j = 0; j < NX * THREADS; j++)
      CK(px[i][j].g == i && px[i][j].b == j % NX &&
         upc_threadof(&px[i][j]) == (i * THREADS + j / NX) % THREADS);
  float tile[NY][NX];
  upc_memget(tile, v3[2 * THREADS - 1], sizeof tile);
  CK(tile[3][4] == (2 * THREADS - 1) * 100 + 34);
  for (j = 0; j < W; j++) {
    if (MYTHREAD > 0)
      while (done[MYTHREAD - 1] <= j)
        ;
    wf[MYTHREAD][j] = (MYTHREAD ? wf[MYTHREAD - 1][j] : 1) + (j ? wf[MYTHREAD][j - 1] : 1) -
                      (MYTHREAD && j ? 0 : 1);
    done[MYTHREAD] = j + 1;
  }
  upc_barrier;
  {
    int r[8][W];
    for (i = 0; i < THREADS; i++)
      for (j = 0; j < W; j++) {
        r[i][j] = (i ? r[i - 1][j] : 1) + (j ? r[i][j - 1] : 1) - (i && j ? 0 : 1);
        CK(wf[i][j] == r[i][j]);
      }
  }
  upc_forall(i = 0; i < 4 * THREADS; i++; A[i]) for (k = 0; k < P; k++) A[i][k] = i + k;
  upc_forall(i = 0; i < P; i++; B[i]) for (j = 0; j < M; j++) B[i][j] = i - j;
  upc_barrier;
  upc_forall(i = 0; i < 4 * THREADS; i++; &C[i][0]) for (j = 0; j < M; j++) {
    C[i][j] = 0;
    for (k = 0; k < P; k++) C[i][j] += A[i][k] * B[k][j];
  }
  upc_barrier;
  for (i = 0; i < 4 * THREADS; i++)
    for (j = 0; j < M; j++) {
      int s = 0;
      for (k = 0; k < P; k++) s += (i + k) * (k - j);
      CK(C[i][j] == s);
    }
  vecs[MYTHREAD] = vec_new(MYTHREAD + 2);
  for (i = 0; i < vecs[MYTHREAD].len; i++) vecs[MYTHREAD].data[i] = i + MYTHREAD;
  upc_barrier;
  for (i = 0; i < THREADS; i++) {
    vec_t v = vecs[i];
    CK(v.len == i + 2 && v.data[v.len - 1] == 2 * i + 1);
    shared[] int *e = v.data + v.len;
    int s = 0;
    while (e-- > v.data) s += *e;
    CK(s == (i + 2) * i + (i + 2) * (i + 1) / 2);
  }
  slab = (slab_t)upc_alloc(4096);
  tn_p t = NULL;
  for (i = 0; i < 30; i++) t = tins(t, (i * 17 + MYTHREAD) % 31);
  troots[MYTHREAD] = t;
  upc_barrier;
  int w = 0;
  for (i = 0; i < 30; i++) w += (i * 17 + (MYTHREAD + 1) % THREADS) % 31;
  CK(tsum(troots[(MYTHREAD + 1) % THREADS]) == w);
  depth = 0;
  rec(2);
  CK(depth == 1 + THREADS + THREADS * THREADS);
  upc_barrier;
  return 0;
}
