/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo watch CONTROL ARENA`: the watcher of ranks that a foreign process manager has started.
 *
 * Owns: nothing. Started by the library (src/boot/supervise/adopt.c), not by users. Calls:
 * boot/adopt. The process that the library has started ends at once, when the descriptors have been
 * looked at; its child, which nobody waits for, stays. Invariants: exit code 0: there is a watcher.
 */
#include "tool.h"

#include "boot/supervise/adopt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_watch_main(int argc, char **argv) {
  const int ctl_fd = argc == 3 ? atoi(argv[1]) : -1;
  const int arena_fd = argc == 3 ? atoi(argv[2]) : -1;
  if (fcntl(ctl_fd, F_GETFD) < 0 || fcntl(arena_fd, F_GETFD) < 0) {
    fputs(
        "Usage: tombolo watch CONTROL ARENA\n\nStarted by the library in a job of mpirun, mpiexec "
        "or srun; the arguments are descriptors.\n",
        argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : TOOL_EXIT_USAGE;
  }
  struct watch *watch = tmb_adopt_open(ctl_fd, arena_fd);
  const pid_t child = watch ? fork() : -1;
  if (child != 0) return child > 0 ? 0 : 1;
  return tmb_adopt_run(watch) ? 1 : 0;
}
