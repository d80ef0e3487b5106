/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places where ranks have crashed, as agents send them to the launcher, which names those of all
 * hosts together.
 *
 * Owns: struct far_crashes. Called by agent.c and run_hosts.c. Calls: tree, boot/explain/crashes.
 * Invariants: an agent finds functions and lines, because the files are there; an agent whose tool
 * needs longer than it may be silent prints them itself.
 */
#ifndef TMB_TOOL_FAR_CRASHES_H
#define TMB_TOOL_FAR_CRASHES_H

#include "agent/tree.h"

/* Ranks with one text. */
struct far_crash {
  char *text;
  pid_t *ranks; /* [size] not 0 for these */
};

struct far_crashes {
  struct far_crash *list; /* [count] */
  uint32_t count;
};

/* Agent: send those of the ranks of this host. Blocks while lines are searched. */
void far_crashes_send(struct tree *tree);

/* Launcher: one has come. in size: of the job */
void far_crashes_keep(struct far_crashes *all, uint32_t size, const struct frame *frame);

/* Launcher: print them, and forget them. */
void far_crashes_print(struct far_crashes *all, uint32_t size);

#endif
