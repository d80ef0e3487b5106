/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_vis.h: non-contiguous put and get (vector, indexed, strided), API 04.
 *
 * Owns prototypes. Included by clients after or instead of gasnetex.h; with gasnet.h, in either
 * order, it also declares the GASNet-1 forms. The functions are in src/vis.
 * Common rules: normal context, any thread, may poll. `Blocking` returns when the data are in
 * place, `NBI` completes in GEX_EC_PUT or GEX_EC_GET, `NB` returns a root event. A non-zero result
 * or GEX_EVENT_NO_OP comes only with GEX_FLAG_IMMEDIATE and means that nothing was done. Payload
 * and the lists of vector and indexed forms stay unchanged until completion; strides and counts are
 * read before return. GEX_FLAG_ENABLE_LEAF_LC (PutNB, PutNBI): local completion of the payload is a
 * leaf, GEX_EC_LC. No destination byte may be a source byte or come twice. Remote pieces lie in the
 * peer's bound segment.
 */
#ifndef GASNET_VIS_H
#define GASNET_VIS_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gex_VIS_StridedPutNB: put and get of data in many pieces.
 * Vector forms take lists of address and length, indexed forms lists of addresses with one length,
 * strided forms arrays with counts and strides. Both sides may be cut into different pieces.
 * Blocking forms return when the data are in place, NBI forms complete in GEX_EC_PUT or
 * GEX_EC_GET, NB forms return a root event.
 * [in] dstrank, srcrank: the peer, a rank in tm.
 * [in] dstcount, srccount: entries of the list.
 * [in] dstlist, srclist: the pieces; on the side of the peer they lie in its bound segment.
 * [in] dstlen, srclen: bytes of each piece.
 * [in] dstaddr, srcaddr: where the array begins.
 * [in] dststrides, srcstrides: [stridelevels] bytes from one element to the next in each
 * dimension; any sign.
 * [in] elemsz: bytes of an element.
 * [in] count: [stridelevels] elements in each dimension.
 * [in] stridelevels: dimensions; 0 means one element.
 * Completion: payload and lists stay unchanged until completion; strides and counts are read
 * before the call returns. With GEX_FLAG_ENABLE_LEAF_LC local completion of a put is a leaf,
 * GEX_EC_LC.
 * Threads: normal context, any thread; may poll. gex_VIS_SetPeerCompletionHandler is for the next
 * put of the calling thread.
 * Errors: a total that differs between both sides, or pieces outside the bound segment, end the
 * process with a message in debug clients. Non-zero or GEX_EVENT_NO_OP come with
 * GEX_FLAG_IMMEDIATE only.
 * Cost: mapped peers: one copy of each piece. Others: pieces are packed into messages, or go as
 * puts of their own where they are long.
 * See: gex_RMA_PutNB, gex_Event_Wait, gasnett_format_putsgets */

/* Most payload of a peer completion handler, bytes. */
#define GEX_VIS_MAX_PEERCOMPLETION GEXX_NUMBER(size_t, 512)

/* Arms the calling thread: its next VIS put that starts runs `handler` at the target, as a Medium
 * reply without arguments, once the data are in place there. [in] handler: registered with exactly
 * GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY and no arguments; 0 disarms. [in] source_addr: [nbytes],
 * unchanged until local completion of that put. [in] nbytes: 0..GEX_VIS_MAX_PEERCOMPLETION. [in]
 * flags: 0. Never polls. That put must not be immediate; gets are not allowed while armed. A put of
 * no bytes notifies too. API 04.5. */
GEXX_API void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr,
                                               size_t nbytes, gex_Flags_t flags);

/* Vector: byte k of the concatenated source entries goes to byte k of the concatenated destination
 * entries; both sides have the same total. [in] dstlist: [dstcount], srclist: [srccount]; entries
 * may be empty. API 04.2. */
GEXX_API int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                       gex_Memvec_t const dstlist[], size_t srccount,
                                       gex_Memvec_t const srclist[], gex_Flags_t flags);
GEXX_API int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                  gex_Memvec_t const dstlist[], size_t srccount,
                                  gex_Memvec_t const srclist[], gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t
gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],
                    size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);
GEXX_API int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                       gex_Rank_t srcrank, size_t srccount,
                                       gex_Memvec_t const srclist[], gex_Flags_t flags);
GEXX_API int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                  gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                  gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount,
                                                          gex_Memvec_t const dstlist[],
                                                          gex_Rank_t srcrank, size_t srccount,
                                                          gex_Memvec_t const srclist[],
                                                          gex_Flags_t flags);

/* Indexed: entries of dstlen and of srclen bytes; dstcount * dstlen equals srccount * srclen. API
 * 04.3. */
GEXX_API int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                        void *const dstlist[], size_t dstlen, size_t srccount,
                                        void *const srclist[], size_t srclen, gex_Flags_t flags);
GEXX_API int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                   void *const dstlist[], size_t dstlen, size_t srccount,
                                   void *const srclist[], size_t srclen, gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank,
                                                           size_t dstcount, void *const dstlist[],
                                                           size_t dstlen, size_t srccount,
                                                           void *const srclist[], size_t srclen,
                                                           gex_Flags_t flags);
GEXX_API int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[],
                                        size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                        void *const srclist[], size_t srclen, gex_Flags_t flags);
GEXX_API int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[],
                                   size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                   void *const srclist[], size_t srclen, gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount,
                                                           void *const dstlist[], size_t dstlen,
                                                           gex_Rank_t srcrank, size_t srccount,
                                                           void *const srclist[], size_t srclen,
                                                           gex_Flags_t flags);

/* Strided: for every index vector i, 0 <= i[d] < count[d], the elemsz bytes at srcaddr + sum of
 * i[d] * srcstrides[d] go to dstaddr + sum of i[d] * dststrides[d]. [in] strides: [stridelevels],
 * bytes, any sign, order and size as long as destinations differ. [in] count: [stridelevels]. No
 * levels: one element. Cost: dimensions that are contiguous on both sides are copied as one. API
 * 04.4. */
GEXX_API int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                                        const ptrdiff_t dststrides[], void *srcaddr,
                                        const ptrdiff_t srcstrides[], size_t elemsz,
                                        const size_t count[], size_t stridelevels,
                                        gex_Flags_t flags);
GEXX_API int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                                   const ptrdiff_t dststrides[], void *srcaddr,
                                   const ptrdiff_t srcstrides[], size_t elemsz,
                                   const size_t count[], size_t stridelevels, gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t
gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                     void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                     const size_t count[], size_t stridelevels, gex_Flags_t flags);
GEXX_API int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                                        gex_Rank_t srcrank, void *srcaddr,
                                        const ptrdiff_t srcstrides[], size_t elemsz,
                                        const size_t count[], size_t stridelevels,
                                        gex_Flags_t flags);
GEXX_API int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                                   gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[],
                                   size_t elemsz, const size_t count[], size_t stridelevels,
                                   gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr,
                                                           const ptrdiff_t dststrides[],
                                                           gex_Rank_t srcrank, void *srcaddr,
                                                           const ptrdiff_t srcstrides[],
                                                           size_t elemsz, const size_t count[],
                                                           size_t stridelevels, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#endif

#if defined(GASNET_H) && !defined(GEXX_VIS_LEGACY_H)
#include "tombolo/legacy/vis_legacy.h"
#endif
