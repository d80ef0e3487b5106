/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launching: shared memory, signals, fork.
 *
 * Owns: no process state. Called by boot and `tombolo run`. Calls: ctl, os/memfd, base.
 * Invariants: every signal that the supervisor reads is blocked before the first fork, so none is
 * lost between fork and supervision; SIGCHLD is never ignored while ranks live, or their codes
 * would be lost.
 */
#define _GNU_SOURCE
#include "boot/launch/launch.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/launch/invitation.h"
#include "boot/launch/orphans.h"
#include "boot/page/ctl.h"
#include "boot/page/places.h"
#include "boot/pm/pm.h"
#include "boot/trace.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_FLOOR 64 /* shells and scripts use the low descriptors themselves */

static const int supervised_signals[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                         SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH};

/* Moves a descriptor above those of the program itself, if the limit allows. */
static int high_fd(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
  if (high < 0) return fd;
  close(fd);
  return high;
}

static bool avoid_memfd(void) {
  return tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
}

static uint32_t host_of(const struct tmb_launch *l, uint32_t rank) {
  return l->host_of ? l->host_of[rank] : 0;
}

/* Whether this launcher starts the rank. */
static bool is_ours(const struct tmb_launch *l, uint32_t rank) {
  return !l->far || host_of(l, rank) == l->only_host;
}

static void close_hosts(struct tmb_launch *l) {
  for (uint32_t h = 0; l->host && h < l->hosts; h++) {
    if (l->host[h].arena_fd >= 0) close(l->host[h].arena_fd);
    if (l->host[h].segment_fd >= 0) close(l->host[h].segment_fd);
  }
  free(l->host);
  l->host = NULL;
}

/* The memory of each host whose ranks are started here. */
static int open_hosts(struct tmb_launch *l) {
  l->host = malloc(l->hosts * sizeof *l->host);
  if (!l->host) {
    tmb_print("cannot start ranks on %u hosts: out of memory", l->hosts);
    return TMB_E_NOMEM;
  }
  for (uint32_t h = 0; h < l->hosts; h++) l->host[h] = (struct tmb_launch_host){-1, -1};
  for (uint32_t h = 0; h < l->hosts; h++) {
    struct tmb_launch_host *host = &l->host[h];
    if (l->far && h != l->only_host) continue;
    host->arena_fd = tmb_memfd_create("tombolo-arena", avoid_memfd());
    if (host->arena_fd < 0) return TMB_E_SYS;
    host->arena_fd = high_fd(host->arena_fd);
    host->segment_fd = tmb_memfd_create("tombolo-segment", avoid_memfd());
    if (host->segment_fd < 0) return TMB_E_SYS;
    host->segment_fd = high_fd(host->segment_fd);
  }
  return TMB_OK;
}

static int open_bell(void) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0)
    tmb_print("cannot start ranks: eventfd: %s; %s", strerror(errno), tmb_error_fd_remedy(errno));
  return fd < 0 ? -1 : high_fd(fd);
}

static void close_bells(struct tmb_launch *l) {
  for (uint32_t i = 0; i < l->ctl->here; i++)
    if (l->ctl->rank[i].bell_fd >= 0) close(l->ctl->rank[i].bell_fd);
  if (l->agent_fd >= 0) close(l->agent_fd);
}

/* Ranks that reach others by a network sleep in poll: each gets a bell for that. A supervisor that
 * has others above it gets one, too, also on the only host: rounds go through the tree. */
static int open_bells(struct tmb_launch *l) {
  l->agent_fd = l->guard_fd = -1;
  if (l->hosts == 1 && !l->far) return TMB_OK;
  struct rlimit raised = l->files_before;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
  for (uint32_t i = 0; i < l->ctl->here && l->hosts > 1; i++)
    if ((l->ctl->rank[i].bell_fd = open_bell()) < 0) return TMB_E_LIMIT;
  if (l->far && (l->agent_fd = open_bell()) < 0) return TMB_E_LIMIT;
  l->ctl->agent_fd = l->agent_fd;
  return TMB_OK;
}

static void close_memory(struct tmb_launch *l) {
  close_bells(l);
  close_hosts(l);
  tmb_ctl_unmap(l->ctl);
  close(l->ctl_fd);
}

static int open_memory(struct tmb_launch *l) {
  const struct tmb_ctl_job job = {.size = l->size,
                                  .hosts = l->hosts,
                                  .host_of = l->host_of,
                                  .host_name = l->host_names,
                                  .only_host = l->far ? l->only_host : TMB_CTL_ALL_HOSTS,
                                  .trace_bytes = tmb_trace_wanted()};
  int rc = tmb_ctl_create(&job, avoid_memfd(), &l->ctl_fd, &l->ctl);
  if (rc) return rc;
  l->ctl->line_buffered = l->line_buffered;
  l->ctl->far_refuses = l->far;
  l->ctl_fd = high_fd(l->ctl_fd);
  rc = open_bells(l);
  if (!rc) rc = open_hosts(l);
  if (rc) close_memory(l);
  return rc;
}

