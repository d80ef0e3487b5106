/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at a job from outside: what its ranks show on their status pages, and what the system
 * says of their processes.
 *
 * Owns: struct tmb_snapshot and the list of jobs. Called by explain, supervise, `tombolo ps` and
 * `tombolo why`. Calls: ctl, os, /proc. No rank is asked, stopped or written to. Invariants: what
 * was read may have changed meanwhile, and may be damaged: numbers of teams, ranks and states are
 * checked before they are used.
 */
#ifndef TMB_BOOT_SNAPSHOT_H
#define TMB_BOOT_SNAPSHOT_H

#include "base/compiler.h"
#include "boot/ctl.h"
#include "boot/status.h"

#define TMB_JOB_PROGRAM 256

/* A rank, as seen from outside. */
struct tmb_seen {
  bool here;          /* of this machine; else nothing else is known */
  pid_t pid;          /* 0: has not joined */
  uint32_t state;     /* enum tmb_rank_state */
  uint32_t fate;      /* TMB_FATE_ word */
  char process;       /* as of /proc/PID/stat: R, S, D, T, t, Z; 0: there is no such process */
  uint64_t cpu_ns;    /* processor time used */
  uint64_t memory;    /* bytes that it has to itself, and its part of shared ones */
  uint64_t queued[2]; /* slots of 64 bytes taken in its rings of requests and replies */
  uint64_t passed;    /* slots used of both rings since the start */
  struct tmb_status status;
};

struct tmb_snapshot {
  uint32_t size;
  uint64_t job_id, start_ns, at_ns;
  pid_t launcher;
  struct tmb_seen *rank; /* [size] */
};

/* Read everything. in memory: whether seen->memory is wanted, which takes some time. out s: to be
 * released with tmb_snapshot_free. Returns 0 or TMB_E_NOMEM. */
int tmb_snapshot_take(struct tmb_snapshot *s, const struct tmb_ctl *ctl, bool memory);
void tmb_snapshot_free(struct tmb_snapshot *s);

/* The 64-bit word at an address of a process. Returns whether it could be read. */
bool tmb_snapshot_word(pid_t pid, uint64_t addr, uint64_t *word);

/* A job of this user on this machine. */
struct tmb_job_found {
  const struct tmb_ctl *ctl;     /* mapped */
  char program[TMB_JOB_PROGRAM]; /* what the launcher executes, as given */
};

/* Find the jobs of this user whose launcher runs on this machine. out jobs: malloc'd array, to be
 * released with tmb_jobs_free. Returns how many, or TMB_E_SYS (no /proc), TMB_E_NOMEM. */
int tmb_jobs_find(struct tmb_job_found **jobs);
void tmb_jobs_free(struct tmb_job_found *jobs, int count);

#endif
