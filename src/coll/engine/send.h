/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending a step's message: its data, or a word about them.
 *
 * Owns: declarations of send.c. Called by the engine, under the lock of collectives. Calls nothing.
 * All return whether the message is sent; otherwise there were no resources: call again with this
 * step. Invariants: an op sends one message at a time.
 */
#ifndef TMB_COLL_SEND_H
#define TMB_COLL_SEND_H

#include "coll/engine/engine.h"

/* Send a message without payload about a step. */
bool tmb_send_notice(struct tmb_coll_op *op, const struct tmb_step *step, uint8_t handler);

/* Offer a step's data: its receiver reads them. */
bool tmb_send_offer(struct tmb_coll_op *op, const struct tmb_step *step);

/* Send the rest of a step, as far as the window goes; or offer it, if its receiver has said READY
 * and maps the data. out again: whether to try again when it is
 * not sent: there were no resources, or the window is full; not when its receiver must say READY
 * first. */
bool tmb_send_data(struct tmb_coll_op *op, const struct tmb_step *step, bool *again);

#endif
