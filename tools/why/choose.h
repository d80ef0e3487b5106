/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of a job of this machine.
 *
 * Owns: declarations of choose.c. Called by why.c, top.c. Calls: boot's list of jobs. Invariants: a
 * message says why there is none.
 */
#ifndef TMB_TOOL_WHY_CHOOSE_H
#define TMB_TOOL_WHY_CHOOSE_H

#include "boot/explain/snapshot.h"

/* The supervisor of a job that is to be asked. in count: of jobs, may be negative; in text: number
 * of a launcher, an agent or a rank's process, or of the job; NULL: the only job; in command: for
 * messages. Returns NULL after a message. */
const struct tmb_ctl *why_choose(const struct tmb_job_found *jobs, int count, const char *text,
                                 const char *command);

#endif
