/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with chains and locks. */
/* ranks: 1 4 */
/* hash table with chained shared buckets and locks */
#include "check.h"
#include <stdlib.h>
#include <upc_relaxed.h>
#define NB 64
#define NK 200
typedef struct entry_s {
  long key;
  int val;
  shared struct entry_s *next;
} entry_t;
typedef shared entry_t *entry_p;
typedef struct {
  entry_p head;
  upc_lock_t *lock;
  int n;
} bucket_t;
shared bucket_t table[NB * THREADS];
shared int total;
static unsigned long hash(long k) {
  return (unsigned long)k * 2654435761UL;
}
static void insert(long key, int v) {
  shared bucket_t *b = &table[hash(key) % (NB * THREADS)];
  entry_p e;
  upc_lock(b->lock);
  for (e = b->head; e; e = e->next)
    if (e->key == key) {
      e->val += v;
      upc_unlock(b->lock);
      return;
    }
  e = (entry_p)upc_alloc(sizeof(entry_t));
  e->key = key;
  e->val = v;
  e->next = b->head;
  b->head = e;
  b->n++;
  upc_unlock(b->lock);
}
static int lookup(long key, int *out) {
  entry_p e = table[hash(key) % (NB * THREADS)].head;
  while (e != NULL) {
    if (e->key == key) {
      *out = e->val;
      return 1;
    }
    e = e->next;
  }
  return 0;
}
int main(int argc, char **argv) {
  int i;
  upc_forall(i = 0; i < NB * THREADS; i++; &table[i]) {
    table[i].head = NULL;
    table[i].lock = upc_global_lock_alloc();
    table[i].n = 0;
  }
  upc_barrier;
  for (i = 0; i < NK; i++) insert(i * 7, MYTHREAD + 1);
  upc_barrier;
  for (i = 0; i < NK; i++) {
    int v = -1;
    if (!lookup(i * 7, &v) || v != THREADS * (THREADS + 1) / 2) {
      printf("FAIL key %d v %d\n", i, v);
      upc_global_exit(1);
    }
  }
  {
    upc_lock_t *l = upc_all_lock_alloc();
    int mine = 0;
    upc_forall(i = 0; i < NB * THREADS; i++; i) mine += table[i].n;
    upc_lock(l);
    total += mine;
    upc_unlock(l);
    upc_barrier;
    if (total != NK) printf("FAIL total %d\n", total);
    upc_barrier;
    if (!MYTHREAD) upc_lock_free(l);
  }
  upc_forall(i = 0; i < NB * THREADS; i++; &table[i]) {
    entry_p e = table[i].head, n;
    for (; e; e = n) {
      n = e->next;
      upc_free(e);
    }
    upc_lock_free(table[i].lock);
  }
  return 0;
}
