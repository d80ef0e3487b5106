/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the arguments of a public call to a struct tmb_coll_call.
 *
 * Owns: declarations of call.c. Called by the entry points of GASNet-EX, of the extension and of
 * GASNet-1 in this folder. Calls: engine.h, core/check.h. Invariants: checks run in debug clients
 * only, except those without which the library would fail later with a less clear message (unknown
 * operators).
 */
#ifndef TMB_COLL_CALL_H
#define TMB_COLL_CALL_H

#include "coll/engine/engine.h"

#include "gasnet_coll.h"

/* Operands of a reduction. */
struct tmb_coll_operands {
  gex_DT_t dt;
  size_t dt_sz, dt_cnt;
  gex_OP_t op;
  gex_Coll_ReduceFn_t user_op;
  void *user_cdata;
};

/* Fill call->reducer, commutes and bytes; fatal, naming call->name, for illegal arguments. */
void tmb_coll_operands(struct tmb_coll_call *call, const struct tmb_coll_operands *o);

/* Debug clients: fatal unless context, team, root, flags and buffers are valid. */
void tmb_coll_check(const struct tmb_coll_call *call, gex_Flags_t flags);

#endif
