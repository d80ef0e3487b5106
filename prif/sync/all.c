/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prif_sync_all.
 *
 * Owns nothing. Called by programs. Calls: the barrier of coarray/. Invariants: all images of the
 * team get equal results.
 */
#include "prif.h"

void PRIF(sync_all)(PRIF_STATUS) {
  PRIF_STATEMENT("prif_sync_all");
  const int code = caf_barrier(caf.team);
  char who[CAF_ENDED_ROOM];
  if (code)
    prif_fail(PRIF_TO, prif_code_of(code), "prif_sync_all: %s has %s [TMB-2220]",
              caf_ended_images(caf.team, code, who, sizeof who), caf_end_name(code));
  else
    prif_done(PRIF_TO);
}
