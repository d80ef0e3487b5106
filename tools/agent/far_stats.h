/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics of a rank as an agent sends them to the launcher.
 *
 * Owns: struct far_stats. Called by agent.c, run_hosts.c and run/stats.c. Calls: tree, ctl.
 * Invariants: times are nanoseconds, so that they are comparable between hosts; data are copied
 * whole or not at all.
 */
#ifndef TMB_TOOL_FAR_STATS_H
#define TMB_TOOL_FAR_STATS_H

#include "agent/tree.h"

#include "boot/page/ctl.h"

struct far_stats {
  uint32_t known;
  uint64_t run_ns;         /* from the rank's start to its end */
  uint64_t wait_ns, op_ns; /* see struct tmb_status_stats, of which `stats` are the rest */
  struct tmb_status_stats stats;
  uint64_t net[TMB_STATUS_NET_MAX];
};

/* Read the page of a rank of this machine that has ended; known 0 where nothing was counted. */
struct far_stats far_stats_of(const struct tmb_ctl *ctl, uint32_t rank);

/* Agent: send those of all ranks of this host. */
void far_stats_send(struct tree *tree);

/* Launcher: keep the statistics of a frame that has come. in all: [size of the job] */
void far_stats_keep(struct far_stats *all, uint32_t size, const struct frame *frame);

#endif
