/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of a team and the form of its barriers, see groups.h.
 *
 * Owns: team->group, which lives as long as the team. Called by client.c and by all that makes
 * teams. Calls: neighbourhoods, rows. A team of one neighbourhood costs one pass over its members
 * and no memory, one with groups a word a member at each leader. Invariants: groups are numbered
 * by their leaders' ranks; a row that a group keeps is below GROUP_ROWS on every member. All hosts
 * have that number of rows, so that teams inside one host find rows, too.
 */
#include "core/team/groups.h"

#include "base/error.h"
#include "base/log.h"
#include "core/job.h"
#include "core/shared.h"

#include <stdlib.h>
#include <string.h>

/* Chosen: half of the rows of a host of at most 64 ranks. */
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

/* The groups of a team, numbered by their leaders' ranks. */
struct groups {
  uint32_t count;
  uint32_t leader[TMB_BOOT_RANKS_MAX];
  uint32_t number[TMB_BOOT_RANKS_MAX]; /* of the group of a neighbourhood, + 1; 0: it has none */
};

static void find_groups(const struct tmb_team *team, struct groups *all) {
  all->count = 0;
  memset(all->number, 0, sizeof all->number);
  for (uint32_t r = 0; r < team->head.size; r++) {
    uint32_t *const number = &all->number[label(team, r)];
    if (*number) continue;
    all->leader[all->count++] = r;
    *number = all->count;
  }
}

/* Number of groups between that of a member and `mine`, which come after it. */
static uint32_t groups_back(const struct tmb_team *team, const struct groups *all, uint32_t mine,
                            uint32_t rank) {
  const uint32_t number = all->number[label(team, rank)] - 1;
  return mine >= number ? mine - number : mine + all->count - number;
}

/* Sorts the members by groups, this one's group first, then those before it in descending order;
 * by counting. */
static void sort_members(const struct tmb_team *team, const struct groups *all, uint32_t mine,
                         struct tmb_team_group *g) {
  const uint32_t size = team->head.size;
  memset(g->first, 0, (all->count + 1) * sizeof *g->first);
  for (uint32_t r = 0; r < size; r++) g->first[groups_back(team, all, mine, r) + 1]++;
  for (uint32_t i = 0; i < all->count; i++) g->first[i + 1] += g->first[i];
  for (uint32_t r = 0; r < size; r++) g->order[g->first[groups_back(team, all, mine, r)]++] = r;
  for (uint32_t i = all->count; i > 0; i--) g->first[i] = g->first[i - 1];
  g->first[0] = 0;
}

/* Makes the group of this member, or returns NULL without memory. */
static struct tmb_team_group *make(const struct tmb_team *team, const struct groups *all) {
  const uint32_t mine = label(team, team->head.rank), rounds = tmb_team_log2(all->count);
  const uint32_t index = all->number[mine] - 1, size = team->head.size;
  const bool leads = all->leader[index] == team->head.rank;
  uint32_t members = 0;
  for (uint32_t r = 0; r < size; r++) members += label(team, r) == mine;
  const uint32_t words = rounds + members + (leads ? size + all->count + 1 : 0);
  struct tmb_team_group *g = malloc(sizeof *g + words * sizeof(uint32_t));
  if (!g) return NULL;
  *g = (struct tmb_team_group){.rounds = rounds, .groups = all->count, .to = (uint32_t *)(g + 1)};
  for (uint32_t k = 0; k < rounds; k++)
    g->to[k] = all->leader[(index + (UINT64_C(1) << k)) % all->count];
  g->member = g->to + rounds;
  for (uint32_t r = 0; r < size; r++)
    if (label(team, r) == mine) g->member[g->count++] = r;
  if (!leads) return g;
  g->order = g->member + members;
  g->first = g->order + size;
  sort_members(team, all, index, g);
  return g;
}

/* Returns false without memory. */
static bool find_group(struct tmb_team *team) {
  struct groups all;
  find_groups(team, &all);
  if (all.count <= 1 || all.count == team->head.size) return true;
  team->group = make(team, &all);
  return team->group != NULL;
}

static void choose_form(struct tmb_team *team) {
  struct tmb_team_barrier *const b = &team->barrier;
  const struct tmb_team_group *const g = team->group;
  b->form = tmb_groups_leads(team)                 ? TMB_BARRIER_LEADER
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
