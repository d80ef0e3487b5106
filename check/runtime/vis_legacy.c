/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get of GASNet-1 (legacy/vis_legacy.h).
 *
 * Owns nothing. Defines calls of the library, and calls the library's own. Calls: vis.c. KINDS
 * makes three calls: one that blocks, one with a handle, and one that joins the implicit
 * operations. Invariants as in vis.c; count[0] is the bytes of a piece.
 */
#include "check/runtime/vis.h"

/* The kinds of a call: suffix, result, how it ends. */
#define KINDS(CALL, SHAPE)                          \
 CALL(SHAPE, bulk, void, BLOCKING)                  \
 CALL(SHAPE, nb_bulk, gasnet_handle_t, CHK_STARTED) \
 CALL(SHAPE, nbi_bulk, void, IMPLICIT)

#define BLOCKING(call) \
 call;                 \
 chk_started(&p, GEX_EVENT_INVALID)
#define IMPLICIT(call) \
 call;                 \
 chk_started_nbi(&p, 0)

/* A shape (v: vector, i: indexed, s: strided): parameters and arguments of a side, those behind
 * both, and struct side and counts. */
#define SIDE_v(L)  size_t L##count, gasnet_memvec_t const L##list[]
#define GIVEN_v(L) L##count, L##list
#define MORE_v
#define MORE_GIVEN_v
#define AS_v(L)    VECTOR((const gex_Memvec_t *)(const void *)(L##list), L##count)
#define COUNTS_v   NULL, 0

#define SIDE_i(L)  size_t L##count, void *const L##list[], size_t L##len
#define GIVEN_i(L) L##count, L##list, L##len
#define MORE_i
#define MORE_GIVEN_i
#define AS_i(L)      INDEXED(L##list, L##count, L##len)
#define COUNTS_i     NULL, 0

#define SIDE_s(L)    void *L##addr, const size_t L##strides[]
#define GIVEN_s(L)   L##addr, L##strides
#define MORE_s       , const size_t count[], size_t stridelevels
#define MORE_GIVEN_s , count, stridelevels
#define AS_s(L) \
 { .strided = L##addr, .strides = (const ptrdiff_t *)(const void *)L##strides, .bytes = count[0] }
#define COUNTS_s count + 1, stridelevels

#define PUT(SHAPE, KIND, RESULT, END)                                                             \
 CHK_DEFINE(RESULT, gasnet_put##SHAPE##_##KIND,                                                   \
            (gasnet_node_t dstnode, SIDE_##SHAPE(dst), SIDE_##SHAPE(src) MORE_##SHAPE),           \
            (dstnode, GIVEN_##SHAPE(dst), GIVEN_##SHAPE(src) MORE_GIVEN_##SHAPE), END,            \
            BEGIN("gasnet_put" #SHAPE "_" #KIND, gexx_legacy_team("gasnet_put" #SHAPE "_" #KIND), \
                  dstnode, false, AS_##SHAPE(dst), AS_##SHAPE(src), COUNTS_##SHAPE))
#define GET(SHAPE, KIND, RESULT, END)                                                             \
 CHK_DEFINE(RESULT, gasnet_get##SHAPE##_##KIND,                                                   \
            (SIDE_##SHAPE(dst), gasnet_node_t srcnode, SIDE_##SHAPE(src) MORE_##SHAPE),           \
            (GIVEN_##SHAPE(dst), srcnode, GIVEN_##SHAPE(src) MORE_GIVEN_##SHAPE), END,            \
            BEGIN("gasnet_get" #SHAPE "_" #KIND, gexx_legacy_team("gasnet_get" #SHAPE "_" #KIND), \
                  srcnode, true, AS_##SHAPE(src), AS_##SHAPE(dst), COUNTS_##SHAPE))

KINDS(PUT, v)
KINDS(GET, v)
KINDS(PUT, i)
KINDS(GET, i)
KINDS(PUT, s)
KINDS(GET, s)
