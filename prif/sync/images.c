/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prif_sync_memory, prif_sync_images, prif_sync_team.
 *
 * Owns nothing. Called by programs. Calls: image control of coarray/. Invariants: a statement that
 * needs an image that has stopped or failed ends with that code; it never waits for it.
 */
#include "prif.h"
#include "sync/control.h"

#include <limits.h>
#include <stdlib.h>

void PRIF(sync_memory)(PRIF_STATUS) {
  PRIF_STATEMENT("prif_sync_memory");
  caf_sync_memory();
  prif_done(PRIF_TO);
}

void PRIF(sync_images)(const struct prif_desc *image_set, PRIF_STATUS) {
  PRIF_STATEMENT("prif_sync_images");
  struct prif_core core;
  const size_t count = image_set ? prif_desc_count(image_set) : 0;
  int *images = NULL;
  if (count > INT_MAX || (image_set && !(images = malloc((count + 1) * sizeof *images)))) {
    prif_fail(
        PRIF_TO, PRIF_STAT_OUT_OF_MEMORY,
        "prif_sync_images: image_set has %zu elements, for which there is no memory: name each "
        "image once [TMB-2236]",
        count);
    return;
  }
  for (size_t i = 0; i < count; i++) images[i] = *(const int32_t *)prif_desc_at(image_set, i);
  caf_sync_images(image_set ? (int)count : -1, images, prif_core(&core, PRIF_TO));
  free(images);
  prif_pass(PRIF_TO, &core);
}

void PRIF(sync_team)(const prif_team *team, PRIF_STATUS) {
  PRIF_STATEMENT("prif_sync_team");
  struct caf_team *const members = prif_team_of(team, PRIF_TO);
  if (!members) return;
  const int code = caf_barrier(members);
  char who[CAF_ENDED_ROOM];
  if (code)
    prif_fail(PRIF_TO, prif_code_of(code), "prif_sync_team: %s has %s [TMB-2235]",
              caf_ended_images(members, code, who, sizeof who), caf_end_name(code));
  else
    prif_done(PRIF_TO);
}
