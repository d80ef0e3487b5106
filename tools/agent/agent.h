/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement of an agent and the launcher beside frames (tree.h).
 *
 * Owns: nothing. Included by agent.c, agent_env.c, run_hosts.c. Calls: nothing.
 * Invariants: a host has at most AGENT_OUTPUT_BYTES of each stream in flight to the launcher.
 */
#ifndef TMB_TOOL_AGENT_H
#define TMB_TOOL_AGENT_H

#include "agent/tree_job.h"

#define AGENT_OUTPUT_BYTES (256u << 10) /* of each stream of a host, not yet delivered */
#define AGENT_INPUT_BYTES  (64u << 10)  /* of standard input, not yet taken by the rank */
#define AGENT_LAST_WORDS_S 2.0          /* how long a node waits for the ends of those below */

/* agent_env.c: the environment of the ranks: that of the launcher, except the variables of this
 * machine's session. Lives as long as the job. */
char **agent_environment(const struct tree_job *job);

/* agent_env.c: the part of its own environment that the launcher sends. Returns a malloc'd list of
 * malloc'd texts. */
char **agent_environment_sent(void);

#endif
