/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GASNet-1 non-contiguous put and get (API 08.8): the EX transfers of src/vis under older names.
 *
 * Owns nothing. Called by clients. Calls: tmb_vis_blocking, _nb and _nbi. Invariants: messages name
 * the GASNet-1 function; a chunk of count[0] bytes is the element of the EX form, so the counts
 * that follow are its counts.
 */
#include "core/check.h"
#include "vis/vis.h"

#include <gasnet.h>
#include <gasnet_vis.h>

_Static_assert(sizeof(gasnet_memvec_t) == sizeof(gex_Memvec_t) &&
                   offsetof(gasnet_memvec_t, len) == offsetof(gex_Memvec_t, gex_len),
               "one entry under two names");

static gex_TM_t team(const char *call) {
  return TMB_UNLIKELY(!gexx_legacy_tm || tmb_job.debug) ? gexx_legacy_team(call) : gexx_legacy_tm;
}

static const gex_Memvec_t *entries(const gasnet_memvec_t *list) {
  return (const gex_Memvec_t *)(const void *)list;
}

static void check_strides(const char *call, const char *argument, const size_t *stride,
                          const size_t *count, size_t levels) {
  size_t least = count[0];
  for (size_t d = 0; d < levels; d++) {
    if (d && __builtin_mul_overflow(count[d], stride[d - 1], &least)) least = SIZE_MAX;
    if (stride[d] < least && count[d + 1] > 1)
      tmb_advise(TMB_ADVICE_STRIDES,
                 "%s: argument %s: stride %zu is %zu, but what lies below it takes %zu bytes", call,
                 argument, d, stride[d], least);
  }
}

static struct tmb_vis_strided strided(const char *call, const size_t *dst, const size_t *src,
                                      const size_t *count, size_t levels) {
  size_t any = 1;
  if (TMB_UNLIKELY(tmb_job.debug)) {
    for (size_t d = 0; d <= levels; d++) any = any && count[d];
    if (any) check_strides(call, "dststrides", dst, count, levels);
    if (any) check_strides(call, "srcstrides", src, count, levels);
  }
  return (struct tmb_vis_strided){
      {(const ptrdiff_t *)(const void *)dst, (const ptrdiff_t *)(const void *)src},
      count + 1,
      count[0],
      levels};
}

/* Serve a call, unless its data are in place already. */
static void blocking(bool done, struct tmb_vis *v) {
  if (!done) (void)tmb_vis_blocking(v);
}

static void nbi(bool done, struct tmb_vis *v) {
  if (!done) (void)tmb_vis_nbi(v);
}

static gasnet_handle_t nb(bool done, struct tmb_vis *v) {
  return done ? GEX_EVENT_INVALID : tmb_vis_nb(v);
}

/* The kinds of a call: suffix, result, how the call ends, server. */
/* tidy-allow: macro-flow because it is a parameter, which ends the functions made below */
#define KINDS(CALL, SHAPE)                         \
 CALL(SHAPE, bulk, void, , blocking)               \
 CALL(SHAPE, nb_bulk, gasnet_handle_t, return, nb) \
 CALL(SHAPE, nbi_bulk, void, , nbi)

/* Parameters of a call as a description: the lists, the strides. */
#define LIST(L)       ((struct tmb_vis_list){.vec = entries(L##list), .count = L##count})
#define PIECES(L)     ((struct tmb_vis_list){.addr = L##list, .count = L##count, .len = L##len})
#define STRIDES(call) strided(call, dststrides, srcstrides, count, stridelevels)

/* A shape (v: vector, i: indexed, s: strided): the parameters of a side, those behind both, and the
 * description of a call in v. */
#define SIDE_v(L)     size_t L##count, gasnet_memvec_t const L##list[]
#define MORE_v
#define BEGIN_v(call, peer) tmb_vis_lists(&v, call, peer, LIST(dst), LIST(src), tmb_vis_vector_now)

#define SIDE_i(L)           size_t L##count, void *const L##list[], size_t L##len
#define MORE_i
#define BEGIN_i(call, peer) \
 tmb_vis_lists(&v, call, peer, PIECES(dst), PIECES(src), tmb_vis_indexed_now)

#define SIDE_s(L)           void *L##addr, const size_t L##strides[]
#define MORE_s              , const size_t count[], size_t stridelevels
#define BEGIN_s(call, peer) tmb_vis_strides(&v, call, peer, dstaddr, srcaddr, STRIDES(call))

#define PUT(SHAPE, KIND, RESULT, END, SERVE)                                 \
 RESULT gasnet_put##SHAPE##_##KIND(gasnet_node_t dstnode, SIDE_##SHAPE(dst), \
                                   SIDE_##SHAPE(src) MORE_##SHAPE) {         \
  const char *call = "gasnet_put" #SHAPE "_" #KIND;                          \
  const struct tmb_vis_peer to = {team(call), dstnode, false, 0};            \
  struct tmb_vis v;                                                          \
  END SERVE(BEGIN_##SHAPE(call, to), &v);                                    \
 }
#define GET(SHAPE, KIND, RESULT, END, SERVE)                                 \
 RESULT gasnet_get##SHAPE##_##KIND(SIDE_##SHAPE(dst), gasnet_node_t srcnode, \
                                   SIDE_##SHAPE(src) MORE_##SHAPE) {         \
  const char *call = "gasnet_get" #SHAPE "_" #KIND;                          \
  const struct tmb_vis_peer from = {team(call), srcnode, true, 0};           \
  struct tmb_vis v;                                                          \
  END SERVE(BEGIN_##SHAPE(call, from), &v);                                  \
 }

KINDS(PUT, v)
KINDS(GET, v)
KINDS(PUT, i)
KINDS(GET, i)
KINDS(PUT, s)
KINDS(GET, s)
