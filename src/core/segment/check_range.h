/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of ranges of memory that a call names.
 *
 * Owns nothing. Called at the top of entry points, in debug clients only but for
 * tmb_check_attached. Calls: check.h, segment.h, segment_table.h. Invariants: as in check.h.
 */
#ifndef TMB_CORE_CHECK_RANGE_H
#define TMB_CORE_CHECK_RANGE_H

#include "core/check.h"

/* Fatal unless the remote range [addr, addr+nbytes) is inside the bound segment of (tm, rank).
 * in argument: the argument's name. */
void tmb_check_remote(const char *call, const char *argument, gex_TM_t tm, gex_Rank_t rank,
                      const void *addr, size_t nbytes);

/* Fatal, in every client, if (tm, rank) is a primordial endpoint and no segment is attached or
 * bound yet: else there is only a fault at the peer. For accesses that are not inline. */
void tmb_check_attached(const char *call, const char *argument, gex_TM_t tm, gex_Rank_t rank,
                        const void *addr);

/* Fatal if a local range is NULL and not empty, or its offset is outside the segment; warns if it
 * is not where the GEX_FLAG_SELF_SEG_ flags promise. in argument: the argument's name. */
struct tmb_local_range {
  const char *call, *argument;
  gex_EP_t ep; /* whose bound segment the flags talk of */
  const void *addr;
  size_t nbytes;
  gex_Flags_t flags;
};
void tmb_check_local_ep(const struct tmb_local_range *r);

/* tmb_check_local_ep for the primordial endpoint. */
void tmb_check_local(const char *call, const char *argument, const void *addr, size_t nbytes,
                     gex_Flags_t flags);

#endif
