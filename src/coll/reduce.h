/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining vectors: built-in types and operators, and the client's functions.
 *
 * Owns: struct tmb_reducer. Called by the engine and by entry points (lookup, legality). Calls: the
 * client's function. Invariants: result = left + right in that order also for built-in operators,
 * so that NaN and signed zero come out the same on every rank; nothing here allocates.
 */
#ifndef TMB_COLL_REDUCE_H
#define TMB_COLL_REDUCE_H

#include "core/gex.h"

#include <stdbool.h>
#include <string.h>

typedef void tmb_reduce_fn(const void *x, void *y, size_t count, const void *cdata);

/* How a collective combines. left: y = x + y. right: y = y + x; NULL for client's functions. */
struct tmb_reducer {
  tmb_reduce_fn *left, *right;
  const void *cdata;
  size_t elem; /* bytes */
};

/* Find the loops of a built-in type and operator. Returns false when there are none (type or
 * operator unknown, or the operator is not defined for the type). */
bool tmb_reduce_builtin(gex_DT_t dt, gex_OP_t op, struct tmb_reducer *out);

/* Bytes of a built-in type, 0 for others. */
size_t tmb_reduce_type_bytes(gex_DT_t dt);

/* to = from + to, or to + from when `right`; a client's function then overwrites `from`. in bytes:
 * multiple of the element size. */

static inline void tmb_reduce_apply(const struct tmb_reducer *r, void *to, void *from, size_t bytes,
                                    bool right) {
  const size_t count = bytes / r->elem;
  if (!right) {
    r->left(from, to, count, r->cdata);
  } else if (r->right) {
    r->right(from, to, count, r->cdata);
  } else {
    r->left(to, from, count, r->cdata);
    memcpy(to, from, bytes);
  }
}

#endif
