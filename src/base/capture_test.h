/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: run a function in a child process and keep its output and exit status.
 *
 * Owns: nothing. Included by x_test.c of base, os and tools, after cmocka.h's prerequisites.
 * Calls: fork, waitpid. Invariants: the child ends by _exit(0) unless the function ends it
 * otherwise; a child that hangs is killed by SIGALRM after CAPTURE_SECONDS.
 */
#ifndef TMB_BASE_CAPTURE_TEST_H
#define TMB_BASE_CAPTURE_TEST_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE_SECONDS = 60 };

struct capture {
  int status; /* as waitpid gives it */
  char text[1 << 17];
};

/* Checks inside a child: prints and exits with 9, since cmocka's state belongs to the parent. */
#define CHILD_CHECK(cond)                            \
 do {                                                \
  if (!(cond)) {                                     \
   printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
   fflush(stdout);                                   \
   _exit(9);                                         \
  }                                                  \
 } while (0)

/* Runs fn(arg) in a child; stdout and stderr go to out->text. Returns 0, or -1 if it cannot start.
 */
static inline int capture_run(struct capture *out, void (*fn)(void *arg), void *arg) {
  int ends[2];
  out->text[0] = '\0';
  fflush(stdout);
  fflush(stderr);
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (int sig = 1; sig < 32; sig++) signal(sig, SIG_DFL);
    alarm(CAPTURE_SECONDS);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    fn(arg);
    fflush(stdout);
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  ssize_t n;
  while (len < sizeof out->text - 1 &&
         (n = read(ends[0], out->text + len, sizeof out->text - 1 - len)) > 0)
    len += (size_t)n;
  out->text[len] = '\0';
  close(ends[0]);
  return waitpid(child, &out->status, 0) == child ? 0 : -1;
}

/* Runs fn(arg) as capture_run; fails the test, with the output, unless it ends with `code`. */
#define capture_exit(cap, fn, arg, code)                                                           \
 do {                                                                                              \
  assert_int_equal(capture_run((cap), (fn), (arg)), 0);                                            \
  if (!WIFEXITED((cap)->status) || WEXITSTATUS((cap)->status) != (code))                           \
   fail_msg("status %x, expected exit code %d: %s", (unsigned)(cap)->status, (code), (cap)->text); \
 } while (0)

/* True if the child died of `sig`. */
static inline int capture_died_of(const struct capture *c, int sig) {
  return WIFSIGNALED(c->status) && WTERMSIG(c->status) == sig;
}

/* True if the child ended by _exit(0) or returning. */
static inline int capture_ended_well(const struct capture *c) {
  return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

#endif
