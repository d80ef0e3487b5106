/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench`: options, and which measuring programs run in which order.
 *
 * Owns: nothing global. Called by main.c. Calls: bench_job, bench_start, bench_table, bench_json.
 * Invariants: missing a target is not a failure; a program that fails or reports incompletely is,
 * and earlier measurements are shown nevertheless. With --json - only JSON goes to standard output.
 */
#include "bench/bench.h"
#include "bench/progress.h"
#include "tool.h"

#include "base/compiler.h"
#include "base/fmt.h"
#include "base/log.h"
#include "os/os.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1024

enum { OPT_QUICK = 256, OPT_JSON, OPT_RUNS, OPT_MIN_TIME, OPT_NO_BIND, OPT_TIMEOUT, OPT_HOSTS };

static const struct argp_option option_table[] = {
    {"ranks", 'n', "N", 0,
     "ranks of the suite oversubscribed (default 4 for each processor), and of the largest job of "
     "the suite startup (default 1024)",
     0},
    {"quick", OPT_QUICK, NULL, 0, "measure a few figures in a few seconds", 0},
    {"json", OPT_JSON, "FILE", 0,
     "write all figures with their samples to FILE, after each figure; with -, to standard output "
     "at the end",
     0},
    {"runs", OPT_RUNS, "R", 0, "samples of each figure, 3 to 10000 (default 101, with --quick 31)",
     0},
    {"min-time", OPT_MIN_TIME, "TIME", 0,
     "length of one sample, in us or with a unit (default 100us, with --quick 60us)", 0},
    {"no-bind", OPT_NO_BIND, NULL, 0, "do not bind ranks to processors", 0},
    {"hosts", OPT_HOSTS, "A,B", 0,
     "two hosts for the suites net and loggp, as for 'tombolo run' (default: this machine, as two "
     "hosts that share no memory)",
     0},
    {"timeout", OPT_TIMEOUT, "TIME", 0,
     "end a measuring program after TIME, in seconds or with a unit (default 300s)", 0},
    BENCH_DIR_OPTION,
    BENCH_VERBOSE_OPTION,
    {0},
};

static const char doc[] =
    "Measure put, get, messages, start-up, oversubscribed processors and waking on this machine. "
    "Each measurement stands beside its floor: the best that this machine can do for the "
    "operation, "
    "measured in turn by the same processes.\v"
    "SUITE is p2p, am, startup, oversubscribed, wake, vis, atomic, notify, coll, lock, loggp, "
    "net, fortran, upc, shmem or all (default: all; with --quick: p2p, am and wake).\n\n"
    "'ratio' is the median over all samples of time / time of the floor, or of bandwidth / "
    "bandwidth of the floor. A missed target is marked and does not change the exit code.";

static int usage(const char *option, const char *text, const char *remedy) {
  tmb_print("bench: %s %s: %s", option, text, remedy);
  return TOOL_EXIT_USAGE;
}

static int parse_count(const char *option, const char *text, uint32_t least, uint32_t most,
                       uint32_t *out) {
  int64_t value;
  char remedy[64];
  snprintf(remedy, sizeof remedy, "give a number from %u to %u", least, most);
  if (!*text || tmb_fmt_parse_int(text, 0, &value) != 0 || value < least || value > most)
    return usage(option, text, remedy);
  *out = (uint32_t)value;
  return 0;
}

static int parse_time(const char *option, const char *text, uint64_t unit_ns, double *out) {
  uint64_t ns;
  if (!*text || tmb_fmt_parse_duration(text, unit_ns, &ns) != 0 || ns < 1000)
    return usage(option, text, "give a time of at least 1us, such as 300us or 2s");
  *out = (double)ns / (double)unit_ns;
  return 0;
}

/* ---- oversubscribed processors */

static struct bench_figure *find(struct bench_results *results, const char *name) {
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->figures[i].name, name) == 0) return &results->figures[i];
  return NULL;
}

/* Runs by turns of one figure, with two ranks and with more; the first is the floor of the second.
 */
static int measure_crowd(const struct bench_options *o, struct bench_results *results,
                         const char *group, const struct bench_job *two,
                         const struct bench_job *all) {
  const int rounds = o->quick ? 2 : 3;
  struct bench_figure *f = bench_add(results, group, "short_rtt", (size_t)rounds * o->runs);
  if (!f) return TOOL_EXIT_FAILED;
  f->ranks = all->ranks;
  f->target = 3;
  snprintf(f->floor, sizeof f->floor, "2 ranks");
  for (int i = 0; i < rounds; i++) {
    struct bench_results few = {0}, many = {0};
    struct bench_job first = *two, second = *all;
    int rc = bench_job_run(o, &first, &few);
    if (rc == 0) rc = bench_job_run(o, &second, &many);
    const struct bench_figure *a = find(&few, "short_rtt"), *b = find(&many, "short_rtt");
    for (size_t k = 0; rc == 0 && a && b && k < a->count && k < b->count; k++) {
      f->floors[f->floor_count++] = a->samples[k];
      f->samples[f->count++] = b->samples[k];
    }
    bench_results_free(&few);
    bench_results_free(&many);
    if (rc) return rc;
  }
  return 0;
}

static uint32_t crowd_ranks(const struct bench_options *o) {
  const uint32_t ranks = o->ranks ? o->ranks : 4 * (uint32_t)tmb_os_cpus_usable();
  return TMB_MIN(ranks, RANKS_MAX);
}

static int measure_oversubscribed(const struct bench_options *o, struct bench_results *results) {
  const struct bench_job two = {.program = "oversubscribed", .ranks = 2, .bind = o->bind};
  const struct bench_job all = {.program = "oversubscribed", .ranks = crowd_ranks(o)};
  return measure_crowd(o, results, "oversubscribed", &two, &all);
}

/* Two ranks on two hosts; then their round trip while others wait, four ranks a processor. */
static int measure_net(const struct bench_options *o, struct bench_results *results) {
  struct bench_job pair = {.program = "net", .ranks = 2, .bind = o->bind, .apart = true};
  const int rc = bench_job_run(o, &pair, results);
  if (rc) return rc;
  const struct bench_job two = {
      .program = "net", .mode = "crowd", .ranks = 2, .bind = o->bind, .apart = true};
  const struct bench_job all = {
      .program = "net", .mode = "crowd", .ranks = crowd_ranks(o), .apart = true};
  return measure_crowd(o, results, "net_crowd", &two, &all);
}

/* The parameters of two ranks of this machine, and of two hosts (with --hosts) or of this machine
 * as two hosts. */
static int measure_loggp(const struct bench_options *o, struct bench_results *results) {
  struct bench_job near = {.program = "loggp", .ranks = 2, .bind = o->bind};
  struct bench_job far = {
      .program = "loggp", .mode = "far", .ranks = 2, .bind = o->bind, .apart = true};
  const int rc = bench_job_run(o, &near, results);
  return rc ? rc : bench_job_run(o, &far, results);
}

/* A ring, and polls, of eight ranks a processor. */
static int measure_ring(const struct bench_options *o, struct bench_results *results) {
  const uint32_t ranks = TMB_MIN(8 * (uint32_t)tmb_os_cpus_usable(), RANKS_MAX);
  struct bench_job job = {.program = "ring", .ranks = ranks};
  return bench_job_run(o, &job, results);
}

/* Barriers and teams, of two ranks, of four, and of eight a processor. */
static int measure_teams(const struct bench_options *o, struct bench_results *results) {
  const uint32_t sizes[] = {2, 4, TMB_MIN(8 * (uint32_t)tmb_os_cpus_usable(), RANKS_MAX)};
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < sizeof sizes / sizeof *sizes; i++) {
    struct bench_job job = {.program = "team", .ranks = sizes[i], .bind = o->bind && sizes[i] == 2};
    rc = bench_job_run(o, &job, results);
  }
  return rc;
}

/* ---- all of them */

/* A part of the measurements: a program of two ranks, or one with a function of its own. BY_NAME:
 * the suite is measured only where it is named: it needs another language, or a network between two
 * hosts, or shows figures of other suites as a model. */
static const struct part {
  const char *name, *suite;
  enum { BY_NAME, WHOLE, QUICK } when; /* without a name: with --quick, too, or not */
  int (*run)(const struct bench_options *o, struct bench_results *results); /* NULL: a program */
} parts[] = {{"p2p", "p2p", QUICK, NULL},
             {"am", "am", QUICK, NULL},
             {"wake", "wake", QUICK, NULL},
             {"vis", "vis", WHOLE, NULL},
             {"atomic", "atomic", WHOLE, NULL},
             {"notify", "notify", WHOLE, NULL},
             {"coll", "coll", WHOLE, NULL},
             {"lock", "lock", WHOLE, NULL},
             {"fortran", "fortran", BY_NAME, NULL},
             {"upc", "upc", BY_NAME, NULL},
             {"shmem", "shmem", BY_NAME, NULL},
             {"teams", "coll", WHOLE, measure_teams},
             {"oversubscribed", "oversubscribed", WHOLE, measure_oversubscribed},
             {"ring", "oversubscribed", WHOLE, measure_ring},
             {"loggp", "loggp", BY_NAME, measure_loggp},
             {"net", "net", BY_NAME, measure_net},
             {"startup", "startup", WHOLE, bench_startup}};

static int parse_suite(struct bench_options *o, const char *name) {
  const bool all = strcmp(name, "all") == 0;
  uint32_t found = 0;
  for (size_t i = 0; i < TMB_ARRAY_LEN(parts); i++)
    if (all ? parts[i].when != BY_NAME : strcmp(name, parts[i].suite) == 0) found |= 1u << i;
  o->parts |= found;
  return found ? 0
               : usage("suite", name,
                       "give p2p, am, startup, oversubscribed, wake, vis, atomic, notify, coll, "
                       "lock, loggp, net, fortran, upc, shmem or all");
}

/* Ends the process on a wrong option, as argp itself does for unknown ones. */
static void require(int rc) {
  if (rc != 0) exit(rc);
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct bench_options *o = state->input;
  switch (key) {
  case 'n': require(parse_count("--ranks", arg, 2, RANKS_MAX, &o->ranks)); return 0;
  case OPT_QUICK: o->quick = true; return 0;
  case OPT_JSON: o->json = arg; return 0;
  case OPT_RUNS: require(parse_count("--runs", arg, 3, 10000, &o->runs)); return 0;
  case OPT_MIN_TIME: require(parse_time("--min-time", arg, 1000, &o->sample_us)); return 0;
  case BENCH_DIR_KEY: o->dir = arg; return 0;
  case OPT_NO_BIND: o->bind = false; return 0;
  case OPT_TIMEOUT: require(parse_time("--timeout", arg, 1000000000, &o->timeout_s)); return 0;
  case OPT_HOSTS: o->hosts = arg; return 0;
  case 'v': o->verbose = true; return 0;
  case ARGP_KEY_ARG: require(parse_suite(o, arg)); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void complete_options(struct bench_options *o) {
  const bool named = o->parts != 0;
  for (size_t i = 0; !named && i < TMB_ARRAY_LEN(parts); i++)
    if (parts[i].when == QUICK || (parts[i].when == WHOLE && !o->quick)) o->parts |= 1u << i;
  if (!o->runs) o->runs = o->quick ? 31 : 101;
  if (o->sample_us <= 0) o->sample_us = o->quick ? 60 : 100;
}

static int measure(const struct bench_options *o, struct bench_results *results) {
  struct bench_progress progress;
  int rc = 0;
  bench_progress_begin(&progress, "tombolo bench", (uint32_t)__builtin_popcount(o->parts));
  for (size_t i = 0; rc == 0 && i < TMB_ARRAY_LEN(parts); i++) {
    struct bench_job job = {.program = parts[i].name, .ranks = 2, .bind = o->bind};
    if (!(o->parts >> i & 1)) continue;
    bench_progress_next(&progress, parts[i].name);
    rc = parts[i].run ? parts[i].run(o, results) : bench_job_run(o, &job, results);
    if (rc == 0) rc = bench_json_save(o, results, BENCH_GOES_ON);
  }
  bench_progress_end(&progress);
  return rc;
}

int tool_bench_main(int argc, char **argv) {
  static const struct argp parser = {option_table, parse_option, "[SUITE...]", doc, 0, 0, 0};
  static struct bench_options options = {.bind = true, .timeout_s = 300};
  struct bench_results results = {.saved = true};
  if (tool_parse(&parser, argc, argv, 0, &options) != 0) return TOOL_EXIT_USAGE;
  complete_options(&options);
  int rc = bench_find_programs(&options);
  if (rc) return rc;
  const bool table = !options.json || strcmp(options.json, "-") != 0;
  if (table) bench_print_machine(&options);
  rc = bench_json_save(&options, &results,
                       BENCH_GOES_ON); /* a file that cannot be is known before */
  if (rc) return rc;
  rc = measure(&options, &results);
  if (table) bench_print_table(&results, &options);
  const int written = bench_json_save(&options, &results, rc ? BENCH_FAILED : BENCH_COMPLETE);
  if (rc == 0) rc = written;
  bench_results_free(&results);
  return rc;
}
