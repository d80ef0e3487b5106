/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the accessors of structures that need nothing but the bytes of the structure, and those
 * that follow some addresses in it.
 *
 * Owns nothing beyond a call. Called by anywhere.c. Calls: accessors, in a child process. The
 * problem: an address in a structure of another image is good there alone, and nothing says
 * whether an accessor follows one. So the accessor runs twice in a child, on copies of the coarray
 * whose bytes are all equal: as addresses they are not canonical, or 0, so to follow one ends the
 * child. Then another child finds which addresses the accessor follows. Invariants: the verdict
 * "direct" needs two runs to their ends whose results differ, or that have written: a section
 * without elements shows nothing. The children share memory with other images, but send nothing:
 * what an accessor asks of its caller is here. Accessors that few accesses use are not tried.
 */
#include "compiler/trial.h"

#include "compiler/follow.h"
#include "compiler/try.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Accesses before the first trial, and trials, with twice as many accesses before each. Of large
 * coarrays the first ones are left out: a trial may take as long as 1000 messages for each MiB. */
enum { CALLS_FIRST = 64, TRIES_MOST = 9 };
enum { LARGE = 1 << 16, TRIES_LARGE = 4, HUGE = 4 << 20, TRIES_HUGE = 7 };
enum { BYTES_MAX = 64 << 20, ALARM_S = 5, WORD = sizeof(uint64_t) };
enum verdict { DIRECT, UNKNOWN, FOLLOWS };

/* Runs the accessor on a copy of the coarray, filled with a value. [out] written: whether it has
 * changed the copy. */
static struct caf_seen run_filled(const struct caf_trial *t, char *copy, int value, bool *written) {
  struct caf_seen seen;
  const size_t bytes = t->token->bytes;
  *written = false;
  memset(copy, value, bytes);
  if (caf_try(t->ask, copy + t->offset, &seen)) return seen;
  for (size_t i = 0; i < bytes && !*written; i++) *written = (unsigned char)copy[i] != value;
  return seen;
}

static enum verdict try_direct(const struct caf_trial *t) {
  char *copy =
      mmap(NULL, t->token->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool one_writes, two_writes;
  if (copy == MAP_FAILED) return UNKNOWN;
  const struct caf_seen one = run_filled(t, copy, 0x81, &one_writes);
  const struct caf_seen two = run_filled(t, copy, caf_try_second(t->ask), &two_writes);
  if (t->ask->kind == CAF_ACCESS_PUT) return one_writes && two_writes ? DIRECT : UNKNOWN;
  return caf_try_differs(&one, &two) ? DIRECT : UNKNOWN;
}

static void leave(void) {
  _exit(FOLLOWS);
}

/* The child, which ends without a core file, a message or an exit handler of the program. [out]
 * found: shared with the parent; NULL: the trial is whether the accessor follows none. */
_Noreturn static void child(const struct caf_trial *t, struct caf_followed *found) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGALRM};
  const struct rlimit no_core = {0, 0}, seconds = {1, 1};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  sigset_t none;
  (void)sigemptyset(&none);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) (void)signal(faults[i], SIG_DFL);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)setrlimit(RLIMIT_CORE, &no_core);
  (void)setrlimit(RLIMIT_CPU, &seconds); /* of a loop to a bound that is none */
  (void)alarm(ALARM_S);                  /* of a lock that another thread of the parent held */
  if (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || atexit(leave)) _exit(UNKNOWN);
  caf.pending = 0; /* puts in progress are the parent's */
  if (!found) _exit((int)try_direct(t));
  caf_follow(t, found);
  _exit(FOLLOWS);
}

static enum verdict verdict_on(const struct caf_trial *t, struct caf_followed *found) {
  int status = 0;
  const pid_t pid = fork();
  if (pid == 0) child(t, found);
  pid_t ended = -1;
  if (pid > 0) do
      ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
  if (pid < 0 || ended != pid) return UNKNOWN;
  return WIFEXITED(status) && WEXITSTATUS(status) <= UNKNOWN ? (enum verdict)WEXITSTATUS(status)
                                                             : FOLLOWS;
}

/* Words that the accessor follows. */
static struct caf_followed followed_of(const struct caf_trial *t) {
  struct caf_followed found = {.ended = true};
  if (caf.delta[t->rank] || t->token->bytes > CAF_FOLLOW_MOST) return found;
  struct caf_followed *const shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return found;
  (void)verdict_on(t, shared);
  found = *shared;
  (void)munmap(shared, sizeof *shared);
  return found;
}

/* Without a network: some forbid a fork while they move data. */
static bool all_are_near(void) {
  for (uint32_t r = 0; r < caf.size; r++)
    if (!caf_is_near(r)) return false;
  return true;
}

/* Makes a trial. */
static void make_trial(struct caf_trials *trials, const struct caf_trial *t) {
  const enum verdict verdict = all_are_near() ? verdict_on(t, NULL) : FOLLOWS;
  trials->direct = verdict == DIRECT;
  trials->done = verdict != UNKNOWN || trials->tries >= TRIES_MOST;
  if (verdict != FOLLOWS || !all_are_near()) return;
  const struct caf_followed found = followed_of(t);
  trials->path = found.path;
  trials->followed = found.words;
  trials->words = found.words ? (uint8_t)(t->element / WORD) : 0;
  trials->offset = found.words ? (uint16_t)(t->offset % t->element) : 0;
  trials->done = !found.ended || found.has_path || found.words || trials->tries >= TRIES_MOST;
}

bool caf_trial_direct(const struct caf_ask *ask, const struct caf_token *t, uint32_t rank,
                      size_t offset) {
  struct caf_accessor *accessor = caf_accessor_at(ask->index);
  if (!accessor) return false;
  struct caf_trials *trials = &accessor->trials;
  if (trials->direct) return true;
  if (trials->path.all_sizes || trials->followed)
    return caf_follow_reaches(t, trials, rank, offset, ask->object, ask->add);
  if (trials->done || !t->bytes || t->bytes > BYTES_MAX) return false;
  const uint8_t first = t->bytes > HUGE ? TRIES_HUGE : t->bytes > LARGE ? TRIES_LARGE : 0;
  if (trials->tries < first) trials->tries = first;
  if (++trials->calls < CALLS_FIRST << trials->tries) return false;
  trials->tries++;
  make_trial(trials, &(struct caf_trial){ask, t, rank, offset, caf_follow_element(t)});
  return trials->direct;
}
