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

static const void *known[2];      /* the team, the domain; NULL: none */
static const intptr_t *deltas[2]; /* NULL: the library does each access */

void chk_near_forget(void) {
  known[0] = known[1] = NULL;
}

static intptr_t delta_of(int kind, gex_Rank_t rank) {
  return deltas[kind] ? __atomic_load_n(&deltas[kind][rank], __ATOMIC_RELAXED) : GEXX_UNMAPPED;
}

intptr_t chk_near(gex_TM_t tm, gex_Rank_t rank) {
  if (CHK_UNLIKELY(known[0] != tm)) {
    deltas[0] = gexx_check_near(tm);
    known[0] = tm;
  }
  return delta_of(0, rank);
}

intptr_t chk_near_ad(gex_AD_t ad, gex_Rank_t rank) {
  if (CHK_UNLIKELY(known[1] != ad)) {
    deltas[1] = gexx_check_near_ad(ad);
    known[1] = ad;
  }
  return delta_of(1, rank);
}
