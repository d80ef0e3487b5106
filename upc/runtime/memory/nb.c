/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers that do not wait: <upc_nb.h>, and the older bupc_ names.
 *
 * Called by UPC programs. Calls: access.c where both sides are mapped here (the transfer is then
 * complete on return), else the library's non-blocking gets and puts. Invariants: a handle is the
 * library's event, null when the transfer is complete; synci waits for the implicit ones only.
 */
#include "rt.h"

#include <string.h>

typedef gex_Event_t handle_t;

extern void upc_memcpy(upcr_pts_t dst, upcr_pts_t src, size_t n);
extern void upc_memset(upcr_pts_t dst, int c, size_t n);

#define RANK(p) ((gex_Rank_t)upcr_threadof(p))

/* Before a transfer from or to memory that is not mapped here. */
static void prepare(upcr_pts_t p, size_t n, const char *what) {
  rt_check_pointer(p, what);
  rt_far_order(p, n);
}

/* Parts of public functions, inlined so that RT_SITE knows the place of the call. */
#define NB_PART static __attribute__((always_inline)) inline

NB_PART handle_t get_nb(void *dst, upcr_pts_t src, size_t n) {
  const char *from = upcr_mapped(src);
  if (!from && n) {
    RT_SITE("upc_memget_nb");
    prepare(src, n, "upc_memget_nb");
    return gex_RMA_GetNB(rt.tm, dst, RANK(src), rt_owner_addr(src), n, 0);
  }
  memcpy(dst, from, n);
  return GEX_EVENT_INVALID;
}

NB_PART handle_t put_nb(upcr_pts_t dst, const void *src, size_t n) {
  char *to = upcr_mapped(dst);
  if (!to && n) {
    RT_SITE("upc_memput_nb");
    prepare(dst, n, "upc_memput_nb");
    return gex_RMA_PutNB(rt.tm, RANK(dst), rt_owner_addr(dst), (void *)(uintptr_t)src, n,
                         GEX_EVENT_DEFER, 0);
  }
  memcpy(to, src, n);
  return GEX_EVENT_INVALID;
}

NB_PART handle_t copy_nb(upcr_pts_t dst, upcr_pts_t src, size_t n) {
  char *to = upcr_mapped(dst);
  const char *from = upcr_mapped(src);
  if (to) return get_nb(to, src, n);
  if (from) return put_nb(dst, from, n);
  RT_SITE("upc_memcpy_nb");
  upc_memcpy(dst, src, n);
  return GEX_EVENT_INVALID;
}

NB_PART handle_t set_nb(upcr_pts_t dst, int c, size_t n) {
  RT_SITE("upc_memset_nb");
  upc_memset(dst, c, n);
  return GEX_EVENT_INVALID;
}

NB_PART void get_nbi(void *dst, upcr_pts_t src, size_t n) {
  const char *from = upcr_mapped(src);
  if (from) {
    memcpy(dst, from, n);
  } else if (n) {
    RT_SITE("upc_memget_nbi");
    prepare(src, n, "upc_memget_nbi");
    gex_RMA_GetNBI(rt.tm, dst, RANK(src), rt_owner_addr(src), n, 0);
  }
}

NB_PART void put_nbi(upcr_pts_t dst, const void *src, size_t n) {
  char *to = upcr_mapped(dst);
  if (to) {
    memcpy(to, src, n);
  } else if (n) {
    RT_SITE("upc_memput_nbi");
    prepare(dst, n, "upc_memput_nbi");
    gex_RMA_PutNBI(rt.tm, RANK(dst), rt_owner_addr(dst), (void *)(uintptr_t)src, n, GEX_EVENT_DEFER,
                   0);
  }
}

NB_PART void copy_nbi(upcr_pts_t dst, upcr_pts_t src, size_t n) {
  char *to = upcr_mapped(dst);
  const char *from = upcr_mapped(src);
  if (to) {
    get_nbi(to, src, n);
  } else if (from) {
    put_nbi(dst, from, n);
  } else {
    RT_SITE("upc_memcpy_nbi");
    upc_memcpy(dst, src, n);
  }
}

NB_PART void set_nbi(upcr_pts_t dst, int c, size_t n) {
  RT_SITE("upc_memset_nbi");
  upc_memset(dst, c, n);
}

static void wait_for(handle_t h) {
  gex_Event_Wait(h);
}

