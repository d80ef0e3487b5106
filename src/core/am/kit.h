/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kit of internal messages, for every module that sends messages of its own.
 *
 * Owns: the numbers of all internal handlers, packing of 64-bit values into arguments, declarations
 * of kit.c (acknowledgement, parts of an operation, counting of pieces). Called by whoever talks to
 * its own kind on other ranks: default RMA, device memory, teams, non-contiguous transfers,
 * atomics, notification, collectives. Calls: the upcalls of the job. Invariants: an internal
 * message is a Short or a Medium with 0 to TMB_AM_ARGS_MAX arguments; a 64-bit value takes two of
 * them, low half first; all ranks run one version of the library, so the numbers need not be
 * stable.
 */
#ifndef TMB_CORE_KIT_H
#define TMB_CORE_KIT_H

#include "core/layer.h"
#include "net/message.h"

#include <stdbool.h>
#include <stdint.h>

/* Internal handlers, by module; the file named describes the arguments. */
enum tmb_kit_handler {
  /* kit.c */
  TMB_KIT_ACK = 1,
  /* net/defaults: defaults_rma.c, defaults_frag.c */
  TMB_KIT_RMA_PUT,
  TMB_KIT_RMA_GET,
  TMB_KIT_RMA_GET_SIGNAL,
  TMB_KIT_RMA_DATA,
  TMB_KIT_RMA_FRAG,
  TMB_KIT_RMA_SIGNAL,
  /* core/team: barrier.c, team_gather.c */
  TMB_KIT_BARRIER,
  TMB_KIT_BARRIER_WORD,
  TMB_KIT_GATHER,
  /* core/team/shrink.c */
  TMB_KIT_SHRINK_STATE,
  TMB_KIT_SHRINK_DECIDED,
  /* core/mk/mk_rma.c, notify/mk_signal.c */
  TMB_KIT_MK_PUT,
  TMB_KIT_MK_GET,
  TMB_KIT_MK_DATA,
  TMB_KIT_MK_PUT_SIGNAL,
  TMB_KIT_MK_GET_SIGNAL,
  /* vis/wire.h */
  TMB_KIT_VIS_PUT,
  TMB_KIT_VIS_PUT_NOTIFY,
  TMB_KIT_VIS_GET,
  TMB_KIT_VIS_DATA,
  TMB_KIT_VIS_COMPLETION,
  /* ratomic/op.c */
  TMB_KIT_ATOMIC,
  TMB_KIT_ATOMIC_DONE,
  /* notify: tagged_send.c, tagged_get.c */
  TMB_KIT_TAGGED,
  TMB_KIT_TAGGED_ACK,
  TMB_KIT_TAGGED_CREDIT,
  TMB_KIT_TAGGED_GET,
  TMB_KIT_TAGGED_DATA,
  /* coll/engine/engine.h */
  TMB_KIT_COLL_DATA,
  TMB_KIT_COLL_READY,
  TMB_KIT_COLL_PLACE,
  TMB_KIT_COLL_OFFER,
  TMB_KIT_COLL_TAKEN,
  TMB_KIT_COLL_REFUSED,
  TMB_KIT_COLL_CALL, /* coll/engine/signature.c */
  TMB_KIT_TEST,      /* for unit tests, which have no layers */
  TMB_KIT_HANDLERS
};
_Static_assert(TMB_KIT_HANDLERS <= 128, "indices from 128 on belong to clients");

/* ---- arguments */

static inline void tmb_kit_pack64(int32_t *args, uint64_t v) {
  args[0] = (int32_t)(uint32_t)v;
  args[1] = (int32_t)(uint32_t)(v >> 32);
}

static inline uint64_t tmb_kit_unpack64(const int32_t *args) {
  return (uint64_t)(uint32_t)args[0] | (uint64_t)(uint32_t)args[1] << 32;
}

/* An address, of this process or of another one. */
static inline void tmb_kit_pack_ptr(int32_t *args, const void *p) {
  tmb_kit_pack64(args, (uint64_t)(uintptr_t)p);
}

static inline void *tmb_kit_unpack_ptr(const int32_t *args) {
  return (void *)(uintptr_t)tmb_kit_unpack64(args);
}

/* ---- replies, from a request handler; they wait for room, serving replies only */

/* A Short reply. in args: [nargs]. */
void tmb_kit_reply(uint32_t origin, enum tmb_kit_handler handler, const int32_t *args,
                   uint32_t nargs);

/* A Medium reply that carries data. in like: handler, nargs, args, src, nbytes of it; the rest is
 * filled here. */
void tmb_kit_reply_data(uint32_t origin, const struct tmb_am_out *like);

/* A part of operation `op` at the origin is complete; `category`: of that part. */
void tmb_kit_ack(uint32_t origin, uint64_t op, uint32_t category);

/* ---- operations made of parts */

/* Send a request whose handling completes a part of `op`, by tmb_kit_ack or by data: the part is
 * counted first. op NULL: no completion. Returns 0; or TMB_AGAIN for an immediate message without
 * room: then the part is not counted. */
int tmb_kit_send_part(struct tmb_am_out *out, void *op, uint32_t category);

/* ---- transfers of several pieces, which may come in any order */

/* A number for a transfer, unique among those in flight from this process. Any thread. */
uint32_t tmb_kit_next_id(void);

/* At the target: `bytes` of a transfer of `total` bytes are served; (src, id) names it until its
 * last piece. Returns whether this was the last. A transfer of one piece costs a compare. Pieces
 * of a lost peer are forgotten. Any thread. */
bool tmb_kit_last_piece(uint32_t src, uint32_t id, uint64_t total, uint64_t bytes);

/* Transfers of which pieces are missing. */
size_t tmb_kit_incomplete(void);

/* End the job: a message to an internal handler is malformed. in what: of it. */
_Noreturn void tmb_kit_malformed(const struct tmb_am_in *in, const char *what);

extern const struct tmb_layer tmb_kit_layer;

#endif
