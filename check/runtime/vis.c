/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get (gasnet_vis.h).
 *
 * Owns nothing. These are calls of the library. Each piece at the peer is recorded, as one access;
 * the local side of a call that lasts is recorded, too. A put with a peer completion handler is
 * ordered for that handler. Invariants as in rma.c.
 */
#include "check/runtime/vis.h"

/* Record a piece: the first one makes the access. */
static void piece(uint64_t *number, const struct chk_range *range, uint32_t site, bool lasts) {
  if (!*number)
    *number = chk_touch(range, site, lasts);
  else
    chk_touch_more(*number, range);
}

static void strided(const struct shape *s, const struct side *side, struct chk_range range,
                    uint64_t *number, uint32_t site) {
  size_t total = 1;
  for (size_t d = 0; d < s->levels; d++) total *= s->counts[d];
  for (size_t i = 0; i < total; i++) {
    const char *at = side->strided;
    size_t rest = i;
    for (size_t d = 0; d < s->levels; d++) {
      at += (ptrdiff_t)(rest % s->counts[d]) * side->strides[d];
      rest /= s->counts[d];
    }
    range.addr = (uintptr_t)at;
    range.bytes = side->bytes;
    piece(number, &range, site, true);
  }
}

/* Record all pieces of a side. Returns the number of the access. */
static uint64_t touch(const struct shape *s, const struct side *side, uint32_t owner,
                      uint32_t flags, uint32_t site) {
  struct chk_range range = {.owner = owner, .flags = flags | CHK_TRANSFER};
  uint64_t number = 0;
  if (side->strided) {
    strided(s, side, range, &number, site);
    return number;
  }
  for (size_t i = 0; i < side->count; i++) {
    range.addr = (uintptr_t)(side->vector ? side->vector[i].gex_addr : side->indexed[i]);
    range.bytes = side->vector ? side->vector[i].gex_len : side->bytes;
    piece(&number, &range, site, true);
  }
  return number;
}

/* The handler that the next put of this thread runs at its peer; 0: none. */
static _Thread_local struct {
  gex_AM_Index_t handler;
  size_t nbytes;
} armed;

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr,
                                      size_t nbytes, gex_Flags_t flags) {
  armed.handler = handler;
  armed.nbytes = nbytes;
  chk_real.gex_VIS_SetPeerCompletionHandler(handler, source_addr, nbytes, flags);
}

struct chk_pending chk_vis_begin(const struct shape *s, const char *call, const void *pc) {
  struct chk_pending p = {.category = s->is_get ? GEX_EC_GET : GEX_EC_PUT};
  chk_enter();
  p.site = chk_site(call, pc);
  p.remote = touch(s, &s->remote, chk_jobrank(s->tm, s->rank), s->is_get ? 0 : CHK_WRITE, p.site);
  p.local = touch(s, &s->local, chk.rank, (s->is_get ? CHK_WRITE : 0) | CHK_LOCAL, p.site);
  chk_local_open(p.local);
  if (armed.handler && !s->is_get)
    chk_send_note(chk_jobrank(s->tm, s->rank), armed.handler, armed.nbytes, p.site, p.remote);
  if (!s->is_get) armed.handler = 0;
  chk_exit();
  return p;
}

#define STRIDED(at, by) \
 { .strided = (at), .strides = (by), .bytes = elemsz }

int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                              gex_Memvec_t const dstlist[], size_t srccount,
                              gex_Memvec_t const srclist[], gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorPutBlocking(tm, dstrank, dstcount, dstlist, srccount, srclist,
                                              flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorPutBlocking", tm, dstrank, false,
                                     VECTOR(dstlist, dstcount), VECTOR(srclist, srccount), NULL, 0);
  const int rc =
      chk_real.gex_VIS_VectorPutBlocking(tm, dstrank, dstcount, dstlist, srccount, srclist, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                         gex_Memvec_t const dstlist[], size_t srccount,
                         gex_Memvec_t const srclist[], gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorPutNBI(tm, dstrank, dstcount, dstlist, srccount, srclist, flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorPutNBI", tm, dstrank, false,
                                     VECTOR(dstlist, dstcount), VECTOR(srclist, srccount), NULL, 0);
  return chk_started_nbi(
      &p, chk_real.gex_VIS_VectorPutNBI(tm, dstrank, dstcount, dstlist, srccount, srclist, flags));
}

gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount,
                                gex_Memvec_t const srclist[], gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorPutNB(tm, dstrank, dstcount, dstlist, srccount, srclist, flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorPutNB", tm, dstrank, false,
                                     VECTOR(dstlist, dstcount), VECTOR(srclist, srccount), NULL, 0);
  return chk_started(
      &p, chk_real.gex_VIS_VectorPutNB(tm, dstrank, dstcount, dstlist, srccount, srclist, flags));
}

int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                              gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                              gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorGetBlocking(tm, dstcount, dstlist, srcrank, srccount, srclist,
                                              flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorGetBlocking", tm, srcrank, true,
                                     VECTOR(srclist, srccount), VECTOR(dstlist, dstcount), NULL, 0);
  const int rc =
      chk_real.gex_VIS_VectorGetBlocking(tm, dstcount, dstlist, srcrank, srccount, srclist, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                         gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                         gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorGetNBI(tm, dstcount, dstlist, srcrank, srccount, srclist, flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorGetNBI", tm, srcrank, true,
                                     VECTOR(srclist, srccount), VECTOR(dstlist, dstcount), NULL, 0);
  return chk_started_nbi(
      &p, chk_real.gex_VIS_VectorGetNBI(tm, dstcount, dstlist, srcrank, srccount, srclist, flags));
}

gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_VectorGetNB(tm, dstcount, dstlist, srcrank, srccount, srclist, flags);
  const struct chk_pending p = BEGIN("gex_VIS_VectorGetNB", tm, srcrank, true,
                                     VECTOR(srclist, srccount), VECTOR(dstlist, dstcount), NULL, 0);
  return chk_started(
      &p, chk_real.gex_VIS_VectorGetNB(tm, dstcount, dstlist, srcrank, srccount, srclist, flags));
}

int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                               void *const dstlist[], size_t dstlen, size_t srccount,
                               void *const srclist[], size_t srclen, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedPutBlocking(tm, dstrank, dstcount, dstlist, dstlen, srccount,
                                               srclist, srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedPutBlocking", tm, dstrank, false, INDEXED(dstlist, dstcount, dstlen),
            INDEXED(srclist, srccount, srclen), NULL, 0);
  const int rc = chk_real.gex_VIS_IndexedPutBlocking(tm, dstrank, dstcount, dstlist, dstlen,
                                                     srccount, srclist, srclen, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                          size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedPutNBI(tm, dstrank, dstcount, dstlist, dstlen, srccount, srclist,
                                          srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedPutNBI", tm, dstrank, false, INDEXED(dstlist, dstcount, dstlen),
            INDEXED(srclist, srccount, srclen), NULL, 0);
  return chk_started_nbi(&p, chk_real.gex_VIS_IndexedPutNBI(tm, dstrank, dstcount, dstlist, dstlen,
                                                            srccount, srclist, srclen, flags));
}

gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                 void *const dstlist[], size_t dstlen, size_t srccount,
                                 void *const srclist[], size_t srclen, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedPutNB(tm, dstrank, dstcount, dstlist, dstlen, srccount, srclist,
                                         srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedPutNB", tm, dstrank, false, INDEXED(dstlist, dstcount, dstlen),
            INDEXED(srclist, srccount, srclen), NULL, 0);
  return chk_started(&p, chk_real.gex_VIS_IndexedPutNB(tm, dstrank, dstcount, dstlist, dstlen,
                                                       srccount, srclist, srclen, flags));
}

int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                               gex_Rank_t srcrank, size_t srccount, void *const srclist[],
                               size_t srclen, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedGetBlocking(tm, dstcount, dstlist, dstlen, srcrank, srccount,
                                               srclist, srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedGetBlocking", tm, srcrank, true, INDEXED(srclist, srccount, srclen),
            INDEXED(dstlist, dstcount, dstlen), NULL, 0);
  const int rc = chk_real.gex_VIS_IndexedGetBlocking(tm, dstcount, dstlist, dstlen, srcrank,
                                                     srccount, srclist, srclen, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                          gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedGetNBI(tm, dstcount, dstlist, dstlen, srcrank, srccount, srclist,
                                          srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedGetNBI", tm, srcrank, true, INDEXED(srclist, srccount, srclen),
            INDEXED(dstlist, dstcount, dstlen), NULL, 0);
  return chk_started_nbi(&p, chk_real.gex_VIS_IndexedGetNBI(tm, dstcount, dstlist, dstlen, srcrank,
                                                            srccount, srclist, srclen, flags));
}

gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void *const srclist[],
                                 size_t srclen, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_IndexedGetNB(tm, dstcount, dstlist, dstlen, srcrank, srccount, srclist,
                                         srclen, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_IndexedGetNB", tm, srcrank, true, INDEXED(srclist, srccount, srclen),
            INDEXED(dstlist, dstcount, dstlen), NULL, 0);
  return chk_started(&p, chk_real.gex_VIS_IndexedGetNB(tm, dstcount, dstlist, dstlen, srcrank,
                                                       srccount, srclist, srclen, flags));
}

int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                               const ptrdiff_t dststrides[], void *srcaddr,
                               const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedPutBlocking(tm, dstrank, dstaddr, dststrides, srcaddr,
                                               srcstrides, elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedPutBlocking", tm, dstrank, false, STRIDED(dstaddr, dststrides),
            STRIDED(srcaddr, srcstrides), count, stridelevels);
  const int rc = chk_real.gex_VIS_StridedPutBlocking(
      tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                          const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedPutNBI(tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides,
                                          elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedPutNBI", tm, dstrank, false, STRIDED(dstaddr, dststrides),
            STRIDED(srcaddr, srcstrides), count, stridelevels);
  return chk_started_nbi(&p, chk_real.gex_VIS_StridedPutNBI(tm, dstrank, dstaddr, dststrides,
                                                            srcaddr, srcstrides, elemsz, count,
                                                            stridelevels, flags));
}

gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                                 const ptrdiff_t dststrides[], void *srcaddr,
                                 const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                                 size_t stridelevels, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedPutNB(tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides,
                                         elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedPutNB", tm, dstrank, false, STRIDED(dstaddr, dststrides),
            STRIDED(srcaddr, srcstrides), count, stridelevels);
  return chk_started(&p,
                     chk_real.gex_VIS_StridedPutNB(tm, dstrank, dstaddr, dststrides, srcaddr,
                                                   srcstrides, elemsz, count, stridelevels, flags));
}

int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                               gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                               size_t elemsz, const size_t count[], size_t stridelevels,
                               gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedGetBlocking(tm, dstaddr, dststrides, srcrank, srcaddr,
                                               srcstrides, elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedGetBlocking", tm, srcrank, true, STRIDED(srcaddr, srcstrides),
            STRIDED(dstaddr, dststrides), count, stridelevels);
  const int rc = chk_real.gex_VIS_StridedGetBlocking(
      tm, dstaddr, dststrides, srcrank, srcaddr, srcstrides, elemsz, count, stridelevels, flags);
  (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                          gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedGetNBI(tm, dstaddr, dststrides, srcrank, srcaddr, srcstrides,
                                          elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedGetNBI", tm, srcrank, true, STRIDED(srcaddr, srcstrides),
            STRIDED(dstaddr, dststrides), count, stridelevels);
  return chk_started_nbi(&p, chk_real.gex_VIS_StridedGetNBI(tm, dstaddr, dststrides, srcrank,
                                                            srcaddr, srcstrides, elemsz, count,
                                                            stridelevels, flags));
}

gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                                 gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                                 size_t elemsz, const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gex_VIS_StridedGetNB(tm, dstaddr, dststrides, srcrank, srcaddr, srcstrides,
                                         elemsz, count, stridelevels, flags);
  const struct chk_pending p =
      BEGIN("gex_VIS_StridedGetNB", tm, srcrank, true, STRIDED(srcaddr, srcstrides),
            STRIDED(dstaddr, dststrides), count, stridelevels);
  return chk_started(&p,
                     chk_real.gex_VIS_StridedGetNB(tm, dstaddr, dststrides, srcrank, srcaddr,
                                                   srcstrides, elemsz, count, stridelevels, flags));
}
