/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a function in a child process and reports how it ended, for tests of fatal errors.
 * The child's stderr is captured; it leaves no core file. Used by the tools_* programs.
 */
#ifndef TMB_TOOLS_CHILD_H
#define TMB_TOOLS_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* How a child ended: its signal or -1, its exit code or -1, and the first bytes of its stderr. */
struct child_end {
  int signal, code;
  char text[8192];
};

__attribute__((unused)) static struct child_end child_run(void (*body)(void)) {
  struct child_end end = {-1, -1, ""};
  const struct rlimit no_core = {0, 0};
  int fds[2], status = 0;
  size_t len = 0;
  ssize_t n;
  fflush(NULL);
  REQUIRE(pipe(fds) == 0);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(fds[1], STDERR_FILENO);
    close(fds[0]);
    close(fds[1]);
    body();
    _exit(0);
  }
  close(fds[1]);
  while ((n = read(fds[0], end.text + len, sizeof end.text - 1 - len)) > 0) len += (size_t)n;
  close(fds[0]);
  end.text[len] = '\0';
  REQUIRE(waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  return end;
}

/* The body must die of SIGABRT after a message that contains every one of the texts. */
#define CHECK_FATAL(body, ...)                                                              \
 do {                                                                                       \
  static const char *const check_texts_[] = {__VA_ARGS__};                                  \
  const struct child_end check_end_ = child_run(body);                                      \
  CHECK_EQ(check_end_.signal, SIGABRT);                                                     \
  for (size_t i_ = 0; i_ < sizeof check_texts_ / sizeof check_texts_[0]; i_++)              \
   if (!strstr(check_end_.text, check_texts_[i_]))                                          \
    check_fail(__FILE__, __LINE__, "%s: '%s' is missing from: %s", #body, check_texts_[i_], \
               check_end_.text);                                                            \
   else                                                                                     \
    check_count(1);                                                                         \
 } while (0)

#endif
