/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one instance of the state of this process, see job.h.
 *
 * Owns: tmb_job. Calls nothing. Invariants: before a client exists its calls are checked as those
 * of debug clients are, and errors are said.
 */
#include "core/job.h"

#include "net/net.h"

struct tmb_job tmb_job = {
    .debug = true, .live_events = true, .verbose_errors = 1, .row_use.used = 1};

const char *tmb_job_network(void) {
  return tmb_job.net ? tmb_job.net->name : "none";
}
