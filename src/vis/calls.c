/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public non-contiguous calls (API 04), as descriptions of what they move.
 *
 * Owns nothing. Called by clients. Calls: tmb_vis_blocking, _nbi and _nb of vis.c, which check and
 * serve. Contracts are in gasnet_vis.h. Invariant: one function, one struct tmb_vis; all
 * differences between the 18 calls are in its fields.
 */
#include "vis/vis.h"

#include <gasnet_vis.h>

/* ---- vector */

int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                              gex_Memvec_t const dstlist[], size_t srccount,
                              gex_Memvec_t const srclist[], gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_VectorPutBlocking",
                                            .tm = tm,
                                            .rank = dstrank,
                                            .flags = flags,
                                            .list = {dst, src}});
}

int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                         gex_Memvec_t const dstlist[], size_t srccount,
                         gex_Memvec_t const srclist[], gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_VectorPutNBI",
                                       .tm = tm,
                                       .rank = dstrank,
                                       .flags = flags,
                                       .list = {dst, src}});
}

gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount,
                                gex_Memvec_t const srclist[], gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_VectorPutNB",
                                      .tm = tm,
                                      .rank = dstrank,
                                      .flags = flags,
                                      .list = {dst, src}});
}

int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                              gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                              gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_VectorGetBlocking",
                                            .tm = tm,
                                            .rank = srcrank,
                                            .is_get = true,
                                            .flags = flags,
                                            .list = {dst, src}});
}

int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                         gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                         gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_VectorGetNBI",
                                       .tm = tm,
                                       .rank = srcrank,
                                       .is_get = true,
                                       .flags = flags,
                                       .list = {dst, src}});
}

gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.vec = dstlist, .count = dstcount};
  const struct tmb_vis_list src = {.vec = srclist, .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_VectorGetNB",
                                      .tm = tm,
                                      .rank = srcrank,
                                      .is_get = true,
                                      .flags = flags,
                                      .list = {dst, src}});
}

/* ---- indexed */

int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                               void *const dstlist[], size_t dstlen, size_t srccount,
                               void *const srclist[], size_t srclen, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_IndexedPutBlocking",
                                            .tm = tm,
                                            .rank = dstrank,
                                            .flags = flags,
                                            .list = {dst, src}});
}

int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                          size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_IndexedPutNBI",
                                       .tm = tm,
                                       .rank = dstrank,
                                       .flags = flags,
                                       .list = {dst, src}});
}

gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                 void *const dstlist[], size_t dstlen, size_t srccount,
                                 void *const srclist[], size_t srclen, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_IndexedPutNB",
                                      .tm = tm,
                                      .rank = dstrank,
                                      .flags = flags,
                                      .list = {dst, src}});
}

int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                               gex_Rank_t srcrank, size_t srccount, void *const srclist[],
                               size_t srclen, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_IndexedGetBlocking",
                                            .tm = tm,
                                            .rank = srcrank,
                                            .is_get = true,
                                            .flags = flags,
                                            .list = {dst, src}});
}

int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                          gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_IndexedGetNBI",
                                       .tm = tm,
                                       .rank = srcrank,
                                       .is_get = true,
                                       .flags = flags,
                                       .list = {dst, src}});
}

gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void *const srclist[],
                                 size_t srclen, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_IndexedGetNB",
                                      .tm = tm,
                                      .rank = srcrank,
                                      .is_get = true,
                                      .flags = flags,
                                      .list = {dst, src}});
}

/* ---- strided */

int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                               const ptrdiff_t dststrides[], void *srcaddr,
                               const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_StridedPutBlocking",
                                            .tm = tm,
                                            .rank = dstrank,
                                            .flags = flags,
                                            .strided = true,
                                            .base = {dstaddr, srcaddr},
                                            .stride = in});
}

int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                          const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_StridedPutNBI",
                                       .tm = tm,
                                       .rank = dstrank,
                                       .flags = flags,
                                       .strided = true,
                                       .base = {dstaddr, srcaddr},
                                       .stride = in});
}

gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                                 const ptrdiff_t dststrides[], void *srcaddr,
                                 const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                                 size_t stridelevels, gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, dstrank, false, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_StridedPutNB",
                                      .tm = tm,
                                      .rank = dstrank,
                                      .flags = flags,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}

int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                               gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                               size_t elemsz, const size_t count[], size_t stridelevels,
                               gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return 0;
  return tmb_vis_blocking(&(struct tmb_vis){.call = "gex_VIS_StridedGetBlocking",
                                            .tm = tm,
                                            .rank = srcrank,
                                            .is_get = true,
                                            .flags = flags,
                                            .strided = true,
                                            .base = {dstaddr, srcaddr},
                                            .stride = in});
}

int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                          gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return 0;
  return tmb_vis_nbi(&(struct tmb_vis){.call = "gex_VIS_StridedGetNBI",
                                       .tm = tm,
                                       .rank = srcrank,
                                       .is_get = true,
                                       .flags = flags,
                                       .strided = true,
                                       .base = {dstaddr, srcaddr},
                                       .stride = in});
}

gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                                 gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                                 size_t elemsz, const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags) {
  const struct tmb_vis_peer peer = {tm, srcrank, true, flags};
  const struct tmb_vis_strided in = {{dststrides, srcstrides}, count, elemsz, stridelevels};
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gex_VIS_StridedGetNB",
                                      .tm = tm,
                                      .rank = srcrank,
                                      .is_get = true,
                                      .flags = flags,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}
