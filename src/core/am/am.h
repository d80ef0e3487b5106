/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages inside core: sending with retry, delivery, checks shared with prepared messages.
 *
 * Owns: declarations of am.c, am_check.c, am_send.c, am_self.c, am_deliver.c. Called by am entry
 * points, npam.c and the GASNet-1 layer. Invariants: requests are sent from normal context and may
 * run any handler while they wait; replies are sent from request handlers and run only reply
 * handlers while they wait.
 */
#ifndef TMB_CORE_AM_H
#define TMB_CORE_AM_H

#include "core/op/thread.h"
#include "core/progress/peer.h"

/* Flags of injection calls. */
#define TMB_AM_FLAGS                                                                            \
 (GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_SELF_SEG_UNKNOWN | \
  GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET |                 \
  GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |                \
  GEX_FLAG_PEER_SEG_OFFSET)

/* Checks common to fixed-payload and prepared messages; debug clients. in call: name shown;
 * `dest_rank` gives the bounds of a Long destination. */
struct tmb_am_check {
  const char *call;
  gex_TM_t tm; /* of the peer; a TM-pair for replies */
  gex_Rank_t rank;
  bool is_reply, check_lc;
};
void tmb_am_check_msg(const struct tmb_am_check *c, const struct gexx_am_msg *m);

/* Checks of a reply's token and context. */
void tmb_am_check_token(const char *call, gex_Token_t token);

/* Name of the fixed-payload call for messages: "gex_AM_RequestMedium". */
const char *tmb_am_call_name(bool is_reply, unsigned category);

/* A message with one of these flags, or with a route other than 0, needs tmb_am_resolve before
 * it is sent. */
#define TMB_AM_RESOLVE_FLAGS                                                        \
 (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | \
  GEX_FLAG_PEER_SEG_SOME)

/* Replace offsets by addresses, and find out whether a Long's destination is mapped; after peer and
 * route are set. */
void tmb_am_resolve(struct tmb_am_out *out, gex_Flags_t flags);

/* Route of a request to (tm, rank). */
static inline uint16_t tmb_am_route(gex_TM_t tm, gex_Rank_t rank) {
  return TMB_LIKELY(!tm->reserved) ? 0 : TMB_ROUTE(tmb_ep_index(tm, rank), tm->ep->index);
}

/* Route of a reply. */
static inline uint16_t tmb_am_route_back(const struct gexx_token_s *token) {
  return TMB_ROUTE(TMB_ROUTE_SOURCE(token->route), TMB_ROUTE_TARGET(token->route));
}

/* TM-pair that names the sender of a request, for checks of replies. */
static inline gex_TM_t tmb_am_pair_back(const struct gexx_token_s *token) {
  return &tmb_job.eps[TMB_ROUTE_TARGET(token->route)]->pair[TMB_ROUTE_SOURCE(token->route)];
}

/* Whether a message is a Long whose destination cannot be written from here, or one to another
 * host. */
static inline bool tmb_am_unmapped(const struct tmb_am_out *out) {
  if (TMB_LIKELY(out->category != TMB_AM_LONG)) return false;
  if (!out->nbytes) return !tmb_is_near(out->peer);
  return out->unmapped || tmb_mapped_delta(out->peer) == GEXX_UNMAPPED;
}

/* Fatal, in every client, for a Long of the client's when no segment is attached or bound yet. */
void tmb_am_check_attached(const struct tmb_am_out *out);

/* Run the handler of a message to this rank, here and now. Returns false, with nothing done, where
 * that could nest without bound: the message is to be queued. */
bool tmb_am_self(struct tmb_am_out *out);

/* Send a Long whose destination is not mapped here: tmb_am_unmapped. Contract of tmb_am_send. */
int tmb_am_send_unmapped(struct tmb_am_out *out);

/* The first attempt to send has failed: where there was no room, give up an immediate message, else
 * send it after progress. Contract of tmb_up_am_send. in rc: of tmb_peer_send; an error, which does
 * not pass, ends the program, also for an immediate message. */
int tmb_am_send_again(struct tmb_am_out *out, int rc);

/* tmb_up_am_send for any message, also a Long whose destination is not mapped here. */
static inline int tmb_am_send(struct tmb_am_out *out) {
  if (TMB_UNLIKELY(tmb_am_unmapped(out))) return tmb_am_send_unmapped(out);
  const int rc = tmb_peer_send(out);
  return TMB_LIKELY(rc == 0) ? 0 : tmb_am_send_again(out, rc);
}

/* Send a message of the client; contract of tmb_up_am_send. */
static inline int tmb_am_inject(struct tmb_am_out *out) {
  if (TMB_UNLIKELY(out->peer == tmb_job.rank) && tmb_am_self(out)) return 0;
  return tmb_am_send(out);
}

/* Set the handler of an internal message; at start-up only. */
void tmb_am_set_internal(const struct tmb_layer_handler *handler);

/* Handlers that may run in a thread of the conduit, as in struct tmb_net_env: always, and while
 * there is room for the work that they leave to the client. out: [2]. */
void tmb_am_thread_handlers(uint64_t always[2], uint64_t if_room[2]);

/* Whether this thread is one of the conduit, and runs a handler (tmb_net_up.am_by_thread). */
extern _Thread_local bool tmb_am_in_thread __attribute__((tls_model("initial-exec")));

/* tmb_up_am for such a thread. */
void tmb_am_by_thread(const struct tmb_am_in *in);

/* Store "complete" where lc_opt says so. */
static inline void tmb_am_complete_lc(gex_Event_t *lc_opt) {
  if ((uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
}

/* ---- gate.c: messages that record and replay hold back */

/* The message as the functions of tombolo/check_hook.h see it. */
struct gexx_am_msg tmb_gate_message(const struct tmb_am_in *in);
/* Whether the gate keeps a message; then a copy is kept. */
bool tmb_gate_keeps(const struct tmb_am_in *in);
/* A handler has ended: the turn of a kept message may have come. */
void tmb_gate_handled(void);

#endif
