/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining vectors: built-in types and operators, and the client's functions.
 *
 * Owns: struct tmb_reducer. Called by the engine and by entry points (lookup, legality). Calls: the
 * client's function. Invariants: result = left + right in that order also for built-in operators,
 * so that NaN and signed zero are equal on every rank; nothing here allocates.
 */
#ifndef TMB_COLL_REDUCE_H
#define TMB_COLL_REDUCE_H

#include "core/gex.h"
#include "core/job.h"
#include "core/op/thread.h"

#include <stdbool.h>
#include <string.h>

/* A client's function: y = x + y. */
typedef void tmb_reduce_fn(const void *x, void *y, size_t count, const void *cdata);

/* A built-in loop: out = x + y; out may be x or y. */
typedef void tmb_reduce_loop(const void *x, const void *y, void *out, size_t count);

/* Combination of a collective's elements: one of user and loop is NULL. */
struct tmb_reducer {
  tmb_reduce_fn *user;
  tmb_reduce_loop *loop;
  const void *cdata; /* of user */
  size_t elem;       /* bytes */
};

/* Find the loops of a built-in type and operator. Returns false when there are none (type or
 * operator unknown, or the operator is not defined for the type). */
bool tmb_reduce_builtin(gex_DT_t dt, gex_OP_t op, struct tmb_reducer *out);

/* Bytes of a built-in type, 0 for others. */
size_t tmb_reduce_type_bytes(gex_DT_t dt);

/* Call a client's function: y = x + y. */
static inline void tmb_reduce_user(const struct tmb_reducer *r, const void *x, void *y,
                                   size_t count) {
  if (TMB_LIKELY(!tmb_job.debug)) {
    r->user(x, y, count, r->cdata);
    return;
  }
  tmb_thread()->context |= TMB_IN_OPERATOR;
  r->user(x, y, count, r->cdata);
  tmb_thread()->context &= ~(uint32_t)TMB_IN_OPERATOR;
}

/* Combine a message with this rank's data: to = message + own, or own + message when `right`. A
 * client's function has its result in its second operand, so with `right` it overwrites the
 * message. `to` may be `local`. in bytes: multiple of the element size. */
static inline void tmb_reduce_apply(const struct tmb_reducer *r, void *to, const void *local,
                                    void *message, size_t bytes, bool right) {
  const size_t count = bytes / r->elem;
  if (r->loop) {
    r->loop(right ? local : message, right ? message : local, to, count);
  } else if (right) {
    tmb_reduce_user(r, local, message, count);
    memcpy(to, message, bytes);
  } else {
    if (to != local) memcpy(to, local, bytes);
    tmb_reduce_user(r, message, to, count);
  }
}

#endif
