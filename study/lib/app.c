/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line and report of applications, see app.h.
 *
 * Owns nothing. Called by study/apps/<name>. Calls: links.h, argp, the scheduler. Invariant: every
 * rank reads the same options, so what ends one ends all.
 */
#define _GNU_SOURCE
#include "lib/app.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  KEY_INJECT = 0x100,
  KEY_JSON,
  KEY_LIST,
  KEY_BIND,
  KEY_USAGE,
  OPTIONS_MAX = APP_NUMBERS + APP_TEXTS + 9,
  HELP_BYTES = 160,
  TEXT_BYTES = 2048
};

/* Texts made for the parser, which keeps pointers to them. */
struct texts {
  char number[APP_NUMBERS][HELP_BYTES], iterations[HELP_BYTES], program[TEXT_BYTES];
};

struct parse {
  struct app_options *options;
  bool done; /* help or the list was printed: nothing to run */
  bool speak, bind;
};

static error_t bad(struct argp_state *state, const char *option, const char *value,
                   const char *expected) {
  argp_error(state, "%s '%s': expected %s", option, value, expected);
  return EINVAL;
}

static long most_of(const struct app_number *n) {
  return n->most ? n->most : INT_MAX;
}

static error_t number(struct argp_state *state, const struct app_number *n, const char *text,
                      long *value) {
  char *end, option[64], expected[80];
  errno = 0;
  *value = strtol(text, &end, 10);
  if (end != text && !*end && !errno && *value >= n->least && *value <= most_of(n)) return 0;
  snprintf(option, sizeof option, "--%s", n->name);
  snprintf(expected, sizeof expected, "a whole number from %ld to %ld", n->least, most_of(n));
  return bad(state, option, text, expected);
}

static int way_count(const struct app_program *p) {
  return p->ways ? p->way_count : job_way_count;
}

static const struct job_way *way_of(const struct app_program *p, int way) {
  return (p->ways ? p->ways : job_way_table) + way;
}

static void list_ways(const struct app_program *p) {
  for (int i = 0; i < way_count(p); i++)
    printf("%-10s %s\n", way_of(p, i)->name, way_of(p, i)->help);
}

/* Append to a text that has room for `bytes`; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t bytes,
                                                         const char *format, ...) {
  const size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, bytes - used, format, args);
  va_end(args);
}

static error_t parse_way(struct argp_state *state, const char *text, struct app_options *o) {
  o->way = -1;
  if (strcmp(text, "all") == 0) return 0;
  for (int i = 0; i < way_count(o->program); i++)
    if (strcmp(text, way_of(o->program, i)->name) == 0) o->way = i;
  if (o->way >= 0) return 0;
  char expected[256] = "";
  for (int i = 0; i < way_count(o->program); i++)
    append(expected, sizeof expected, "%s, ", way_of(o->program, i)->name);
  append(expected, sizeof expected, "or all");
  return bad(state, "--way", text, expected);
}

static const struct app_number iterations = {"iterations", 'i', 0, 1, 0, "Timed iterations"};

static error_t parse_one(int key, char *arg, struct argp_state *state) {
  struct parse *p = state->input;
  struct app_options *o = p->options;
  for (int i = 0; i < o->program->count; i++) {
    const struct app_number *n = &o->program->numbers[i];
    if (key == n->key) return number(state, n, arg, &o->n[i]);
  }
  for (int i = 0; i < o->program->text_count; i++) {
    if (key != o->program->texts[i].key) continue;
    o->text[i] = arg;
    return 0;
  }
  switch (key) {
  case 'i': return number(state, &iterations, arg, &o->iterations);
  case 'w': return parse_way(state, arg, o);
  case KEY_INJECT: o->inject_error = true; return 0;
  case KEY_BIND: p->bind = true; return 0;
  case KEY_JSON: o->json = true; return 0;
  case KEY_LIST:
    p->done = true;
    if (p->speak) list_ways(o->program);
    return 0;
  case 'h':
    p->done = true;
    if (p->speak) argp_state_help(state, stdout, ARGP_HELP_LONG | ARGP_HELP_DOC);
    return 0;
  case KEY_USAGE:
    p->done = true;
    if (p->speak) argp_state_help(state, stdout, ARGP_HELP_USAGE);
    return 0;
  case ARGP_KEY_ARG: return bad(state, "argument", arg, "options only");
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Bind this rank to the processor of its number among those that it may use, if there is one for
 * each rank. */
static void bind_rank(const struct job *job) {
  cpu_set_t usable, one;
  if (sched_getaffinity(0, sizeof usable, &usable) || CPU_COUNT(&usable) < job->size) return;
  int left = job->rank;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &usable) || left-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/* Write what each option and way is, with what is taken without it and what is possible. */
