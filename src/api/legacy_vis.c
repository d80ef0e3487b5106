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
#define KINDS(SHAPE)                         \
 SHAPE(bulk, void, , blocking)               \
 SHAPE(nb_bulk, gasnet_handle_t, return, nb) \
 SHAPE(nbi_bulk, void, , nbi)

/* Parameters of a call as a description: the peer, the two lists, the strides. */
#define TARGET(CALL)  ((struct tmb_vis_peer){team(CALL), dstnode, false, 0})
#define SOURCE(CALL)  ((struct tmb_vis_peer){team(CALL), srcnode, true, 0})
#define VECTOR(L)     ((struct tmb_vis_list){.vec = entries(L##list), .count = L##count})
#define INDEXED(L)    ((struct tmb_vis_list){.addr = L##list, .count = L##count, .len = L##len})
#define STRIDES(CALL) strided(CALL, dststrides, srcstrides, count, stridelevels)

#define VECTOR_PUT(KIND, RESULT, END, SERVE)                                       \
 RESULT gasnet_putv_##KIND(gasnet_node_t dstnode, size_t dstcount,                 \
                           gasnet_memvec_t const dstlist[], size_t srccount,       \
                           gasnet_memvec_t const srclist[]) {                      \
  const char *call = "gasnet_putv_" #KIND;                                         \
  struct tmb_vis v;                                                                \
  END SERVE(tmb_vis_vector(&v, call, TARGET(call), VECTOR(dst), VECTOR(src)), &v); \
 }
KINDS(VECTOR_PUT)

#define VECTOR_GET(KIND, RESULT, END, SERVE)                                       \
 RESULT gasnet_getv_##KIND(size_t dstcount, gasnet_memvec_t const dstlist[],       \
                           gasnet_node_t srcnode, size_t srccount,                 \
                           gasnet_memvec_t const srclist[]) {                      \
  const char *call = "gasnet_getv_" #KIND;                                         \
  struct tmb_vis v;                                                                \
  END SERVE(tmb_vis_vector(&v, call, SOURCE(call), VECTOR(dst), VECTOR(src)), &v); \
 }
KINDS(VECTOR_GET)

#define INDEXED_PUT(KIND, RESULT, END, SERVE)                                                      \
 RESULT gasnet_puti_##KIND(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],          \
                           size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) { \
  const char *call = "gasnet_puti_" #KIND;                                                         \
  struct tmb_vis v;                                                                                \
  END SERVE(tmb_vis_indexed(&v, call, TARGET(call), INDEXED(dst), INDEXED(src)), &v);              \
 }
KINDS(INDEXED_PUT)

#define INDEXED_GET(KIND, RESULT, END, SERVE)                                             \
 RESULT gasnet_geti_##KIND(size_t dstcount, void *const dstlist[], size_t dstlen,         \
                           gasnet_node_t srcnode, size_t srccount, void *const srclist[], \
                           size_t srclen) {                                               \
  const char *call = "gasnet_geti_" #KIND;                                                \
  struct tmb_vis v;                                                                       \
  END SERVE(tmb_vis_indexed(&v, call, SOURCE(call), INDEXED(dst), INDEXED(src)), &v);     \
 }
KINDS(INDEXED_GET)

#define STRIDED_PUT(KIND, RESULT, END, SERVE)                                               \
 RESULT gasnet_puts_##KIND(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], \
                           void *srcaddr, const size_t srcstrides[], const size_t count[],  \
                           size_t stridelevels) {                                           \
  const char *call = "gasnet_puts_" #KIND;                                                  \
  struct tmb_vis v;                                                                         \
  END SERVE(tmb_vis_strides(&v, call, TARGET(call), dstaddr, srcaddr, STRIDES(call)), &v);  \
 }
KINDS(STRIDED_PUT)

#define STRIDED_GET(KIND, RESULT, END, SERVE)                                               \
 RESULT gasnet_gets_##KIND(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, \
                           void *srcaddr, const size_t srcstrides[], const size_t count[],  \
                           size_t stridelevels) {                                           \
  const char *call = "gasnet_gets_" #KIND;                                                  \
  struct tmb_vis v;                                                                         \
  END SERVE(tmb_vis_strides(&v, call, SOURCE(call), dstaddr, srcaddr, STRIDES(call)), &v);  \
 }
KINDS(STRIDED_GET)
