/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of gfortran 11 to 15 for images and teams, and SYNC statements, which 16 emits in other
 * ways.
 *
 * Owns nothing. Called by compiled programs. Calls: team.c, sync.c. Invariants: the team statements
 * have neither STAT= nor ERRMSG= here: a failure ends the program. Part of libcaf_tombolo;
 * libcaf_tombolo16 has compiler16.c instead.
 */
#include "caf.h"
#include "compiler/generation.h"
#include "compiler/here.h"
#include "inside.h"
#include "sync/control.h"

#include <string.h>

const bool caf_scalars_by_pointer = false;

CAF_EXPORT void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(sync_images)(int count, int *images, int *stat, char *errmsg,
                                 size_t errmsg_len);
CAF_EXPORT void CAF(transfer_between_remotes)(CAF_TRANSFER_PARAMETERS);
CAF_EXPORT int CAF(this_image)(int distance);
CAF_EXPORT int CAF(num_images)(int distance, int failed);
CAF_EXPORT void CAF(form_team)(int number, void **team, int unused);
CAF_EXPORT void CAF(change_team)(void **team, int unused);
CAF_EXPORT void CAF(end_team)(void **team);
CAF_EXPORT void CAF(sync_team)(void **team, int unused);
CAF_EXPORT int CAF(team_number)(void *team);

static const struct caf_status no_stat;

/* The team of a statement. gfortran 16 passes the team in the place of its variable. */
static struct caf_team *team_of(void **team) {
  if (caf_team_formed((const struct caf_team *)(const void *)team))
    caf_fail(
        &no_stat, CAF_STAT_ERROR,
        "the program was compiled by gfortran 16 or newer, and linked with the library for older "
        "ones: link it by 'tombolo fc', or with -lcaf_tombolo16 [TMB-2070]");
  return *team;
}

/* The team that many levels around the current one. */
static const struct caf_team *around(int distance) {
  const struct caf_team *team = caf.team;
  while (distance-- > 0 && team->parent) team = team->parent;
  return team;
}

int CAF(this_image)(int distance) {
  caf_settle();
  return (int)around(distance)->rank + 1;
}

int CAF(num_images)(int distance, int failed) {
  caf_settle();
  const struct caf_team *team = around(distance);
  if (failed < 0) return (int)team->size;
  int count = 0;
  for (uint32_t i = 0; i < team->size; i++)
    count += caf_state_of(team->jobrank[i]) == CAF_STAT_FAILED;
  return failed ? count : (int)team->size - count;
}

void CAF(form_team)(int number, void **team, int unused) {
  CAF_INSIDE;
  CAF_STATEMENT("FORM TEAM");
  (void)unused;
  caf_form_team(number, (struct caf_team **)team, NULL, &no_stat);
}

void CAF(change_team)(void **team, int unused) {
  CAF_INSIDE;
  CAF_STATEMENT("CHANGE TEAM");
  (void)unused;
  caf_change_team(team_of(team), &no_stat);
}

void CAF(end_team)(void **team) {
  CAF_INSIDE;
  CAF_STATEMENT("END TEAM");
  (void)team;
  caf_end_team(&no_stat);
}

void CAF(sync_team)(void **team, int unused) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC TEAM");
  (void)unused;
  caf_sync_team(team_of(team), &no_stat);
}

int CAF(team_number)(void *team) {
  return (int)(team ? caf_number_of(team) : caf.team->number);
}

/* Address of ERRMSG= of a SYNC statement: gfortran up to 15 passes the address of a pointer to it.
 * An address has zeros in its upper two bytes, which the text of a message has not. */
static char *sync_errmsg(char *errmsg) {
  uint64_t word;
  if (!errmsg) return NULL;
  memcpy(&word, errmsg, sizeof word);
  return word && word >> 47 == 0 ? (char *)(uintptr_t)word : errmsg;
}

void CAF(sync_all)(int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC ALL");
  const struct caf_status to = {stat, sync_errmsg(errmsg), errmsg_len};
  caf_sync_all(&to);
}

void CAF(sync_images)(int count, int *images, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("SYNC IMAGES");
  const struct caf_status to = {stat, sync_errmsg(errmsg), errmsg_len};
  caf_sync_images(count, images, &to);
}

void CAF(transfer_between_remotes)(CAF_TRANSFER_PARAMETERS) {
  const bool usual = CAF_TRANSFER_USUAL;
  if (__builtin_expect(usual && scalar, 1)) {
    const struct caf_selector from = CAF_TRANSFER_FROM, into = CAF_TRANSFER_INTO;
    if (caf_pass_short(&into, &from)) return;
  } else if (usual) {
    const struct caf_selector from = CAF_TRANSFER_FROM, into = CAF_TRANSFER_INTO;
    if (caf_here_copy(&into, &from)) return;
  }
  const struct caf_transfer t = CAF_TRANSFER(NULL, NULL);
  caf_transfer_in_full(&t, usual);
}
