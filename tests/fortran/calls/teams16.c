/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the team statements of gfortran 16 as its manual describes them, with STAT= and NEW_INDEX=,
 * and SYNC IMAGES with a text for ERRMSG= that is not set. Linked with libcaf_tombolo16.
 */
/* again: TOMBOLO_TEST_SHM=0 */
/* ranks: 1 2 3 4 8 */
#include "../../../coarray/abi.h"

#include <stdio.h>
#include <string.h>

extern void CAF(init)(int *argc, char ***argv);
extern void CAF(finalize)(void);
extern int CAF(this_image)(void *team);
extern int CAF(num_images)(void *team, int32_t *team_number);
extern void CAF(form_team)(int number, void **team, int *new_index, int *stat, char *errmsg,
                           size_t errmsg_len);
extern void CAF(change_team)(void *team, int *stat, char *errmsg, size_t errmsg_len);
extern void CAF(end_team)(int *stat, char *errmsg, size_t errmsg_len);
extern void CAF(sync_team)(void *team, int *stat, char *errmsg, size_t errmsg_len);
extern void CAF(sync_images)(int count, int *images, int *stat, char *errmsg, size_t errmsg_len);
extern int CAF(team_number)(void *team);
extern void *CAF(get_team)(int32_t *level);
extern void CAF(error_stop)(int code, bool quiet);

static void check(bool condition, const char *what) {
  if (condition) return;
  printf("FAILED on image %d: %s\n", CAF(this_image)(NULL), what);
  CAF(error_stop)(1, true);
}

/* A text on the stack has any bytes before it is set: they are no address of another text. */
static void check_text(int images) {
  char other[80] = "", message[80] = "";
  const char *const address = other;
  int stat = 0, none = images + 1;
  memcpy(message, &address, sizeof address);
  CAF(sync_images)(1, &none, &stat, message, sizeof message);
  check(stat != 0 && strstr(message, "there is no image") && !*other, "errmsg of sync images");
}

int main(int argc, char **argv) {
  CAF(init)(&argc, &argv);
  const int me = CAF(this_image)(NULL), images = CAF(num_images)(NULL, NULL);
  const int number = 1 + me % 2, members = number == 1 ? images / 2 : (images + 1) / 2;
  void *team = NULL, *bad = NULL;
  int32_t level = 0, initial = -1;
  int stat = -1, backwards = members - (me - 1) / 2;
  char message[80] = "";
  check(CAF(team_number)(NULL) == -1 && CAF(team_number)(CAF(get_team)(NULL)) == -1,
        "initial team");
  CAF(form_team)(number, &team, &backwards, &stat, message, sizeof message);
  check(stat == 0 && CAF(team_number)(team) == number, "form team");
  check(CAF(this_image)(team) == backwards && CAF(num_images)(team, NULL) == members, "new_index");
  CAF(change_team)(team, &stat, message, sizeof message);
  check(stat == 0 && CAF(this_image)(NULL) == backwards, "change team");
  check(CAF(num_images)(NULL, NULL) == members, "num_images in a team");
  check(CAF(num_images)(NULL, &initial) == images, "num_images by number");
  check(CAF(this_image)(CAF(get_team)(&level)) == me, "get_team(initial_team)");
  level = 1;
  check(CAF(this_image)(CAF(get_team)(&level)) == me, "get_team(parent_team)");
  CAF(sync_team)(team, &stat, message, sizeof message);
  check(stat == 0, "sync team");
  CAF(sync_team)(NULL, &stat, message, sizeof message);
  check(stat != 0 && strstr(message, "was not formed"), "sync team of a variable without value");
  CAF(sync_team)(team, &stat, message, sizeof message);
  check(stat == 0, "sync team of the current team");
  CAF(change_team)(team, &stat, message, sizeof message);
  check(stat != 0 && strstr(message, "CHANGE TEAM"), "change team to the current one");
  CAF(end_team)(&stat, message, sizeof message);
  check(stat == 0 && CAF(this_image)(NULL) == me, "end team");
  CAF(end_team)(&stat, message, sizeof message);
  check(stat != 0, "end team of the initial team");
  CAF(form_team)(0, &bad, NULL, &stat, message, sizeof message);
  check(stat != 0 && strstr(message, "must be positive"), "form team 0");
  int beyond = images + 1;
  CAF(form_team)(1, &bad, &beyond, &stat, message, sizeof message);
  check(stat != 0 && strstr(message, "NEW_INDEX"), "form team with an index out of range");
  int same = 1;
  CAF(form_team)(1, &bad, &same, &stat, message, sizeof message);
  check(images == 1 ? stat == 0 : stat != 0, "form team with one index twice");
  check_text(images);
  CAF(finalize)();
  return 0;
}
