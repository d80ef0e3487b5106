/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on several hosts: the launcher's decisions, sent to every agent.
 *
 * Owns: the texts and arrays of a struct tree_job. Called by run_hosts.c (makes it), agent.c (reads
 * it), tree.c. Calls: pack. Invariants: hosts are numbered as in places.h; data off the wire are
 * checked before they are used.
 */
#ifndef TMB_TOOL_TREE_JOB_H
#define TMB_TOOL_TREE_JOB_H

#include "agent/link/pack.h"

#include "boot/boot.h"

struct tree_job {
  uint32_t size, hosts;
  uint32_t *host_of; /* [size] */
  char **host_name;  /* [hosts] as the user gave them */
  uint64_t job_id;
  uint8_t secret[TMB_BOOT_SECRET_BYTES];
  uint32_t stdin_rank; /* rank or TMB_LAUNCH_STDIN_NONE */
  bool line_buffered, bind, check_program;
  uint32_t degree;  /* children of an agent, at most */
  double silence_s; /* an agent that says nothing for so long is lost */
  double connect_s; /* until an agent must have answered */
  char *ssh;    /* command and options, words separated by blanks; with %C in it, a custom one */
  char *agent;  /* path of the tombolo command on the hosts */
  char *folder; /* working folder */
  char **argv;  /* program and arguments, NULL-terminated */
  char **env;   /* NAME=VALUE, NULL-terminated */
  uint32_t file_mask; /* umask */
};

/* Write the job for the agent of hosts first..last. */
void tree_job_pack(const struct tree_job *job, uint32_t first, uint32_t last, struct pack *p);

/* Read a job. out first, last: hosts of this agent's part of the tree, of which it is the first.
 * Returns false if it is not one. */
bool tree_job_unpack(struct pack *p, struct tree_job *job, uint32_t *first, uint32_t *last);

void tree_job_free(struct tree_job *job);

#endif
