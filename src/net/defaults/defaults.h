/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access, signals and Longs made of messages: for slots that a conduit leaves empty,
 * and for ranks of this host whose memory is not mapped.
 *
 * Owns: declarations of defaults_*.c. Called by core/progress/peer.c. Calls: the
 * upcalls (net/up.h), which choose the path to a peer. Invariants: input is checked before it is
 * used: a message that names memory or a length that it may not ends the job with a message.
 */
#ifndef TMB_NET_DEFAULTS_H
#define TMB_NET_DEFAULTS_H

#include "core/am/kit.h"
#include "net/up.h"

extern const struct tmb_layer tmb_default_layer, tmb_default_frag_layer;

/* Put and get; may send several messages and so run progress. Every part is announced by
 * tmb_up_peer_more and completed once; a put has read its source on return. Returns 0, or TMB_AGAIN
 * for an immediate one without resources. */
int tmb_default_put(const struct tmb_rma *rma);
int tmb_default_get(const struct tmb_rma *rma);

/* As put and get, and `signal` changes at the peer afterwards; rma->op may be NULL. A put with
 * rma->resume does not wait and runs no progress: after TMB_AGAIN, calls with these arguments send
 * the rest. */
int tmb_default_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);
int tmb_default_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);

/* Send a Long whose destination this process cannot write; contract of tmb_up_am_send. */
int tmb_default_am_long(struct tmb_am_out *out);

/* Change a signal of this process, after all earlier stores. in op: TMB_SIGNAL_*. */
void tmb_default_signal(void *signal, uint32_t op, uint64_t value);

#endif
