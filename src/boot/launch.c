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
#include "boot/launch.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/ctl.h"
#include "os/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_FLOOR 64 /* shells and scripts use the low descriptors themselves */

static const int supervised_signals[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                         SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH};

/* Moves a descriptor out of the way of the program's own, if the limit allows. */
static int high_fd(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
  if (high < 0) return fd;
  close(fd);
  return high;
}

static int open_memory(struct tmb_launch *l) {
  const bool avoid = tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
  int rc = tmb_ctl_create(l->size, avoid, &l->ctl_fd, &l->ctl);
  if (rc) return rc;
  l->ctl->line_buffered = l->line_buffered;
  l->arena_fd = tmb_memfd_create("tombolo-arena", avoid);
  if (l->arena_fd < 0) goto fail_ctl;
  l->segment_fd = tmb_memfd_create("tombolo-segment", avoid);
  if (l->segment_fd < 0) goto fail_arena;
  l->ctl_fd = high_fd(l->ctl_fd);
  l->arena_fd = high_fd(l->arena_fd);
  l->segment_fd = high_fd(l->segment_fd);
  return TMB_OK;
fail_arena:
  close(l->arena_fd);
fail_ctl:
  tmb_ctl_unmap(l->ctl);
  close(l->ctl_fd);
  return TMB_E_SYS;
}

static void close_memory(struct tmb_launch *l) {
  tmb_ctl_unmap(l->ctl);
  close(l->segment_fd);
  close(l->arena_fd);
  close(l->ctl_fd);
}

/* What our parent ignores for us (nohup, background jobs) stays ignored: blocked, it would arrive.
 */
static bool is_ignored(int sig) {
  struct sigaction now;
  if (sig == SIGCHLD || sigaction(sig, NULL, &now) != 0) return false;
  return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
}

/* Blocks the signals of the supervisor and opens the descriptor that it reads them from. */
static int open_signals(struct tmb_launch *l) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < TMB_ARRAY_LEN(supervised_signals); i++)
    if (!is_ignored(supervised_signals[i])) sigaddset(&set, supervised_signals[i]);
  l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (l->signal_fd < 0) {
    tmb_warn("cannot supervise ranks: signalfd: %s", strerror(errno));
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
  l->same_addresses = tmb_cfg_bool(TMB_CFG_SAME_ADDRESSES);
  l->pids = calloc(l->size, sizeof *l->pids);
  if (!l->pids) {
    tmb_warn("cannot start %u ranks: out of memory", l->size);
    return TMB_E_NOMEM;
  }
  int rc = open_memory(l);
  if (rc) goto fail_pids;
  rc = open_signals(l);
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
  restore_signals(l);
  close(l->signal_fd);
  close_memory(l);
  free(l->pids);
  l->pids = NULL;
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

/* What every rank does first. `parent` is the supervisor. */
static void become_rank(const struct tmb_launch *l, uint32_t rank, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL); /* the parent died before prctl took effect */
  close(l->signal_fd);
  restore_signals(l);
  if (l->stdin_rank != TMB_LAUNCH_STDIN_ALL && l->stdin_rank != rank) drop_stdin();
}

/* Ends the ranks that were started when not all can be. */
static void undo_fork(struct tmb_launch *l, uint32_t started, int err) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NPROC, &limit);
  char text[32] = "unlimited";
  if (limit.rlim_cur != RLIM_INFINITY)
    snprintf(text, sizeof text, "%ju", (uintmax_t)limit.rlim_cur);
  tmb_warn(
      "cannot start rank %u of %u: fork: %s (process limit, ulimit -u: %s); start fewer ranks or "
      "raise the limit",
      started, l->size, strerror(err), text);
  tmb_ctl_end(l->ctl);
  for (uint32_t r = 0; r < started; r++) kill(l->pids[r], SIGKILL);
  for (uint32_t r = 0; r < started; r++)
    while (waitpid(l->pids[r], NULL, 0) < 0 && errno == EINTR) continue;
}

int tmb_launch_fork(struct tmb_launch *l) {
  const pid_t parent = getpid();
  for (uint32_t rank = 0; rank < l->size; rank++) {
    if (l->before_fork) l->before_fork(l->arg, rank);
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

/* The rank turns it on again for itself (boot.c), so that programs which it starts get random
 * addresses as usual. */
static void ask_same_addresses(const struct tmb_launch *l, uint32_t rank) {
  if (!l->same_addresses || !tmb_os_randomised()) return;
  if (tmb_os_randomise(false) == TMB_OK)
    l->ctl->rank[rank].derandomised = 1;
  else if (rank == 0)
    tmb_info("addresses differ from rank to rank: personality: %s", strerror(errno));
}

int tmb_launch_pass(const struct tmb_launch *l, uint32_t rank, char *env, size_t env_bytes) {
  if (tmb_memfd_cloexec(l->ctl_fd, false) || tmb_memfd_cloexec(l->arena_fd, false) ||
      tmb_memfd_cloexec(l->segment_fd, false))
    return TMB_E_SYS;
  snprintf(env, env_bytes, "1:%u:%u:%" PRIx64 ":%d:%d:%d:%d", rank, l->size, l->ctl->job_id,
           (int)l->ctl->supervisor_pid, l->ctl_fd, l->arena_fd, l->segment_fd);
  ask_same_addresses(l, rank);
  return TMB_OK;
}
