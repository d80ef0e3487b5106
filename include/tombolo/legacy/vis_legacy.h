/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/legacy/vis_legacy.h: the non-contiguous put and get of GASNet-1 (API 08.8).
 *
 * Owns their prototypes. Included by whichever of gasnet.h and gasnet_vis.h comes last, when a
 * client includes both. The functions are in src/api/legacy_vis.c.
 * Common rules: normal context, may poll; `_bulk` is blocking, `_nb_bulk` returns a handle,
 * `_nbi_bulk` completes with the implicit puts or gets. Source, destination and, for v and i, the
 * lists stay unchanged until completion. v and i are vector and indexed transfers (API 04.2, 04.3).
 * Strided (s): count[0] is the bytes of a contiguous chunk, count[1..stridelevels] are repetitions,
 * strides are [stridelevels] bytes, stride[0] >= count[0], stride[d] >= count[d] * stride[d - 1].
 */
#ifndef GEXX_VIS_LEGACY_H
#define GEXX_VIS_LEGACY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnet_puts_bulk: GASNet-1: put and get of data in many pieces.
 * putv and getv take lists of address and length, puti and geti lists of addresses with one
 * length, puts and gets arrays with strides. Strides are those of GASNet-1: count[0] is the bytes
 * of a contiguous piece, and count has stridelevels + 1 entries.
 * [in] dstnode, srcnode: rank of the peer.
 * [in] dstcount, srccount: entries of the list.
 * [in] dstlist, srclist: the pieces.
 * [in] dstlen, srclen: bytes of each piece.
 * [in] dstaddr, srcaddr: where the array begins.
 * [in] dststrides, srcstrides: [stridelevels] bytes from one piece to the next.
 * [in] count: [stridelevels + 1]: bytes of a piece, then pieces in each dimension.
 * [in] stridelevels: dimensions.
 * Completion: payload and lists stay unchanged until completion. Names with nb return a handle,
 * those with nbi join the implicit operations, others block.
 * Threads: normal context, any thread; may poll.
 * Errors: totals that differ end the process with a message in debug clients.
 * Cost: as gex_VIS_StridedPutNB.
 * See: gex_VIS_StridedPutNB, gasnet_wait_syncnb */

/* Vector. */
GEXX_API void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount,
                               gasnet_memvec_t const dstlist[], size_t srccount,
                               gasnet_memvec_t const srclist[]);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode,
                                                              size_t dstcount,
                                                              gasnet_memvec_t const dstlist[],
                                                              size_t srccount,
                                                              gasnet_memvec_t const srclist[]);
GEXX_API void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount,
                                   gasnet_memvec_t const dstlist[], size_t srccount,
                                   gasnet_memvec_t const srclist[]);
GEXX_API void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                               gasnet_node_t srcnode, size_t srccount,
                               gasnet_memvec_t const srclist[]);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount,
                                                              gasnet_memvec_t const dstlist[],
                                                              gasnet_node_t srcnode,
                                                              size_t srccount,
                                                              gasnet_memvec_t const srclist[]);
GEXX_API void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                                   gasnet_node_t srcnode, size_t srccount,
                                   gasnet_memvec_t const srclist[]);

/* Indexed. */
GEXX_API void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                               size_t dstlen, size_t srccount, void *const srclist[],
                               size_t srclen);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode,
                                                              size_t dstcount,
                                                              void *const dstlist[], size_t dstlen,
                                                              size_t srccount,
                                                              void *const srclist[], size_t srclen);
GEXX_API void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                   size_t dstlen, size_t srccount, void *const srclist[],
                                   size_t srclen);
GEXX_API void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                               gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                               size_t srclen);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount,
                                                              void *const dstlist[], size_t dstlen,
                                                              gasnet_node_t srcnode,
                                                              size_t srccount,
                                                              void *const srclist[], size_t srclen);
GEXX_API void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                   gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                   size_t srclen);

/* Strided. */
GEXX_API void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                               void *srcaddr, const size_t srcstrides[], const size_t count[],
                               size_t stridelevels);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t
gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                    const size_t srcstrides[], const size_t count[], size_t stridelevels);
GEXX_API void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                   void *srcaddr, const size_t srcstrides[], const size_t count[],
                                   size_t stridelevels);
GEXX_API void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                               void *srcaddr, const size_t srcstrides[], const size_t count[],
                               size_t stridelevels);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t
gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                    const size_t srcstrides[], const size_t count[], size_t stridelevels);
GEXX_API void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                   void *srcaddr, const size_t srcstrides[], const size_t count[],
                                   size_t stridelevels);

#ifdef __cplusplus
}
#endif

#endif
