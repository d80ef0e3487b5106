/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending active messages: the entry points behind the public macros, and the blocking send.
 *
 * Owns nothing. Called by inline_am.h, npam.c, the GASNet-1 layer and net/defaults
 * (tmb_up_am_send). Calls: peer.h, progress. Invariants: a message is accepted
 * exactly once; an immediate one never waits and never runs a handler; local completion is reached
 * on return, because am_send has read the payload.
 */
#include "core/am/am.h"

#include "base/error.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/status.h"
#include "core/progress/wait.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"

#include <string.h>

static int serve_of(const struct tmb_am_out *out) {
  return out->is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_ALL;
}

void tmb_am_check_attached(const struct tmb_am_out *out) {
  if (out->unmapped || out->handler < TMB_HANDLER_FIRST) return;
  tmb_check_attached(tmb_am_call_name(out->is_reply, TMB_AM_LONG), "dest_addr", &tmb_job.tm,
                     out->peer, out->dest);
}

static int send_unmapped(struct tmb_am_out *out) {
  if (out->nbytes) tmb_am_check_attached(out);
  return tmb_peer_am_long(out);
}

static void describe_send(const void *object, struct tmb_status_wait *w) {
  const struct tmb_am_out *out = object;
  w->kind = TMB_WAIT_SEND;
  w->what = (uint8_t)(TMB_WHAT_SHORT + out->category);
  w->peer = out->peer;
  w->count = out->is_reply;
  w->cmp = out->lacks;
}

static void describe_stage(const void *object, struct tmb_status_wait *w) {
  describe_send(object, w);
  w->cmp = TMB_LACKS_BUFFER;
}

int tmb_up_am_send(struct tmb_am_out *out) {
  if (TMB_UNLIKELY(tmb_am_unmapped(out))) return send_unmapped(out);
  int rc = tmb_peer_send(out);
  if (TMB_LIKELY(rc == 0)) return 0;
  if (out->immediate) {
    tmb_peer_release(out);
    return TMB_AGAIN;
  }
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  do {
    tmb_wait_retry(&wait, serve_of(out), (struct tmb_why){describe_send, out});
    rc = tmb_peer_send(out);
  } while (rc == TMB_AGAIN);
  if (rc) tmb_fatal_nopos("sending a message to rank %u failed with code %d", out->peer, rc);
  return 0;
}

void *tmb_up_am_stage(struct tmb_am_out *out) {
  void *buffer = tmb_peer_stage(out);
  if (buffer || out->immediate) return buffer;
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  while (!buffer) {
    tmb_wait_retry(&wait, serve_of(out), (struct tmb_why){describe_stage, out});
    buffer = tmb_peer_stage(out);
  }
  return buffer;
}

void tmb_up_signal(const void *addr) {
  if (tmb_lock_threads)
    tmb_fence_seq(); /* the store of the signal comes before the test whether there is an index */
  if (TMB_UNLIKELY(tmb_load_acq(&tmb_job.signals_indexed))) tmb_layers_signal(addr);
}

const char *tmb_am_call_name(bool is_reply, unsigned category) {
  static const char *const name[2][3] = {
      {"gex_AM_RequestShort", "gex_AM_RequestMedium", "gex_AM_RequestLong"},
      {"gex_AM_ReplyShort", "gex_AM_ReplyMedium", "gex_AM_ReplyLong"}};
  return category < 3 ? name[is_reply][category] : "gex_AM";
}

static void check_lc(const struct tmb_am_check *c, const struct gexx_am_msg *m) {
  if (!m->lc_opt)
    tmb_fatal_nopos(
        "%s: argument lc_opt is NULL; pass GEX_EVENT_NOW, %s or the address of an event", c->call,
        c->is_reply ? "nothing else" : "GEX_EVENT_GROUP");
  if (m->lc_opt == GEX_EVENT_DEFER)
    tmb_fatal_nopos(
        "%s: argument lc_opt is GEX_EVENT_DEFER, which active messages do not take; pass "
        "GEX_EVENT_NOW or the address of an event",
        c->call);
  if (c->is_reply && m->lc_opt == GEX_EVENT_GROUP)
    tmb_fatal_nopos("%s: argument lc_opt is GEX_EVENT_GROUP, which replies do not take; pass "
                    "GEX_EVENT_NOW or the address of an event",
                    c->call);
}

