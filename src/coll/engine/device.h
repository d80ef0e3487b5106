/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on device memory, see device.c.
 *
 * Owns: declarations of device.c. Called by engine.h (start) and by what completes collectives.
 * Calls: nothing. Invariants: cheap where no device segment exists: one load and a test.
 */
#ifndef TMB_COLL_DEVICE_H
#define TMB_COLL_DEVICE_H

#include "core/job.h"
#include "core/op/op.h"

struct tmb_coll_call;
struct tmb_coll_plan;
struct tmb_coll_staged;

/* Collectives in flight whose results go to device memory or whose sources were there. */
extern struct tmb_coll_staged *tmb_coll_staged;

/* tmb_coll_start for a process that has device segments. */
gex_Event_t tmb_coll_device_start(const struct tmb_coll_call *call, struct tmb_coll_plan *plan);

/* The data of the collective behind an event are there: move them on to the device. Under the lock
 * of collectives. */
void tmb_coll_device_finish(const struct tmb_op *event);

/* Complete the event of a collective. Under the lock of collectives. */
static inline void tmb_coll_event_done(struct tmb_op *event) {
  if (TMB_UNLIKELY(tmb_coll_staged != NULL)) tmb_coll_device_finish(event);
  tmb_up_op_done(event, TMB_CAT_PUT);
}

#endif
