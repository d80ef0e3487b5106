/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of clients' reduction functions: made by the progress hook, outside every lock.
 *
 * Owns: struct tmb_apply, and the declarations of apply.c. Called by the engine and by coll/shared,
 * under the lock of collectives. Calls: the client's function. A collective that comes to such a
 * call posts it, is left alone until it is made, and then goes on (`then`). Any thread that polls
 * could make it, but a function may take long, and a thread that waits for something else should
 * not: so it is left for the thread that started, awaits or tests the collective's event, for
 * GRACE. Invariants: a collective has at most one call posted or running; its operands stay as they
 * are until `then`; no call is made inside a handler.
 */
#ifndef TMB_COLL_APPLY_H
#define TMB_COLL_APPLY_H

#include "coll/reduce/reduce.h"
#include "core/op/op.h"

struct tmb_apply {
  struct tmb_apply *next;
  const struct tmb_reducer *reducer; /* with a client's function */
  void *to, *message;                /* as those of tmb_reduce_apply */
  const void *own;
  size_t bytes;
  bool right;
  bool posted, running; /* one of them, from post until just before `then` */
  struct tmb_op *event; /* of the collective */
  uint64_t since;       /* when another thread first left it alone; 0: not yet */
  void (*then)(struct tmb_apply *a);
};

/* Have a call made: all fields but next, posted, running and since are set. */
void tmb_apply_post(struct tmb_apply *a);

/* Take back a call that is only posted. Returns whether it was. */
bool tmb_apply_cancel(struct tmb_apply *a);

/* Whether some are posted. */
bool tmb_apply_any(void);

/* Make one call that this thread may make, with the lock released meanwhile. Returns TMB_FOUND_
 * bits: BUSY where all that are posted are left for other threads. */
int tmb_apply_run(void);

#endif
