/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small functions of the libraries: clocks, casts, questions about threads.
 *
 * Called by UPC programs. Calls: GASNet-Tools, start.c for where memory lies. Invariants: none,
 * nothing is kept here.
 */
#include "rt.h"

#include <errno.h>
#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int guaranteed, probable;
} thread_info_t;

RT_EXPORT uint64_t upc_ticks_now(void);
RT_EXPORT uint64_t upc_ticks_to_ns(uint64_t ticks);
RT_EXPORT uint64_t bupc_ticks_now(void);
RT_EXPORT uint64_t bupc_ticks_to_us(uint64_t ticks);
RT_EXPORT uint64_t bupc_ticks_to_ns(uint64_t ticks);
RT_EXPORT double bupc_tick_granularityus(void);
RT_EXPORT double bupc_tick_overheadus(void);
RT_EXPORT void *upc_cast(upcr_pts_t p);
RT_EXPORT thread_info_t upc_thread_info(size_t thread);
RT_EXPORT void *bupc_cast(upcr_pts_t p);
RT_EXPORT int bupc_castable(upcr_pts_t p);
RT_EXPORT int bupc_thread_castable(unsigned thread);
RT_EXPORT upcr_pts_t bupc_inverse_cast(void *p);
RT_EXPORT upcr_pts_t bupc_local_to_shared(void *p, int thread, int phase);
RT_EXPORT upcr_pts_t bupc_ptradd(upcr_pts_t p, size_t block, size_t elem_bytes, ptrdiff_t n);
RT_EXPORT int bupc_dump_shared(upcr_pts_t p, char *buf, int maxlen);
RT_EXPORT unsigned bupc_thread_distance(int x, int y);
RT_EXPORT char *bupc_getenv(const char *name);
RT_EXPORT void bupc_all_free(upcr_pts_t p);
extern void upc_all_free(upcr_pts_t p);

RT_EXPORT const char UPCR_POINTERS = 0; /* upcr.h */

uint64_t upc_ticks_now(void) {
  return gasnett_ticks_now();
}
uint64_t upc_ticks_to_ns(uint64_t ticks) {
  return gasnett_ticks_to_ns(ticks);
}
uint64_t bupc_ticks_now(void) {
  return gasnett_ticks_now();
}
uint64_t bupc_ticks_to_us(uint64_t ticks) {
  return gasnett_ticks_to_us(ticks);
}
uint64_t bupc_ticks_to_ns(uint64_t ticks) {
  return gasnett_ticks_to_ns(ticks);
}
double bupc_tick_granularityus(void) {
  return gasnett_tick_granularityus();
}
double bupc_tick_overheadus(void) {
  return gasnett_tick_overheadus();
}

void *upc_cast(upcr_pts_t p) {
  if (!upcr_addrfield(p) || upcr_threadof(p) >= upcr_threads) return NULL;
  const unsigned long t = upcr_threadof(p);
  if (rt.traced && rt.mapped[t] && t != (unsigned long)upcr_mythread)
    gexx_check_alias((gex_Rank_t)t, rt.mapped[t], rt.bytes, (const void *)rt.owner_base[t]);
  return rt_mapped(p);
}

void *bupc_cast(upcr_pts_t p) {
  return upc_cast(p);
}

int bupc_castable(upcr_pts_t p) {
  return p == 0 || upc_cast(p) != NULL;
}

int bupc_thread_castable(unsigned thread) {
  return thread < (unsigned)upcr_threads && rt.mapped[thread];
}

thread_info_t upc_thread_info(size_t thread) {
  const int all = thread < (size_t)upcr_threads && rt.mapped[thread] ? 15 : 0;
  return (thread_info_t){all, all};
}

upcr_pts_t bupc_inverse_cast(void *local) {
  const char *at = local;
  for (int t = 0; local && t < upcr_threads; t++)
    if (rt.mapped[t] && at >= rt.mapped[t] && (uint64_t)(at - rt.mapped[t]) < rt.bytes)
      return upcr_make((uint64_t)(at - rt.mapped[t]), 0, (unsigned long)t);
  return 0;
}

upcr_pts_t bupc_local_to_shared(void *local, int thread, int phase) {
  const uint64_t offset = (uint64_t)((char *)local - rt.memory);
  return local ? upcr_make(offset, (unsigned long)phase, (unsigned long)thread) : 0;
}

upcr_pts_t bupc_ptradd(upcr_pts_t p, size_t block, size_t elem_bytes, ptrdiff_t n) {
  if (block == 0) return upcr_add0(p, n * (ptrdiff_t)elem_bytes);
  return block == 1 ? upcr_add1(p, n, elem_bytes) : upcr_addb(p, n, elem_bytes, block);
}

int bupc_dump_shared(upcr_pts_t p, char *buf, int maxlen) {
  if (maxlen < 100) {
    errno = EINVAL;
    return -1;
  }
  if (upcr_addrfield(p) == 0)
    snprintf(buf, (size_t)maxlen, "<NULL>");
  else
    snprintf(buf, (size_t)maxlen, "<address=%p (addrfield=%#lx), thread=%d, phase=%lu>",
             (void *)rt_mapped(p), upcr_addrfield(p), upcr_threadof(p), upcr_phaseof(p));
  return 0;
}

unsigned bupc_thread_distance(int x, int y) {
  if (x == y) return 0;
  const bool here = rt.mapped[x] && rt.mapped[y];
  return here ? 100 : 300;
}

char *bupc_getenv(const char *name) {
  return gasnett_getenv(name);
}

void bupc_all_free(upcr_pts_t p) {
  upc_all_free(p);
}
