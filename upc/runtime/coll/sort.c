/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upc_all_sort.
 *
 * Called by UPC programs. Calls: ordered.c. Invariants: each thread sorts its share of the elements
 * in its own shared memory (the program's function compares pointers-to-shared), finds by bisection
 * which part of every thread's run belongs to its share of the result, fetches these parts, merges
 * them and stores the share; equal elements stay in order. Algorithm: exact splitting of sorted
 * runs (P. Varman et al., doi 10.1016/0743-7315(91)90102-I).
 */
#include "coll/coll.h"

#include <stdlib.h>
#include <string.h>

extern upcr_pts_t upc_alloc(size_t nbytes);
extern void upc_free(upcr_pts_t p);
typedef int compare_t(upcr_pts_t, upcr_pts_t);

RT_EXPORT void upc_all_sort(upcr_pts_t a, size_t elem_bytes, size_t count, size_t block,
                            compare_t *compare, int flags);

struct sorting {
  struct rt_array a;
  size_t count;
  compare_t *compare;
  upcr_pts_t *runs; /* of each thread, sorted */
};

/* Numbers of elements of the shared memory at p. */
struct order {
  const struct sorting *s;
  upcr_pts_t p;
  size_t *v, *room;
};

static upcr_pts_t element(const struct sorting *s, upcr_pts_t p, size_t i) {
  return upcr_add0(p, (long)(i * s->a.elem_bytes));
}

/* Merges v[from..middle) and v[middle..to). */
static void merge(const struct order *o, size_t from, size_t middle, size_t to) {
  const struct sorting *s = o->s;
  size_t *v = o->v, i = from, j = middle, k = from;
  while (i < middle && j < to)
    o->room[k++] = s->compare(element(s, o->p, v[j]), element(s, o->p, v[i])) < 0 ? v[j++] : v[i++];
  while (i < middle) o->room[k++] = v[i++];
  memcpy(v + from, o->room + from, (k - from) * sizeof *v);
}

static void sort(const struct order *o, size_t from, size_t to) {
  if (to - from < 2) return;
  const size_t middle = from + (to - from) / 2;
  sort(o, from, middle);
  sort(o, middle, to);
  merge(o, from, middle, to);
}

/* Merges runs first to last - 1; run i is v[bounds[i]..bounds[i + 1]). */
static void merge_runs(const struct order *o, const size_t *bounds, size_t first, size_t last) {
  if (last - first < 2) return;
  const size_t middle = first + (last - first) / 2;
  merge_runs(o, bounds, first, middle);
  merge_runs(o, bounds, middle, last);
  merge(o, bounds[first], bounds[middle], bounds[last]);
}

static size_t share(const struct sorting *s, size_t thread) {
  return rt_share_begin(s->count, thread + 1) - rt_share_begin(s->count, thread);
}

/* Number of elements of [lo, hi) of a thread's run that come before the pivot, element q of p's
 * run. */
static size_t before(const struct sorting *s, size_t thread, size_t lo, size_t hi, size_t p,
                     size_t q) {
  if (thread == p) return q;
  const upcr_pts_t pivot = element(s, s->runs[p], q);
  while (lo < hi) {
    const size_t m = lo + (hi - lo) / 2;
    const int c = s->compare(element(s, s->runs[thread], m), pivot);
    if (c < 0 || (c == 0 && thread < p))
      lo = m + 1;
    else
      hi = m;
  }
  return lo;
}

/* split[t]: how many elements of thread t's run are among the first `rank` of all. */
static void split_at(const struct sorting *s, size_t rank, size_t *split) {
  const size_t threads = (size_t)upcr_threads;
  size_t *hi = rt_room(2 * threads * sizeof *hi, "upc_all_sort"), *n = hi + threads;
  for (size_t t = 0; t < threads; t++) {
    split[t] = 0;
    hi[t] = share(s, t);
  }
  for (;;) {
    size_t p = 0, sum = 0;
    for (size_t t = 1; t < threads; t++)
      if (hi[t] - split[t] > hi[p] - split[p]) p = t;
    if (hi[p] == split[p]) break;
    const size_t q = split[p] + (hi[p] - split[p]) / 2;
    for (size_t t = 0; t < threads; t++) sum += n[t] = before(s, t, split[t], hi[t], p, q);
    if (sum < rank) {
      n[p] = q + 1;
      memcpy(split, n, threads * sizeof *n);
    } else {
      memcpy(hi, n, threads * sizeof *n);
    }
  }
  free(hi);
}

/* Writes the elements of the order, one after another. */
static void write_order(const struct order *o, size_t n, char *to) {
  const char *from = rt_mapped(o->p);
  const size_t bytes = o->s->a.elem_bytes;
  for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + o->v[i] * bytes, bytes);
}

