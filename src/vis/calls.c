/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public non-contiguous calls (API 04), as descriptions of transfers.
 *
 * Owns nothing. Called by clients. Calls: tmb_vis_blocking, _nbi and _nb of vis.c, which check and
 * serve. Contracts are in gasnet_vis.h. Invariant: a call is one of six shapes (below) in one of
 * three kinds (KINDS); a shape gives the parameters, a kind the result and the server.
 */
#include "vis/vis.h"

#include <gasnet_vis.h>

/* The kinds of a call: suffix, result, the result where the data are in place on return, server. */
#define KINDS(SHAPE)                       \
 SHAPE(Blocking, int, 0, tmb_vis_blocking) \
 SHAPE(NBI, int, 0, tmb_vis_nbi)           \
 SHAPE(NB, gex_Event_t, GEX_EVENT_INVALID, tmb_vis_nb)

/* Parameters of a call as a description: the peer, the two lists, the strides. */
#define TARGET     ((struct tmb_vis_peer){tm, dstrank, false, flags})
#define SOURCE     ((struct tmb_vis_peer){tm, srcrank, true, flags})
#define VECTOR(L)  ((struct tmb_vis_list){.vec = L##list, .count = L##count})
#define INDEXED(L) ((struct tmb_vis_list){.addr = L##list, .count = L##count, .len = L##len})
#define STRIDES    ((struct tmb_vis_strided){{dststrides, srcstrides}, count, elemsz, stridelevels})

/* ---- vector */

#define VECTOR_PUT(KIND, RESULT, DONE, SERVE)                                            \
 RESULT gex_VIS_VectorPut##KIND(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,        \
                                gex_Memvec_t const dstlist[], size_t srccount,           \
                                gex_Memvec_t const srclist[], gex_Flags_t flags) {       \
  struct tmb_vis v;                                                                      \
  return tmb_vis_vector(&v, "gex_VIS_VectorPut" #KIND, TARGET, VECTOR(dst), VECTOR(src)) \
             ? DONE                                                                      \
             : SERVE(&v);                                                                \
 }
KINDS(VECTOR_PUT)

#define VECTOR_GET(KIND, RESULT, DONE, SERVE)                                                      \
 RESULT gex_VIS_VectorGet##KIND(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],        \
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[], \
                                gex_Flags_t flags) {                                               \
  struct tmb_vis v;                                                                                \
  return tmb_vis_vector(&v, "gex_VIS_VectorGet" #KIND, SOURCE, VECTOR(dst), VECTOR(src))           \
             ? DONE                                                                                \
             : SERVE(&v);                                                                          \
 }
KINDS(VECTOR_GET)

/* ---- indexed */

#define INDEXED_PUT(KIND, RESULT, DONE, SERVE)                                               \
 RESULT gex_VIS_IndexedPut##KIND(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,           \
                                 void *const dstlist[], size_t dstlen, size_t srccount,      \
                                 void *const srclist[], size_t srclen, gex_Flags_t flags) {  \
  struct tmb_vis v;                                                                          \
  return tmb_vis_indexed(&v, "gex_VIS_IndexedPut" #KIND, TARGET, INDEXED(dst), INDEXED(src)) \
             ? DONE                                                                          \
             : SERVE(&v);                                                                    \
 }
KINDS(INDEXED_PUT)

#define INDEXED_GET(KIND, RESULT, DONE, SERVE)                                               \
 RESULT gex_VIS_IndexedGet##KIND(gex_TM_t tm, size_t dstcount, void *const dstlist[],        \
                                 size_t dstlen, gex_Rank_t srcrank, size_t srccount,         \
                                 void *const srclist[], size_t srclen, gex_Flags_t flags) {  \
  struct tmb_vis v;                                                                          \
  return tmb_vis_indexed(&v, "gex_VIS_IndexedGet" #KIND, SOURCE, INDEXED(dst), INDEXED(src)) \
             ? DONE                                                                          \
             : SERVE(&v);                                                                    \
 }
KINDS(INDEXED_GET)

/* ---- strided */

#define STRIDED_PUT(KIND, RESULT, DONE, SERVE)                                                   \
 RESULT gex_VIS_StridedPut##KIND(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,                 \
                                 const ptrdiff_t dststrides[], void *srcaddr,                    \
                                 const ptrdiff_t srcstrides[], size_t elemsz,                    \
                                 const size_t count[], size_t stridelevels, gex_Flags_t flags) { \
  struct tmb_vis v;                                                                              \
  return tmb_vis_strides(&v, "gex_VIS_StridedPut" #KIND, TARGET, dstaddr, srcaddr, STRIDES)      \
             ? DONE                                                                              \
             : SERVE(&v);                                                                        \
 }
KINDS(STRIDED_PUT)

#define STRIDED_GET(KIND, RESULT, DONE, SERVE)                                                    \
 RESULT gex_VIS_StridedGet##KIND(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],        \
                                 gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[], \
                                 size_t elemsz, const size_t count[], size_t stridelevels,        \
                                 gex_Flags_t flags) {                                             \
  struct tmb_vis v;                                                                               \
  return tmb_vis_strides(&v, "gex_VIS_StridedGet" #KIND, SOURCE, dstaddr, srcaddr, STRIDES)       \
             ? DONE                                                                               \
             : SERVE(&v);                                                                         \
 }
KINDS(STRIDED_GET)