/* A signal that our parent ignores for us (nohup, background jobs) stays ignored: blocked, it would
 * arrive. */
static bool is_ignored(int sig) {
  struct sigaction now;
  if (sig == SIGCHLD || sigaction(sig, NULL, &now) != 0) return false;
  return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
}

/* Blocks the signals of the supervisor and opens the descriptor that it reads them from. */
int tmb_launch_signals(struct tmb_launch *l) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < TMB_ARRAY_LEN(supervised_signals); i++)
    if (!is_ignored(supervised_signals[i])) sigaddset(&set, supervised_signals[i]);
  l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (l->signal_fd < 0) {
    tmb_print("cannot supervise ranks: signalfd: %s; %s", strerror(errno),
              tmb_error_fd_remedy(errno));
    return TMB_E_SYS;
  }
  l->signal_fd = high_fd(l->signal_fd);
  sigprocmask(SIG_BLOCK, &set, &l->mask_before);
  const struct sigaction dfl = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &dfl, &l->chld_before);
  return TMB_OK;
}

static void restore_signals(const struct tmb_launch *l) {
  sigaction(SIGCHLD, &l->chld_before, NULL);
  sigprocmask(SIG_SETMASK, &l->mask_before, NULL);
}

int tmb_launch_open(struct tmb_launch *l) {
  l->same_addresses = tmb_cfg_bool(TMB_CFG_SAME_ADDRESSES) && tmb_os_randomised();
  if (!l->hosts) l->hosts = 1;
  getrlimit(RLIMIT_NOFILE, &l->files_before);
  l->pids = calloc(l->size, sizeof *l->pids);
  if (!l->pids) {
    tmb_print("cannot start %u ranks: out of memory", l->size);
    return TMB_E_NOMEM;
  }
  int rc = open_memory(l);
  if (rc) goto fail_pids;
  rc = tmb_launch_signals(l);
  if (rc) goto fail_memory;
  return TMB_OK;
fail_memory:
  close_memory(l);
fail_pids:
  free(l->pids);
  l->pids = NULL;
  return rc;
}

void tmb_launch_close(struct tmb_launch *l) {
  tmb_orphans_guard_end(l->guard_fd);
  restore_signals(l);
  close(l->signal_fd);
  close_memory(l);
  free(l->pids);
  free(l->children_before);
  l->pids = NULL;
  l->children_before = NULL;
}

/* Replaces standard input by /dev/null. */
static void drop_stdin(void) {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    close(STDIN_FILENO);
    return;
  }
  dup2(fd, STDIN_FILENO);
  if (fd != STDIN_FILENO) close(fd);
}

/* Closes the descriptors of ranks of other hosts, as if they were on another machine. */
static void close_others(const struct tmb_launch *l, uint32_t rank) {
  for (uint32_t h = 0; h < l->hosts; h++) {
    if (h == host_of(l, rank) || l->host[h].arena_fd < 0) continue;
    close(l->host[h].arena_fd);
    close(l->host[h].segment_fd);
  }
  for (uint32_t r = 0; r < l->size; r++)
    if (is_ours(l, r) && host_of(l, r) != host_of(l, rank)) close(tmb_ctl_rank(l->ctl, r)->bell_fd);
}

/* First steps of every rank. `parent` is the supervisor. */
static void become_rank(const struct tmb_launch *l, uint32_t rank, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL); /* the parent died before prctl took effect */
  close(l->signal_fd);
  restore_signals(l);
  if (l->stdin_rank != TMB_LAUNCH_STDIN_ALL && l->stdin_rank != rank) drop_stdin();
  if (l->hosts > 1) close_others(l, rank);
  setrlimit(RLIMIT_NOFILE, &l->files_before);
}

/* Ends the ranks that were started when not all can be. */
static void undo_fork(struct tmb_launch *l, uint32_t started, int err) {
  char limit[256];
  tmb_print("cannot start rank %u of %u: fork: %s (%s); start fewer ranks or raise the limit",
            started, l->size, strerror(err),
            err == EAGAIN ? tmb_os_processes_refused(limit, sizeof limit) : "no memory for it");
  tmb_ctl_end(l->ctl);
  for (uint32_t r = 0; r < started; r++)
    if (l->pids[r]) kill(l->pids[r], SIGKILL);
  for (uint32_t r = 0; r < started; r++)
    while (l->pids[r] && waitpid(l->pids[r], NULL, 0) < 0 && errno == EINTR) continue;
}

/* The environment names the next rank. Written here and not by the child, which would touch pages
 * for it that nothing else needs: 20 page faults of a rank. */
