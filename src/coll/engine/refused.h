/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offered data that their receiver may not read: they are sent after all.
 *
 * Owns: declarations of refused.c. Called by the engine, under the lock of collectives. Calls
 * nothing. The kernel may refuse reads that it allowed at start-up: a rank has changed its user, or
 * has forbidden to be read. Schedules are agreed on, so both sides have the step; only its data
 * go by messages. Invariants: an offer that was refused counts as not taken until its data are
 * sent.
 */
#ifndef TMB_COLL_REFUSED_H
#define TMB_COLL_REFUSED_H

#include "coll/engine/engine.h"

/* Note that member `peer` did not read the message `tag` from byte `at` on. */
void tmb_refused_add(struct tmb_coll_op *op, uint32_t peer, uint32_t tag, uint64_t at);

/* Send some of the refused messages; from progress. */
void tmb_refused_send(struct tmb_coll_op *op);

/* Forget it all: the op ends with the loss of a member. */
void tmb_refused_drop(struct tmb_coll_op *op);

#endif
