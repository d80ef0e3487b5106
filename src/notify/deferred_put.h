/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts with a signal that need not be sent before the call returns.
 *
 * Owns: declarations of deferred_put.c. Called by semaphores, for asynchronous puts and for posts.
 * Calls nothing. Invariants: a put is sent whole, once, and in no order with others; its source is
 * read before its signal changes; at most TMB_DEFERRED_PUTS_MAX wait in a process.
 */
#ifndef TMB_NOTIFY_DEFERRED_PUT_H
#define TMB_NOTIFY_DEFERRED_PUT_H

#include "core/job.h"

#define TMB_DEFERRED_PUTS_MAX 256 /* puts that may wait in a process at a time */

/* Send a put by message, now or later from progress. The caller does not learn when it is complete,
 * and keeps the source unchanged until the signal has changed. Returns at once, a signal without
 * data that found no room after some calls of progress, unless TMB_DEFERRED_PUTS_MAX puts wait
 * already; then it waits for room. Normal context; any thread. */
void tmb_deferred_put(const struct tmb_rma *rma, const struct tmb_signal *signal);

#endif
