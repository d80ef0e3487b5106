/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data (UPC 1.3 library section 7.3.2), and upc_all_sort.
 *
 * Called by UPC programs. Calls: access.c, barriers of the library. Invariants: every thread
 * fetches what it is to get (gather: stores what it has to give), so that each datum moves once;
 * ALLSYNC and MYSYNC are a barrier, also where no flag says anything; NOSYNC is none.
 */
#include "coll.h"

#include <stdlib.h>
#include <string.h>

RT_EXPORT void upc_all_broadcast(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_scatter(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_gather(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_gather_all(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_exchange(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_permute(upcr_pts_t dst, upcr_pts_t src, upcr_pts_t perm, size_t n,
                               int flags);
RT_EXPORT void upc_all_sort(upcr_pts_t a, size_t elem_bytes, size_t count, size_t block,
                            int (*compare)(upcr_pts_t, upcr_pts_t), int flags);

static void all_threads(void) {
  upcr_fence();
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  upcr_fence();
}

void rt_coll_enter(int flags) {
  if (!(flags & FLAG_IN_NOSYNC)) all_threads();
}

void rt_coll_leave(int flags) {
  if (!(flags & FLAG_OUT_NOSYNC)) all_threads();
}

/* The block of thread t of an argument that lies on all threads. */
static upcr_pts_t part(upcr_pts_t p, int t) {
  return upcr_make(upcr_addrfield(p), 0, (unsigned long)t);
}

static upcr_pts_t at(upcr_pts_t p, size_t bytes) {
  return upcr_add0(p, (long)bytes);
}

void upc_all_broadcast(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  rt_coll_enter(flags);
  upc_memcpy(part(dst, upcr_mythread), src, n);
  rt_coll_leave(flags);
}

void upc_all_scatter(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  rt_coll_enter(flags);
  upc_memcpy(part(dst, upcr_mythread), at(src, n * (size_t)upcr_mythread), n);
  rt_coll_leave(flags);
}

void upc_all_gather(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  rt_coll_enter(flags);
  upc_memcpy(at(dst, n * (size_t)upcr_mythread), part(src, upcr_mythread), n);
  rt_coll_leave(flags);
}

/* Each thread begins with its neighbour, so that not all read from the same one. */
void upc_all_gather_all(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  rt_coll_enter(flags);
  for (int k = 1; k <= upcr_threads; k++) {
    const int t = (upcr_mythread + k) % upcr_threads;
    upc_memcpy(at(part(dst, upcr_mythread), n * (size_t)t), part(src, t), n);
  }
  rt_coll_leave(flags);
}

void upc_all_exchange(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  rt_coll_enter(flags);
  for (int k = 1; k <= upcr_threads; k++) {
    const int t = (upcr_mythread + k) % upcr_threads;
    upc_memcpy(at(part(dst, upcr_mythread), n * (size_t)t),
               at(part(src, t), n * (size_t)upcr_mythread), n);
  }
  rt_coll_leave(flags);
}

void upc_all_permute(upcr_pts_t dst, upcr_pts_t src, upcr_pts_t perm, size_t n, int flags) {
  rt_coll_enter(flags);
  const int to = (int)upcr_get4(part(perm, upcr_mythread));
  if (to < 0 || to >= upcr_threads)
    rt_fatal("upc_all_permute: element %d of perm is %d, which is no thread", upcr_mythread, to);
  upc_memcpy(part(dst, to), part(src, upcr_mythread), n);
  rt_coll_leave(flags);
}

/* ---- sort: thread 0 orders the elements by a merge sort of their numbers */

struct sorting {
  upcr_pts_t a;
  size_t elem_bytes, block;
  int (*compare)(upcr_pts_t, upcr_pts_t);
};

static upcr_pts_t element(const struct sorting *s, size_t i) {
  return rt_element(s->a, (long)i, s->elem_bytes, s->block);
}

static void merge_sort(const struct sorting *s, size_t *v, size_t *room, size_t count) {
  if (count < 2) return;
  const size_t half = count / 2;
  merge_sort(s, v, room, half);
  merge_sort(s, v + half, room, count - half);
  size_t i = 0, j = half, k = 0;
  while (i < half && j < count)
    room[k++] = s->compare(element(s, v[j]), element(s, v[i])) < 0 ? v[j++] : v[i++];
  while (i < half) room[k++] = v[i++];
  memcpy(v, room, k * sizeof *v);
}

static void sort_here(const struct sorting *s, size_t count) {
  size_t *v = malloc(count * sizeof *v), *room = malloc(count * sizeof *room);
  char *sorted = malloc(count * s->elem_bytes);
  if (!v || !room || !sorted) rt_fatal("upc_all_sort: out of memory for %zu elements", count);
  for (size_t i = 0; i < count; i++) v[i] = i;
  merge_sort(s, v, room, count);
  for (size_t i = 0; i < count; i++)
    upc_memget(sorted + i * s->elem_bytes, element(s, v[i]), s->elem_bytes);
  for (size_t i = 0; i < count; i++)
    upc_memput(element(s, i), sorted + i * s->elem_bytes, s->elem_bytes);
  free(v);
  free(room);
  free(sorted);
}

void upc_all_sort(upcr_pts_t a, size_t elem_bytes, size_t count, size_t block,
                  int (*compare)(upcr_pts_t, upcr_pts_t), int flags) {
  const struct sorting s = {a, elem_bytes, block, compare};
  rt_coll_enter(flags & FLAG_IN_NOSYNC ? 0 : flags);
  if (upcr_mythread == 0 && count) sort_here(&s, count);
  rt_coll_leave(flags);
}
