/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts that Slurm has allocated to this job.
 *
 * Owns: nothing. Called by run.c. Calls: the environment, libc. Names and forms of the variables:
 * sbatch(1), section "output environment variables". Invariant: the result is a list as hosts.h
 * takes it.
 */
#ifndef TMB_TOOL_SLURM_H
#define TMB_TOOL_SLURM_H

#include <stdint.h>

#define SLURM_WHY_BYTES 256

/*
 * A list of hosts and ranks from Slurm's two forms. in nodes: "n[1-3,07],login"; in tasks: of each
 * node, "2(x3),1", or NULL: not said. out total: tasks of all nodes. out why: [SLURM_WHY_BYTES].
 * Returns malloc'ed text, or NULL if the forms are not understood.
 */
char *slurm_list(const char *nodes, const char *tasks, uint64_t *total, char *why);

/*
 * The hosts of the allocation that this process is in, as malloc'ed text, or NULL: there is none,
 * or it is this machine alone. in ranks: that are wanted, 0: as many as there are tasks; where they
 * are more than the tasks, the list has no numbers, so that they spread evenly. Ends the process
 * after a message if Slurm's variables are not understood.
 */
char *slurm_hosts(uint32_t ranks);

#endif
