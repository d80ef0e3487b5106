/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on device memory, see device.c.
 *
 * Owns: declarations of device.c. Called by calls/start.c and by the completion of collectives.
 * Calls: nothing. Invariants: cheap where no device segment exists: one load and a test.
 */
#ifndef TMB_COLL_DEVICE_H
#define TMB_COLL_DEVICE_H

#include "coll/engine/state.h"
#include "core/job.h"
#include "core/op/op.h"
#include "net/up.h"

struct tmb_coll_call;
struct tmb_coll_staged;

/* If buffers of a call are in device memory: take host memory in their place, with copies of the
 * data that the collective reads. in,out host: the call, changed to use it. Returns NULL when none
 * are there. Fatal when there is no memory. */
struct tmb_coll_staged *tmb_coll_device_stage(struct tmb_coll_call *host);

/* The call has been started with that host memory: when its event completes, move the results to
 * the device. Without the lock of collectives. */
void tmb_coll_device_keep(struct tmb_coll_staged *staged, gex_Event_t event);

/* The data of the collective behind an event are there: move them on to the device. Under the lock
 * of collectives. */
void tmb_coll_device_finish(const struct tmb_op *event);

/* Complete the event of a collective. Under the lock of collectives. */
static inline void tmb_coll_event_done(struct tmb_op *event) {
  if (TMB_UNLIKELY(tmb_colls.staged != NULL)) tmb_coll_device_finish(event);
  tmb_up_op_done(event, TMB_CAT_PUT);
}

#endif
