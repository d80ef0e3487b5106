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

/* Whether a message can be refused. A recording sends it all the same, so that its replay does,
 * too. */
static gex_Flags_t to_its_end(gex_Flags_t flags) {
  return rpl.mode == RPL_CHAOS ? flags : flags & ~(gex_Flags_t)GEX_FLAG_IMMEDIATE;
}

int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *msg) {
  RPL_ENTER(gexx_am_request);
  if (!outer) return rpl_real.gexx_am_request(tm, rank, msg);
  const int turn = rpl_turn_begin(&sends, outer);
  struct gexx_am_msg own = *msg;
  own.flags = to_its_end(own.flags);
  return rpl_turn_end(&sends, turn, rpl_real.gexx_am_request(tm, rank, &own));
}

int gexx_am_commit(gex_AM_SrcDesc_t sd, int is_reply, const struct gexx_am_msg *msg) {
  RPL_ENTER(gexx_am_commit);
  const int turn = rpl_turn_begin(&sends, outer);
  return rpl_turn_end(&sends, turn, rpl_real.gexx_am_commit(sd, is_reply, msg));
}

int gexx_legacy_am(const struct gexx_g1_am *am, unsigned n, const gex_AM_Arg_t *v) {
  RPL_ENTER(gexx_legacy_am);
  const int turn = rpl_turn_begin(&sends, outer);
  return rpl_turn_end(&sends, turn, rpl_real.gexx_legacy_am(am, n, v));
}
