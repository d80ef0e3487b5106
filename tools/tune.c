/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo tune`: measures the algorithms of collectives on this machine and writes the table that
 * TOMBOLO_COLL_TABLE names.
 *
 * Owns: the list of candidates. Called by main.c. Calls: bench_job.c, which runs tombolo-bench-coll
 * once for each collective and algorithm with TOMBOLO_COLL_ALG set. Table format: see the head of
 * src/coll/table.h. Invariants: a rule is written for each size measured, with the algorithm of the
 * smallest median; neighbouring sizes with the same algorithm become one rule; the file is written
 * only after everything was measured.
 */
#include "bench.h"
#include "tool.h"

#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "os/os.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 32, OPT_QUICK = 256, OPT_DIR };
#define RADIX   4u
#define SEGMENT 32768u

static const struct {
  const char *kind, *alg;
} candidates[] = {
    {"broadcast", "flat"},    {"broadcast", "knomial"}, {"broadcast", "chain"},
    {"broadcast", "scatter"}, {"reduce", "flat"},       {"reduce", "binomial"},
    {"reduce", "chain"},      {"allreduce", "flat"},    {"allreduce", "doubling"},
    {"allreduce", "halving"}, {"allreduce", "ring"},    {"allgather", "flat"},
    {"allgather", "ring"},    {"allgather", "bruck"},   {"allgather", "doubling"},
    {"exchange", "flat"},     {"exchange", "pairwise"}, {"exchange", "bruck"},
};

/* The best so far for each length of one collective, ascending. */
struct best {
  struct {
    uint64_t bytes;
    const char *alg;
    double ns;
  } size[SIZES_MAX];
  size_t count;
};

struct tune_options {
  struct bench_options bench;
  const char *output;
  bool quick;
};

static const struct argp_option option_table[] = {
    {"ranks", 'n', "N", 0, "ranks of the job that is measured (default 2)", 0},
    {"output", 'o', "FILE", 0, "where the table goes; - is standard output (default)", 0},
    {"quick", OPT_QUICK, NULL, 0, "fewer sizes and samples", 0},
    {"dir", OPT_DIR, "DIR", 0, "folder of the measuring programs", 0},
    {"verbose", 'v', NULL, 0, "say what is being run", 0},
    {0},
};

static const char doc[] =
    "Measure every algorithm of broadcast, reduce, all-reduce, all-gather and exchange on this "
    "machine and write a table of the fastest. Later runs read it with TOMBOLO_COLL_TABLE=FILE.";

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct tune_options *o = state->input;
  int64_t ranks;
  switch (key) {
  case 'n':
    if (tmb_fmt_parse_int(arg, 0, &ranks) != 0 || ranks < 2 || ranks > 1024)
      argp_error(state, "--ranks %s: give a number from 2 to 1024", arg);
    o->bench.ranks = (uint32_t)ranks;
    return 0;
  case 'o': o->output = arg; return 0;
  case OPT_QUICK: o->quick = true; return 0;
  case OPT_DIR: o->bench.dir = arg; return 0;
  case 'v': o->bench.verbose = true; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void keep(struct best *best, const struct bench_figure *f, const char *alg) {
  struct bench_summary sum;
  bench_summarise(f, &sum);
  size_t i = 0;
  while (i < best->count && best->size[i].bytes != f->bytes) i++;
  if (i == SIZES_MAX) return;
  if (i < best->count && best->size[i].ns <= sum.median) return;
  best->size[i].bytes = f->bytes;
  best->size[i].alg = alg;
  best->size[i].ns = sum.median;
  if (i == best->count) best->count++;
}

static int measure(const struct tune_options *o, const char *kind, const char *alg,
                   struct best *best) {
  char setting[64];
  struct bench_results results = {0};
  struct bench_job job = {.program = "coll",
                          .mode = kind,
                          .ranks = o->bench.ranks,
                          .bind = o->bench.ranks <= (uint32_t)tmb_os_cpus_usable()};
  snprintf(setting, sizeof setting, "%s=%s", kind, alg);
  tmb_env_set("TOMBOLO_COLL_ALG", setting);
  const int rc = bench_job_run(&o->bench, &job, &results);
  for (size_t i = 0; rc == 0 && i < results.count; i++)
    if (strcmp(results.figures[i].name, kind) == 0) keep(best, &results.figures[i], alg);
  bench_results_free(&results);
  return rc;
}

/* The rules of one collective; the last one holds for everything above, too. */
static void print_rules(FILE *out, const struct tune_options *o, const char *kind,
                        const struct best *best) {
  for (size_t i = 0; i < best->count; i++) {
    const bool last = i + 1 == best->count;
    if (!last && best->size[i].alg == best->size[i + 1].alg) continue;
    fprintf(out, "%s %u %u %llu %s %u %u   # %.0f ns\n", kind, o->bench.ranks, o->bench.ranks,
            last ? (unsigned long long)INT64_MAX : (unsigned long long)best->size[i].bytes,
            best->size[i].alg, RADIX, SEGMENT, best->size[i].ns);
  }
}

static int tune(const struct tune_options *o, FILE *out) {
  struct best best = {.count = 0};
  fprintf(out, "# collective ranks_min ranks_max bytes algorithm radix segment\n");
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
    const char *kind = candidates[i].kind;
    const int rc = measure(o, kind, candidates[i].alg, &best);
    if (rc) return rc;
    const bool last = i + 1 == sizeof candidates / sizeof *candidates ||
                      strcmp(candidates[i + 1].kind, kind) != 0;
    if (!last) continue;
    print_rules(out, o, kind, &best);
    best.count = 0;
  }
  return 0;
}

/* Write the finished table. */
static int save(const char *path, const char *text) {
  const bool to_stdout = !path || strcmp(path, "-") == 0;
  FILE *file = to_stdout ? stdout : fopen(path, "w");
  int rc = file && fputs(text, file) >= 0 ? 0 : -1;
  if (file && (to_stdout ? fflush(file) : fclose(file)) != 0) rc = -1;
  if (rc == 0) return 0;
  tmb_note("tune: --output %s: %s", path ? path : "-", strerror(errno));
  return TOOL_EXIT_FAILED;
}

int tool_tune_main(int argc, char **argv) {
  static const struct argp parser = {option_table, parse_option, NULL, doc, 0, 0, 0};
  struct tune_options o = {.bench = {.ranks = 2, .timeout_s = 300, .bind = true}};
  char *text = NULL;
  size_t bytes = 0;
  argp_parse(&parser, argc, argv, 0, NULL, &o);
  o.bench.quick = o.quick;
  o.bench.runs = o.quick ? 7 : 31;
  o.bench.sample_us = 100;
  int rc = bench_find_programs(&o.bench);
  if (rc) return rc;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) {
    tmb_note("tune: no memory");
    return TOOL_EXIT_FAILED;
  }
  rc = tune(&o, out);
  fclose(out);
  if (rc == 0) rc = save(o.output, text);
  free(text);
  return rc;
}