static void describe(const struct app_program *program, struct texts *texts) {
  for (int i = 0; i < program->count; i++) {
    const struct app_number *n = &program->numbers[i];
    append(texts->number[i], HELP_BYTES, "%s (default %ld, at least %ld", n->help, n->normal,
           n->least);
    if (n->most) append(texts->number[i], HELP_BYTES, ", at most %ld", n->most);
    append(texts->number[i], HELP_BYTES, ")");
  }
  append(texts->iterations, HELP_BYTES, "%s (default %ld)", iterations.help, program->iterations);
  append(texts->program, TEXT_BYTES, "%s\vVariants of --way:\n", program->help);
  for (int i = 0; i < way_count(program); i++)
    append(texts->program, TEXT_BYTES, "  %-10s %s\n", way_of(program, i)->name,
           way_of(program, i)->help);
  append(texts->program, TEXT_BYTES, "Exit code: 0 verified, 1 verification failed, 2 refused.");
}

void app_options(struct job *job, const struct app_program *program, struct app_options *options,
                 int argc, char **argv) {
  struct argp_option known[OPTIONS_MAX] = {{0}};
  struct texts texts = {0};
  int count = 0;
  describe(program, &texts);
  for (int i = 0; i < program->count; i++) {
    const struct app_number *n = &program->numbers[i];
    known[count++] = (struct argp_option){n->name, n->key, "N", 0, texts.number[i], 0};
    options->n[i] = n->normal;
  }
  for (int i = 0; i < program->text_count; i++) {
    const struct app_text *t = &program->texts[i];
    known[count++] = (struct argp_option){t->name, t->key, t->argument, 0, t->help, 0};
    options->text[i] = t->normal;
  }
  known[count++] = (struct argp_option){"iterations", 'i', "N", 0, texts.iterations, 0};
  known[count++] = (struct argp_option){
      "way", 'w', "NAME", 0, "Run one variant only, of those below (default all)", 0};
  known[count++] = (struct argp_option){"list", KEY_LIST, NULL, 0, "List the variants and end", 0};
  known[count++] =
      (struct argp_option){"json", KEY_JSON, NULL, 0, "Print one JSON object for each variant", 0};
  known[count++] = (struct argp_option){
      "inject-error", KEY_INJECT, NULL, 0, "Change a result: the verification must fail", 0};
  known[count++] = (struct argp_option){
      "bind", KEY_BIND, NULL, 0, "Bind each rank to a processor of its own, if there are enough",
      0};
  known[count++] = (struct argp_option){"help", 'h', NULL, 0, "Show this help", -1};
  known[count++] = (struct argp_option){
      "usage", KEY_USAGE, NULL, 0, "Show the options without their meaning", -1};
  options->program = program;
  options->iterations = program->iterations;
  options->way = -1;
  options->inject_error = options->json = false;
  struct parse p = {.options = options, .speak = job->rank == 0};
  const struct argp parser = {.options = known, .parser = parse_one, .doc = texts.program};
  const unsigned flags = ARGP_NO_EXIT | ARGP_NO_HELP | (p.speak ? 0 : ARGP_NO_ERRS);
  if (argp_parse(&parser, argc, argv, flags, NULL, &p)) job_exit(job, 2);
  if (p.done) job_exit(job, 0);
  if (p.bind) bind_rank(job);
}

void app_main(int argc, char **argv, const struct app_program *program,
              bool (*run)(struct job *job, const struct app_options *options)) {
  struct job job;
  struct app_options options;
  job_start(&job, program->name, &argc, &argv);
  app_options(&job, program, &options, argc, argv);
  job_exit(&job, run(&job, &options) ? 0 : 1);
}