/* A program may do nothing else until the answer is yes, so a try that fails serves the network. */
static int test(handle_t h) {
  if (gex_Event_Test(h) == GASNET_OK) return 1;
  gasnet_AMPoll();
  return gex_Event_Test(h) == GASNET_OK;
}

static void wait_implicit(void) {
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET, 0);
}

static int test_implicit(void) {
  if (gex_NBI_Test(GEX_EC_PUT | GEX_EC_GET, 0) == GASNET_OK) return 1;
  gasnet_AMPoll();
  return gex_NBI_Test(GEX_EC_PUT | GEX_EC_GET, 0) == GASNET_OK;
}

/* One function under two names. */
#define BOTH(RESULT, A, B, PARAMS, ARGS, BODY) \
 RT_EXPORT RESULT A PARAMS;                    \
 RT_EXPORT RESULT B PARAMS;                    \
 RESULT A PARAMS {                             \
  BODY ARGS;                                   \
 }                                             \
 RESULT B PARAMS {                             \
  BODY ARGS;                                   \
 }

BOTH(handle_t, upc_memcpy_nb, bupc_memcpy_async, (upcr_pts_t d, upcr_pts_t s, size_t n), (d, s, n),
     return copy_nb)
BOTH(handle_t, upc_memget_nb, bupc_memget_async, (void *d, upcr_pts_t s, size_t n), (d, s, n),
     return get_nb)
BOTH(handle_t, upc_memput_nb, bupc_memput_async, (upcr_pts_t d, const void *s, size_t n), (d, s, n),
     return put_nb)
BOTH(handle_t, upc_memset_nb, bupc_memset_async, (upcr_pts_t d, int c, size_t n), (d, c, n),
     return set_nb)
BOTH(void, upc_memcpy_nbi, bupc_memcpy_asynci, (upcr_pts_t d, upcr_pts_t s, size_t n), (d, s, n),
     copy_nbi)
BOTH(void, upc_memget_nbi, bupc_memget_asynci, (void *d, upcr_pts_t s, size_t n), (d, s, n),
     get_nbi)
BOTH(void, upc_memput_nbi, bupc_memput_asynci, (upcr_pts_t d, const void *s, size_t n), (d, s, n),
     put_nbi)
BOTH(void, upc_memset_nbi, bupc_memset_asynci, (upcr_pts_t d, int c, size_t n), (d, c, n), set_nbi)
BOTH(void, upc_sync, bupc_waitsync, (handle_t h), (h), wait_for)
BOTH(int, upc_sync_attempt, bupc_trysync, (handle_t h), (h), return test)
BOTH(void, upc_synci, bupc_waitsynci, (void), (), wait_implicit)
BOTH(int, upc_synci_attempt, bupc_trysynci, (void), (), return test_implicit)

/* ---- lists of handles: finished entries become complete */

RT_EXPORT void bupc_waitsync_all(handle_t *h, size_t count);
RT_EXPORT void bupc_waitsync_some(handle_t *h, size_t count);
RT_EXPORT int bupc_trysync_all(handle_t *h, size_t count);
RT_EXPORT int bupc_trysync_some(handle_t *h, size_t count);
RT_EXPORT void bupc_begin_accessregion(void);
RT_EXPORT handle_t bupc_end_accessregion(void);

int bupc_trysync_all(handle_t *h, size_t count) {
  bool all = true;
  for (size_t i = 0; i < count; i++) {
    if (h[i] != GEX_EVENT_INVALID && test(h[i])) h[i] = GEX_EVENT_INVALID;
    all = all && h[i] == GEX_EVENT_INVALID;
  }
  return all;
}

int bupc_trysync_some(handle_t *h, size_t count) {
  bool any = false, live = false;
  for (size_t i = 0; i < count; i++) {
    if (h[i] == GEX_EVENT_INVALID) continue;
    live = true;
    if (!test(h[i])) continue;
    h[i] = GEX_EVENT_INVALID;
    any = true;
  }
  return any || !live;
}

void bupc_waitsync_all(handle_t *h, size_t count) {
  for (size_t i = 0; i < count; i++) {
    gex_Event_Wait(h[i]);
    h[i] = GEX_EVENT_INVALID;
  }
}

void bupc_waitsync_some(handle_t *h, size_t count) {
  gex_Event_WaitSome(h, count, 0);
}

void bupc_begin_accessregion(void) {
  gex_NBI_BeginAccessRegion(0);
}

handle_t bupc_end_accessregion(void) {
  return gex_NBI_EndAccessRegion(0);
}
