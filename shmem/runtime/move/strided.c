/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided put and get (OpenSHMEM 1.6, 9.5): iput, iget, ibput, ibget.
 *
 * Owns nothing. Called by programs. Calls: the strided transfers of the layer below, which copy
 * where the PE is mapped, and pack otherwise. Invariant: a put returns when its source may be
 * changed.
 */
#include "../sh.h"

#include <gasnet_vis.h>

struct strided {
  const char *call;
  void *dest;
  const void *source;
  ptrdiff_t dst, sst;          /* in elements */
  size_t block, blocks, bytes; /* elements of a block; blocks; bytes of an element */
  int pe;
};

/* Bytes from the first to the last element. */
static uint64_t span(const struct strided *s, ptrdiff_t stride) {
  if (!s->blocks || !s->block) return 0;
  return (s->blocks - 1) * (uint64_t)stride * s->bytes + s->block * s->bytes;
}

static void check(const struct strided *s) {
  if (s->dst < 1 || s->sst < 1)
    sh_fatal(s->call, "arguments dst and sst are %td and %td; they must be at least 1 [TMB-2326]",
             s->dst, s->sst);
}

static void put(struct shmem_ctx_s *ctx, const struct strided *s) {
  check(s);
  const struct sh_far to = sh_find(ctx, s->call, "dest", s->dest, span(s, s->dst), s->pe);
  if (!s->blocks || !s->block) return;
  const size_t count[] = {s->blocks};
  const ptrdiff_t dst[] = {s->dst * (ptrdiff_t)s->bytes}, sst[] = {s->sst * (ptrdiff_t)s->bytes};
  gex_Event_t event =
      gex_VIS_StridedPutNB(sh.tm, to.pe, to.owner, dst, (void *)(uintptr_t)s->source, sst,
                           s->block * s->bytes, count, 1, GEX_FLAG_ENABLE_LEAF_LC);
  if (event != GEX_EVENT_INVALID) {
    sh_complete(gex_Event_QueryLeaf(event, GEX_EC_LC));
    sh_pend(ctx, event);
  }
  if (sh.near[to.pe]) sh_wake(to.pe);
}

static void get(struct shmem_ctx_s *ctx, const struct strided *s) {
  check(s);
  const struct sh_far from = sh_find(ctx, s->call, "source", s->source, span(s, s->sst), s->pe);
  if (!s->blocks || !s->block) return;
  const size_t count[] = {s->blocks};
  const ptrdiff_t dst[] = {s->dst * (ptrdiff_t)s->bytes}, sst[] = {s->sst * (ptrdiff_t)s->bytes};
  sh_complete(gex_VIS_StridedGetNB(sh.tm, s->dest, dst, from.pe, from.owner, sst,
                                   s->block * s->bytes, count, 1, 0));
}

#define NONE
#define DEFINE_STRIDED(F, CTX, C, T, E, BYTES)                                                  \
 SH_DEF(void, F##iput##E,                                                                       \
        (CTX T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)) { \
  put(C, &(struct strided){#F "iput" #E, dest, source, dst, sst, 1, nelems, BYTES, pe});        \
 }                                                                                              \
 SH_DEF(void, F##iget##E,                                                                       \
        (CTX T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)) { \
  get(C, &(struct strided){#F "iget" #E, dest, source, dst, sst, 1, nelems, BYTES, pe});        \
 }                                                                                              \
 SH_DEF(void, F##ibput##E,                                                                      \
        (CTX T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
         size_t nblocks, int pe)) {                                                             \
  put(C, &(struct strided){#F "ibput" #E, dest, source, dst, sst, bsize, nblocks, BYTES, pe});  \
 }                                                                                              \
 SH_DEF(void, F##ibget##E,                                                                      \
        (CTX T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
         size_t nblocks, int pe)) {                                                             \
  get(C, &(struct strided){#F "ibget" #E, dest, source, dst, sst, bsize, nblocks, BYTES, pe});  \
 }
#define DEFINE(N, T)                                 \
 DEFINE_STRIDED(N##_, NONE, &sh.ctx, T, , sizeof(T)) \
 DEFINE_STRIDED(ctx_##N##_, SHMEM_CTX_ARG_, sh_ctx(ctx), T, , sizeof(T))
SHMEM_TYPES_RMA_(DEFINE)
#undef DEFINE
#define DEFINE(B, BYTES)                         \
 DEFINE_STRIDED(, NONE, &sh.ctx, void, B, BYTES) \
 DEFINE_STRIDED(ctx_, SHMEM_CTX_ARG_, sh_ctx(ctx), void, B, BYTES)
SHMEM_SIZES_(DEFINE)
