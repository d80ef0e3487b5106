/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common declarations of the public team calls.
 *
 * Owns: declarations of team_check.c. Called by team_make.c (Split, Dup, Destroy) and team_create.c
 * (Create). Calls: checks. Invariants: the check functions are for debug clients and do not return
 * after misuse; tmb_team_scratch_query serves every build.
 */
#ifndef TMB_CORE_TEAM_MAKE_H
#define TMB_CORE_TEAM_MAKE_H

#include "core/job.h"

#define TMB_TEAM_QUERY_FLAGS (GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN)
#define TMB_TEAM_MODE_FLAGS                                                                \
 (GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_SYMMETRIC_SCRATCH | \
  GEX_FLAG_TM_NO_SCRATCH)

/* Context, parent and flags of a creating call. in known: flags of the call; modes: the scratch
 * modes that it takes; mode_needed: exactly one must be given. */
struct tmb_team_call {
  const char *call;
  gex_TM_t parent;
  gex_Flags_t flags, known, modes;
  bool mode_needed;
};
void tmb_team_check_call(const struct tmb_team_call *c);

/* Scratch memory of an endpoint's member. in addr: address, or offset with SCRATCH_SEG_OFFSET. */
void tmb_team_check_scratch(const char *call, gex_EP_t ep, gex_Addr_t addr, size_t bytes,
                            gex_Flags_t flags);

/* Answer of a scratch query; rank 0 warns once about the deprecated one. */
size_t tmb_team_scratch_query(const char *call, gex_TM_t parent, gex_Flags_t flags);

/* Address of scratch memory in this process. */
static inline uint64_t tmb_team_scratch_addr(gex_EP_t ep, gex_Addr_t addr, gex_Flags_t flags) {
  const uintptr_t base =
      (flags & GEX_FLAG_SCRATCH_SEG_OFFSET) && ep->segment ? (uintptr_t)ep->segment->base : 0;
  return (uint64_t)(base + (uintptr_t)addr);
}

#endif
