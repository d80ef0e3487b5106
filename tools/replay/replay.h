/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --record` and `--replay`: prepare the ranks, and print deviations.
 *
 * Owns: struct replay_run. Called by tools/run. Calls: tools/check, to load the runtime into the
 * ranks and to find lines. The layout of the files and of the memory that the ranks share is that
 * of replay/log.h. Invariants: a folder that holds something else than a recording is refused; the
 * memory has no name in a file system.
 */
#ifndef TMB_TOOL_REPLAY_H
#define TMB_TOOL_REPLAY_H

#include "replay/log.h"

#include <stdint.h>

#define REPLAY_EXIT 67 /* of a run that has left the recorded order */

struct replay_run {
  const char *record, *replay; /* folders, at most one; NULL: none */
  struct rpl_area *area;
  int fd;
};

/* Make or read the folder and the area, and set what the ranks need in the environment. in,out
 * ranks: of the job, 0: as recorded. Returns 0 or an exit code after a message. */
int replay_begin(struct replay_run *run, uint32_t *ranks);

/* Print deviations. in code: of the job. Returns the exit code of the run. */
int replay_end(struct replay_run *run, int code);

#endif
