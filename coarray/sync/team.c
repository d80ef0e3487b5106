/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: FORM TEAM, CHANGE TEAM, END TEAM, SYNC TEAM, TEAM_NUMBER.
 *
 * Owns: struct caf_team of formed teams. Called by the files of the compilers' generations. Calls:
 * gex_TM_Split, where no image is lost. Invariants: a formed team lives until the program ends, as
 * a TEAM_TYPE variable may be copied, so a FORM TEAM with equal arguments gives that team again;
 * images are numbered as in the parent, or as NEW_INDEX= says; coarrays allocated in a team end
 * with END TEAM.
 */
#include "data/pending.h"

#include <stdio.h>
#include <stdlib.h>

/* A lost image: the number of no team. */
#define NO_TEAM 0

/* Index of an image with impossible arguments. It takes part, so that nobody waits for it. */
#define REFUSED 0x7fffffffu

/* First word of an image for the others: the lower half of the number, and the rest. Not 0, save in
 * a wide number, which is sent as a whole afterwards. */
static uint64_t encode(const struct caf_entry *t) {
  return (uint64_t)t->index << 33 | (uint64_t)t->lost << 32 | (uint32_t)t->number;
}

static struct caf_entry decode(uint64_t word) {
  return (struct caf_entry){(uint32_t)word, (uint32_t)(word >> 33), (word >> 32 & 1) != 0};
}

/* Sends the arguments of this image to the others. [out] entries: [size of the parent] theirs,
 * NO_TEAM of the lost. Returns as caf_share. */
static int share_entries(struct caf_team *parent, const struct caf_entry *mine,
                         struct caf_entry *entries) {
  uint64_t *words = calloc(parent->size, sizeof *words);
  if (!words) return CAF_STAT_ERROR;
  int code = caf_share(parent, encode(mine), words);
  for (uint32_t i = 0; i < parent->size; i++) entries[i] = decode(words[i]);
  if (caf.wide_teams && code != CAF_STAT_STOPPED) {
    const int again = caf_share(parent, (uint64_t)mine->number, words);
    for (uint32_t i = 0; i < parent->size; i++) entries[i].number = (int64_t)words[i];
    code = again ? again : code;
  }
  free(words);
  return code;
}

/* Places the members of a team by the arguments of every image of the parent. [out] jobrank: [size
 * of the parent], UINT32_MAX behind the last. Returns how many there are, or -1 when the indices
 * are not 1, 2, .. in some order. */
static int64_t place(const struct caf_team *parent, const struct caf_entry *entries, int64_t number,
                     uint32_t *jobrank) {
  uint32_t size = 0, placed = 0;
  for (uint32_t i = 0; i < parent->size; i++) jobrank[i] = UINT32_MAX;
  for (uint32_t i = 0; i < parent->size; i++) {
    if (entries[i].number != number) continue;
    const uint32_t at = entries[i].index ? entries[i].index - 1 : size;
    size++;
    if (at >= parent->size || jobrank[at] != UINT32_MAX) return -1;
    jobrank[at] = parent->jobrank[i];
  }
  while (placed < size && jobrank[placed] != UINT32_MAX) placed++;
  return placed == size ? (int64_t)size : -1;
}

/* Table of the members. Returns 0, or CAF_STAT_ERROR when there is no memory, or indices are wrong.
 */
static int list_members(struct caf_team *team, const struct caf_team *parent,
                        const struct caf_entry *entries) {
  team->jobrank = malloc(parent->size * sizeof *team->jobrank);
  const int64_t size = team->jobrank ? place(parent, entries, team->number, team->jobrank) : -1;
  if (size < 0) return CAF_STAT_ERROR;
  team->size = (uint32_t)size;
  while (team->rank < team->size && team->jobrank[team->rank] != caf.rank) team->rank++;
  return team->rank < team->size ? 0 : CAF_STAT_ERROR;
}

/* Whether a member of the parent is lost, or knows of a loss. */
static bool any_lost(const struct caf_team *parent, const struct caf_entry *entries) {
  for (uint32_t i = 0; i < parent->size; i++)
    if (entries[i].lost || (entries[i].number == NO_TEAM && entries[i].index != REFUSED))
      return true;
  return false;
}

