/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the threads of a rank send requests.
 *
 * Owns: the file `sends.N`, see turns.c. A receiver knows a message by the rank that has sent it,
 * so what several threads of one rank send must come in the recorded order. Replies are sent by
 * handlers, whose order is known.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

static struct rpl_turns sends = {.file = "sends", .what = "request", .polls = true};

bool rpl_sends_open(void) {
  return rpl_turns_open(&sends);
}

void rpl_sends_close(void) {
  rpl_turns_close(&sends);
}

int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *msg) {
  RPL_ENTER(gexx_am_request);
  if (!outer) return rpl_real.gexx_am_request(tm, rank, msg);
  struct gexx_am_msg own = *msg;
  if (rpl_refused(&own.flags)) return 1;
  const int turn = rpl_turn_begin(&sends, outer);
  const int rc = rpl_turn_end(&sends, turn, rpl_real.gexx_am_request(tm, rank, &own));
  rpl_answered(msg->flags, rc == 0);
  return rc;
}

int gexx_am_reply(gex_Token_t token, const struct gexx_am_msg *msg) {
  RPL_ENTER(gexx_am_reply);
  (void)outer;
  struct gexx_am_msg own = *msg;
  own.flags = rpl_reply_flags(own.flags);
  return rpl_real.gexx_am_reply(token, &own);
}

int gexx_am_commit(gex_AM_SrcDesc_t sd, int is_reply, const struct gexx_am_msg *msg) {
  RPL_ENTER(gexx_am_commit);
  struct gexx_am_msg own = *msg;
  if (is_reply) own.flags = rpl_reply_flags(own.flags);
  if (!outer) return rpl_real.gexx_am_commit(sd, is_reply, &own);
  if (rpl_refused(&own.flags)) return 1;
  const int turn = rpl_turn_begin(&sends, outer);
  const int rc = rpl_turn_end(&sends, turn, rpl_real.gexx_am_commit(sd, is_reply, &own));
  rpl_answered(msg->flags, rc == 0);
  return rc;
}

/* ---- messages that are prepared */

/* Defines the call that prepares a request; parameters have the names of the API. */
#define PREPARE_REQUEST(NAME, PARAMS, ARGS)                      \
 gex_AM_SrcDesc_t NAME PARAMS {                                  \
  RPL_ENTER(NAME);                                               \
  const gex_Flags_t asked = flags;                               \
  if (outer && rpl_refused(&flags)) return GEX_AM_SRCDESC_NO_OP; \
  const gex_AM_SrcDesc_t sd = rpl_real.NAME ARGS;                \
  if (outer) rpl_answered(asked, sd != GEX_AM_SRCDESC_NO_OP);    \
  return sd;                                                     \
 }
#define PREPARE_REPLY(NAME, PARAMS, ARGS) \
 gex_AM_SrcDesc_t NAME PARAMS {           \
  flags = rpl_reply_flags(flags);         \
  return rpl_real.NAME ARGS;              \
 }

PREPARE_REQUEST(gex_AM_PrepareRequestMedium,
                (gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
                 size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int nargs),
                (tm, rank, client_buf, least_payload, most_payload, lc_opt, flags, nargs))
PREPARE_REQUEST(gex_AM_PrepareRequestLong,
                (gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
                 size_t most_payload, void *dest, gex_Event_t *lc_opt, gex_Flags_t flags,
                 unsigned int nargs),
                (tm, rank, client_buf, least_payload, most_payload, dest, lc_opt, flags, nargs))
PREPARE_REPLY(gex_AM_PrepareReplyMedium,
              (gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
               gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int nargs),
              (token, client_buf, least_payload, most_payload, lc_opt, flags, nargs))
PREPARE_REPLY(gex_AM_PrepareReplyLong,
              (gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
               void *dest, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int nargs),
              (token, client_buf, least_payload, most_payload, dest, lc_opt, flags, nargs))

/* ---- requests of GASNet-1 */

int gexx_legacy_am(const struct gexx_g1_am *am, unsigned n, const gex_AM_Arg_t *v) {
  RPL_ENTER(gexx_legacy_am);
  const int turn = rpl_turn_begin(&sends, outer);
  return rpl_turn_end(&sends, turn, rpl_real.gexx_legacy_am(am, n, v));
}
