/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public non-contiguous calls (API 04), as descriptions of transfers.
 *
 * Owns nothing. Called by clients. Calls: tmb_vis_blocking, _nbi and _nb of vis.c, which check and
 * serve. Contracts are in gasnet_vis.h. Invariant: a call is a put or a get, of one of three
 * shapes, in one of three kinds; a shape gives the parameters, a kind the result and the server.
 */
#include "vis/vis.h"

#include <gasnet_vis.h>

/* The kinds of a call: suffix, result, the result where the data are in place on return, server. */
#define KINDS(CALL, SHAPE)                       \
 CALL(SHAPE, Blocking, int, 0, tmb_vis_blocking) \
 CALL(SHAPE, NBI, int, 0, tmb_vis_nbi)           \
 CALL(SHAPE, NB, gex_Event_t, GEX_EVENT_INVALID, tmb_vis_nb)

/* Parameters of a call as a description: the lists. */
#define LIST(L)        ((struct tmb_vis_list){.vec = L##list, .count = L##count})
#define PIECES(L)      ((struct tmb_vis_list){.addr = L##list, .count = L##count, .len = L##len})

/* A shape: the parameters of a side, those behind both, and the description of a call in v. */
#define SIDE_Vector(L) size_t L##count, gex_Memvec_t const L##list[]
#define MORE_Vector
#define BEGIN_Vector(call, peer) \
 tmb_vis_lists(&v, call, peer, LIST(dst), LIST(src), tmb_vis_vector_now)

#define SIDE_Indexed(L) size_t L##count, void *const L##list[], size_t L##len
#define MORE_Indexed
#define BEGIN_Indexed(call, peer) \
 tmb_vis_lists(&v, call, peer, PIECES(dst), PIECES(src), tmb_vis_indexed_now)

#define SIDE_Strided(L) void *L##addr, const ptrdiff_t L##strides[]
#define MORE_Strided    , size_t elemsz, const size_t count[], size_t stridelevels
#define BEGIN_Strided(call, peer)                  \
 tmb_vis_strides(&v, call, peer, dstaddr, srcaddr, \
                 (struct tmb_vis_strided){{dststrides, srcstrides}, count, elemsz, stridelevels})

#define PUT(SHAPE, KIND, RESULT, DONE, SERVE)                                           \
 RESULT gex_VIS_##SHAPE##Put##KIND(gex_TM_t tm, gex_Rank_t dstrank, SIDE_##SHAPE(dst),  \
                                   SIDE_##SHAPE(src) MORE_##SHAPE, gex_Flags_t flags) { \
  const struct tmb_vis_peer to = {tm, dstrank, false, flags};                           \
  struct tmb_vis v;                                                                     \
  return BEGIN_##SHAPE("gex_VIS_" #SHAPE "Put" #KIND, to) ? DONE : SERVE(&v);           \
 }
#define GET(SHAPE, KIND, RESULT, DONE, SERVE)                                           \
 RESULT gex_VIS_##SHAPE##Get##KIND(gex_TM_t tm, SIDE_##SHAPE(dst), gex_Rank_t srcrank,  \
                                   SIDE_##SHAPE(src) MORE_##SHAPE, gex_Flags_t flags) { \
  const struct tmb_vis_peer from = {tm, srcrank, true, flags};                          \
  struct tmb_vis v;                                                                     \
  return BEGIN_##SHAPE("gex_VIS_" #SHAPE "Get" #KIND, from) ? DONE : SERVE(&v);         \
 }

KINDS(PUT, Vector)
KINDS(GET, Vector)
KINDS(PUT, Indexed)
KINDS(GET, Indexed)
KINDS(PUT, Strided)
KINDS(GET, Strided)
