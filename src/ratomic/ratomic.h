/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote atomics inside the library.
 *
 * Owns: declarations of ratomic: apply.c (one operation on a word of this process), domain.c
 * (domains), op.c (entry points off the inline path, and the messages of domains that are not
 * direct). Called by clients through gasnet_ratomic.h. Calls: core. Invariants: every operation on
 * every domain ends in gexx_ad_do_ of inline_ratomic.h, in tmb_ratomic_apply, or in the slot
 * `atomic` of a conduit, which must be atomic towards the processor instructions of the other two.
 */
#ifndef TMB_RATOMIC_RATOMIC_H
#define TMB_RATOMIC_RATOMIC_H

#include "core/gex.h"
#include "core/layer.h"

#include <gasnet_ratomic.h>

#include <stdbool.h>

#define TMB_MAGIC_AD 0x61645f31u

/* Opcodes of atomics; those that read or write one operand or two; those of integers only. */
#define TMB_RATOMIC_FETCHING                                                          \
 (GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | \
  GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_GET)
#define TMB_RATOMIC_PLAIN                                                                    \
 (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | \
  GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC | GEX_OP_SET | GEX_OP_CAS)
#define TMB_RATOMIC_INTEGER \
 (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR)
#define TMB_RATOMIC_TYPES \
 (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT | GEX_DT_DBL)

/* Bytes of a built-in type. */
static inline size_t tmb_ratomic_bytes(gex_DT_t dt) {
  return dt & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT) ? 4 : 8;
}

/* A domain. */
struct tmb_ad {
  struct gexx_ad_s head;
  struct tmb_ad *next; /* list of live domains */
  bool offload;        /* the network performs all of its operations; equal on all members */
  intptr_t delta[];    /* [team size] delta table of the team when the domain was made */
};

static inline struct tmb_ad *tmb_ad_of(gex_AD_t ad) {
  return (struct tmb_ad *)(void *)ad;
}

/* One operation on a word of this process. in operand: [2] values of type dt; out old: the value
 * before, of type dt. Any thread, any context. */
struct tmb_ratomic_rmw {
  gex_DT_t dt;
  gex_OP_t opcode;
  void *addr;
  const void *const *operand;
  void *old;
};
void tmb_ratomic_apply(const struct tmb_ratomic_rmw *rmw);

/* op.c, domain.c */
extern const struct tmb_layer tmb_ratomic_layer, tmb_domain_layer;

#endif
