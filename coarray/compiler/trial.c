/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the accessors of structures that need nothing but the bytes of the structure.
 *
 * Owns nothing beyond a call. Called by compiler15.c. Calls: accessors, in a child process. The
 * problem: an address in a structure of another image is good there alone, and nothing says whether
 * an accessor follows one. So the accessor runs twice in a child, on copies of the coarray whose
 * bytes are all equal: as addresses they are not canonical, so to follow one ends the child.
 * Invariants: the verdict "direct" needs two runs to their ends whose results differ, or that have
 * written: a section without elements shows nothing. The child shares memory with other images, but
 * sends nothing: what an accessor asks of its caller is here. Accessors that few accesses use are
 * not tried.
 */
#include "compiler/trial.h"

#include "data/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Accesses before the first trial and, as the number doubles, after the last one. */
enum { CALLS_FIRST = 64, CALLS_LAST = 1 << 14 };
enum { BYTES_MAX = 64 << 20, ALARM_S = 5 };
enum verdict { DIRECT, UNKNOWN, FOLLOWS };

/* What a run has shown. */
struct seen {
  size_t bytes;
  char *result; /* malloc'ed */
  bool written;
};

/* Keeps the elements of the result of a get. */
static void see_result(struct seen *seen, const struct caf_ask *ask,
                       const struct caf_found *found) {
  struct caf_section s = {.base = found->at, .elem_len = ask->result_bytes};
  if (ask->result_chars) s.elem_len *= ask->result_chars;
  if (ask->result) caf_section_of(&s, &found->desc, found->at, NULL);
  seen->bytes = caf_section_elements(&s) * s.elem_len;
  seen->result = malloc(seen->bytes + 1);
  if (seen->result) caf_section_pack(&s, seen->result);
}

/* Runs the accessor on a copy of the coarray, filled with a value. */
static struct seen run_filled(const struct caf_ask *ask, char *copy, size_t bytes, size_t offset,
                              int value) {
  struct seen seen = {.bytes = 0};
  struct caf_found found;
  struct caf_desc shape = {.base = NULL};
  struct caf_ask own = *ask;
  const struct caf_asker self = {caf.rank, (uintptr_t)ask->add};
  if (ask->result) {
    shape.dtype = ask->result->dtype;
    own.result = &shape;
  }
  memset(copy, value, bytes);
  if (caf_accessor_call(&own, copy + offset, &self, &found)) return seen;
  if (ask->kind == CAF_ACCESS_GET && found.at) see_result(&seen, ask, &found);
  for (size_t i = 0; i < bytes && !seen.written; i++)
    seen.written = (unsigned char)copy[i] != value;
  return seen;
}

static enum verdict try_accessor(const struct caf_ask *ask, size_t bytes, size_t offset) {
  char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return UNKNOWN;
  const struct seen one = run_filled(ask, copy, bytes, offset, 0x81);
  const struct seen two = run_filled(ask, copy, bytes, offset, 0x93);
  if (ask->kind == CAF_ACCESS_PUT) return one.written && two.written ? DIRECT : UNKNOWN;
  if (!one.result || !two.result || one.bytes != two.bytes) return UNKNOWN;
  return memcmp(one.result, two.result, one.bytes) ? DIRECT : UNKNOWN;
}

static void leave(void) {
  _exit(FOLLOWS);
}

/* The child, which ends without a core file, a message or an exit handler of the program. */
_Noreturn static void child(const struct caf_ask *ask, size_t bytes, size_t offset) {
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
  _exit((int)try_accessor(ask, bytes, offset));
}

static enum verdict verdict_on(const struct caf_ask *ask, size_t bytes, size_t offset) {
  int status = 0;
  const pid_t pid = fork();
  if (pid == 0) child(ask, bytes, offset);
  pid_t ended = -1;
  if (pid > 0) do
      ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
  if (pid < 0 || ended != pid) return UNKNOWN;
  return WIFEXITED(status) && WEXITSTATUS(status) <= UNKNOWN ? (enum verdict)WEXITSTATUS(status)
                                                             : FOLLOWS;
}

/* Without a network: some forbid a fork while they move data. */
static bool all_are_near(void) {
  for (uint32_t r = 0; r < caf.size; r++)
    if (!caf_is_near(r)) return false;
  return true;
}

bool caf_trial_direct(const struct caf_ask *ask, const struct caf_token *t, size_t offset) {
  struct caf_accessor *accessor = caf_accessor_at(ask->index);
  if (!accessor) return false;
  struct caf_trials *trials = &accessor->trials;
  if (trials->direct || trials->done) return trials->direct;
  if (ask->kind == CAF_ACCESS_PRESENT || !t->bytes || t->bytes > BYTES_MAX) return false;
  if (++trials->calls < (trials->next ? trials->next : CALLS_FIRST)) return false;
  trials->next = 2 * trials->calls;
  const enum verdict verdict = all_are_near() ? verdict_on(ask, t->bytes, offset) : FOLLOWS;
  trials->direct = verdict == DIRECT;
  trials->done = verdict != UNKNOWN || trials->next > CALLS_LAST;
  return trials->direct;
}
