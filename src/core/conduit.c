/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which conduit reaches the other hosts, see conduit.h.
 *
 * Owns: tmb_job.net. Called by client.c. Calls: the conduit's open. Invariant: with one host there
 * is none.
 */
#include "core/conduit.h"

#include "base/error.h"
#include "base/log.h"
#include "core/job.h"

int tmb_conduit_open(void) {
  if (tmb_job.boot.places.hosts == 1) return 0;
  tmb_print("no conduit reaches other hosts");
  return TMB_E_UNSUPPORTED;
}
