/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench`: runs a measuring program and reads its report.
 *
 * Owns: the child process and the pipe of one run. Called by bench.c and bench_start.c. Calls: this
 * same executable as `tombolo run`, os. Invariants: a report counts only when its last line says as
 * many figures as were read and the job exited with 0; lines that are not of the protocol are
 * passed on to standard error.
 */
#define _GNU_SOURCE
#include "bench/bench.h"
#include "tool.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_PREFIX "tombolo-bench-"
#define SAMPLES_LEAST  64 /* room for figures whose number of samples the program chooses */

static bool has_programs(const char *dir) {
  char path[4300];
  snprintf(path, sizeof path, "%s/" PROGRAM_PREFIX "p2p", dir);
  return access(path, X_OK) == 0;
}

/* Next to this executable: ../bench in a build tree, ../libexec/tombolo when installed. */
int bench_find_programs(struct bench_options *options) {
  static const char *const places[] = {"../bench", "../libexec/tombolo"};
  char folder[sizeof options->self];
  snprintf(options->self, sizeof options->self, "%s", tmb_os_exe_name());
  if (!options->self[0]) {
    tmb_print("bench: the path of this command is not known: is /proc mounted?");
    return TOOL_EXIT_FAILED;
  }
  if (options->dir) {
    snprintf(options->programs, sizeof options->programs, "%s", options->dir);
    if (has_programs(options->programs)) return 0;
    tmb_print("bench: --dir %s: there is no executable " PROGRAM_PREFIX "p2p", options->dir);
    return TOOL_EXIT_USAGE;
  }
  snprintf(folder, sizeof folder, "%s", options->self);
  *strrchr(folder, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const int length =
        snprintf(options->programs, sizeof options->programs, "%s/%s", folder, places[i]);
    if (length > 0 && (size_t)length < sizeof options->programs && has_programs(options->programs))
      return 0;
  }
  tmb_print("bench: no " PROGRAM_PREFIX "p2p in %s/../bench or %s/../libexec/tombolo: build the "
            "benchmarks (TMB_BENCH=ON) or name their folder with --dir",
            folder, folder);
  return TOOL_EXIT_FAILED;
}

/* ---- figures */

struct bench_figure *bench_add(struct bench_results *results, const char *group, const char *name,
                               size_t samples) {
  if (results->count == results->capacity) {
    const size_t capacity = results->capacity ? 2 * results->capacity : 64;
    struct bench_figure *grown = realloc(results->figures, capacity * sizeof *grown);
    if (!grown) goto no_memory;
    results->figures = grown;
    results->capacity = capacity;
  }
  struct bench_figure *f = &results->figures[results->count];
  memset(f, 0, sizeof *f);
  f->samples = calloc(samples + 1, sizeof *f->samples);
  f->floors = calloc(samples + 1, sizeof *f->floors);
  if (!f->samples || !f->floors) {
    free(f->samples);
    free(f->floors);
    goto no_memory;
  }
  snprintf(f->group, sizeof f->group, "%s", group);
  snprintf(f->name, sizeof f->name, "%s", name);
  snprintf(f->unit, sizeof f->unit, "ns");
  results->count++;
  return f;
no_memory:
  tmb_print("bench: no memory for %zu samples", samples);
  return NULL;
}

void bench_results_free(struct bench_results *results) {
  for (size_t i = 0; i < results->count; i++) {
    free(results->figures[i].samples);
    free(results->figures[i].floors);
    free(results->figures[i].text);
  }
  json_decref(results->machine);
  free(results->figures);
  memset(results, 0, sizeof *results);
}

/* ---- the protocol */

/* State while a report is read. */
struct reader {
  const struct bench_options *options;
  struct bench_results *results;
  const struct bench_job *job;
  size_t capacity; /* most samples of a figure */
  size_t first;    /* figures before this report */
  bool begun, ended;
};

static void set_key(struct bench_figure *f, const char *key, const char *value) {
  if (strcmp(key, "bytes") == 0) f->bytes = strtoull(value, NULL, 10);
  if (strcmp(key, "unit") == 0) snprintf(f->unit, sizeof f->unit, "%s", value);
  if (strcmp(key, "floor") == 0) snprintf(f->floor, sizeof f->floor, "%s", value);
  if (strcmp(key, "target") == 0) f->target = strtod(value, NULL);
  if (strcmp(key, "better") == 0) f->more = strcmp(value, "more") == 0;
}

static bool read_figure(struct reader *r, char *words) {
  char *save = NULL;
  const char *group = strtok_r(words, " \n", &save), *name = strtok_r(NULL, " \n", &save);
  if (!group || !name) return false;
  struct bench_figure *f = bench_add(r->results, group, name, r->capacity);
  if (!f) return false;
  f->ranks = r->job->ranks;
  for (char *word; (word = strtok_r(NULL, " \n", &save));) {
    char *value = strchr(word, '=');
    if (!value) return false;
    *value = '\0';
    set_key(f, word, value + 1);
  }
  return true;
}

static bool read_samples(struct reader *r, const char *text, bool floor) {
  if (r->results->count == r->first) return false;
  struct bench_figure *f = &r->results->figures[r->results->count - 1];
  double *values = floor ? f->floors : f->samples;
  size_t count = 0;
  for (char *end = NULL; count < r->capacity; text = end, count++) {
    values[count] = strtod(text, &end);
    if (end == text) break;
  }
  *(floor ? &f->floor_count : &f->count) = count;
  return count > 0;
}

/* Renews the file of --json: a figure is whole when the next one begins. */
static bool save_before(const struct reader *r) {
  if (!r->results->saved || r->results->count == r->first) return true;
  return bench_json_save(r->options, r->results, BENCH_GOES_ON) == 0;
}

/* One line. False: it breaks the protocol, or an earlier result could not be saved. */
static bool read_line(struct reader *r, char *line) {
  if (strncmp(line, "tombolo-bench 1 ", 16) == 0) return r->begun = true;
  if (!r->begun) {
    fputs(line, stderr);
    return true;
  }
  if (strncmp(line, "figure ", 7) == 0) return save_before(r) && read_figure(r, line + 7);
  if (strncmp(line, "x ", 2) == 0) return read_samples(r, line + 2, false);
  if (strncmp(line, "f ", 2) == 0) return read_samples(r, line + 2, true);
  if (strncmp(line, "end ", 4) == 0) {
    r->ended = strtoul(line + 4, NULL, 10) == r->results->count - r->first;
    return r->ended;
  }
  fputs(line, stderr);
  return true;
}

/* Every figure has samples, and floors for all of them or none. */
static bool is_complete(const struct reader *r) {
  for (size_t i = r->first; i < r->results->count; i++) {
    const struct bench_figure *f = &r->results->figures[i];
    if (!f->count || (f->floor_count && f->floor_count != f->count)) return false;
  }
  return r->begun && r->ended;
}

/* ---- the child */

static _Noreturn void exec_job(const struct bench_options *o, const struct bench_job *job,
                               int out) {
  char program[4300], ranks[16], runs[16], sample[32], timeout[32];
  const char *argv[24];
  int n = 0;
  snprintf(program, sizeof program, "%s/" PROGRAM_PREFIX "%s", o->programs, job->program);
  snprintf(ranks, sizeof ranks, "%u", job->ranks);
  snprintf(runs, sizeof runs, "%u", o->runs);
  snprintf(sample, sizeof sample, "%.3f", o->sample_us);
  snprintf(timeout, sizeof timeout, "%.0f", o->timeout_s);
  if (job->apart && !o->hosts) setenv("TOMBOLO_PLACES", "cyclic:2", 1);
  const char *const head[] = {o->self, "run", "-n", ranks, "--timeout", timeout};
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) argv[n++] = head[i];
  if (job->bind) argv[n++] = "--bind";
  if (job->apart && o->hosts) {
    argv[n++] = "--hosts";
    argv[n++] = o->hosts;
    argv[n++] = "--cyclic"; /* ranks 0 and 1 are those that measure */
  }
  const char *const tail[] = {"--stdin", "none", "--",          program,
                              "--runs",  runs,   "--sample-us", sample};
  for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) argv[n++] = tail[i];
  if (o->quick) argv[n++] = "--quick";
  if (job->mode) argv[n++] = "--mode";
  if (job->mode) argv[n++] = job->mode;
  argv[n] = NULL;
  dup2(out, STDOUT_FILENO);
  execv(o->self, (char *const *)(uintptr_t)argv);
  fprintf(stderr, "tombolo bench: %s: %s\n", o->self, strerror(errno));
  _exit(TOOL_EXIT_NOT_EXECUTABLE);
}

/* Read until the end of the output. False: something was not of the protocol. */
static bool read_report(struct reader *r, int fd) {
  FILE *in = fdopen(fd, "r");
  char *line = NULL;
  size_t room = 0;
  bool ok = in != NULL;
  while (ok && getline(&line, &room, in) > 0)
    if (!read_line(r, line)) ok = false;
  while (in && getline(&line, &room, in) > 0) {} /* the job must not die of a closed pipe */
  free(line);
  if (in) fclose(in);
  return ok;
}

/* Start the job with its standard output in a pipe. out fd: the end to read. Returns its pid or -1.
 */
static pid_t start_job(const struct bench_options *o, const struct bench_job *job, int *fd) {
  int ends[2];
  fflush(NULL);
  if (pipe2(ends, O_CLOEXEC) != 0) {
    tmb_print("bench: cannot make a pipe: %s", strerror(errno));
    return -1;
  }
  const pid_t pid = fork();
  if (pid == 0) exec_job(o, job, ends[1]);
  if (pid < 0) {
    tmb_print("bench: cannot start a process: %s", strerror(errno));
    close(ends[0]);
  }
  close(ends[1]);
  *fd = ends[0];
  return pid;
}

int bench_job_run(const struct bench_options *o, struct bench_job *job,
                  struct bench_results *results) {
  struct bench_results scratch = {0};
  struct reader r = {
      .options = o, .results = results ? results : &scratch, .job = job, .capacity = o->runs};
  int fd = -1, status = 0;
  if (r.capacity < SAMPLES_LEAST) r.capacity = SAMPLES_LEAST;
  r.first = r.results->count;
  if (o->verbose) fprintf(stderr, "tombolo bench: %s, %u ranks\n", job->program, job->ranks);
  const uint64_t start = tmb_os_now_ns();
  const pid_t pid = start_job(o, job, &fd);
  if (pid < 0) return TOOL_EXIT_FAILED;
  const bool ok = read_report(&r, fd);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  job->wall_s = (double)(tmb_os_now_ns() - start) / 1e9;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const bool good = ok && code == 0 && is_complete(&r);
  bench_results_free(&scratch);
  if (good) return 0;
  tmb_print("bench: " PROGRAM_PREFIX "%s with %u ranks %s (exit code %d)", job->program, job->ranks,
            code ? "failed" : "did not report completely", code);
  return TOOL_EXIT_FAILED;
}
