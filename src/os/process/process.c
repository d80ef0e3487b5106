/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process behind a number: see os.h.
 *
 * Owns: nothing. Called by boot. Calls: /proc, pidfd_open(2), pidfd_send_signal(2), kill(2).
 * Invariants: a process is named by its number and its start time; one that has the number of
 * another, which has ended, is never signalled. The start time is read after pidfd_open: if it is
 * the one that is wanted, then the descriptor means that process, too, which started before.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "base/error.h"
#include "os/sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define START_FIELD  22 /* of /proc/PID/stat, counted from 1; proc(5) */
#define PARENT_FIELD 4
#define CPU_FIELD    14 /* user time, then system time, in ticks */
#define AFTER_NAME   3  /* the field behind the program's name, which may hold anything */

/* Field of /proc/PID/stat, from the third on; NULL if it is not there. out text: [bytes] its
 * content. */
static const char *stat_field(pid_t pid, int wanted, char *text, size_t bytes) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (tmb_sysfile_read(path, text, bytes) <= 0) return NULL;
  const char *at = strrchr(text, ')');
  for (int field = AFTER_NAME - 1; at && field < wanted; field++) at = strchr(at + 1, ' ');
  return at;
}

uint64_t tmb_os_start_time(pid_t pid) {
  char text[1024];
  const char *at = stat_field(pid, START_FIELD, text, sizeof text);
  return at ? strtoull(at, NULL, 10) : 0;
}

pid_t tmb_os_parent(pid_t pid) {
  char text[1024];
  const char *at = stat_field(pid, PARENT_FIELD, text, sizeof text);
  return at ? (pid_t)strtol(at, NULL, 10) : 0;
}

bool tmb_os_process(pid_t pid, bool memory, struct tmb_os_process *out) {
  char text[1024], path[48];
  const char *at = stat_field(pid, AFTER_NAME, text, sizeof text);
  *out = (struct tmb_os_process){0};
  if (!at) return false;
  out->state = at[1];
  at = stat_field(pid, CPU_FIELD, text, sizeof text);
  char *end = NULL;
  const uint64_t user = at ? strtoull(at, &end, 10) : 0;
  const uint64_t system = end ? strtoull(end, NULL, 10) : 0;
  out->cpu_ns = (user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
  if (!memory) return true;
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  out->memory = tmb_sysfile_read_kb(path, "Pss:");
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  if (!out->memory) out->memory = tmb_sysfile_read_kb(path, "VmRSS:");
  return true;
}

int tmb_os_process_file(pid_t pid, uint64_t inode) {
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *dir = opendir(path);
  int fd = -1;
  for (const struct dirent *e; dir && fd < 0 && (e = readdir(dir)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, e->d_name);
    if (stat(path, &st) == 0 && st.st_ino == inode && S_ISREG(st.st_mode))
      fd = open(path, O_RDONLY | O_CLOEXEC);
  }
  if (dir) closedir(dir);
  return fd;
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

void tmb_os_open_streams(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", O_RDWR);
}
