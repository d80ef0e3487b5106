/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages of clients: the entry points behind the public macros.
 *
 * Owns nothing. Called by inline_am.h, npam.c and the GASNet-1 layer. Calls: am_check.c,
 * am_self.c, am_send.c, and peer.h for a Long whose destination is not mapped. Invariants: a
 * message is accepted exactly once; local completion is reached on return, because the payload has
 * been read.
 */
#include "core/am/am.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/progress/progress.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"

#include <string.h>

int tmb_am_send_unmapped(struct tmb_am_out *out) {
  if (out->nbytes) tmb_am_check_attached(out);
  return tmb_peer_am_long(out);
}

/* Write the payload of a Long to a created segment that this process has mapped. */
static bool place(struct tmb_am_out *out, gex_TM_t pair) {
  const intptr_t delta = tmb_segtab_delta_of(pair, out->peer);
  if (out->immediate || delta == GEXX_UNMAPPED ||
      !tmb_segtab_maps(pair, out->peer, out->dest, out->nbytes))
    return false;
  if (out->nbytes) memcpy(gexx_rma_local(delta, out->dest), out->src, out->nbytes);
  out->filled = 1;
  return true;
}

void tmb_am_resolve(struct tmb_am_out *out, gex_Flags_t flags) {
  const gex_EP_t ep = tmb_job.eps[TMB_ROUTE_SOURCE(out->route)];
  const gex_TM_t pair = &ep->pair[TMB_ROUTE_TARGET(out->route)];
  if (flags & GEX_FLAG_PEER_SEG_OFFSET) out->dest = tmb_segtab_offset(pair, out->peer, out->dest);
  if (flags & GEX_FLAG_SELF_SEG_OFFSET) out->src = tmb_segtab_self_offset(ep, out->src);
  if (out->category == TMB_AM_LONG && out->nbytes && tmb_mk_remote(pair, out->peer))
    tmb_mk_refuse(tmb_am_call_name(out->is_reply, out->category), pair, out->peer);
  if (out->category == TMB_AM_LONG)
    out->unmapped = !tmb_segtab_attached(out->peer, out->dest, out->nbytes) && !place(out, pair);
}

static inline struct tmb_am_out out_of(const struct gexx_am_msg *m, uint32_t peer, bool is_reply) {
  return (struct tmb_am_out){.peer = peer,
                             .category = m->category,
                             .handler = m->handler,
                             .nargs = m->nargs,
                             .is_reply = is_reply,
                             .immediate = (m->flags & GEX_FLAG_IMMEDIATE) != 0,
                             .staged = -1,
                             .args = m->args,
                             .src = m->src,
                             .nbytes = m->nbytes,
                             .dest = m->dest};
}

static TMB_NOINLINE int request_any(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *m) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = tmb_am_call_name(false, m->category);
    tmb_check_context_at(call);
    tmb_check_tm_rank(call, tm, rank);
    tmb_am_check_msg(&(struct tmb_am_check){call, tm, rank, false, true}, m);
  }
  struct tmb_am_out out = out_of(m, tmb_jobrank(tm, rank), false);
  out.route = tmb_am_route(tm, rank);
  if (TMB_UNLIKELY(out.route || (m->flags & TMB_AM_RESOLVE_FLAGS))) tmb_am_resolve(&out, m->flags);
  if (TMB_UNLIKELY(tmb_am_inject(&out))) return tmb_poll_refused(1);
  tmb_am_complete_lc(m->lc_opt);
  return 0;
}

/* Out of line, so that other messages save no registers for it. */
static TMB_NOINLINE int request_short(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *m) {
  return tmb_peer_send_short(tmb_jobrank(tm, rank), false, m) ? 0 : request_any(tm, rank, m);
}

static TMB_NOINLINE int request_medium(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *m) {
  if ((m->flags & TMB_AM_RESOLVE_FLAGS) || !tmb_peer_send_medium(tmb_jobrank(tm, rank), false, m))
    return request_any(tm, rank, m);
  tmb_am_complete_lc(m->lc_opt);
  return 0;
}

int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *m) {
  const uint8_t category = m->category;
  if (category == TMB_AM_SHORT && !tmb_job.debug && !tm->reserved)
    return request_short(tm, rank, m);
  if (category == TMB_AM_MEDIUM && !tmb_job.debug && !tm->reserved)
    return request_medium(tm, rank, m);
  return request_any(tm, rank, m);
}

static TMB_NOINLINE int reply_any(gex_Token_t token, const struct gexx_am_msg *m) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = tmb_am_call_name(true, m->category);
    tmb_am_check_token(call, token);
    if (tmb_thread()->context & TMB_PREPARED)
      tmb_fatal_nopos(
          "%s: called while a prepared message is outstanding; commit or cancel it first", call);
    tmb_am_check_msg(&(struct tmb_am_check){call, tmb_am_pair_back(token), token->src, true, true},
                     m);
  }
  struct tmb_am_out out = out_of(m, token->src, true);
  out.route = tmb_am_route_back(token);
  if (TMB_UNLIKELY(out.route || (m->flags & TMB_AM_RESOLVE_FLAGS))) tmb_am_resolve(&out, m->flags);
  if (TMB_UNLIKELY(tmb_am_inject(&out))) return 1;
  token->replied = true;
  tmb_am_complete_lc(m->lc_opt);
  return 0;
}

/* Out of line as request_short. */
static TMB_NOINLINE int reply_short(gex_Token_t token, const struct gexx_am_msg *m) {
  if (!tmb_peer_send_short(token->src, true, m)) return reply_any(token, m);
  token->replied = true;
  return 0;
}

static TMB_NOINLINE int reply_medium(gex_Token_t token, const struct gexx_am_msg *m) {
  if ((m->flags & TMB_AM_RESOLVE_FLAGS) || !tmb_peer_send_medium(token->src, true, m))
    return reply_any(token, m);
  token->replied = true;
  tmb_am_complete_lc(m->lc_opt);
  return 0;
}

int gexx_am_reply(gex_Token_t token, const struct gexx_am_msg *m) {
  const uint8_t category = m->category;
  if (category == TMB_AM_SHORT && !tmb_job.debug && !token->route) return reply_short(token, m);
  if (category == TMB_AM_MEDIUM && !tmb_job.debug && !token->route) return reply_medium(token, m);
  return reply_any(token, m);
}
