/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --stats`: counts of the ranks, as a table at the end.
 *
 * Owns: struct run_stats. Called by run.c and run_hosts.c. Calls: ctl, the clock. The numbers lie
 * on the status pages (boot/status.h), which outlive the ranks; those of other hosts come by frames
 * (agent/far_stats.h). Invariants: a rank of which nothing is known is left out, and the table says
 * so; nothing is printed without --stats.
 */
#ifndef TMB_TOOL_STATS_H
#define TMB_TOOL_STATS_H

#include "agent/far_stats.h"

#include <stdio.h>

struct run_stats {
  uint32_t size;
  struct far_stats *rank; /* [size] */
};

/* Make room. Ends the process without memory. */
void run_stats_open(struct run_stats *stats, uint32_t size);

/* Read the pages of this machine's ranks. */
void run_stats_here(struct run_stats *stats, const struct tmb_ctl *ctl);

/* Print the table and release everything. */
void run_stats_print(struct run_stats *stats, FILE *out);

#endif