static void invite(struct tmb_launch *l, uint32_t rank) {
  enum { NAME_BYTES = sizeof TMB_LAUNCH_ENV, BYTES = NAME_BYTES + TMB_LAUNCH_ENV_BYTES };
  const struct tmb_launch_host *host = &l->host[host_of(l, rank)];
  const struct tmb_invitation invitation = {.rank = rank,
                                            .size = l->size,
                                            .job_id = l->ctl->job_id,
                                            .supervisor = (int)l->ctl->supervisor_pid,
                                            .ctl_fd = l->ctl_fd,
                                            .arena_fd = host->arena_fd,
                                            .segment_fd = host->segment_fd};
  if (!l->invitation) {
    l->invitation = malloc(BYTES);
    if (!l->invitation) tmb_fatal_nopos("out of memory for the environment of ranks");
    memcpy(l->invitation, TMB_LAUNCH_ENV "=", NAME_BYTES + 1);
    tmb_env_lend(l->invitation);
  }
  tmb_invitation_write(&invitation, l->invitation + NAME_BYTES, TMB_LAUNCH_ENV_BYTES);
}

/* This process is no rank. */
static void end_invitations(struct tmb_launch *l) {
  if (l->invitation) tmb_env_unset(TMB_LAUNCH_ENV);
  free(l->invitation);
  l->invitation = NULL;
}

static int fork_ranks(struct tmb_launch *l) {
  const pid_t parent = getpid();
  for (uint32_t rank = 0; rank < l->size; rank++) {
    if (!is_ours(l, rank)) continue;
    if (l->before_fork) l->before_fork(l->arg, rank);
    if (l->executes) invite(l, rank);
    const pid_t pid = fork();
    if (pid == 0) {
      become_rank(l, rank, parent);
      return (int)rank;
    }
    const int err = errno;
    if (l->after_fork) l->after_fork(l->arg, rank);
    if (pid < 0) {
      undo_fork(l, rank, err);
      return TMB_E_SYS;
    }
    l->pids[rank] = pid;
  }
  return TMB_LAUNCH_PARENT;
}

int tmb_launch_fork(struct tmb_launch *l) {
  l->guard_fd = tmb_orphans_guard(l->ctl);
  l->children_before = tmb_orphans_adopt();
  const int rc = fork_ranks(l);
  if (rc == TMB_LAUNCH_PARENT || rc < 0) end_invitations(l);
  return rc;
}

/* The rank turns it on again for itself (boot.c), so that programs which it starts get random
 * addresses as usual. */
static void ask_same_addresses(const struct tmb_launch *l, uint32_t rank) {
  if (!l->same_addresses) return;
  if (tmb_os_randomise(false) == TMB_OK)
    tmb_ctl_rank(l->ctl, rank)->derandomised = 1;
  else if (rank == 0)
    tmb_info("addresses differ from rank to rank: personality: %s", strerror(errno));
}

/* Keeps the bells of the rank's host over exec. */
static int pass_bells(const struct tmb_launch *l, uint32_t rank) {
  for (uint32_t r = 0; r < l->size; r++)
    if (is_ours(l, r) && host_of(l, r) == host_of(l, rank) &&
        tmb_memfd_cloexec(tmb_ctl_rank(l->ctl, r)->bell_fd, false))
      return TMB_E_SYS;
  return l->agent_fd < 0 ? TMB_OK : tmb_memfd_cloexec(l->agent_fd, false);
}

int tmb_launch_pass(const struct tmb_launch *l, uint32_t rank) {
  const struct tmb_launch_host *host = &l->host[host_of(l, rank)];
  if (tmb_memfd_cloexec(l->ctl_fd, false) || tmb_memfd_cloexec(host->arena_fd, false) ||
      tmb_memfd_cloexec(host->segment_fd, false))
    return TMB_E_SYS;
  if (l->hosts > 1 && pass_bells(l, rank)) return TMB_E_SYS;
  tmb_pm_pass();
  ask_same_addresses(l, rank);
  return TMB_OK;
}

int tmb_launch_pretend(struct tmb_launch *l) {
  char why[160];
  const char *text = tmb_cfg_str(TMB_CFG_PLACES);
  if (!text || !*text) return TMB_OK;
  l->host_of = calloc(l->size, sizeof *l->host_of);
  const int rc = l->host_of
                     ? tmb_places_parse(text, l->size, l->host_of, &l->hosts, why, sizeof why)
                     : TMB_E_NOMEM;
  if (!rc) return TMB_OK;
  tmb_print(
      "TOMBOLO_PLACES=%s: %s; give a number of hosts, cyclic:HOSTS, or a host for each of the "
      "%u ranks as 0,1,0",
      text, l->host_of ? why : "out of memory", l->size);
  free(l->host_of);
  l->host_of = NULL;
  return rc;
}
