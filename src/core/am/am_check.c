/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of active messages that all injection calls share.
 *
 * Owns: the names of the calls. Called by am.c, am_self.c and npam.c; by most in debug clients
 * only. Calls: check.h, the segment table. Invariants: nothing here sends, waits or runs a handler;
 * a check that fails ends the job with a message that names the argument and its value.
 */
#include "core/am/am.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/check_range.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"

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
        "%s: argument token (%p) belongs to no running handler; a token is invalid once its "
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

void tmb_am_check_attached(const struct tmb_am_out *out) {
  if (out->unmapped || out->handler < TMB_HANDLER_FIRST) return;
  tmb_check_attached(tmb_am_call_name(out->is_reply, TMB_AM_LONG), "dest_addr", &tmb_job.tm,
                     out->peer, out->dest);
}
