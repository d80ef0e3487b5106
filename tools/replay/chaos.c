/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --chaos FROM..TO`: run seeds until one fails, and find the decisions that it needs.
 *
 * Owns nothing. Called by tools/run. Calls: fork; each run is a child, which goes on as if it had
 * been given one seed, and ends with this process. Decisions that a run has taken come back in
 * memory that parent and child share. The search is delta debugging (A. Zeller and R. Hildebrandt,
 * IEEE TSE 28, 2002, doi 10.1109/32.988498): parts of the list are left out while the run fails
 * with the same exit code. Chaos does not order all of a job, so a list is run up to ATTEMPTS
 * times: it counts as failing if most of its runs fail, or, where not even the whole list fails so
 * often, one of them. Invariants: a run of the search writes nothing; at most RUNS_MAX runs are
 * made.
 */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "tool.h"

#include "base/fmt.h"
#include "base/log.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTEMPTS   3
#define MOST       2
#define RUNS_MAX   200
#define TEXT_BYTES (32 + (size_t)REPLAY_TAKEN_MAX * 24) /* of the longest list */

struct search {
  struct replay_run *run;
  unsigned long long seed;
  int code, runs, needed; /* needed: of the runs of a list that have to fail */
  char *text;             /* SEED:LIST of the run; owned */
};

/* Outcome of a run; in a child there is none. */
enum { IN_CHILD = -1 };

/* Whether a text is a list of decisions, RANK KIND NUMBER each, with commas between; or empty. */
static bool is_list(const char *text) {
  while (*text) {
    char *end;
    (void)strtoul(text, &end, 10);
    if (end == text || !*end || !strchr(RPL_CHAOS_KINDS, *end)) return false;
    text = end + 1;
    (void)strtoul(text, &end, 10);
    if (end == text || (*end && (*end != ',' || !end[1]))) return false;
    text = *end ? end + 1 : end;
  }
  return true;
}

int replay_chaos_parse(struct replay_run *run, const char *text) {
  char *end;
  run->chaos = text;
  run->from = run->to = strtoull(text, &end, 10);
  const bool range = end != text && strncmp(end, "..", 2) == 0;
  if (range) run->to = strtoull(end + 2, &end, 10);
  const bool given = end != text && run->to >= run->from;
  if (given && (*end == '\0' || (*end == ':' && !range && is_list(end + 1)))) return 0;
  if (given && *end == ':' && !range)
    tmb_print("run: --chaos %s: give a seed and decisions, as 2:0m2,1d17", text);
  else
    tmb_print("run: --chaos %s: give a seed, as 17, or a range of seeds, as 1..200", text);
  return TOOL_EXIT_USAGE;
}

/* Run the job once. Returns its exit code, or IN_CHILD. in quiet: without output. */
static int once(struct replay_run *run, const char *text, bool quiet) {
  run->chaos = text;
  run->taken->count = 0;
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) return TOOL_EXIT_FAILED;
  if (pid == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(TOOL_EXIT_FAILED);
    const int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) (void)dup2(nowhere, STDERR_FILENO);
    if (quiet) run->record = NULL;
    return IN_CHILD;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Write SEED:LIST of the decisions whose mark is not 0. */
static void write_list(struct search *s, const struct replay_taken *all, const char *mark) {
  int at = snprintf(s->text, TEXT_BYTES, "%llu:", s->seed);
  for (uint32_t i = 0; i < all->count; i++)
    if (mark[i])
      at += snprintf(s->text + at, TEXT_BYTES - (size_t)at, "%s%u%c%u",
                     s->text[at - 1] == ':' ? "" : ",", all->rank[i],
                     RPL_CHAOS_KINDS[all->number[i] >> RPL_CHAOS_SHIFT],
                     all->number[i] & RPL_CHAOS_NUMBER);
}

/* Whether the marked decisions are enough; IN_CHILD in a child. */
static int fails(struct search *s, const struct replay_taken *all, const char *mark) {
  int failed = 0;
  write_list(s, all, mark);
  for (int i = 0; failed < s->needed && i - failed <= ATTEMPTS - s->needed; i++) {
    if (s->runs++ == RUNS_MAX) return 0;
    const int code = once(s->run, s->text, true);
    if (code == IN_CHILD) return IN_CHILD;
    failed += code == s->code;
  }
  return failed == s->needed;
}

/* Leave out part after part. in,out mark: [all->count]. Returns 0, or IN_CHILD in a child. */
static int shrink(struct search *s, const struct replay_taken *all, char *mark) {
  char *const before = malloc(all->count + 1);
  if (!before) return 0;
  for (uint32_t part = all->count; part; part /= 2)
    for (uint32_t at = 0; at < all->count && s->runs < RUNS_MAX; at += part) {
      memcpy(before, mark, all->count);
      for (uint32_t i = at; i < at + part && i < all->count; i++) mark[i] = 0;
      if (memcmp(before, mark, all->count) == 0) continue;
      const int failed = fails(s, all, mark);
      if (failed == IN_CHILD) return IN_CHILD;
      if (!failed) memcpy(mark, before, all->count);
    }
  free(before);
  return 0;
}

/* Print the command as it was given, with the list in place of the seeds. in given: these, part of
 * a word of argv. */
static void print_command(const struct search *s, char **argv, const char *given) {
  fprintf(stderr, "  tombolo run");
  for (char **a = argv + 1; *a; a++) {
    const bool here = given >= *a && given <= *a + strlen(*a);
    fprintf(stderr, " %.*s%s", here ? (int)(given - *a) : INT_MAX, *a, here ? s->text : "");
  }
  fprintf(stderr, "\n");
}

/* A seed fails: find and print what it needs. Returns 0, or IN_CHILD in a child. */
static int minimise(struct search *s, char **argv, const char *given) {
  struct replay_taken *const all = malloc(sizeof *all);
  char *const mark = malloc(REPLAY_TAKEN_MAX);
  s->text = malloc(TEXT_BYTES);
  if (!all || !mark || !s->text) return 0;
  *all = *s->run->taken;
  memset(mark, 1, all->count);
  s->needed = MOST;
  const int failed = fails(s, all, mark);
  if (!failed) s->needed = 1;
  if (failed == IN_CHILD || shrink(s, all, mark) == IN_CHILD) return IN_CHILD;
  uint32_t left = 0;
  for (uint32_t i = 0; i < all->count; i++) left += mark[i] != 0;
  write_list(s, all, mark);
  tmb_print(
      "run: --chaos: seed %llu ended with code %d; it needs %u of its %u decisions (%d runs); "
      "to see it again:",
      s->seed, s->code, left, all->count, s->runs);
  print_command(s, argv, given);
  free(mark);
  free(all);
  return 0;
}

bool replay_chaos_loop(struct replay_run *run, char **argv, int *code) {
  const char *const given = run->chaos;
  if (!run->chaos || run->from == run->to) return false;
  static char text[32];
  void *const shared =
      mmap(NULL, sizeof *run->taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) tmb_fatal_nopos("out of memory for the decisions of --chaos");
  run->taken = shared;
  *code = 0;
  unsigned long long seed = run->from;
  for (; seed <= run->to && *code == 0; seed++) {
    snprintf(text, sizeof text, "%llu", seed);
    *code = once(run, text, false);
    if (*code == IN_CHILD) return false;
  }
  if (*code == 0 || *code == TOOL_EXIT_USAGE || *code >= 126) {
    if (*code == 0) tmb_print("run: --chaos: no seed from %llu to %llu failed", run->from, run->to);
    if (*code < 128) return true;
  }
  struct search s = {.run = run, .seed = seed - 1, .code = *code};
  return minimise(&s, argv, given) != IN_CHILD;
}
