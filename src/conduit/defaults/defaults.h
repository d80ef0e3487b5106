/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of conduit/defaults share: internal handler indices and helpers.
 *
 * Owns nothing. Included by defaults_*.c only. Calls nothing.
 * Invariant: indices 1..15 belong to this folder; core and the other layers use 16..127.
 */
#ifndef TMB_CONDUIT_DEFAULTS_H
#define TMB_CONDUIT_DEFAULTS_H

#include "conduit/conduit.h"

enum {
  TMB_INTERNAL_PUT = 1,
  TMB_INTERNAL_ACK,
  TMB_INTERNAL_GET,
  TMB_INTERNAL_DATA,
  TMB_INTERNAL_FRAG,
  TMB_INTERNAL_FLAG
};

/* Complete one part of an operation at its origin, by reply. Call from a request handler. */
void tmb_default_ack(uint32_t origin, uint64_t op, uint32_t category);

/* Change a signal of this process, after all earlier stores. in op: TMB_SIGNAL_*. */
void tmb_default_signal(void *signal, uint32_t op, uint64_t value);

/* A number for a payload of several pieces, unique among those in flight from this process. */
uint32_t tmb_default_next_id(void);

/* At the target: count `bytes` of payload (src, id) of `total` bytes. Returns true when it is
 * complete. */
bool tmb_default_count(uint32_t src, uint32_t id, uint64_t total, uint64_t bytes);

/* Slots. */
int tmb_default_am_long(struct tmb_conduit *c, struct tmb_am_out *out);
int tmb_default_put_signal(struct tmb_conduit *c, const struct tmb_rma *rma,
                           const struct tmb_signal *signal);

/* Register the handler of defaults_frag.c. */
void tmb_default_frag_init(void);

#endif
