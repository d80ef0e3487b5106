/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of the start of processes without any library: forks COUNT times, each child becomes this
 * program without arguments, which ends at once; waits for all.
 *
 * Owns: nothing. Started by `start.py`. Calls: libc.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  int code = 0;
  for (int i = 0; i < count; i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      execl(argv[0], argv[0], (char *)NULL);
      _exit(127);
    }
    if (pid < 0) {
      perror("fork");
      code = 1;
      break;
    }
  }
  for (int status; wait(&status) > 0;)
    if (status) code = 1;
  return code;
}
