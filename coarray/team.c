/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: FORM TEAM, CHANGE TEAM, END TEAM, SYNC TEAM, TEAM_NUMBER.
 *
 * Owns: struct caf_team of formed teams. Called by compiled programs. Calls: gex_TM_Split,
 * where no image is lost.
 * Invariants: a formed team lives until the program ends, as a TEAM_TYPE variable may be copied;
 * images are numbered as in the parent; coarrays allocated in a team end with END TEAM.
 */
#include "caf.h"

#include <stdlib.h>

CAF_EXPORT void CAF(form_team)(int number, void **team_p, int unused);
CAF_EXPORT void CAF(change_team)(void **team_p, int unused);
CAF_EXPORT void CAF(end_team)(void **team_p);
CAF_EXPORT void CAF(sync_team)(void **team_p, int unused);
CAF_EXPORT int CAF(team_number)(void *team);

static const struct caf_status no_stat;

/* Table of the members, by what every image of the parent has told. Returns whether it was made. */
static bool list_members(struct caf_team *team, const struct caf_team *parent,
                         const uint64_t *told) {
  const uint64_t mine = told[parent->rank];
  team->jobrank = malloc(parent->size * sizeof *team->jobrank);
  for (uint32_t i = 0; team->jobrank && i < parent->size; i++) {
    if (told[i] >> 1 != mine >> 1) continue;
    if (i == parent->rank) team->rank = team->size;
    team->jobrank[team->size++] = parent->jobrank[i];
  }
  return team->jobrank != NULL;
}

/* Make a team whose number and knowledge of losses each image tells: number * 2 + (some are lost).
 * Where anybody knows of a loss, the team is made without the layer, which needs all members. */
static int make_team(struct caf_team *team, struct caf_team *parent) {
  uint64_t *told = calloc(parent->size, sizeof *told);
  if (!told) return CAF_STAT_ERROR;
  const bool lost = caf.lost_count != 0 || parent->tm == GEX_TM_INVALID;
  const int code = caf_tell(parent, (uint64_t)team->number << 1 | lost, told);
  bool without = code != 0;
  for (uint32_t i = 0; i < parent->size; i++) without = without || (told[i] & 1) || !told[i];
  const bool made = list_members(team, parent, told);
  free(told);
  if (!made) return CAF_STAT_ERROR;
  if (code == CAF_STAT_STOPPED) return code;
  team->tm = GEX_TM_INVALID;
  if (!without)
    (void)gex_TM_Split(&team->tm, parent->tm, team->number, (int)parent->rank, NULL, 0,
                       GEX_FLAG_TM_NO_SCRATCH);
  return caf_words_init(team, parent);
}

void CAF(form_team)(int number, void **team_p, int unused) {
  (void)unused;
  if (number <= 0) {
    caf_fail(&no_stat, CAF_STAT_ERROR, "FORM TEAM: team number %d: it must be positive", number);
    return;
  }
  struct caf_team *team = calloc(1, sizeof *team);
  if (team) team->number = number;
  const int code = team ? make_team(team, caf.team) : CAF_STAT_ERROR;
  if (code) {
    caf_fail(&no_stat, code, "FORM TEAM: team %d cannot be made: %s", number,
             code == CAF_STAT_ERROR ? "out of memory" : "an image of the team has ended");
    return;
  }
  team->parent = caf.team;
  *team_p = team;
}

/* Barrier at the begin or end of a team; images that are lost do not count. */
static void meet(struct caf_team *team, const char *name) {
  if (caf_barrier(team) == CAF_STAT_STOPPED)
    caf_fail(&no_stat, CAF_STAT_STOPPED, "%s: an image of the team has ended", name);
}

void CAF(change_team)(void **team_p, int unused) {
  (void)unused;
  struct caf_team *team = *team_p;
  if (!team || team->parent != caf.team) {
    caf_fail(&no_stat, CAF_STAT_ERROR,
             "CHANGE TEAM: the team was not formed by FORM TEAM in the current team");
    return;
  }
  caf.team = team;
  meet(team, "CHANGE TEAM");
}

void CAF(end_team)(void **team_p) {
  (void)team_p;
  struct caf_team *team = caf.team;
  if (!team->parent) {
    caf_fail(&no_stat, CAF_STAT_ERROR, "END TEAM without CHANGE TEAM");
    return;
  }
  meet(team, "END TEAM");
  caf_team_free_coarrays(team);
  caf.team = team->parent;
}

void CAF(sync_team)(void **team_p, int unused) {
  (void)unused;
  struct caf_team *team = *team_p;
  if (!team) {
    caf_fail(&no_stat, CAF_STAT_ERROR, "SYNC TEAM: the team was not formed");
    return;
  }
  meet(team, "SYNC TEAM");
}

int CAF(team_number)(void *team) {
  return team ? ((const struct caf_team *)team)->number : caf.team->number;
}
