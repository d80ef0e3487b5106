/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the members of a team meet: in shared memory, all or by groups, or by messages alone.
 *
 * Owns: declarations of groups.c; struct tmb_team_group is in team.h. Called by whatever makes a
 * team. Calls: neighbourhoods, rows. A group is the members of a team in one neighbourhood; the one
 * of lowest rank leads it. A team has groups if it spans several neighbourhoods and two of its
 * members share one. Barriers (barrier.c) use them. Invariant: all members of a team decide alike,
 * because all read equal tables.
 */
#ifndef TMB_CORE_GROUPS_H
#define TMB_CORE_GROUPS_H

#include "core/team.h"

/* Decide for a team whose size, rank, jobrank_table and shared_row are filled: sets shared, group
 * and the form of barriers. in row: that this process has taken for the team, or TMB_SHARED_NONE;
 * it is given back if the team needs none. A member whose shared_row is TMB_SHARED_ROWS_MAX or more
 * has none. Fatal when there is no memory. */
void tmb_groups_set(struct tmb_team *team, uint32_t row);

/* Sets up the groups of the primordial team, whose `shared` is set. */
int tmb_groups_init(struct tmb_team *team);
#endif
