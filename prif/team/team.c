/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: prif_form_team, prif_change_team, prif_end_team, prif_get_team, prif_team_number.
 *
 * Owns nothing: a team variable holds the address of a struct caf_team, which lives until the
 * program ends, so it may be copied. Called by programs. Calls: teams of coarray/. Invariants: a
 * word that is no team that this image has formed is found. The numbers of teams have 64 bits.
 */
#include "prif.h"

struct caf_team *prif_team_of(const prif_team *team, const struct prif_status *to) {
  if (!team) return caf.team;
  if (caf_team_formed(*team)) return *team;
  prif_fail(
      to, PRIF_STAT_ERROR,
      "%s: argument team was not formed: call prif_form_team or prif_get_team first [TMB-2223]",
      caf.statement.call);
  return NULL;
}

uint32_t prif_sibling(int64_t number, uint32_t *jobrank, const struct prif_status *to) {
  const struct caf_team *const same = number == -1                 ? &caf.initial
                                      : number == caf.team->number ? caf.team
                                                                   : NULL;
  uint32_t size = same ? same->size : caf_sibling_images(number, jobrank);
  for (uint32_t i = 0; same && jobrank && i < size; i++) jobrank[i] = same->jobrank[i];
  if (size == 0)
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: team_number is %lld: no team of that number was formed together with the "
              "current one, which has number %lld; the initial team has -1 [TMB-2222]",
              caf.statement.call, (long long)number, (long long)caf.team->number);
  return size;
}

void PRIF(form_team)(const int64_t *team_number, prif_team *team, const int32_t *new_index,
                     PRIF_STATUS) {
  PRIF_STATEMENT("prif_form_team");
  struct prif_core core;
  caf_form_team(*team_number, team, new_index, prif_core(&core, PRIF_TO));
  prif_pass(PRIF_TO, &core);
}

void PRIF(change_team)(const prif_team *team, PRIF_STATUS) {
  PRIF_STATEMENT("prif_change_team");
  struct prif_core core;
  caf_change_team(*team, prif_core(&core, PRIF_TO));
  prif_pass(PRIF_TO, &core);
}

void PRIF(end_team)(PRIF_STATUS) {
  PRIF_STATEMENT("prif_end_team");
  struct prif_core core;
  struct caf_team *const team = caf_end_team_begin(prif_core(&core, PRIF_TO));
  if (team) {
    prif_free_coarrays(team);
    caf_team_enter(team->parent);
  }
  prif_pass(PRIF_TO, &core);
}

void PRIF(get_team)(const int32_t *level, prif_team *team) {
  PRIF_STATEMENT("prif_get_team");
  struct caf_team *found = NULL;
  switch (level ? *level : PRIF_CURRENT_TEAM) {
  case PRIF_CURRENT_TEAM: found = caf.team; break;
  case PRIF_PARENT_TEAM: found = caf.team->parent ? caf.team->parent : caf.team; break;
  case PRIF_INITIAL_TEAM: found = &caf.initial; break;
  default:
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "prif_get_team: level is %d: it must be PRIF_CURRENT_TEAM, PRIF_PARENT_TEAM or "
              "PRIF_INITIAL_TEAM [TMB-2221]",
              (int)*level);
  }
  *team = found;
}

void PRIF(team_number)(const prif_team *team, int64_t *team_number) {
  PRIF_STATEMENT("prif_team_number");
  *team_number = prif_team_of(team, PRIF_NO_STATUS)->number;
}
