/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Size limits of active messages, and tokens.
 *
 * Owns nothing. Called by clients in any context. Calls: checks.
 * Limits do not depend on the pair: Medium 64 KiB (one message buffer), Long 2 GiB - 1; a prepared
 * Long in a library buffer is limited by that buffer. So minima over peers, symmetry and constancy
 * hold trivially.
 */
#include "core/am/am.h"
#include "core/check.h"

struct query {
  const char *call;
  gex_TM_t tm;
  gex_Rank_t rank;
  const gex_Event_t *lc_opt;
  gex_Flags_t flags;
  unsigned numargs;
  bool is_reply;
};

static void check_query(const struct query *q) {
  const gex_Flags_t least = GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  if (q->tm) {
    if (q->rank == GEX_RANK_INVALID)
      tmb_check_tm(q->call, q->tm, true);
    else
      tmb_check_tm_rank(q->call, q->tm, q->rank);
  }
  if (q->numargs > TMB_AM_ARGS_MAX)
    tmb_fatal_nopos("%s: argument numargs is %u, at most %d are possible", q->call, q->numargs,
                    TMB_AM_ARGS_MAX);
  if ((q->flags & least) == least)
    tmb_advise(TMB_ADVICE_QUERY,
               "%s: argument flags is 0x%x: GEX_FLAG_AM_PREPARE_LEAST_CLIENT and _ALLOC exclude "
               "each other",
               q->call, q->flags);
  tmb_check_flags(q->call, q->flags, TMB_AM_FLAGS | least);
  if (q->lc_opt == GEX_EVENT_DEFER || (q->is_reply && q->lc_opt == GEX_EVENT_GROUP))
    tmb_advise(TMB_ADVICE_QUERY,
               "%s: argument lc_opt is GEX_EVENT_%s, which the injection does not take", q->call,
               q->lc_opt == GEX_EVENT_DEFER ? "DEFER" : "GROUP");
}

static size_t limit_medium(const struct query *q) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_query(q);
  return TMB_AM_MEDIUM_BYTES_MAX;
}

static size_t limit_long(const struct query *q) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_query(q);
  return q->flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC ? TMB_AM_MEDIUM_BYTES_MAX
                                                    : TMB_AM_LONG_BYTES_MAX;
}

#define TM_QUERY(name, is_reply, limit)                                                        \
 size_t name(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags, \
             unsigned int numargs) {                                                           \
  if (tmb_job.debug && !tm) tmb_fatal_nopos("%s: argument tm is GEX_TM_INVALID", #name);       \
  const struct query q = {#name, tm, other_rank, lc_opt, flags, numargs, is_reply};            \
  return limit(&q);                                                                            \
 }
TM_QUERY(gex_AM_MaxRequestMedium, false, limit_medium)
TM_QUERY(gex_AM_MaxReplyMedium, true, limit_medium)
TM_QUERY(gex_AM_MaxRequestLong, false, limit_long)
TM_QUERY(gex_AM_MaxReplyLong, true, limit_long)

static void check_live(const char *call, gex_Token_t token) {
  tmb_check_ready_at(call);
  if (!token || token->magic != TMB_MAGIC_TOKEN)
    tmb_fatal_nopos(
        "%s: argument token (%p) belongs to no running handler; a token is invalid once its "
        "handler has returned",
        call, (void *)token);
}

size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                                unsigned int numargs) {
  const char *call = "gex_Token_MaxReplyMedium";
  if (tmb_job.debug) check_live(call, token);
  return limit_medium(&(struct query){call, NULL, 0, lc_opt, flags, numargs, true});
}

size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                              unsigned int numargs) {
  const char *call = "gex_Token_MaxReplyLong";
  if (tmb_job.debug) check_live(call, token);
  return limit_long(&(struct query){call, NULL, 0, lc_opt, flags, numargs, true});
}

size_t gex_AM_LUBRequestMedium(void) {
  return TMB_AM_MEDIUM_BYTES_MAX;
}
size_t gex_AM_LUBReplyMedium(void) {
  return TMB_AM_MEDIUM_BYTES_MAX;
}
size_t gex_AM_LUBRequestLong(void) {
  return TMB_AM_LONG_BYTES_MAX;
}
size_t gex_AM_LUBReplyLong(void) {
  return TMB_AM_LONG_BYTES_MAX;
}

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    check_live("gex_Token_Info", token);
    if (!info) tmb_fatal_nopos("gex_Token_Info: argument info is NULL");
    if (mask & ~GEX_TI_ALL)
      tmb_advise(TMB_ADVICE_QUERY, "gex_Token_Info: argument mask is 0x%x; known bits are 0x%x",
                 mask, GEX_TI_ALL);
  }
  info->gex_srcrank = token->src;
  info->gex_ep = tmb_job.eps[TMB_ROUTE_TARGET(token->route)];
  info->gex_entry = token->entry;
  info->gex_is_req = token->is_req;
  info->gex_is_long = token->is_long;
  return GEX_TI_ALL;
}
