/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the checker's area: one whose owner is stopped stays, one whose owner has died does not.
 *
 * Owns: two processes that share a word and a lock, in place of two ranks. The first one waits for
 * the lock, while the second one has stopped itself within it for 3 s; then the second one changes
 * the word, and gives the lock. Run without arguments; returns 0, or prints what is wrong.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h" /* tidy-allow: layers because it is a test of a file there */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOPPED_S 3
#define ENOUGH_S  60 /* of the whole test */

struct chk chk;

static struct shared {
  struct chk_area area;
  struct chk_floor floor[2];
  uint32_t lock, word;
} * shared;

static void fails(const char *text) {
  printf("area_lock: %s\n", text);
  exit(1);
}

/* Begins as a rank. */
static void be(uint32_t rank) {
  chk.rank = rank;
  chk_owner_begins();
  (void)alarm(ENOUGH_S);
}

/* The second rank, which has the lock when this returns. in body: what it does with it. */
static pid_t second(void (*body)(void)) {
  const pid_t pid = fork();
  if (pid < 0) fails("cannot fork");
  if (pid == 0) {
    be(1);
    chk_lock(&shared->lock);
    body();
    _exit(0);
  }
  while (__atomic_load_n(&shared->lock, __ATOMIC_ACQUIRE) != 2) (void)usleep(1000);
  return pid;
}

static void stops(void) {
  (void)raise(SIGSTOP);
  shared->word++;
  chk_unlock(&shared->lock);
}

static void dies(void) {}

/* Another process goes on with the one that is stopped, once that was so for long enough. */
static pid_t continues(pid_t stopped) {
  const pid_t pid = fork();
  if (pid) return pid;
  (void)sleep(STOPPED_S);
  (void)kill(stopped, SIGCONT);
  _exit(0);
}

static void stopped_owner(void) {
  const pid_t owner = second(stops);
  int status = 0;
  (void)waitpid(owner, &status, WUNTRACED);
  if (!WIFSTOPPED(status)) fails("the second process has not stopped");
  const pid_t helper = continues(owner);
  chk_lock(&shared->lock);
  if (shared->word != 1) fails("a lock was broken whose owner was stopped");
  chk_unlock(&shared->lock);
  (void)waitpid(owner, &status, 0);
  (void)waitpid(helper, &status, 0);
}

/* in reaped: nothing is left of the process. */
static void dead_owner(bool reaped) {
  const pid_t owner = second(dies);
  if (reaped) (void)waitpid(owner, NULL, 0);
  chk_lock(&shared->lock);
  chk_unlock(&shared->lock);
  if (!reaped) (void)waitpid(owner, NULL, 0);
}

int main(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fails("no memory");
  chk.area = &shared->area;
  shared->area.where_floor = offsetof(struct shared, floor);
  be(0);
  stopped_owner();
  dead_owner(true);
  dead_owner(false);
  return 0;
}
