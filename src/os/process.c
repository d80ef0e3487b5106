/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which process a number means: see os.h.
 *
 * Owns: nothing. Called by boot. Calls: /proc, pidfd_open(2), pidfd_send_signal(2), kill(2).
 * Invariants: a process is named by its number and its start time; one that has the number of
 * another, which is gone, is never signalled. The start time is read after pidfd_open: if it is the
 * one that is wanted, then the descriptor means that process, too, which started before.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "base/error.h"
#include "os/sysfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define START_FIELD 22 /* of /proc/PID/stat, counted from 1; proc(5) */
#define AFTER_NAME  3  /* the field behind the program's name, which may hold anything */

uint64_t tmb_os_start_time(pid_t pid) {
  char path[48], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (tmb_sysfile_read(path, text, sizeof text) <= 0) return 0;
  char *at = strrchr(text, ')');
  if (!at) return 0;
  for (int field = AFTER_NAME - 1; at && field < START_FIELD; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t tmb_os_pid_space(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

int tmb_os_signal_process(pid_t pid, uint64_t start_time, int sig) {
  if (pid <= 0 || start_time == 0) return TMB_E_ARG;
  const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  int rc = TMB_E_STATE;
  if (tmb_os_start_time(pid) == start_time) {
    rc = fd >= 0 ? (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) : kill(pid, sig);
    if (fd >= 0 && rc != 0 && errno != ESRCH) rc = kill(pid, sig); /* the call is filtered */
    if (rc != 0) rc = errno == ESRCH ? TMB_E_STATE : TMB_E_SYS;
  }
  if (fd >= 0) close(fd);
  return rc;
}

int tmb_os_borrow_fd(pid_t pid, int number) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  const int process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) return -1;
  const int fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);
  const int err = errno;
  close(process);
  errno = err;
  return fd;
#else
  (void)pid;
  (void)number;
  errno = ENOSYS;
  return -1;
#endif
}
