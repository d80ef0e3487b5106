/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leftovers of ranks: see orphans.h.
 *
 * Owns, calls, invariants: as there. The kernel's list of children has those of one thread; adopted
 * ones come to the first.
 */
#define _GNU_SOURCE
#include "boot/launch/orphans.h"

#include "base/config.h"
#include "base/log.h"
#include "boot/page/ctl.h"
#include "os/os.h"
#include "os/sysfile.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BYTES 16384 /* process numbers, as text; more of them come in the next round */
#define TICK_NS    UINT64_C(5000000)
#define GRACE_NS   UINT64_C(500000000)  /* from SIGTERM to SIGKILL */
#define GIVE_UP_NS UINT64_C(2000000000) /* processes left then hang in the kernel */
#define REGIONS    8 /* one for each rail and kind of endpoint; numbered from 0 */

/* The children of this process as text: numbers, each followed by a blank. */
static bool list_children(char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  text[0] = 0;
  const int length = tmb_sysfile_read(path, text, LIST_BYTES);
  char *last = length == LIST_BYTES - 1 ? strrchr(text, ' ') : NULL;
  if (last) *last = 0; /* a number that was cut off means another process */
  return length >= 0;
}

static bool was_before(const char *before, pid_t pid) {
  char *next = (char *)(uintptr_t)before;
  for (long other; (other = strtol(next, &next, 10)) > 0;)
    if (other == pid) return true;
  return false;
}

char *tmb_orphans_adopt(void) {
  char *before = malloc(LIST_BYTES);
  if (before && list_children(before) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) return before;
  free(before);
  return NULL;
}

/* Signals each orphan and reaps those that have ended. Returns how many are left. */
static int signal_orphans(const char *before, int sig) {
  char text[LIST_BYTES];
  int left = 0;
  if (!list_children(text)) return 0;
  char *next = text;
  for (long pid; (pid = strtol(next, &next, 10)) > 0;) {
    if (was_before(before, (pid_t)pid) || getpgid((pid_t)pid) != getpgrp()) continue;
    if (waitpid((pid_t)pid, NULL, WNOHANG) != 0) continue;
    (void)kill((pid_t)pid, sig);
    left++;
  }
  return left;
}

void tmb_orphans_end(const char *before) {
  if (!before) return;
  const uint64_t start = tmb_os_now_ns();
  int left = signal_orphans(before, SIGTERM);
  if (left)
    tmb_info("ending %d process%s that ranks have left behind", left, left == 1 ? "" : "es");
  for (uint64_t age = 0; left && age < GIVE_UP_NS; age = tmb_os_now_ns() - start) {
    (void)tmb_os_nsleep(TICK_NS);
    left = signal_orphans(before, age < GRACE_NS ? 0 : SIGKILL);
  }
}

void tmb_orphans_unlink(pid_t pid) {
  char path[64];
  for (int i = 0; i < REGIONS; i++) {
    snprintf(path, sizeof path, "/dev/shm/%d:%u:%d", (int)pid, (unsigned)getuid(), i);
    if (unlink(path) != 0) return;
  }
}

/* ---- the guard */

static bool uses_regions(void) {
  const char *conduit = tmb_cfg_str(TMB_CFG_CONDUIT), *provider = tmb_cfg_str(TMB_CFG_OFI_PROVIDER);
  return conduit && strcmp(conduit, "ofi") == 0 && provider && strstr(provider, "shm");
}

static bool is_alive(pid_t pid) {
  struct tmb_os_process process;
  return tmb_os_process(pid, false, &process) && process.state != 'Z' && process.state != 'X';
}

/* The launcher has been killed, and the kernel ends its ranks: removes the leftovers of each. */
static void remove_regions(const struct tmb_ctl *ctl) {
  for (uint32_t r = 0; r < ctl->size; r++) {
    if (tmb_ctl_record_of(ctl)[r] == TMB_CTL_ELSEWHERE) continue;
    const pid_t pid = tmb_ctl_pid(ctl, r);
    if (pid <= 0) continue;
    for (uint64_t age = 0; is_alive(pid) && age < GIVE_UP_NS; age += TICK_NS)
      (void)tmb_os_nsleep(TICK_NS);
    if (!is_alive(pid)) tmb_orphans_unlink(pid);
  }
}

/* The guard process keeps only the control block and its end of the pipe open. */
_Noreturn static void be_guard(const struct tmb_ctl *ctl, int pipe_fd) {
  sigset_t all;
  char byte;
  sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, NULL);
  (void)setsid();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (null >= 0) (void)dup2(null, fd);
  (void)dup2(pipe_fd, STDERR_FILENO + 1);
#ifdef SYS_close_range
  (void)syscall(SYS_close_range, STDERR_FILENO + 2u, UINT_MAX, 0);
#endif
  if (read(STDERR_FILENO + 1, &byte, 1) <= 0) remove_regions(ctl);
  _exit(0);
}

int tmb_orphans_guard(const struct tmb_ctl *ctl) {
  int ends[2];
  if (!uses_regions() || pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[1]);
    be_guard(ctl, ends[0]);
  }
  close(ends[0]);
  if (pid > 0) return ends[1];
  close(ends[1]);
  return -1;
}

void tmb_orphans_guard_end(int fd) {
  if (fd < 0) return;
  if (write(fd, "", 1) != 1) tmb_info("the guard of /dev/shm has ended before");
  close(fd);
}