/* Bytes that this host can still give. */
static double memory_left(void) {
  double kib = 0;
  char line[128];
  FILE *const info = fopen("/proc/meminfo", "r");
  while (info && kib == 0 && fgets(line, sizeof line, info))
    if (strncmp(line, "MemAvailable:", 13) == 0) kib = strtod(line + 13, NULL);
  if (info) fclose(info);
  if (kib > 0) return kib * 1024;
  return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void app_need(struct job *job, double bytes) {
  const double room = memory_left() / job_neighbours();
  if (job_max(job, bytes - room) <= 0) return;
  const double most = job_max(job, bytes), least = -job_max(job, -room);
  job_refuse(
      job,
      "this problem needs about %.0f MiB a rank, and a rank can have %.0f MiB; take a smaller "
      "problem or more hosts",
      most / 0x1p20, least / 0x1p20);
}

void app_head(const struct job *job, const struct app_options *options) {
  if (job->rank || options->json) return;
  printf("%s on %d rank%s:", job->program, job->size, job->size == 1 ? "" : "s");
  for (int i = 0; i < options->program->count; i++)
    printf(" %s %ld", options->program->numbers[i].name, options->n[i]);
  printf(", %ld iterations\n", options->iterations);
}

#define PROGRESS_SECONDS 2.0

static const char *const phase_name[JOB_PHASES] = {[APP_COMPUTE] = "computing",
                                                   [APP_COPY] = "copying",
                                                   [APP_SEND] = "sending",
                                                   [APP_WAIT] = "waiting"};

void app_progress(const struct job *job, const struct app_options *o, long i) {
  static double shown;
  if (job->rank) return;
  const double now = job_now();
  if (i == 0) shown = now;
  if (now - shown < PROGRESS_SECONDS) return;
  shown = now;
  fprintf(stderr, "%s: %s: %ld of %ld iterations\n", job->program,
          way_of(o->program, job->way)->name, i, o->iterations);
}

bool app_iteration(struct job *job, const struct app_options *options, long i) {
  app_stop(job);
  job->watched = i == options->iterations + 1;
  if (i <= options->iterations) app_progress(job, options, i);
  if (i == 1) {
    job_barrier(job);
    job->started = job_now();
  }
  job->marked = i <= options->iterations + 1;
  if (job->marked) job_region(way_of(options->program, job->way)->name);
  if (!job->watched) return i <= options->iterations;
  for (int phase = 0; phase < JOB_PHASES; phase++) job->spent[phase] = 0;
  job_flush(job);
  job->seconds = job_max(job, (job_now() - job->started) / (double)options->iterations);
  job->phase = APP_COMPUTE;
  job->since = job_now();
  job_region(phase_name[APP_COMPUTE]);
  return true;
}

void app_charge(struct job *job, enum app_phase next) {
  const double now = job_now();
  job->spent[job->phase] += now - job->since;
  job->since = now;
  job->phase = (int)next;
  job_region_end();
  job_region(phase_name[next]);
}

static double processor_time(void) {
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Samples, an odd number, and how long one is, so that reading the clock counts little. */
#define ALONE_SAMPLES 9
#define ALONE_SECONDS 1e-3

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double app_alone(struct job *job, void (*compute)(void *about), void *about) {
  const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN), ranks = job_neighbours();
  double sample[ALONE_SAMPLES];
  long calls = 1;
  for (int i = 0; i < ALONE_SAMPLES; i++) {
    double spent = 0;
    job_barrier(job);
    for (;; calls *= 2) {
      const double begin = processor_time();
      for (long k = 0; k < calls; k++) compute(about);
      spent = processor_time() - begin;
      if (spent >= ALONE_SECONDS) break;
    }
    sample[i] = spent / (double)calls;
  }
  qsort(sample, ALONE_SAMPLES, sizeof *sample, compare_doubles);
  return job_max(job, sample[ALONE_SAMPLES / 2]) * (ranks > processors ? ranks / processors : 1);
}

void app_stop(struct job *job) {
  app_enter(job, APP_COMPUTE);
  if (job->watched) job_region_end();
  if (job->marked) job_region_end();
  job->watched = job->marked = false;
}

static void print_json(const struct job *job, const struct app_options *options,
                       const struct app_result *result, const double mean[JOB_PHASES],
                       const double most[JOB_PHASES]) {
  printf("{\"program\": \"%s\", \"way\": \"%s\", \"ranks\": %d, \"seconds\": %.9g, \"mflops\": "
         "%.6g, \"verified\": %s",
         job->program, way_of(options->program, job->way)->name, job->size, result->seconds,
         result->work / result->seconds * 1e-6, result->verified ? "true" : "false");
  if (result->share > 0) printf(", \"share\": %.4g", result->share);
  for (int i = 0; i < options->program->count; i++)
    printf(", \"%s\": %ld", options->program->numbers[i].name, options->n[i]);
  printf(", \"phases\": {");
  for (int i = 0; i < JOB_PHASES; i++)
    printf("%s\"%s\": [%.6g, %.6g]", i ? ", " : "", phase_name[i], mean[i], most[i]);
  printf("}}\n");
}

void app_report(struct job *job, const struct app_options *options,
                const struct app_result *result) {
  double mean[JOB_PHASES], most[JOB_PHASES], all = 0;
  for (int i = 0; i < JOB_PHASES; i++) {
    mean[i] = job_sum(job, job->spent[i]) / job->size;
    most[i] = job_max(job, job->spent[i]);
    all += mean[i];
    job->spent[i] = 0;
  }
  if (job->rank) return;
  if (options->json) {
    print_json(job, options, result, mean, most);
  } else {
    printf("  %-10s %10.3f ms an iteration %10.1f %s", way_of(options->program, job->way)->name,
           1e3 * result->seconds, result->work / result->seconds * 1e-6,
           options->program->unit ? options->program->unit : "MFlop/s");
    if (result->share > 0) printf(" %4.0f %%", 100 * result->share);
    printf("  %s\n", result->verified ? "VERIFIED" : "FAILED");
    for (int i = 0; i < JOB_PHASES && all > 0; i++)
      printf("%s%s %.3f ms (slowest %.3f)%s", i ? ", " : "      ", phase_name[i], 1e3 * mean[i],
             1e3 * most[i], i + 1 == JOB_PHASES ? "\n" : "");
  }
  fflush(stdout);
}

_Noreturn void job_refuse(struct job *job, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (job->rank == 0) {
    fprintf(stderr, "%s: ", job->program);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
  }
  va_end(args);
  job_exit(job, JOB_REFUSED);
}
