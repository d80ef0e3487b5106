/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the members of a team meet: in shared memory, all or by groups, or by messages alone.
 *
 * Owns: declarations of groups.c; struct tmb_team_group is in team.h. Called by whatever makes a
 * team. Calls: neighbourhoods, rows. A group is the members of a team in one neighbourhood; the one
 * of lowest rank leads it. A team has groups if it spans several neighbourhoods and two of its
 * members share one. Barriers (barrier.c) and the all-gather (team_gather.c) use them. Invariant:
 * all members of a team decide alike, because all read equal tables.
 */
#ifndef TMB_CORE_GROUPS_H
#define TMB_CORE_GROUPS_H

#include "core/shared.h"
#include "core/team.h"

/* Decide for a team whose size, rank, jobrank_table and shared_row are filled: sets shared, group
 * and the form of barriers. in row: that this process has taken for the team, or TMB_SHARED_NONE;
 * it is given back if the team needs none. A member whose shared_row is TMB_SHARED_ROWS_MAX or more
 * has none. Fatal when there is no memory. */
void tmb_groups_set(struct tmb_team *team, uint32_t row);

/* Sets up the groups of the primordial team, whose `shared` is set. */
int tmb_groups_init(struct tmb_team *team);

/* Number of members that meet in shared memory: all of the team, or those of this group. */
static inline uint32_t tmb_groups_met_count(const struct tmb_team *team) {
  return team->group ? team->group->count : team->head.size;
}

static inline uint32_t tmb_groups_met(const struct tmb_team *team, uint32_t i) {
  return team->group ? team->group->member[i] : i;
}

/* The row in which they count. */
static inline struct tmb_shared_row *tmb_groups_root(const struct tmb_team *team) {
  return tmb_shared_row(team, tmb_groups_met(team, 0));
}

/* Whether this member leads its group. */
static inline bool tmb_groups_leads(const struct tmb_team *team) {
  return team->group && team->group->member[0] == team->head.rank;
}

#endif
