/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access, signals and Longs made of messages: what a conduit leaves empty, and what
 * reaches ranks of this host whose memory is not mapped.
 *
 * Owns: internal handlers 1..15; declarations of defaults_*.c. Called by core/peer.c. Calls: the
 * upcalls (net/up.h), which choose the way to a peer. Invariants: what arrives is checked before it
 * is used: a message that names memory or a length that it may not ends the job with a message.
 */
#ifndef TMB_NET_DEFAULTS_H
#define TMB_NET_DEFAULTS_H

#include "net/up.h"

enum {
  TMB_INTERNAL_PUT = 1,
  TMB_INTERNAL_ACK,
  TMB_INTERNAL_GET,
  TMB_INTERNAL_DATA,
  TMB_INTERNAL_FRAG
};

/* Put and get; may send several messages and so run progress. Every part is announced by
 * tmb_up_peer_more and completed once; a put has read its source on return. Returns 0, or TMB_AGAIN
 * for an immediate one without resources. */
int tmb_default_put(const struct tmb_rma *rma);
int tmb_default_get(const struct tmb_rma *rma);

/* As put and get, and `signal` changes at the peer afterwards; rma->op may be NULL. A put with
 * rma->resume does not wait and runs no progress: TMB_AGAIN means that the rest is sent by further
 * calls with the same arguments. */
int tmb_default_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);
int tmb_default_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal);

/* Send a Long whose destination this process cannot write; contract of tmb_up_am_send. */
int tmb_default_am_long(struct tmb_am_out *out);

/* Change a signal of this process, after all earlier stores. in op: TMB_SIGNAL_*. */
void tmb_default_signal(void *signal, uint32_t op, uint64_t value);

/* Register the handlers. */
void tmb_default_init(void);

/* ---- between the files of this folder */

/* Complete one part of an operation at its origin, by reply. Call from a request handler. */
void tmb_default_ack(uint32_t origin, uint64_t op, uint32_t category);

/* A number for a payload of several pieces, unique among those in flight from this process. */
uint32_t tmb_default_next_id(void);

/* At the target: count `bytes` of payload (src, id) of `total` bytes. Returns true when it is
 * complete. */
bool tmb_default_count(uint32_t src, uint32_t id, uint64_t total, uint64_t bytes);

/* End the job: a message of rank `src` to an internal handler is malformed. */
_Noreturn void tmb_default_malformed(const struct tmb_am_in *in, const char *what);

/* Register the handler of defaults_frag.c. */
void tmb_default_frag_init(void);

#endif
