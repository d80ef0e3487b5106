/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get of GASNet-1 (legacy/vis_legacy.h).
 *
 * Owns nothing. These are calls of the library, which serves them itself. Calls: vis.c. Each macro
 * makes three calls: one that blocks, one with a handle, and one that joins the implicit
 * operations. Invariants as in vis.c; count[0] is the bytes of a piece.
 */
#include "check/runtime/vis.h"

/* The kinds of a call: suffix, result, how it ends. */
#define KINDS(SHAPE)                     \
 SHAPE(bulk, void, BLOCKING)             \
 SHAPE(nb_bulk, gasnet_handle_t, HANDLE) \
 SHAPE(nbi_bulk, void, IMPLICIT)

#define BLOCKING(call) \
 call;                 \
 chk_started(&p, GEX_EVENT_INVALID)
#define HANDLE(call)                 \
 const gasnet_handle_t event = call; \
 chk_started(&p, event);             \
 return event
#define IMPLICIT(call) \
 call;                 \
 chk_started_nbi(&p, 0)

#define OF(call, ...) BEGIN(call, gexx_legacy_team(call), __VA_ARGS__)
#define ENTRIES(side) VECTOR((const gex_Memvec_t *)(const void *)(side##list), side##count)
#define PIECES(side)  INDEXED(side##list, side##count, side##len)
#define STRIDES(side)                                                               \
 {                                                                                  \
  .strided = side##addr, .strides = (const ptrdiff_t *)(const void *)side##strides, \
  .bytes = count[0]                                                                 \
 }

#define VECTOR_PUT(KIND, RESULT, END)                                                 \
 RESULT gasnet_putv_##KIND(gasnet_node_t dstnode, size_t dstcount,                    \
                           gasnet_memvec_t const dstlist[], size_t srccount,          \
                           gasnet_memvec_t const srclist[]) {                         \
  if (!chk_on())                                                                      \
   return chk_real.gasnet_putv_##KIND(dstnode, dstcount, dstlist, srccount, srclist); \
  const struct chk_pending p =                                                        \
      OF("gasnet_putv_" #KIND, dstnode, false, ENTRIES(dst), ENTRIES(src), NULL, 0);  \
  END(chk_real.gasnet_putv_##KIND(dstnode, dstcount, dstlist, srccount, srclist));    \
 }
KINDS(VECTOR_PUT)

#define VECTOR_GET(KIND, RESULT, END)                                                 \
 RESULT gasnet_getv_##KIND(size_t dstcount, gasnet_memvec_t const dstlist[],          \
                           gasnet_node_t srcnode, size_t srccount,                    \
                           gasnet_memvec_t const srclist[]) {                         \
  if (!chk_on())                                                                      \
   return chk_real.gasnet_getv_##KIND(dstcount, dstlist, srcnode, srccount, srclist); \
  const struct chk_pending p =                                                        \
      OF("gasnet_getv_" #KIND, srcnode, true, ENTRIES(src), ENTRIES(dst), NULL, 0);   \
  END(chk_real.gasnet_getv_##KIND(dstcount, dstlist, srcnode, srccount, srclist));    \
 }
KINDS(VECTOR_GET)

#define INDEXED_PUT(KIND, RESULT, END)                                                             \
 RESULT gasnet_puti_##KIND(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],          \
                           size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) { \
  if (!chk_on())                                                                                   \
   return chk_real.gasnet_puti_##KIND(dstnode, dstcount, dstlist, dstlen, srccount, srclist,       \
                                      srclen);                                                     \
  const struct chk_pending p =                                                                     \
      OF("gasnet_puti_" #KIND, dstnode, false, PIECES(dst), PIECES(src), NULL, 0);                 \
  END(chk_real.gasnet_puti_##KIND(dstnode, dstcount, dstlist, dstlen, srccount, srclist, srclen)); \
 }
KINDS(INDEXED_PUT)

#define INDEXED_GET(KIND, RESULT, END)                                                             \
 RESULT gasnet_geti_##KIND(size_t dstcount, void *const dstlist[], size_t dstlen,                  \
                           gasnet_node_t srcnode, size_t srccount, void *const srclist[],          \
                           size_t srclen) {                                                        \
  if (!chk_on())                                                                                   \
   return chk_real.gasnet_geti_##KIND(dstcount, dstlist, dstlen, srcnode, srccount, srclist,       \
                                      srclen);                                                     \
  const struct chk_pending p =                                                                     \
      OF("gasnet_geti_" #KIND, srcnode, true, PIECES(src), PIECES(dst), NULL, 0);                  \
  END(chk_real.gasnet_geti_##KIND(dstcount, dstlist, dstlen, srcnode, srccount, srclist, srclen)); \
 }
KINDS(INDEXED_GET)

#define STRIDED_PUT(KIND, RESULT, END)                                                          \
 RESULT gasnet_puts_##KIND(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],     \
                           void *srcaddr, const size_t srcstrides[], const size_t count[],      \
                           size_t stridelevels) {                                               \
  if (!chk_on())                                                                                \
   return chk_real.gasnet_puts_##KIND(dstnode, dstaddr, dststrides, srcaddr, srcstrides, count, \
                                      stridelevels);                                            \
  const struct chk_pending p = OF("gasnet_puts_" #KIND, dstnode, false, STRIDES(dst),           \
                                  STRIDES(src), count + 1, stridelevels);                       \
  END(chk_real.gasnet_puts_##KIND(dstnode, dstaddr, dststrides, srcaddr, srcstrides, count,     \
                                  stridelevels));                                               \
 }
KINDS(STRIDED_PUT)

#define STRIDED_GET(KIND, RESULT, END)                                                             \
 RESULT gasnet_gets_##KIND(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,        \
                           void *srcaddr, const size_t srcstrides[], const size_t count[],         \
                           size_t stridelevels) {                                                  \
  if (!chk_on())                                                                                   \
   return chk_real.gasnet_gets_##KIND(dstaddr, dststrides, srcnode, srcaddr, srcstrides, count,    \
                                      stridelevels);                                               \
  const struct chk_pending p = OF("gasnet_gets_" #KIND, srcnode, true, STRIDES(src), STRIDES(dst), \
                                  count + 1, stridelevels);                                        \
  END(chk_real.gasnet_gets_##KIND(dstaddr, dststrides, srcnode, srcaddr, srcstrides, count,        \
                                  stridelevels));                                                  \
 }
KINDS(STRIDED_GET)
