/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of gfortran 16 for images and teams, whose statements have STAT= and ERRMSG=, and SYNC
 * statements.
 *
 * Owns nothing. Called by compiled programs. Calls: team.c, sync.c. Invariants: a team is passed by
 * value, NULL: the current one; ERRMSG= is the address of the text. Part of libcaf_tombolo16, which
 * has no compiler12.c: the names are equal, the arguments are not.
 */
#include "caf.h"
#include "compiler/generation.h"
#include "compiler/here.h"
#include "inside.h"
#include "sync/control.h"

const bool caf_scalars_by_pointer = true;

CAF_EXPORT void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(sync_images)(int count, int *images, int *stat, char *errmsg,
                                 size_t errmsg_len);
CAF_EXPORT void CAF(transfer_between_remotes)(CAF_TRANSFER_PARAMETERS, void **src_team,
                                              int *src_team_number);
CAF_EXPORT int CAF(this_image)(void *team);
CAF_EXPORT int CAF(num_images)(void *team, int32_t *team_number);
CAF_EXPORT void CAF(form_team)(int number, void **team, int *new_index, int *stat, char *errmsg,
                               size_t errmsg_len);
CAF_EXPORT void CAF(change_team)(void *team, int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(end_team)(int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(sync_team)(void *team, int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT int CAF(team_number)(void *team);
CAF_EXPORT void *CAF(get_team)(int32_t *level);

/* Levels of GET_TEAM (iso_fortran_env). */
enum { INITIAL_TEAM = 0, PARENT_TEAM = 1, CURRENT_TEAM = 2 };

static const struct caf_team *team_or_current(void *team) {
  return team ? team : caf.team;
}

int CAF(this_image)(void *team) {
  caf_settle();
  return (int)team_or_current(team)->rank + 1;
}

int CAF(num_images)(void *team, int32_t *team_number) {
  const struct caf_status none = {0};
  caf_settle();
  if (!team && team_number && *team_number != caf.team->number) {
    const uint32_t siblings = caf_sibling_images(*team_number, NULL);
    const struct caf_team *other = siblings ? NULL : caf_sibling(*team_number, &none);
    return other ? (int)other->size : (int)siblings;
  }
  return (int)team_or_current(team)->size;
}

void CAF(form_team)(int number, void **team, int *new_index, int *stat, char *errmsg,
                    size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("FORM TEAM");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_form_team(number, (struct caf_team **)team, new_index, &to);
}

void CAF(change_team)(void *team, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("CHANGE TEAM");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_change_team(team, &to);
}

void CAF(end_team)(int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("END TEAM");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_end_team(&to);
}

void CAF(sync_team)(void *team, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC TEAM");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_sync_team(team, &to);
}

int CAF(team_number)(void *team) {
  return (int)(team ? caf_number_of(team) : caf.team->number);
}

void *CAF(get_team)(int32_t *level) {
  if (!level || *level == CURRENT_TEAM) return caf.team;
  if (*level == INITIAL_TEAM) return &caf.initial;
  if (*level == PARENT_TEAM) return caf.team->parent ? caf.team->parent : &caf.initial;
  const struct caf_status none = {0};
  caf_fail(&none, CAF_STAT_ERROR, "GET_TEAM: level %d is none of iso_fortran_env [TMB-2014]",
           (int)*level);
  return NULL;
}

void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC ALL");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_sync_all(&to);
}

void CAF(sync_images)(int count, int *images, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC IMAGES");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  caf_sync_images(count, images, &to);
}

void CAF(transfer_between_remotes)(CAF_TRANSFER_PARAMETERS, void **src_team, int *src_team_number) {
  const bool usual = CAF_TRANSFER_USUAL && !src_team && !src_team_number;
  if (__builtin_expect(usual && scalar, 1)) {
    const struct caf_selector from = CAF_TRANSFER_FROM, into = CAF_TRANSFER_INTO;
    if (caf_pass_short(&into, &from)) return;
  } else if (usual) {
    const struct caf_selector from = CAF_TRANSFER_FROM, into = CAF_TRANSFER_INTO;
    if (caf_here_copy(&into, &from)) return;
  }
  const struct caf_transfer t = CAF_TRANSFER(src_team, src_team_number);
  caf_transfer_in_full(&t, usual);
}
