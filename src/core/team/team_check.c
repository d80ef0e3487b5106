/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks and answers shared by the calls that create teams, see team_make.h.
 *
 * Owns: whether the warning about the deprecated scratch query was printed. Called by team_make.c
 * and team_create.c. Calls: check.h, settings. Invariants: every message names the call, the
 * argument and its value.
 */
#include "core/team/team_make.h"

#include "base/config.h"
#include "core/check.h"
#include "core/op/check_context.h"

static const char *mode_name(gex_Flags_t flag) {
  return flag == GEX_FLAG_TM_GLOBAL_SCRATCH      ? "GEX_FLAG_TM_GLOBAL_SCRATCH"
         : flag == GEX_FLAG_TM_LOCAL_SCRATCH     ? "GEX_FLAG_TM_LOCAL_SCRATCH"
         : flag == GEX_FLAG_TM_SYMMETRIC_SCRATCH ? "GEX_FLAG_TM_SYMMETRIC_SCRATCH"
                                                 : "GEX_FLAG_TM_NO_SCRATCH";
}

void tmb_team_check_call(const struct tmb_team_call *c) {
  tmb_check_context_at(c->call);
  tmb_check_tm(c->call, c->parent, false);
  tmb_check_flags(c->call, c->flags, c->known | TMB_TEAM_MODE_FLAGS | TMB_TEAM_QUERY_FLAGS);
  if ((c->flags & TMB_TEAM_QUERY_FLAGS) == TMB_TEAM_QUERY_FLAGS)
    tmb_fatal_nopos("%s: argument flags is 0x%x: GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED and _MIN "
                    "exclude each other",
                    c->call, c->flags);
  const gex_Flags_t modes = c->flags & TMB_TEAM_MODE_FLAGS;
  if (modes & ~c->modes)
    tmb_fatal_nopos("%s: argument flags is 0x%x: this call does not take %s", c->call, c->flags,
                    mode_name((modes & ~c->modes) & -(modes & ~c->modes)));
  if (modes & (modes - 1))
    tmb_fatal_nopos("%s: argument flags is 0x%x: it holds more than one scratch mode", c->call,
                    c->flags);
  if (c->mode_needed && !modes && !(c->flags & TMB_TEAM_QUERY_FLAGS))
    tmb_fatal_nopos(
        "%s: argument flags is 0x%x: it needs a scratch mode (GEX_FLAG_TM_LOCAL_SCRATCH, "
        "GEX_FLAG_TM_SYMMETRIC_SCRATCH, GEX_FLAG_TM_NO_SCRATCH or, in gex_TM_Create, "
        "GEX_FLAG_TM_GLOBAL_SCRATCH)",
        c->call, c->flags);
}

void tmb_team_check_scratch(const char *call, gex_EP_t ep, gex_Addr_t addr, size_t bytes,
                            gex_Flags_t flags) {
  if (!bytes)
    tmb_advise(TMB_ADVICE_SCRATCH,
               "%s: argument scratch_size is 0; pass memory, or GEX_FLAG_TM_NO_SCRATCH", call);
  const struct gexx_segment_s *s = ep->segment;
  if (!s) {
    tmb_advise(TMB_ADVICE_SCRATCH,
               "%s: scratch memory must lie in the bound segment, but endpoint %u has none; "
               "attach or bind one, or pass GEX_FLAG_TM_NO_SCRATCH",
               call, ep->index);
    return;
  }
  const uintptr_t at = (uintptr_t)addr;
  const uintptr_t base = flags & GEX_FLAG_SCRATCH_SEG_OFFSET ? 0 : (uintptr_t)s->base;
  if (at < base || bytes > s->size || at - base > s->size - bytes)
    tmb_advise(TMB_ADVICE_SCRATCH,
               "%s: argument scratch_addr: %zu bytes at %s%p are outside the bound segment of "
               "endpoint %u, which is %zu bytes at %p",
               call, bytes, flags & GEX_FLAG_SCRATCH_SEG_OFFSET ? "offset " : "", addr, ep->index,
               (size_t)s->size, s->base);
}

size_t tmb_team_scratch_query(const char *call, gex_TM_t parent, gex_Flags_t flags) {
  if (flags & GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED) {
    const int64_t bytes = tmb_cfg_int(TMB_CFG_COLL_SCRATCH_SIZE);
    return TMB_MAX((size_t)bytes, (size_t)TMB_TEAM_SCRATCH_MIN);
  }
  if (parent->rank == 0 && !tmb_xchg_acq_rel(&tmb_job.scratch_warned, 1))
    tmb_warn("%s: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated; ask for "
             "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED",
             call);
  return TMB_TEAM_SCRATCH_MIN;
}
