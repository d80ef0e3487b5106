/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of a team and the form of its barriers, see groups.h.
 *
 * Owns: team->group, which lives as long as the team. Called by client.c and by all that makes
 * teams. Calls: neighbourhoods, rows. A team of one neighbourhood costs one pass over its members
 * and no memory, one with groups two words a member for a moment. Invariants: groups are numbered
 * by their leaders' ranks; a row that a group keeps is below GROUP_ROWS on every member. All hosts
 * have that number of rows, so that teams inside one host find rows, too.
 */
#include "core/team/groups.h"

#include "base/error.h"
#include "base/log.h"
#include "core/job.h"
#include "core/shared.h"

#include <stdlib.h>

/* Chosen 2026-11-26: half of the rows of a host of at most 64 ranks. */
#define GROUP_ROWS 8u

/* Neighbourhood of a member of a team that need not be registered yet. */
static uint32_t label(const struct tmb_team *team, uint32_t rank) {
  return tmb_nbrhd_of(team->jobrank_table ? team->jobrank_table[rank] : rank);
}

/* Whether each member has a row below a limit. */
static bool have_rows(const struct tmb_team *team, uint32_t limit) {
  for (uint32_t r = 0; r < team->head.size; r++)
    if (team->shared_row[r] >= limit) return false;
  return true;
}

static bool one_nbrhd(const struct tmb_team *team) {
  if (tmb_job.nbrhd.count == 1) return true;
  const uint32_t mine = label(team, team->head.rank);
  for (uint32_t r = 0; r < team->head.size; r++)
    if (label(team, r) != mine) return false;
  return true;
}

/* The leaders of all groups in their order. out leader: [size]. Returns how many. */
static uint32_t find_leaders(const struct tmb_team *team, uint32_t *leader) {
  bool seen[TMB_BOOT_RANKS_MAX] = {false};
  uint32_t count = 0;
  for (uint32_t r = 0; r < team->head.size; r++) {
    const uint32_t at = label(team, r);
    if (!seen[at]) leader[count++] = r;
    seen[at] = true;
  }
  return count;
}

/* Makes the group of this member, or returns NULL without memory. in leader: [count] those of all
 * groups. */
static struct tmb_team_group *make(const struct tmb_team *team, const uint32_t *leader,
                                   uint32_t count) {
  const uint32_t mine = label(team, team->head.rank), rounds = tmb_team_log2(count);
  uint32_t index = 0, members = 0;
  while (label(team, leader[index]) != mine) index++;
  for (uint32_t r = 0; r < team->head.size; r++) members += label(team, r) == mine;
  struct tmb_team_group *g = malloc(sizeof *g + (rounds + members) * sizeof(uint32_t));
  if (!g) return NULL;
  *g = (struct tmb_team_group){.rounds = rounds, .to = (uint32_t *)(g + 1)};
  for (uint32_t k = 0; k < rounds; k++) g->to[k] = leader[(index + (UINT64_C(1) << k)) % count];
  g->member = g->to + rounds;
  for (uint32_t r = 0; r < team->head.size; r++)
    if (label(team, r) == mine) g->member[g->count++] = r;
  return g;
}

/* Returns false without memory. */
static bool find_group(struct tmb_team *team) {
  uint32_t leader[TMB_BOOT_RANKS_MAX];
  const uint32_t count = find_leaders(team, leader);
  if (count <= 1 || count == team->head.size) return true;
  team->group = make(team, leader, count);
  return team->group != NULL;
}

static void choose_form(struct tmb_team *team) {
  struct tmb_team_barrier *const b = &team->barrier;
  const struct tmb_team_group *const g = team->group;
  b->form = g && g->member[0] == team->head.rank   ? TMB_BARRIER_LEADER
            : g                                    ? TMB_BARRIER_MEMBER
            : team->shared && tmb_job.wait.crowded ? TMB_BARRIER_CENTRAL
                                                   : TMB_BARRIER_ROUNDS;
  b->steps = b->form == TMB_BARRIER_LEADER   ? 1 + g->rounds
             : b->form == TMB_BARRIER_ROUNDS ? team->rounds
                                             : 1;
}

void tmb_groups_set(struct tmb_team *team, uint32_t row) {
  if (team->head.size > 1 && have_rows(team, TMB_SHARED_ROWS_MAX)) {
    team->shared = one_nbrhd(team);
    if (!team->shared && have_rows(team, GROUP_ROWS) && !find_group(team))
      tmb_fatal("out of memory for the groups of a team of %u members", team->head.size);
  }
  if (!team->shared && !team->group && row != TMB_SHARED_NONE) tmb_shared_give(row);
  choose_form(team);
}

int tmb_groups_init(struct tmb_team *team) {
  if (!team->shared && !find_group(team)) {
    tmb_print("out of memory for the groups of %u ranks", team->head.size);
    return TMB_E_NOMEM;
  }
  choose_form(team);
  return 0;
}