/* Messages carry host memory only. */
static void check_source(const struct tmb_am_check *c, const struct gexx_am_msg *m) {
  const bool offset = (m->flags & GEX_FLAG_SELF_SEG_OFFSET) != 0;
  const void *src = offset ? tmb_segtab_self_offset(c->tm->ep, m->src) : m->src;
  if (m->nbytes && tmb_segment_device_at(src, 1))
    tmb_fatal_nopos("%s: argument source_addr (%p) is device memory, which messages do not carry; "
                    "copy the payload to host memory first (gex_RMA_Get)",
                    c->call, src);
}

void tmb_am_check_msg(const struct tmb_am_check *c, const struct gexx_am_msg *m) {
  tmb_check_flags(c->call, m->flags, TMB_AM_FLAGS);
  if (m->nargs > TMB_AM_ARGS_MAX)
    tmb_fatal_nopos("%s: %u arguments given, at most %d are possible", c->call, m->nargs,
                    TMB_AM_ARGS_MAX);
  if (m->handler < TMB_HANDLER_FIRST)
    tmb_fatal_nopos("%s: argument handler is %u; registered indices are %d..255", c->call,
                    m->handler, TMB_HANDLER_FIRST);
  if (m->category == TMB_AM_SHORT) return;
  const size_t max = m->category == TMB_AM_LONG ? TMB_AM_LONG_BYTES_MAX : TMB_AM_MEDIUM_BYTES_MAX;
  if (m->nbytes > max)
    tmb_fatal_nopos("%s: argument nbytes is %zu, the limit to this peer is %zu (see gex_AM_Max*)",
                    c->call, m->nbytes, max);
  tmb_check_seg_flags(c->call, m->flags);
  if (c->check_lc)
    tmb_check_local_ep(
        &(struct tmb_local_range){c->call, "source_addr", c->tm->ep, m->src, m->nbytes, m->flags});
  if (c->check_lc) check_lc(c, m);
  if (tmb_load_rlx(&tmb_job.device_segments)) check_source(c, m);
  if (m->category != TMB_AM_LONG ||
      (m->flags & (GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)))
    return;
  tmb_check_remote(c->call, "dest_addr", c->tm, c->rank, m->dest, m->nbytes);
  if (!(m->flags & GEX_FLAG_SELF_SEG_OFFSET))
    tmb_check_overlap(c->call, tmb_jobrank(c->tm, c->rank), m->dest, m->src, m->nbytes);
}

void tmb_am_check_token(const char *call, gex_Token_t token) {
  tmb_check_ready_at(call);
  if (!token) tmb_fatal_nopos("%s: argument token is NULL", call);
  if (token->magic != TMB_MAGIC_TOKEN)
    tmb_fatal_nopos(
        "%s: argument token (%p) belongs to no running handler; a token is dead once its "
        "handler has returned",
        call, (void *)token);
  const struct tmb_thread *t = tmb_thread();
  if (token->thread != t)
    tmb_fatal_nopos("%s: argument token (%p) belongs to a handler on another thread", call,
                    (void *)token);
  if (!token->is_req || (t->context & TMB_IN_REPLY))
    tmb_fatal_nopos("%s: called in a reply handler (handler index %u); only request handlers reply",
                    call, token->entry->gex_index);
  if (token->replied)
    tmb_fatal_nopos("%s: second reply to the request of rank %u (handler index %u); a request "
                    "handler replies at most once",
                    call, token->src, token->entry->gex_index);
  tmb_check_no_hsl(call, "called");
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

int gexx_am_request(gex_TM_t tm, gex_Rank_t rank, const struct gexx_am_msg *m) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = tmb_am_call_name(false, m->category);
    tmb_check_context_at(call);
    tmb_check_tm_rank(call, tm, rank);
    tmb_am_check_msg(&(struct tmb_am_check){call, tm, rank, false, true}, m);
  }
  struct tmb_am_out out = out_of(m, tmb_jobrank(tm, rank), false);
  out.route = tmb_am_route(tm, rank);
  if (TMB_UNLIKELY(out.route || (m->flags & TMB_AM_RESOLVE_FLAGS))) tmb_am_resolve(&out, m->flags);
  if (TMB_UNLIKELY(tmb_am_inject(&out))) return 1;
  tmb_am_complete_lc(m->lc_opt);
  return 0;
}

int gexx_am_reply(gex_Token_t token, const struct gexx_am_msg *m) {
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
