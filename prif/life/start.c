/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start: prif_init, and the start of programs that call another procedure first.
 *
 * Owns nothing. Called by programs. Calls: the start of coarray/. Invariants: the library starts
 * once, at the first call of any procedure, which is one procedure on all images; the first
 * prif_init gives 0, and each further one PRIF_STAT_ALREADY_INIT.
 */
#include "prif.h"

void prif_start(void) {
  if (!caf.began) {
    caf.wide_teams = true;
    caf_enter(NULL, NULL);
  }
  caf_settle();
}

void PRIF(init)(int32_t *stat) {
  static bool initialised;
  PRIF_STATEMENT("prif_init");
  *stat = initialised ? PRIF_STAT_ALREADY_INIT : 0;
  initialised = true;
}
