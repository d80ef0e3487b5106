/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of collectives in this process, see state.h, and of each team.
 *
 * Owns: the one struct tmb_coll_state and its lock; makes struct tmb_coll_team, which
 * tmb_engine_team_free frees. Called by all of coll. Calls libc. Invariants: the ends of empty
 * queues point to their beginnings.
 */
#include "coll/engine/state.h"

#include "base/log.h"
#include "coll/engine/engine.h"

#include <stdlib.h>

struct tmb_lock tmb_coll_guard;
struct tmb_coll_state tmb_colls = {.ops = {.run_end = &tmb_colls.ops.run},
                                   .calls = {.end = &tmb_colls.calls.first}};

struct tmb_coll_team *tmb_coll_team_of(struct tmb_team *team) {
  if (TMB_LIKELY(team->coll != NULL)) return team->coll;
  struct tmb_coll_team *ct = calloc(1, sizeof *ct);
  if (!ct) tmb_fatal("out of memory for the collectives of a team");
  for (uint32_t i = 0; i < TMB_COLL_BUCKETS; i++) ct->stash_end[i] = &ct->stash[i];
  ct->held_end = &ct->held;
  team->coll = ct;
  return ct;
}
