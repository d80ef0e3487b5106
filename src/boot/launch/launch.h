/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launching: creates a job's shared memory and forks its ranks on this machine.
 *
 * Owns: nothing global; the state is the caller's struct tmb_launch. Called by tmb_boot_start (a
 * program that starts its own peers) and by `tombolo run`. Calls: ctl, os, base. Invariants: a rank
 * dies (SIGKILL) when the process that forked it dies; if not all ranks can be forked, those that
 * were are killed and reaped before the failure is returned.
 */
#ifndef TMB_BOOT_LAUNCH_H
#define TMB_BOOT_LAUNCH_H

#include "base/compiler.h"
#include "boot/boot.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

/* No rank keeps the launcher's standard input, all get /dev/null. */
#define TMB_LAUNCH_STDIN_NONE UINT32_MAX
#define TMB_LAUNCH_STDIN_ALL  (UINT32_MAX - 1)

/* Resources that the ranks of one host share; -1: the host is another machine. Close-on-exec. */
struct tmb_launch_host {
  int arena_fd, segment_fd;
};

struct tmb_launch {
  /* set by the caller */
  bool adopted;          /* the ranks are not children of this process, see adopt.h */
  uint32_t size;         /* ranks of the job, 1..TMB_BOOT_RANKS_MAX */
  uint32_t hosts;        /* of the job; 0: one */
  uint32_t *host_of;     /* [size], NULL: all on one host; lives as long as this */
  char **host_names;     /* [hosts] for messages; NULL: as the system says */
  uint32_t only_host;    /* only the ranks of this host are started, if `far` */
  bool far;              /* the other hosts are other machines */
  const char *host_name; /* of this machine, for messages; NULL: as the system says */
  uint32_t stdin_rank;   /* a rank or TMB_LAUNCH_STDIN_* */
  bool line_buffered;    /* standard output of the ranks is written line by line */
  bool executes;         /* each child calls tmb_launch_pass and executes a program */
  void (*before_fork)(void *arg, uint32_t rank); /* in the parent, before each fork; may be NULL */
  void (*after_fork)(void *arg, uint32_t rank);  /* in the parent, after each fork; may be NULL */
  void *arg;
  /* filled by tmb_launch_open and tmb_launch_fork */
  struct tmb_ctl *ctl;
  bool same_addresses;          /* executed programs are to lie at equal addresses in all ranks */
  int ctl_fd;                   /* close-on-exec */
  struct tmb_launch_host *host; /* [hosts] */
  int signal_fd;                /* signals that the supervisor reads */
  int agent_fd;                 /* eventfd, rung by ranks; -1 unless `far` */
  pid_t *pids;                  /* [size] children, 0 once reaped, and for ranks elsewhere */
  int guard_fd;                 /* see tmb_orphans_guard */
  char *children_before;        /* see tmb_orphans_adopt */
  char *invitation;             /* TMB_LAUNCH_ENV=VALUE for the rank that is forked next, or NULL */
  struct rlimit files_before;   /* limit of descriptors that the ranks get */
  sigset_t mask_before;         /* signal mask that the ranks get */
  struct sigaction chld_before; /* action for SIGCHLD that the ranks get */
};

/*
 * Create the shared memory of a job and block the signals that the supervisor will read.
 * Returns 0, or TMB_E_SYS, TMB_E_LIMIT, TMB_E_NOMEM after a message; then nothing is left open.
 */
int tmb_launch_open(struct tmb_launch *launch);

/* Block the signals that the supervisor will read, and open the descriptor that it reads them from;
 * tmb_launch_open includes it. Returns 0, or TMB_E_SYS after a message. */
int tmb_launch_signals(struct tmb_launch *launch);

/* Read the setting TOMBOLO_PLACES for `launch->size` ranks into hosts and host_of (malloc'd; the
 * caller's). Returns 0, or TMB_E_ARG, TMB_E_NOMEM after a message. */
int tmb_launch_pretend(struct tmb_launch *launch);

/*
 * Fork the ranks, or those of `only_host`.
 * Returns TMB_LAUNCH_PARENT in the caller, the rank (>= 0) in each child, or TMB_E_SYS in the
 * caller after a message. A child has the signal mask, the SIGCHLD action and the standard input of
 * a rank and is tied to its parent's life.
 */
#define TMB_LAUNCH_PARENT INT32_MAX
int tmb_launch_fork(struct tmb_launch *launch);

/* Release the resources of tmb_launch_open and tmb_launch_fork; the ranks must have ended. Restores
 * the signals. */
void tmb_launch_close(struct tmb_launch *launch);

/*
 * In a child that is about to execute a program: keep the job's descriptors over exec, and ask for
 * equal addresses in all ranks (without them where the system refuses it). The environment names
 * the rank already. Returns 0 or TMB_E_SYS.
 */
int tmb_launch_pass(const struct tmb_launch *launch, uint32_t rank);

#endif
