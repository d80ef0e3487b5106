/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving in a schedule: source, destination and time of data.
 *
 * Owns: declarations of receive.c. Called by engine.c, under the lock of collectives. Calls
 * nothing. A receive is named by its step's index. Data come as messages (deliver), or are read
 * where their sender offers them (pull). Invariants: a buffer that this rank has offered is not
 * written before it is taken: op->at.offered and op->at.owed say which.
 */
#ifndef TMB_COLL_RECEIVE_H
#define TMB_COLL_RECEIVE_H

#include "coll/engine/engine.h"

/* Address of a place in the buffers of an op. */
static inline char *tmb_coll_place(const struct tmb_coll_op *op, uint32_t buf, uint64_t at) {
  return op->base[buf] + at;
}

/* New memory of `bytes` bytes, aligned to a cache line, instead of `old`, whose contents are lost.
 * Fatal when there is none. in name: for the message. */
void *tmb_coll_grown(void *old, size_t bytes, const char *name);

/* Step index of the receive for this sender and tag, UINT32_MAX when there is none. */
uint32_t tmb_recv_match(struct tmb_coll_op *op, uint32_t src, uint32_t tag);

/* Whether the buffer that a step writes is among `bits`. */
bool tmb_recv_touches(const struct tmb_coll_op *op, const struct tmb_step *step, uint8_t bits);

/* Whether the destination of a receive may be written now: the schedule allows it (TMB_STEP_EARLY,
 * FREE), and the data that this rank has offered from that buffer have been taken. */
bool tmb_recv_is_open(const struct tmb_coll_op *op, uint32_t index);

/* Whether messages for a receive are kept for progress, because a client's function combines them.
 */
bool tmb_recv_is_deferred(const struct tmb_coll_op *op, uint32_t index);

/* Deliver part of a message into its receive; fatal when it is longer than that. in kept: the kept
 * message that it is, or NULL, which a deferred receive does not take. Returns whether that may be
 * freed: otherwise a call of a client's function has been posted, and it belongs to that. */
bool tmb_recv_deliver(struct tmb_coll_op *op, uint32_t index, char *data, size_t at, size_t bytes,
                      struct tmb_stash *kept);

/* Bytes of a gated message that its READY step requests: all, unless a client's function
 * combines it. */
uint64_t tmb_recv_first_ask(struct tmb_coll_op *op, const struct tmb_step *ready);

/* Ask for the data of op->at.asking. Returns false when there are no resources now. */
bool tmb_recv_ask(struct tmb_coll_op *op);

/* Post the call for a REDUCE step at pc. */
void tmb_recv_apply_step(struct tmb_coll_op *op, const struct tmb_step *step);

/* The call that was posted for an op has been made, or taken back. */
void tmb_recv_applied(struct tmb_coll_op *op, bool made);

/* Whether an offer may be read now: its receive is open, or its receive's round has come and
 * only the destination is still being read by others (then the data are kept). */
bool tmb_recv_may_pull(struct tmb_coll_op *op, const struct tmb_stash *m);

/* Read some of the data offered to this op, and notify the ranks whose data have been read. */
void tmb_recv_pull(struct tmb_coll_op *op);

#endif
