/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upcalls of core for the on-node engine and for net/defaults.
 *
 * Owns nothing. Implemented by core; conduits have them in struct tmb_net_up (net.h), because a
 * plug-in links nothing of the library. Included by src/near, src/net/defaults, core and the layers
 * above it. Invariants: messages are delivered from progress only.
 */
#ifndef TMB_NET_UP_H
#define TMB_NET_UP_H

#include "net/message.h"

/* A message has arrived: runs its handler. Called from progress only. */
void tmb_up_am(const struct tmb_am_in *in);

/* tmb_up_am for a Short without a route. Returns false, with nothing done, where it is not enough:
 * the handler is internal or not registered, or handlers are watched. */
bool tmb_up_short(uint32_t src, uint8_t handler, uint8_t nargs, bool is_reply, const int32_t *args);

/* The same for a Medium. in head: tmb_am_head; payload: aligned to 16. */
bool tmb_up_medium(uint32_t src, uint32_t head, const int32_t *args, void *payload, size_t nbytes);

/* Deliver a message from a handler that may run in a thread of the conduit: there it waits for the
 * client's next poll, in a copy, unless its own handler may run there, too. */
void tmb_up_am_later(const struct tmb_am_in *in);

/* One part of an operation is complete. Any thread. */
void tmb_up_op_done(void *op, uint32_t category);

/* A further part of `op` will complete: called before the part is sent. */
void tmb_up_op_more(void *op, uint32_t category);

/* Parts of `op` that a message from `peer` will complete: those still outstanding when the peer is
 * lost are completed then, in error. In a pair for each part. Any thread. */
void tmb_up_peer_more(void *op, uint32_t category, uint32_t peer);
void tmb_up_peer_done(void *op, uint32_t category, uint32_t peer);

/* Send a Short, a Medium, or a Long whose destination is mapped here, running progress until
 * resources are there. Not from handlers unless out->is_reply. Returns 0, or TMB_AGAIN for an
 * immediate message. */
int tmb_up_am_send(struct tmb_am_out *out);

/* Reserve a message buffer of TMB_AM_MEDIUM_BYTES_MAX bytes, running progress until there is one;
 * NULL only for an immediate message. Sets out->staged, and out->src to the buffer. */
void *tmb_up_am_stage(struct tmb_am_out *out);

/*
 * Memory of this process that rank `src` has named in a message: [addr, addr + nbytes). Returns the
 * address, or NULL if that rank may not read or write there: it is neither in a segment nor in
 * another part of this process's memory that can be written. Cost: some loads for the attached
 * segment; outside of segments a system call.
 */
void *tmb_up_target(uint32_t src, uint64_t addr, uint64_t nbytes);

/* tmb_up_target; ends the job with a message where that returns NULL. */
void *tmb_up_memory(uint32_t src, uint64_t addr, uint64_t nbytes);

/* A signal of this process has been changed by a message. Any thread; from handlers. */
void tmb_up_signal(const void *addr);

/* Handlers of internal messages, index < 128, of tests that have no layers (core/layer.h). */
typedef void (*tmb_internal_fn)(const struct tmb_am_in *in);
void tmb_up_set_internal(uint8_t index, tmb_internal_fn fn);

#endif
