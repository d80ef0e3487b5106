/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --live`: the ranks on the terminal while the job runs, its output afterwards.
 *
 * Owns: struct run_live. Called by run.c and run_hosts.c. Calls: `tombolo top` as a process of its
 * own. Invariants: where standard input or output is no terminal nothing is shown, and output goes
 * where it goes without --live; whatever ends the job, the terminal is given back and the output is
 * printed, standard output and error in the order in which they came.
 */
#ifndef TMB_TOOL_LIVE_H
#define TMB_TOOL_LIVE_H

#include "boot/launch/launch.h"

struct run_live {
  int kept[2];   /* standard output and error of before; -1: nothing is shown */
  int output_fd; /* output written meanwhile */
  int pid_fd;    /* of top */
};

/* Show the job. After tmb_launch_open, before ranks are forked or agents started. */
void run_live_begin(struct run_live *live, const struct tmb_launch *launch);

/* End the live display, and print the output written meanwhile. */
void run_live_end(struct run_live *live);

#endif