/* Takes part in the calls by which the other images make their teams. */
static void stand_aside(struct caf_team *parent, bool without) {
  uint64_t *words = calloc(parent->size, sizeof *words);
  if (!without) (void)gex_TM_Split(NULL, parent->tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (words) (void)caf_share(parent, 0, words);
  free(words);
}

/* Whether the arguments of all images of a team's parent equal those at its forming. */
static bool same_entries(const struct caf_team *t, const struct caf_entry *entries) {
  uint32_t i = 0;
  while (i < t->parent->size && entries[i].number == t->siblings[i].number &&
         entries[i].index == t->siblings[i].index)
    i++;
  return i == t->parent->size;
}

/* A team of a parent for which all of its images have given equal arguments before, or NULL. All of
 * them find one, or none: no image was lost, nor refused. Two such teams take turns, as each FORM
 * TEAM makes another team than that before it. */
static struct caf_team *formed_as(const struct caf_team *parent, const struct caf_entry *entries) {
  struct caf_team *older = NULL;
  uint32_t found = 0;
  for (struct caf_team *t = caf.formed; t; t = t->formed_before) {
    if (t->parent != parent || !t->repeats || !same_entries(t, entries)) continue;
    found++;
    if (!older || t->given < older->given) older = t;
  }
  return found < 2 ? NULL : older;
}

/* Make a team: the arguments of each image are known. in without: the layer, which needs all
 * members. Returns 0 or CAF_STAT_ERROR. */
static int make_team(struct caf_team *team, struct caf_entry *entries, bool without) {
  struct caf_team *parent = team->parent;
  const int code = list_members(team, parent, entries);
  if (code) {
    stand_aside(parent, without);
    return code;
  }
  team->siblings = entries;
  team->tm = GEX_TM_INVALID;
  if (!without)
    (void)gex_TM_Split(&team->tm, parent->tm, (int)team->jobrank[0], (int)team->rank, NULL, 0,
                       GEX_FLAG_TM_NO_SCRATCH);
  return caf_words_init(team, parent);
}

/* Each image of the current team sends its arguments, then all find or make their teams. Where
 * anybody knows of a loss, a team is made without the layer. [out] team: of this image. */
static int find_team(const struct caf_entry *mine, struct caf_team **team) {
  struct caf_team *parent = caf.team;
  struct caf_team *made = calloc(1, sizeof *made);
  struct caf_entry *entries = calloc(parent->size, sizeof *entries);
  int code = made && entries ? share_entries(parent, mine, entries) : CAF_STAT_ERROR;
  if (!made || !entries || code == CAF_STAT_STOPPED) goto drop;
  const bool without = code != 0 || any_lost(parent, entries);
  *team = without ? NULL : formed_as(parent, entries);
  if (*team) goto drop;
  made->number = mine->number;
  made->parent = parent;
  code = make_team(made, entries, without);
  if (code) goto drop;
  made->formed_before = caf.formed;
  *team = caf.formed = made;
  return 0;
drop:
  if (made) free(made->jobrank);
  free(entries);
  free(made);
  return code;
}

uint32_t caf_sibling_images(int64_t number, uint32_t *jobrank) {
  const struct caf_team *team = caf.team;
  uint32_t size = 0;
  if (!team->siblings) return 0;
  for (uint32_t i = 0; i < team->parent->size; i++) size += team->siblings[i].number == number;
  if (jobrank && size) (void)place(team->parent, team->siblings, number, jobrank);
  return size;
}

/* Says why FORM TEAM has failed with `code`. */
static void refuse(int code, int64_t number, const int *new_index, const struct caf_status *to) {
  char who[CAF_ENDED_ROOM];
  char why[128] =
      "NEW_INDEX= of its images must be 1, 2, 3 ... in some order, or no memory is left";
  if (code != CAF_STAT_ERROR)
    snprintf(why, sizeof why, "%s has %s", caf_ended_images(caf.team, code, who, sizeof who),
             caf_end_name(code));
  if (number <= 0)
    caf_fail(to, CAF_STAT_ERROR, "FORM TEAM: team number %lld: it must be positive [TMB-2054]",
             (long long)number);
  else if (new_index && (*new_index < 1 || (uint32_t)*new_index > caf.team->size))
    caf_fail(to, CAF_STAT_ERROR,
             "FORM TEAM: NEW_INDEX=%d: the current team has images 1 to %u [TMB-2053]", *new_index,
             caf.team->size);
  else
    caf_fail(to, code, "FORM TEAM: team %lld cannot be made: %s [TMB-2052]", (long long)number,
             why);
}

/* Whether an image has failed before it could say of which team it is: all others find that. */
static bool any_missing(const struct caf_team *team) {
  for (uint32_t i = 0; i < team->parent->size; i++)
    if (team->siblings[i].number == NO_TEAM && team->siblings[i].index != REFUSED) return true;
  return false;
}

void caf_form_team(int64_t number, struct caf_team **team_p, const int *new_index,
                   const struct caf_status *to) {
  struct caf_entry mine = {number, new_index ? (uint32_t)*new_index : 0,
                           caf.lost_count != 0 || caf.team->tm == GEX_TM_INVALID};
  if (number <= 0 || (new_index && (*new_index < 1 || (uint32_t)*new_index > caf.team->size))) {
    if (!to->stat) refuse(CAF_STAT_ERROR, number, new_index, to);
    mine.index = REFUSED;
    if (number <= 0) mine.number = NO_TEAM;
  }
  caf_complete();
  struct caf_team *team = NULL;
  char who[CAF_ENDED_ROOM];
  const int code = find_team(&mine, &team);
  if (code) {
    refuse(code, number, new_index, to);
    return;
  }
  team->given = ++caf.teams_given;
  *team_p = team;
  if (to->stat && any_missing(team))
    caf_fail(to, CAF_STAT_FAILED, "FORM TEAM: %s has failed: the team is of the others [TMB-2080]",
             caf_ended_images(caf.team, CAF_STAT_FAILED, who, sizeof who));
  else
    caf_ok(to->stat);
}

const struct caf_team *caf_sibling(int64_t number, const struct caf_status *to) {
  if (number == caf.team->number) return caf.team;
  if (number == -1) return &caf.initial;
  for (const struct caf_team *t = caf.formed; t; t = t->formed_before)
    if (t->parent == caf.team && t->number == number) return t;
  caf_fail(
      to, CAF_STAT_NO_TEAM,
      "there is no team %lld: neither the current one, %lld, nor one that was formed with it, nor "
      "in it [TMB-2051]",
      (long long)number, (long long)caf.team->number);
  return NULL;
}

bool caf_team_formed(const struct caf_team *team) {
  const struct caf_team *formed = caf.formed;
  while (formed && formed != team) formed = formed->formed_before;
  return formed || team == &caf.initial;
}

int64_t caf_number_of(const struct caf_team *team) {
  const struct caf_status none = {0};
  if (!team) return caf.team->number;
  if (caf_team_formed(team)) return team->number;
  caf_fail(&none, CAF_STAT_ERROR, "TEAM_NUMBER: the team was not formed by FORM TEAM [TMB-2057]");
  return 0;
}

/* Whether a team is the current one, or one around it. */
static bool is_active(const struct caf_team *team) {
  const struct caf_team *active = caf.team;
  while (active && active != team) active = active->parent;
  return active != NULL;
}

/* The team of TEAM= of an image selector; NULL after caf_fail. */
static const struct caf_team *selected(const struct caf_team *team, const struct caf_status *to) {
  if (is_active(team)) return team;
  if (caf_team_formed(team))
    caf_fail(to, CAF_STAT_NO_TEAM,
             "TEAM= of an image selector: team %lld is neither the current one nor one around it "
             "[TMB-2069]",
             (long long)team->number);
  else
    caf_fail(to, CAF_STAT_NO_TEAM,
             "TEAM= of an image selector: the team was not formed by FORM TEAM [TMB-2056]");
  return NULL;
}

/* Rank in the job of image `image` of [size] ranks; UINT32_MAX after caf_fail. */
static uint32_t rank_at(int image, const uint32_t *jobrank, uint32_t size,
                        const struct caf_status *to) {
  if (image >= 1 && (uint32_t)image <= size) return jobrank[image - 1];
  caf_fail(to, CAF_STAT_ERROR, "there is no image %d: the team has images 1 to %u [TMB-2050]",
           image, size);
  return UINT32_MAX;
}

/* Rank in a team that was formed with the current one. */
static uint32_t rank_of_sibling(int image, int64_t number, const struct caf_status *to) {
  uint32_t *jobrank = malloc(caf.size * sizeof *jobrank), rank = UINT32_MAX;
  if (jobrank)
    rank = rank_at(image, jobrank, caf_sibling_images(number, jobrank), to);
  else
    caf_fail(to, CAF_STAT_ERROR, "out of memory for a table of %u images [TMB-0001]", caf.size);
  free(jobrank);
  return rank;
}

uint32_t caf_rank_in(int image, void *const *team_p, const int *number,
                     const struct caf_status *to) {
  const struct caf_team *team = caf.team;
  if (number && !team_p && *number != team->number && caf_sibling_images(*number, NULL))
    return rank_of_sibling(image, *number, to);
  if (team_p)
    team = selected(*team_p, to);
  else if (number)
    team = caf_sibling(*number, to);
  return team ? rank_at(image, team->jobrank, team->size, to) : UINT32_MAX;
}

enum { SEARCHED = 16 }; /* images of the current team, for one of another team */

int caf_image_slow(int image, void *const *team_p, const int *number) {
  const struct caf_team *team = caf.team;
  if (team_p)
    team = *team_p;
  else if (*number != team->number)
    team = *number == caf.initial.number ? &caf.initial : NULL;
  if (!team || !is_active(team) || (uint32_t)image - 1u >= team->size) return 0;
  const uint32_t rank = team->jobrank[image - 1];
  if (!caf.team->parent) return (int)rank + 1;
  for (uint32_t i = 0; i < SEARCHED && i < caf.team->size; i++)
    if (caf.team->jobrank[i] == rank) return (int)i + 1;
  return 0;
}

/* Barrier at the begin or end of a team. Images that are lost do not count, save that the statement
 * reports with STAT=. Returns whether the program goes on. */
static bool meet(struct caf_team *team, const char *name, const struct caf_status *to) {
  const int code = caf_barrier(team);
  char who[CAF_ENDED_ROOM];
  if (code == 0 || (code == CAF_STAT_FAILED && !to->stat))
    caf_ok(to->stat);
  else
    caf_fail(to, code, "%s: %s has %s [TMB-2008]", name,
             caf_ended_images(team, code, who, sizeof who), caf_end_name(code));
  return code != CAF_STAT_STOPPED;
}

void caf_change_team(struct caf_team *team, const struct caf_status *to) {
  if (!caf_team_formed(team) || team->parent != caf.team) {
    caf_fail(to, CAF_STAT_ERROR,
             "CHANGE TEAM: the team was not formed by FORM TEAM in the current team [TMB-2049]");
    return;
  }
  caf_team_enter(team);
  meet(team, "CHANGE TEAM", to);
}

struct caf_team *caf_end_team_begin(const struct caf_status *to) {
  if (!caf.team->parent) {
    caf_fail(to, CAF_STAT_ERROR, "END TEAM without CHANGE TEAM [TMB-2048]");
    return NULL;
  }
  meet(caf.team, "END TEAM", to);
  return caf.team;
}

void caf_end_team(const struct caf_status *to) {
  struct caf_team *team = caf_end_team_begin(to);
  if (!team) return;
  caf_team_free_coarrays(team);
  caf_team_enter(team->parent);
}

void caf_sync_team(struct caf_team *team, const struct caf_status *to) {
  if (!caf_team_formed(team))
    caf_fail(to, CAF_STAT_ERROR, "SYNC TEAM: the team was not formed [TMB-2047]");
  else
    meet(team, "SYNC TEAM", to);
}