static upcr_pts_t shared_room(size_t bytes) {
  const upcr_pts_t p = upc_alloc(bytes ? bytes : 1);
  if (!p)
    rt_fatal("upc_all_sort: no shared memory for %zu bytes beside the array; raise "
             "GASNET_MAX_SEGSIZE [TMB-2109]",
             bytes);
  return p;
}

/* Fetches this thread's share of the result, as one run of each thread. */
static void fetch_share(const struct sorting *s, char *to, size_t *bounds) {
  const size_t threads = (size_t)upcr_threads, me = (size_t)upcr_mythread;
  size_t *from = rt_room(2 * threads * sizeof *from, "upc_all_sort"), *end = from + threads;
  split_at(s, rt_share_begin(s->count, me), from);
  split_at(s, rt_share_begin(s->count, me + 1), end);
  bounds[0] = 0;
  for (size_t t = 0; t < threads; t++) {
    const size_t n = end[t] - from[t], bytes = s->a.elem_bytes;
    upc_memget(to + bounds[t] * bytes, element(s, s->runs[t], from[t]), n * bytes);
    bounds[t + 1] = bounds[t] + n;
  }
  free(from);
}

static void all_threads(void) {
  upcr_fence();
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  upcr_fence();
}

static void sort_together(struct sorting *s) {
  const size_t me = (size_t)upcr_mythread, threads = (size_t)upcr_threads;
  const size_t lo = rt_share_begin(s->count, me), n = share(s, me), bytes = n * s->a.elem_bytes;
  const upcr_pts_t work = shared_room(bytes), run = shared_room(bytes);
  struct order o = {s, work, rt_room(n * sizeof(size_t), "upc_all_sort"),
                    rt_room(n * sizeof(size_t), "upc_all_sort")};
  size_t *bounds = rt_room((threads + 1) * sizeof *bounds, "upc_all_sort");
  s->runs = rt_room(threads * sizeof *s->runs, "upc_all_sort");
  rt_array_range(&s->a, lo, lo + n, rt_mapped(work), false);
  for (size_t i = 0; i < n; i++) o.v[i] = i;
  sort(&o, 0, n);
  write_order(&o, n, rt_mapped(run));
  upcr_fence();
  gex_Event_Wait(gexx_Coll_AllGatherNB(rt.tm, s->runs, &run, sizeof run, 0));
  fetch_share(s, rt_mapped(work), bounds);
  all_threads(); /* the runs are free again */
  for (size_t i = 0; i < n; i++) o.v[i] = i;
  merge_runs(&o, bounds, 0, threads);
  write_order(&o, n, rt_mapped(run));
  rt_array_range(&s->a, lo, lo + n, rt_mapped(run), true);
  upcr_fence();
  upc_free(work);
  upc_free(run);
  free(o.v);
  free(o.room);
  free(bounds);
  free(s->runs);
}

void upc_all_sort(upcr_pts_t a, size_t elem_bytes, size_t count, size_t block, compare_t *compare,
                  int flags) {
  struct sorting s = {{a, elem_bytes, block}, count, compare, NULL};
  rt_coll_enter(flags);
  if (count) sort_together(&s);
  rt_coll_leave(flags);
}
