/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying from a child process, and refusals: no such process, no such address.
 *
 * Where the kernel forbids it altogether (Yama, a sandbox), the copying cases are skipped.
 */
#include <stdint.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unit_test.h"
#include "os/memory/peer_copy.h"

enum { BYTES = 100000 };

/* A child that sleeps over a private copy of `area`. */
static pid_t sleeper(void) {
  const pid_t pid = fork();
  if (pid == 0)
    for (;;) pause();
  assert_cmp(pid, >, 0);
  return pid;
}

TEST(copies) {
  static char area[BYTES], local[BYTES];
  memset(area, 1, BYTES);
  const pid_t pid = sleeper();
  const uint64_t there = (uint64_t)(uintptr_t)area;
  memset(local, 2, BYTES);
  const bool allowed = tmb_os_peer_read(pid, local, there, BYTES);
  if (allowed) {
    assert_memory_equal(local, area, BYTES);
    memset(area, 3, BYTES); /* ours is another copy */
    memset(local, 0, BYTES);
    assert_true(tmb_os_peer_read(pid, local + 10, there + 10, BYTES - 20));
    assert_int_equal(local[9], 0);
    assert_int_equal(local[10], 1);
    assert_int_equal(local[BYTES - 11], 1);
    assert_int_equal(local[BYTES - 10], 0);
    assert_true(tmb_os_peer_read(pid, local, there, 0));
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  if (!allowed) skip();
}

TEST(refusals) {
  char byte = 0;
  const pid_t pid = sleeper();
  assert_false(tmb_os_peer_read(pid, &byte, 16, 1));
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  assert_false(tmb_os_peer_read(pid, &byte, (uint64_t)(uintptr_t)&byte, 1));
  assert_int_equal(tmb_os_pid(), getpid());
}

int main(void) {
  return unit_run(NULL, NULL);
}
