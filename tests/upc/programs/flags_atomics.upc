/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict blocks, atomics of every form on pointers to shared, casts, non-blocking copies. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <upc_atomic.h>
#include <upc_castable.h>
#include <upc_nb.h>
#include <upc_relaxed.h>
#include <upc_tick.h>
shared int data[THREADS], flag[THREADS];
shared int *shared ap;
shared[5] int *shared ap5;
shared[5] int arr5[5 * THREADS];
shared void *shared vp;
shared long al;
shared unsigned au;
shared double ad;
shared float af;
shared int ai;
int main() {
  int m = MYTHREAD, nx = (m + 1) % THREADS;
  for (int it = 1; it < 20; it++) {
    data[nx] = it * 100 + m;
    {
#pragma upc strict
      flag[nx] = it;
      {
#pragma upc relaxed
        int q = data[m];
        (void)q;
      }
      while (flag[m] < it)
        ;
    }
    CK(data[m] == it * 100 + (m + THREADS - 1) % THREADS);
    upc_barrier;
  }
  upc_atomicdomain_t *dp = upc_all_atomicdomain_alloc(UPC_PTS, UPC_GET | UPC_SET | UPC_CSWAP, 0);
  upc_atomicdomain_t *dl =
      upc_all_atomicdomain_alloc(UPC_LONG,
                                 UPC_ADD | UPC_INC | UPC_MIN | UPC_MAX | UPC_GET | UPC_SET |
                                     UPC_CSWAP | UPC_SUB | UPC_DEC | UPC_MULT,
                                 0);
  upc_atomicdomain_t *dd =
      upc_all_atomicdomain_alloc(UPC_DOUBLE, UPC_ADD | UPC_GET | UPC_MAX | UPC_CSWAP, 0);
  if (!m) {
    ap = NULL;
    ap5 = NULL;
    al = 0;
    ad = 0;
  }
  upc_barrier;
  shared int *old, *want = &data[m], *null = NULL;
  upc_atomic_strict(dp, &old, UPC_CSWAP, &ap, &null, &want);
  if (old == NULL)
    CK(1);
  else
    CK(upc_threadof(old) < THREADS && ((char *)0 + (upc_addrfield(old) != 0)));
  upc_barrier;
  shared int *got;
  upc_atomic_relaxed(dp, &got, UPC_GET, &ap, 0, 0);
  CK(got == &data[upc_threadof(got)]);
  CK(got == ap);
  upc_barrier;
  upc_atomic_strict(dp, &old, UPC_SET, &ap, &want, 0);
  upc_barrier;
  {
    shared int *w = ap;
    CK(w == &data[upc_threadof(w)]);
  }
  upc_barrier;
  /* CSWAP ignoring phase ? same value with phase */
  {
    shared[5] int *w5 = &arr5[3], *o5, *n5 = NULL;
    if (!m) ap5 = w5;
    upc_barrier;
    if (m == THREADS - 1) {
      shared[5] int *nw = &arr5[4];
      upc_atomic_strict(dp, &o5, UPC_CSWAP, &ap5, &w5, &nw);
      CK(o5 == w5);
      CK(upc_phaseof(o5) == 3);
    }
    upc_barrier;
    CK(ap5 == &arr5[4]);
    CK(upc_phaseof(ap5) == 4);
    n5 = ap5;
    n5++;
    CK(n5 == &arr5[0] + 5);
  }
  /* list push by CSWAP on pts */
  struct n {
    int v;
    shared struct n *next;
  };
  static shared struct n *shared hd;
  if (!m) hd = NULL;
  upc_barrier;
  for (int k = 0; k < 25; k++) {
    shared struct n *e = upc_alloc(sizeof(struct n)), *h, *o;
    e->v = m * 25 + k;
    do {
      upc_atomic_strict(dp, &h, UPC_GET, &hd, 0, 0);
      e->next = h;
      upc_fence;
      upc_atomic_strict(dp, &o, UPC_CSWAP, &hd, &h, &e);
    } while (o != h);
  }
  upc_barrier;
  {
    long s = 0;
    int c = 0;
    for (shared struct n *e = hd; e; e = e->next) s += e->v, c++;
    CK(c == 25 * THREADS);
    CK(s == (long)c * (c - 1) / 2);
  }
  long one = 3, f;
  for (int k = 0; k < 10; k++) upc_atomic_relaxed(dl, &f, UPC_ADD, &al, &one, 0);
  upc_atomic_relaxed(dl, 0, UPC_INC, &al, 0, 0);
  upc_barrier;
  CK(al == 31 * THREADS);
  upc_barrier;
  double hd2 = .5;
  upc_atomic_relaxed(dd, 0, UPC_ADD, &ad, &hd2, 0);
  upc_barrier;
  CK(ad == .5 * THREADS);
  upc_barrier;
  upc_all_atomicdomain_free(dp);
  upc_all_atomicdomain_free(dl);
  upc_all_atomicdomain_free(dd);
  for (int t = 0; t < THREADS; t++) {
    int *c = upc_cast(&data[t]);
    if (c) CK(*c == data[t]);
    upc_thread_info_t ti = upc_thread_info(t);
    if (t == m) CK(c && ti.guaranteedCastable);
  }
  upc_handle_t h = upc_memput_nb(&arr5[nx * 5], (int[5]){1, 2, 3, 4, m}, 20);
  while (!upc_sync_attempt(h))
    ;
  upc_barrier;
  CK(arr5[m * 5 + 4] == (m + THREADS - 1) % THREADS);
  upc_barrier;
  upc_memset_nbi(&arr5[nx * 5], 0, 20);
  upc_synci();
  upc_barrier;
  CK(arr5[m * 5 + 3] == 0);
  upc_tick_t t0 = upc_ticks_now();
  CK(upc_ticks_to_ns(upc_ticks_now() - t0) < 1000000000ull);
  upc_barrier;
}
