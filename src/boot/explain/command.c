/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of another program, see command.h.
 *
 * Owns: nothing beyond a call. Called as command.h says. Calls: posix_spawnp, the clock. The
 * program's errors go nowhere, and it reads nothing. Invariants: the child is waited for by its
 * number, also when it had to be killed.
 */
#define _GNU_SOURCE
#include "boot/explain/command.h"

#include "base/compiler.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool start(char *const argv[], int out, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const int rc = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return rc == 0;
}

/* Read until the end or the limit. Returns whether the end came in time. */
static bool read_all(int fd, char *buf, size_t bytes, uint64_t limit_ns) {
  char rest[512];
  size_t used = 0;
  buf[0] = '\0';
  for (;;) {
    const uint64_t now = tmb_os_now_ns();
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (now >= limit_ns || poll(&ready, 1, (int)((limit_ns - now) / 1000000) + 1) == 0)
      return false;
    const bool room = used + 1 < bytes;
    const ssize_t n = read(fd, room ? buf + used : rest, room ? bytes - 1 - used : sizeof rest);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    if (room) used += (size_t)n;
    buf[used] = '\0';
  }
}

bool tmb_command_output(char *const argv[], char *buf, size_t bytes, int timeout_ms) {
  int fds[2], status = 1;
  pid_t pid = 0;
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  const bool started = start(argv, fds[1], &pid);
  close(fds[1]);
  const uint64_t limit_ns = tmb_os_now_ns() + (uint64_t)timeout_ms * 1000000;
  const bool ended = started && read_all(fds[0], buf, bytes, limit_ns);
  close(fds[0]);
  if (started && !ended) (void)kill(pid, SIGKILL);
  while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return ended && status == 0 && buf[0];
}
