/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending a step's message: its data, or a word about them.
 *
 * Owns: declarations of send.c, direct.c and refused.c. Called by the engine, under the lock of
 * collectives. Calls nothing. Invariants: an op sends one message at a time, beside those that are
 * on their way from memory to memory, and those whose offer was refused; both count as offers that
 * are not taken, so their sources are not written before.
 */
#ifndef TMB_COLL_SEND_H
#define TMB_COLL_SEND_H

#include "coll/engine/engine.h"

/* ---- send.c: whether the message is sent; otherwise there were no resources: call again with this
 * step */

/* Notify the sender of a step's message that this rank waits for it. */
bool tmb_send_ready(struct tmb_coll_op *op, const struct tmb_step *step);

/* Offer a step's data: its receiver reads them. */
bool tmb_send_offer(struct tmb_coll_op *op, const struct tmb_step *step);

/* Send the rest of a step, as far as the window goes; or offer it, if its receiver has said READY
 * and maps the data. out again: whether to try again when it is
 * not sent: there were no resources, or the window is full; not when its receiver must say READY
 * first. */
bool tmb_send_data(struct tmb_coll_op *op, const struct tmb_step *step, bool *again);

/* ---- direct.c: long data between hosts, as Long messages. A receiver that says READY names the
 * place of the data, if that may be written from then on; the conduit reads them where they lie,
 * and writes them there. Else both sides copy them into messages. Jobs in which ranks may be lost
 * do without. */

/* What became of data that were to leave so. */
enum tmb_direct {
  TMB_DIRECT_REFUSED, /* nothing: they must go in messages */
  TMB_DIRECT_AGAIN,   /* nothing: there is no room now */
  TMB_DIRECT_LEFT     /* they have left, or are on their way */
};

/* The place to name for the receive of a READY step and the later segments of its message, which
 * their sender may write until the op ends. Returns false if there is none. */
bool tmb_direct_place(struct tmb_coll_op *op, const struct tmb_step *ready,
                      struct tmb_coll_target *place);

/* Set op->at.place for a later segment of a message whose first one went to a place. Returns
 * whether it has one. */
bool tmb_direct_onward(struct tmb_coll_op *op, const struct tmb_step *step);

/* Send all data of a step to op->at.place at its receiver. */
enum tmb_direct tmb_direct_send(struct tmb_coll_op *op, const struct tmb_step *step);

/* Go on with those that are on their way. */
void tmb_direct_continue(struct tmb_coll_op *op);

/* The op ends: its places may no longer be written. */
void tmb_direct_end(struct tmb_coll_op *op);

/* ---- refused.c: offered data that their receiver may not read are sent after all. The kernel may
 * refuse reads that it allowed at start-up: a rank has changed its user, or has forbidden to be
 * read. Schedules are agreed on, so both sides have the step; only its data go by messages. */

/* Note that member `peer` did not read the message `tag` from byte `at` on. */
void tmb_refused_add(struct tmb_coll_op *op, uint32_t peer, uint32_t tag, uint64_t at);

/* Send some of the refused messages; from progress. */
void tmb_refused_send(struct tmb_coll_op *op);

/* Forget it all: the op ends with the loss of a member. */
void tmb_refused_drop(struct tmb_coll_op *op);

#endif
