/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts with a signal that need not be sent before the call returns.
 *
 * Owns: declarations of later.c. Called by semaphores, for asynchronous puts and for posts. Calls
 * nothing. Invariants: a put is sent whole, once, and in no order with others; its source is read
 * before its signal changes; what waits is bounded by TMB_LATER_MAX.
 */
#ifndef TMB_NOTIFY_LATER_H
#define TMB_NOTIFY_LATER_H

#include "core/job.h"

#define TMB_LATER_MAX 256 /* that wait at once in a process */

/* Send a put by message now or from progress; nobody asks for completion, and without data nothing
 * is needed of the caller. Waits only while TMB_LATER_MAX wait already. Normal context; any thread.
 */
void tmb_later_put(const struct tmb_rma *rma, const struct tmb_signal *signal);

#endif
