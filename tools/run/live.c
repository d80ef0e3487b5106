/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --live`, see live.h.
 *
 * Owns: no process state. Called as live.h says. Calls: libc. The process that shows the job is
 * known by a descriptor, because the supervisor reaps every child.
 */
#define _GNU_SOURCE
#include "run/live.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_FLOOR 64 /* as of launch.c */
#define END_MS   5000

static bool redirect(struct run_live *live) {
  FILE *file = tmpfile();
  if (!file) return false;
  live->output_fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, FD_FLOOR);
  fclose(file);
  if (live->output_fd < 0 || fcntl(live->output_fd, F_SETFL, O_APPEND) != 0) return false;
  for (int i = 0; i < 2; i++) {
    live->kept[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (live->kept[i] < 0) return false;
  }
  fflush(NULL);
  return dup2(live->output_fd, STDOUT_FILENO) >= 0 && dup2(live->output_fd, STDERR_FILENO) >= 0;
}

_Noreturn static void become_top(const struct run_live *live, const struct tmb_launch *launch,
                                 pid_t parent) {
  char job[16];
  const char *path = tmb_os_exe_name();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(0);
  snprintf(job, sizeof job, "%d", (int)parent);
  sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
  for (int i = 0; i < 2; i++) (void)dup2(live->kept[i], STDOUT_FILENO + i);
  execl(path, "tombolo", "top", "--interval", "0.5", job, (char *)NULL);
  _exit(127);
}

void run_live_begin(struct run_live *live, const struct tmb_launch *launch) {
  const pid_t parent = getpid();
  *live = (struct run_live){{-1, -1}, -1, -1};
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
    tmb_print("run: --live: standard input or output is not a terminal, so nothing is shown; use "
              "'tombolo top %d' in one",
              (int)parent);
    return;
  }
  const pid_t pid = redirect(live) ? fork() : -1;
  if (pid == 0) become_top(live, launch, parent);
  if (pid > 0) live->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (pid < 0) tmb_print("run: --live: %s; nothing is shown", strerror(errno));
}

/* Print the output written while the terminal was taken. */
static void print_output(const struct run_live *live) {
  char buffer[65536];
  ssize_t n;
  (void)lseek(live->output_fd, 0, SEEK_SET);
  while ((n = read(live->output_fd, buffer, sizeof buffer)) > 0)
    for (ssize_t at = 0, m; at < n; at += m)
      if ((m = write(STDOUT_FILENO, buffer + at, (size_t)(n - at))) < 0) return;
}

void run_live_end(struct run_live *live) {
  struct pollfd ended = {.fd = live->pid_fd, .events = POLLIN};
  if (live->pid_fd >= 0) {
    (void)syscall(SYS_pidfd_send_signal, live->pid_fd, SIGTERM, NULL, 0);
    (void)poll(&ended, 1, END_MS);
    close(live->pid_fd);
  }
  fflush(NULL);
  for (int i = 0; i < 2; i++) {
    if (live->kept[i] < 0) continue;
    (void)dup2(live->kept[i], STDOUT_FILENO + i);
    close(live->kept[i]);
  }
  if (live->output_fd < 0) return;
  print_output(live);
  close(live->output_fd);
}
