/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job seen from outside: the status pages of its ranks, and the system's data on their processes.
 *
 * Owns: struct tmb_snapshot and the list of jobs. Called by explain, supervise, `tombolo ps`,
 * `tombolo why` and agents, which join the observations of all hosts (tools/agent/look.h).
 * Calls: ctl, os, /proc. No rank is asked, stopped or written to. Invariants: data may have changed
 * meanwhile, and may be damaged: numbers of teams, ranks and states are checked before they are
 * used. Times of a rank are those of its host's clock.
 */
#ifndef TMB_BOOT_SNAPSHOT_H
#define TMB_BOOT_SNAPSHOT_H

#include "base/compiler.h"
#include "boot/page/ctl.h"
#include "boot/status.h"

#define TMB_JOB_PROGRAM 256
#define TMB_SEEN_SOURCE 192

/* A rank, as seen from outside. */
struct tmb_seen {
  bool here;          /* its page could be read; else nothing but its fate is known */
  pid_t pid;          /* 0: has not joined */
  uint32_t state;     /* enum tmb_rank_state */
  uint32_t fate;      /* TMB_FATE_ word */
  char process;       /* as of /proc/PID/stat: R, S, D, T, t, Z; 0: there is no such process */
  uint64_t cpu_ns;    /* processor time used */
  uint64_t memory;    /* bytes that it has to itself, and its part of shared ones */
  uint64_t queued[2]; /* slots of 64 bytes taken in its rings of requests and replies */
  uint64_t passed;    /* slots used of both rings since the start */
  uint64_t at_ns;     /* when it was read, by the clock of its host */
  uint32_t held;      /* bit i: the condition of status.wait[i] holds already */
  struct tmb_status status;
  /* Of the first wait whose caller is known: where the caller is. */
  uint32_t source_wait;         /* its index */
  uint64_t source_at;           /* offset in the file; 0: not known */
  char source[TMB_SEEN_SOURCE]; /* the file; in words once tmb_source_find has been called */
};

struct tmb_snapshot {
  uint32_t size, hosts;
  uint64_t job_id, start_ns, at_ns;      /* times of this machine's clock */
  pid_t launcher;                        /* or agent, of this machine */
  uint32_t *host_of;                     /* [size] */
  char (*host_name)[TMB_CTL_HOST_BYTES]; /* [hosts] */
  struct tmb_seen *rank;                 /* [size] */
};

/* Read everything. in memory: whether seen->memory is wanted, which takes some time. out s: to be
 * released with tmb_snapshot_free. Returns 0 or TMB_E_NOMEM. */
int tmb_snapshot_take(struct tmb_snapshot *s, const struct tmb_ctl *ctl, bool memory);
void tmb_snapshot_free(struct tmb_snapshot *s);

/* Make one in which no rank has been read. Returns as tmb_snapshot_take. */
int tmb_snapshot_open(struct tmb_snapshot *s, const struct tmb_ctl *ctl);

/* A supervisor of a job of this user on this machine. A job on several hosts may have several
 * here: its launcher and agents. */
struct tmb_job_found {
  bool again;                    /* another one of this job is to be asked */
  const struct tmb_ctl *ctl;     /* mapped */
  char program[TMB_JOB_PROGRAM]; /* the launcher's program, as given */
};

/* Find the jobs of this user whose launcher, or an agent of it, runs on this machine. out jobs:
 * malloc'd array, to be released with tmb_jobs_free. Returns how many, or TMB_E_SYS (no /proc),
 * TMB_E_NOMEM. */
int tmb_jobs_find(struct tmb_job_found **jobs);

/* Whether a process has a job of another version of the library. */
bool tmb_job_is_of_other_version(pid_t pid);

/* A process of this user with a job of another version of the library, which tmb_jobs_find passes
 * over; 0 if there is none. */
pid_t tmb_jobs_other_version(void);
void tmb_jobs_free(struct tmb_job_found *jobs, int count);

#endif
