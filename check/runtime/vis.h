/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get: the description of one, its begin and its end.
 *
 * Owns: struct shape. Included by vis.c (gasnet_vis.h) and vis_legacy.c (GASNet-1). Calls
 * nothing. Invariants: a list has pieces of a length each or of one length; a strided side has
 * strides in bytes.
 */
#ifndef TMB_CHK_VIS_H
#define TMB_CHK_VIS_H

#include "check/runtime/chk.h"

/* One side: a list of pieces, or an address and strides. */
struct side {
  const gex_Memvec_t *vector; /* [count] */
  void *const *indexed;       /* [count] of `bytes` */
  const char *strided;        /* with `strides` */
  size_t count, bytes;
  const ptrdiff_t *strides;
};

struct shape {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get;
  struct side remote, local;
  const size_t *counts; /* [levels] of strided ones */
  size_t levels;
};

/* Record both sides. Returns what is to end. */
struct chk_pending chk_vis_begin(const struct shape *s, const char *call, const void *pc);

#define BEGIN(call, ...) \
 chk_vis_begin(&(struct shape){__VA_ARGS__}, call, __builtin_return_address(0))
#define VECTOR(list, n) \
 { .vector = (list), .count = (n) }
#define INDEXED(list, n, len) \
 { .indexed = (list), .count = (n), .bytes = (len) }

#endif
