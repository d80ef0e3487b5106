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

void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                      size_t srccount, gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_putv_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return;
  (void)tmb_vis_blocking(
      &(struct tmb_vis){.call = "gasnet_putv_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount,
                                    gasnet_memvec_t const dstlist[], size_t srccount,
                                    gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_putv_nb_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){
      .call = "gasnet_putv_nb_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                          size_t srccount, gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_putv_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){
      .call = "gasnet_putv_nbi_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                      size_t srccount, gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_getv_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return;
  (void)tmb_vis_blocking(&(struct tmb_vis){
      .call = "gasnet_getv_bulk", .tm = tm, .rank = srcnode, .is_get = true, .list = {dst, src}});
}

gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                                    gasnet_node_t srcnode, size_t srccount,
                                    gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_getv_nb_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gasnet_getv_nb_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .list = {dst, src}});
}

void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                          size_t srccount, gasnet_memvec_t const srclist[]) {
  const gex_TM_t tm = team("gasnet_getv_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.vec = entries(dstlist), .count = dstcount};
  const struct tmb_vis_list src = {.vec = entries(srclist), .count = srccount};
  if (TMB_LIKELY(tmb_vis_vector_now(peer, dst, src))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){.call = "gasnet_getv_nbi_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .list = {dst, src}});
}

void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                      size_t srccount, void *const srclist[], size_t srclen) {
  const gex_TM_t tm = team("gasnet_puti_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return;
  (void)tmb_vis_blocking(
      &(struct tmb_vis){.call = "gasnet_puti_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                    size_t dstlen, size_t srccount, void *const srclist[],
                                    size_t srclen) {
  const gex_TM_t tm = team("gasnet_puti_nb_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){
      .call = "gasnet_puti_nb_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                          size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
  const gex_TM_t tm = team("gasnet_puti_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){
      .call = "gasnet_puti_nbi_bulk", .tm = tm, .rank = dstnode, .list = {dst, src}});
}

void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                      size_t srccount, void *const srclist[], size_t srclen) {
  const gex_TM_t tm = team("gasnet_geti_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return;
  (void)tmb_vis_blocking(&(struct tmb_vis){
      .call = "gasnet_geti_bulk", .tm = tm, .rank = srcnode, .is_get = true, .list = {dst, src}});
}

gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                    gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                    size_t srclen) {
  const gex_TM_t tm = team("gasnet_geti_nb_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gasnet_geti_nb_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .list = {dst, src}});
}

void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                          gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                          size_t srclen) {
  const gex_TM_t tm = team("gasnet_geti_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_list dst = {.addr = dstlist, .count = dstcount, .len = dstlen};
  const struct tmb_vis_list src = {.addr = srclist, .count = srccount, .len = srclen};
  if (TMB_LIKELY(tmb_vis_indexed_now(peer, dst, src))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){.call = "gasnet_geti_nbi_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .list = {dst, src}});
}

void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                      void *srcaddr, const size_t srcstrides[], const size_t count[],
                      size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_puts_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_puts_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return;
  (void)tmb_vis_blocking(&(struct tmb_vis){.call = "gasnet_puts_bulk",
                                           .tm = tm,
                                           .rank = dstnode,
                                           .strided = true,
                                           .base = {dstaddr, srcaddr},
                                           .stride = in});
}

gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_puts_nb_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_puts_nb_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gasnet_puts_nb_bulk",
                                      .tm = tm,
                                      .rank = dstnode,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}

void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                          void *srcaddr, const size_t srcstrides[], const size_t count[],
                          size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_puts_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, dstnode, false, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_puts_nbi_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){.call = "gasnet_puts_nbi_bulk",
                                      .tm = tm,
                                      .rank = dstnode,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}

void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                      void *srcaddr, const size_t srcstrides[], const size_t count[],
                      size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_gets_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_gets_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return;
  (void)tmb_vis_blocking(&(struct tmb_vis){.call = "gasnet_gets_bulk",
                                           .tm = tm,
                                           .rank = srcnode,
                                           .is_get = true,
                                           .strided = true,
                                           .base = {dstaddr, srcaddr},
                                           .stride = in});
}

gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_gets_nb_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_gets_nb_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return GEX_EVENT_INVALID;
  return tmb_vis_nb(&(struct tmb_vis){.call = "gasnet_gets_nb_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}

void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                          void *srcaddr, const size_t srcstrides[], const size_t count[],
                          size_t stridelevels) {
  const gex_TM_t tm = team("gasnet_gets_nbi_bulk");
  const struct tmb_vis_peer peer = {tm, srcnode, true, 0};
  const struct tmb_vis_strided in =
      strided("gasnet_gets_nbi_bulk", dststrides, srcstrides, count, stridelevels);
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dstaddr, srcaddr, in))) return;
  (void)tmb_vis_nbi(&(struct tmb_vis){.call = "gasnet_gets_nbi_bulk",
                                      .tm = tm,
                                      .rank = srcnode,
                                      .is_get = true,
                                      .strided = true,
                                      .base = {dstaddr, srcaddr},
                                      .stride = in});
}
