/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other ranks that is mapped here, so that the checker does an access itself.
 *
 * Owns: what the library said of the last team and the last domain. Called by rma.c and atomic.c,
 * under chk.lock. Calls the library alone, which returns at once. Invariant: what it said holds
 * until a team, a domain or a segment begins or ends.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

struct chk_last chk_last[2];

void chk_near_forget(void) {
  chk_last[CHK_TEAM].team = chk_last[CHK_DOMAIN].team = NULL;
}

intptr_t chk_near_of(int kind, const void *team, gex_Rank_t rank) {
  struct chk_last *const l = &chk_last[kind];
  if (l->team != team) {
    l->deltas = kind == CHK_TEAM ? gexx_check_near((gex_TM_t)(uintptr_t)team)
                                 : gexx_check_near_ad((gex_AD_t)(uintptr_t)team);
    l->team = team;
  }
  return l->deltas ? __atomic_load_n(&l->deltas[rank], __ATOMIC_RELAXED) : GEXX_UNMAPPED;
}
