/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of images: how many there are, which one this is, which have ended.
 *
 * Owns nothing. Called by programs. Calls: teams and states of coarray/. Invariants: an image has
 * its number in the team of the argument, or in the current one.
 */
#include "prif.h"

#include <stdlib.h>

uint32_t prif_rank_slow(int32_t image_num, const struct prif_status *to) {
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: image_num is %d: the initial team has images 1 to %u [TMB-2202]",
            caf.statement.call, (int)image_num, caf.size);
  return UINT32_MAX;
}

void PRIF(num_images)(int32_t *num_images) {
  prif_settle();
  *num_images = (int32_t)caf.team->size;
}
PRIF_FLANG(num_images)

void PRIF(num_images_with_team)(const prif_team *team, int32_t *num_images) {
  PRIF_STATEMENT("prif_num_images");
  *num_images = (int32_t)prif_team_of(team, PRIF_NO_STATUS)->size;
}

void PRIF(num_images_with_team_number)(const int64_t *team_number, int32_t *num_images) {
  PRIF_STATEMENT("prif_num_images");
  *num_images = (int32_t)prif_sibling(*team_number, NULL, PRIF_NO_STATUS);
}
PRIF_FLANG(num_images_with_team_number)

void PRIF(this_image_no_coarray)(const prif_team *team, int32_t *this_image) {
  PRIF_STATEMENT("prif_this_image");
  *this_image = (int32_t)prif_team_of(team, PRIF_NO_STATUS)->rank + 1;
}

/* Images of a team in a state, in order. */
static void list_images(const prif_team *team_p, int state, struct prif_desc *list) {
  const struct caf_team *const team = prif_team_of(team_p, PRIF_NO_STATUS);
  int32_t *const found = malloc(team->size * sizeof *found);
  size_t count = 0;
  gasnet_AMPoll(); /* it reports lost images */
  for (uint32_t i = 0; found && i < team->size; i++)
    if (caf_state_of(team->jobrank[i]) == state) found[count++] = (int32_t)i + 1;
  if (!found || !prif_desc_integers(list, found, count))
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "%s: out of memory for a list of %u images [TMB-0001]", caf.statement.call,
              team->size);
  free(found);
}

void PRIF(failed_images)(const prif_team *team, struct prif_desc *failed_images) {
  PRIF_STATEMENT("prif_failed_images");
  list_images(team, CAF_STAT_FAILED, failed_images);
}

void PRIF(stopped_images)(const prif_team *team, struct prif_desc *stopped_images) {
  PRIF_STATEMENT("prif_stopped_images");
  list_images(team, CAF_STAT_STOPPED, stopped_images);
}

void PRIF(image_status)(const int32_t *image, const prif_team *team, int32_t *image_status) {
  PRIF_STATEMENT("prif_image_status");
  const struct caf_team *const of = prif_team_of(team, PRIF_NO_STATUS);
  if (*image < 1 || (uint32_t)*image > of->size)
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "prif_image_status: image is %d: the team has images 1 to %u [TMB-2201]", (int)*image,
              of->size);
  gasnet_AMPoll(); /* it reports lost images */
  *image_status = prif_code_of(caf_state_of(of->jobrank[*image - 1]));
}
