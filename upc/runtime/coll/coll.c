/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data (UPC 1.3 library section 7.3.2).
 *
 * Called by UPC programs. Calls: access.c, barriers of the library. Invariants: every thread
 * fetches its part of the result (gather: stores its contribution), so that each datum moves once;
 * ALLSYNC and MYSYNC are a barrier, also where no flag says anything; NOSYNC is none.
 */
#include "coll/coll.h"

RT_EXPORT void upc_all_broadcast(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_scatter(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_gather(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_gather_all(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_exchange(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags);
RT_EXPORT void upc_all_permute(upcr_pts_t dst, upcr_pts_t src, upcr_pts_t perm, size_t n,
                               int flags);

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
  RT_SITE("upc_all_broadcast");
  rt_coll_enter(flags);
  upc_memcpy(part(dst, upcr_mythread), src, n);
  rt_coll_leave(flags);
}

void upc_all_scatter(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  RT_SITE("upc_all_scatter");
  rt_coll_enter(flags);
  upc_memcpy(part(dst, upcr_mythread), at(src, n * (size_t)upcr_mythread), n);
  rt_coll_leave(flags);
}

void upc_all_gather(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  RT_SITE("upc_all_gather");
  rt_coll_enter(flags);
  upc_memcpy(at(dst, n * (size_t)upcr_mythread), part(src, upcr_mythread), n);
  rt_coll_leave(flags);
}

/* Collects n bytes of each thread's part, `skip` into it. Each thread begins with its neighbour, so
 * that not all read from one thread. */
static void from_all(upcr_pts_t dst, upcr_pts_t src, size_t n, size_t skip) {
  for (int k = 1; k <= upcr_threads; k++) {
    const int t = (upcr_mythread + k) % upcr_threads;
    upc_memcpy(at(part(dst, upcr_mythread), n * (size_t)t), at(part(src, t), skip), n);
  }
}

void upc_all_gather_all(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  RT_SITE("upc_all_gather_all");
  rt_coll_enter(flags);
  from_all(dst, src, n, 0);
  rt_coll_leave(flags);
}

void upc_all_exchange(upcr_pts_t dst, upcr_pts_t src, size_t n, int flags) {
  RT_SITE("upc_all_exchange");
  rt_coll_enter(flags);
  from_all(dst, src, n, n * (size_t)upcr_mythread);
  rt_coll_leave(flags);
}

void upc_all_permute(upcr_pts_t dst, upcr_pts_t src, upcr_pts_t perm, size_t n, int flags) {
  RT_SITE("upc_all_permute");
  rt_coll_enter(flags);
  const int to = (int)upcr_get4(part(perm, upcr_mythread));
  if (to < 0 || to >= upcr_threads)
    rt_fatal("upc_all_permute: element %d of perm is %d, which is no thread [TMB-2106]",
             upcr_mythread, to);
  upc_memcpy(part(dst, to), part(src, upcr_mythread), n);
  rt_coll_leave(flags);
}
