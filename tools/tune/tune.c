/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo tune`: measures the algorithms of collectives on this machine and writes the table that
 * TOMBOLO_COLL_TABLE names.
 *
 * Owns: the choice of measurements. Called by main.c. Calls: bench_job.c, which runs
 * tombolo-bench-coll once for each collective and algorithm with TOMBOLO_COLL_ALG set; the list of
 * algorithms in src/coll/select/select.h; hosts.c. With --hosts the rules hold for jobs on as many
 * hosts with as many ranks each, and the parameters of the LogGP model are measured between the
 * first two hosts: for the reader, the library does not use them. Table format: see the head of
 * src/coll/select/table.h. Invariants: a rule is written for each size measured, with the algorithm
 * of the smallest median; neighbouring sizes with one algorithm become one rule; the file is
 * written only after everything was measured. `sync` is no collective of clients and is not
 * measured.
 */
#include "bench/bench.h"
#include "bench/progress.h"
#include "tool.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/page/places.h"
#include "coll/select/select.h"
#include "hosts/hosts.h"
#include "os/os.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 32, COUNTS_MAX = 16, OPT_QUICK = 256, OPT_MAX_BYTES, OPT_HOSTS };
#define RADIX     4u
#define SEGMENT   32768u
#define V_BYTES   4096u /* of the V forms whose length the choice cannot see */
#define ALL_BYTES UINT64_MAX

/* The best so far for each length of one collective, ascending. */
struct best {
  struct {
    uint64_t bytes;
    const struct tmb_coll_alg *alg;
    uint32_t radix, segment;
    double ns;
  } size[SIZES_MAX];
  size_t count;
};

struct tune_options {
  struct bench_options bench;
  const char *output;
  uint32_t ranks[COUNTS_MAX];
  size_t counts; /* of `ranks` */
  uint64_t bytes_max;
  struct host_list hosts;      /* by --hosts */
  uint32_t spread;             /* hosts of the job being measured, also pretended ones */
  uint32_t nearest;            /* with several: most ranks of a host */
  bool chosen[TMB_COLL_KINDS]; /* by --collective; none: all */
  bool quick, some;            /* some: --collective was given */
  bool counting;               /* nothing is measured: progress.all becomes the number of runs */
  struct bench_progress progress;
};

static const struct argp_option option_table[] = {
    {"ranks", 'n', "N[,N...]", 0, "numbers of ranks of the measured jobs (default 2)", 0},
    {"output", 'o', "FILE", 0, "write the table to FILE (default -: standard output)", 0},
    {"collective", 'c', "NAME", 0, "measure this collective only; may be repeated (default: all)",
     0},
    {"max-bytes", OPT_MAX_BYTES, "SIZE", 0,
     "longest vector or block that is measured; longer ones are left to the thresholds", 0},
    {"hosts", OPT_HOSTS, "A:N,B:N,...", 0,
     "measure jobs on these hosts, as for 'tombolo run'; without -n with the ranks of the list", 0},
    {"quick", OPT_QUICK, NULL, 0, "measure fewer sizes, with fewer samples", 0},
    BENCH_DIR_OPTION,
    BENCH_VERBOSE_OPTION,
    {0},
};

static const char doc[] =
    "Measure every algorithm of every collective on this machine and write a table of the fastest. "
    "Later runs read it with TOMBOLO_COLL_TABLE=FILE, and say so with TOMBOLO_VERBOSE=1. With "
    "GASNET_SUPERNODE_MAXSIZE below the number of ranks, the algorithms for several nodes are "
    "measured, "
    "too.";

/* Kinds that clients can call. */
static bool callable(uint32_t kind) {
  return kind != TMB_COLL_SYNC;
}

static void parse_ranks(struct tune_options *o, char *arg, const struct argp_state *state) {
  char *save = NULL;
  o->counts = 0;
  for (char *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
    int64_t ranks;
    if (tmb_fmt_parse_int(word, 0, &ranks) != 0 || ranks < 2 || ranks > 1024)
      argp_error(state, "--ranks %s: give numbers from 2 to 1024", word);
    if (o->counts == COUNTS_MAX)
      argp_error(state, "--ranks %s: give at most %d numbers", word, COUNTS_MAX);
    o->ranks[o->counts++] = (uint32_t)ranks;
  }
  if (!o->counts) argp_error(state, "--ranks: give numbers from 2 to 1024");
}

static void parse_collective(struct tune_options *o, const char *arg,
                             const struct argp_state *state) {
  char known[256] = "";
  size_t used = 0;
  for (uint32_t k = 0; k < TMB_COLL_KINDS; k++) {
    const char *name = tmb_coll_kind_name(k);
    if (!callable(k)) continue;
    if (strcmp(name, arg) == 0) {
      o->chosen[k] = o->some = true;
      return;
    }
    used += (size_t)snprintf(known + used, sizeof known - used, " %s", name);
  }
  argp_error(state, "--collective %s: give one of%s", arg, known);
}

static void parse_hosts(struct tune_options *o, const char *arg, const struct argp_state *state) {
  char why[HOSTS_WHY_BYTES];
  if (hosts_parse(&o->hosts, arg, why) != 0) argp_error(state, "--hosts %s: %s", arg, why);
  if (o->hosts.count < 2) argp_error(state, "--hosts %s: give two hosts or more", arg);
  o->bench.hosts = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct tune_options *o = state->input;
  int64_t bytes;
  switch (key) {
  case 'n': parse_ranks(o, arg, state); return 0;
  case 'o': o->output = arg; return 0;
  case 'c': parse_collective(o, arg, state); return 0;
  case OPT_MAX_BYTES:
    if (tmb_fmt_parse_int(arg, 1, &bytes) != 0 || bytes < 8)
      argp_error(state, "--max-bytes %s: give a size of at least 8, such as 64KB", arg);
    o->bytes_max = (uint64_t)bytes;
    return 0;
  case OPT_HOSTS: parse_hosts(o, arg, state); return 0;
  case OPT_QUICK: o->quick = true; return 0;
  case BENCH_DIR_KEY: o->bench.dir = arg; return 0;
  case 'v': o->bench.verbose = true; return 0;
  case ARGP_KEY_ARG: argp_error(state, "%s: there are only options", arg); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* ---- measuring */

/* Of these a rank knows no length that all know: one rule must do for all. */
static bool blind(uint32_t kind) {
  return kind == TMB_COLL_SCATTERV || kind == TMB_COLL_GATHERV || kind == TMB_COLL_EXCHANGEV;
}

/* A candidate: an algorithm with its parameters. */
struct candidate {
  const struct tmb_coll_alg *alg;
  uint32_t radix, segment;
};

static void keep(struct best *best, uint64_t bytes, double ns, const struct candidate *c) {
  size_t i = 0;
  while (i < best->count && best->size[i].bytes != bytes) i++;
  if (i == SIZES_MAX) return;
  if (i < best->count && best->size[i].ns <= ns) return;
  best->size[i].bytes = bytes;
  best->size[i].alg = c->alg;
  best->size[i].radix = c->radix;
  best->size[i].segment = c->segment;
  best->size[i].ns = ns;
  if (i == best->count) best->count++;
}

static int measure(struct tune_options *o, uint32_t ranks, const struct candidate *c,
                   struct best *best) {
  const char *kind = tmb_coll_kind_name(c->alg->kind);
  char setting[96], mode[64];
  struct bench_results results = {0};
  struct bench_job job = {.program = "coll",
                          .mode = mode,
                          .ranks = ranks,
                          .bind = !o->bench.hosts && ranks <= (uint32_t)tmb_os_cpus_usable(),
                          .apart = o->bench.hosts != NULL};
  const uint64_t most = blind(c->alg->kind) ? TMB_MIN(o->bytes_max, V_BYTES) : o->bytes_max;
  snprintf(mode, sizeof mode, "%s:%llu", kind, (unsigned long long)most);
  snprintf(setting, sizeof setting, "%s=%s:%u:%u", kind, c->alg->name, c->radix, c->segment);
  if (o->counting) {
    o->progress.all++;
    return 0;
  }
  bench_progress_next(&o->progress, setting);
  tmb_env_set("TOMBOLO_COLL_ALG", setting);
  if (o->bench.verbose) tmb_print("tune: %s", setting);
  const int rc = bench_job_run(&o->bench, &job, &results);
  for (size_t i = 0; rc == 0 && i < results.count; i++) {
    struct bench_summary sum;
    if (strcmp(results.figures[i].name, kind) != 0) continue;
    if (blind(c->alg->kind) && i + 1 < results.count) continue; /* the longest only */
    bench_summarise(&results.figures[i], &sum);
    keep(best, results.figures[i].bytes, sum.median, c);
  }
  bench_results_free(&results);
  return rc;
}

static bool is_pipeline(const struct tmb_coll_alg *alg) {
  return strcmp(alg->name, "chain") == 0 || strcmp(alg->name, "tree") == 0;
}

/* An algorithm with each value of its parameter that matters. */
static int measure_all(struct tune_options *o, uint32_t ranks, const struct tmb_coll_alg *alg,
                       struct best *best) {
  static const uint32_t radix[] = {2, 4, 8}, segment[] = {8192, 32768, 131072};
  const bool tree = strcmp(alg->name, "knomial") == 0;
  const bool pipe = is_pipeline(alg);
  for (size_t i = 0; i < 3; i++) {
    struct candidate c = {alg, RADIX, SEGMENT};
    if (tree) c.radix = radix[i];
    if (pipe) c.segment = segment[i];
    if (!tree && !pipe && i > 0) break;
    if (tree && i > 0 && radix[i - 1] >= ranks) break; /* that tree again */
    if (pipe && (ranks == 2 || o->bytes_max <= segment[0]) && i > 0) break;
    const int rc = measure(o, ranks, &c, best);
    if (rc) return rc;
  }
  return 0;
}

/* ---- the table */

/* The rules of one collective; the last one holds for everything above, too, if the sizes were not
 * limited. */
static void print_rules(FILE *out, const struct tune_options *o, uint32_t ranks, uint32_t kind,
                        const struct best *best) {
  for (size_t i = 0; i < best->count; i++) {
    const bool last = i + 1 == best->count;
    if (!last && best->size[i].alg == best->size[i + 1].alg &&
        best->size[i].radix == best->size[i + 1].radix &&
        best->size[i].segment == best->size[i + 1].segment)
      continue;
    const bool open = last && (o->bytes_max == ALL_BYTES || blind(kind));
    fprintf(out, "%s %u %u %llu %s %u %u   # %.0f ns\n", tmb_coll_kind_name(kind), ranks, ranks,
            open ? (unsigned long long)INT64_MAX : (unsigned long long)best->size[i].bytes,
            best->size[i].alg->name, best->size[i].radix, best->size[i].segment, best->size[i].ns);
  }
}

/* Features that the measured jobs lack, of TMB_ALG_NODES and BOARD. */
static unsigned lacking(const struct tune_options *o, uint32_t ranks) {
  const int64_t node = tmb_cfg_int(TMB_CFG_SUPERNODE_MAXSIZE);
  if (o->spread > 1) return TMB_ALG_SHARED | (o->nearest > 1 && node != 1 ? 0 : TMB_ALG_NODES);
  const bool shares = tmb_cfg_bool(TMB_CFG_SHM), splits = node > 0 && node < ranks;
  return (shares && splits && node > 1 ? 0 : TMB_ALG_NODES) |
         (shares && !splits ? 0 : TMB_ALG_SHARED);
}

static int tune_kind(struct tune_options *o, uint32_t ranks, uint32_t kind, FILE *out) {
  const unsigned without = lacking(o, ranks);
  struct best best = {.count = 0};
  uint32_t count;
  const struct tmb_coll_alg *alg = tmb_coll_algs(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (alg[i].kind != kind || (alg[i].needs & without)) continue;
    const int rc = measure_all(o, ranks, &alg[i], &best);
    if (rc) return rc;
  }
  print_rules(out, o, ranks, kind, &best);
  return 0;
}

/* ---- several hosts */

/* Hosts of --hosts. in ranks: 0: as many as the list says. out host_of: to be freed. */
static int place_listed(struct tune_options *o, uint32_t *ranks, uint32_t **host_of) {
  char why[HOSTS_WHY_BYTES];
  struct host_list list = {0};
  const bool good = hosts_parse(&list, o->bench.hosts, why) == 0 &&
                    hosts_place(&list, 0, false, ranks, host_of, why) == 0;
  if (!good) tmb_print("tune: --hosts %s: %s", o->bench.hosts, why);
  o->spread = list.count;
  hosts_free(&list);
  return good ? 0 : TOOL_EXIT_USAGE;
}

/* Hosts that TOMBOLO_PLACES pretends, or one. out host_of: to be freed. */
static int place_pretended(struct tune_options *o, uint32_t ranks, uint32_t **host_of) {
  char why[HOSTS_WHY_BYTES];
  const char *text = tmb_cfg_str(TMB_CFG_PLACES);
  *host_of = calloc(ranks, sizeof **host_of);
  if (!*host_of) tmb_fatal_nopos("out of memory for %u ranks", ranks);
  if (tmb_places_parse(text, ranks, *host_of, &o->spread, why, sizeof why) == 0) return 0;
  tmb_print("tune: TOMBOLO_PLACES=%s: %s", text, why);
  return TOOL_EXIT_USAGE;
}

/* Number of hosts that so many ranks use, and the most ranks of one of them. */
static int spread(struct tune_options *o, uint32_t *ranks) {
  uint32_t *host_of = NULL, *here = NULL;
  const int rc =
      o->bench.hosts ? place_listed(o, ranks, &host_of) : place_pretended(o, *ranks, &host_of);
  o->nearest = 0;
  if (rc == 0) here = calloc(o->spread, sizeof *here);
  if (rc == 0 && !here) tmb_fatal_nopos("out of memory for %u hosts", o->spread);
  for (uint32_t r = 0; here && r < *ranks; r++)
    if (++here[host_of[r]] > o->nearest) o->nearest = here[host_of[r]];
  free(here);
  free(host_of);
  return rc;
}

/* The line that says for which jobs the rules below hold, if these are on several hosts. */
static int print_site(struct tune_options *o, uint32_t *ranks, FILE *out) {
  const char *conduit = tmb_cfg_str(TMB_CFG_CONDUIT), *places = tmb_cfg_str(TMB_CFG_PLACES);
  const int rc = spread(o, ranks);
  if (!conduit || !conduit[0]) conduit = "udp";
  if (rc == 0 && (o->bench.hosts || (places && places[0])))
    fprintf(out, "where %s %u %u\n", o->spread > 1 ? conduit : "none", o->spread, o->nearest);
  return rc;
}

static double median_of(const struct bench_results *results, const char *name) {
  struct bench_summary sum = {0};
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->figures[i].name, name) == 0) bench_summarise(&results->figures[i], &sum);
  return sum.median;
}

/* A round trip is two latencies and four overheads: of each message one at either end. */
static int print_loggp(const struct tune_options *o, FILE *out) {
  char pair[512];
  struct bench_results results = {0};
  struct bench_options two = o->bench;
  struct bench_job job = {.program = "net", .mode = "loggp", .ranks = 2, .apart = true};
  if (!o->bench.hosts) return 0;
  snprintf(pair, sizeof pair, "[%s]:1,[%s]:1", o->hosts.entry[0].name, o->hosts.entry[1].name);
  two.hosts = pair;
  const int rc = bench_job_run(&two, &job, &results);
  if (rc == 0) {
    const double rtt = median_of(&results, "short_rtt"), send = median_of(&results, "short_issue");
    const double latency = rtt / 2 - 2 * send;
    fprintf(out, "# LogGP between %s and %s: L %.0f ns, o %.0f ns, g %.0f ns, G %.4f ns/byte\n",
            o->hosts.entry[0].name, o->hosts.entry[1].name, latency > 0 ? latency : 0, send,
            median_of(&results, "short_flood"), median_of(&results, "put_flood") / (1 << 20));
  }
  bench_results_free(&results);
  return rc;
}

/* All collectives with all numbers of ranks. */
static int tune_kinds(struct tune_options *o, FILE *out) {
  for (size_t n = 0; n < o->counts; n++) {
    int rc = print_site(o, &o->ranks[n], out);
    if (rc) return rc;
    for (uint32_t kind = 0; kind < TMB_COLL_KINDS; kind++) {
      if (!callable(kind) || (o->some && !o->chosen[kind])) continue;
      rc = tune_kind(o, o->ranks[n], kind, out);
      if (rc) return rc;
    }
  }
  return 0;
}

static int tune(struct tune_options *o, FILE *out) {
  FILE *nowhere = fopen("/dev/null", "we");
  fprintf(out, "# collective ranks_min ranks_max bytes algorithm radix segment\n");
  int rc = print_loggp(o, out);
  if (rc) {
    if (nowhere) fclose(nowhere);
    return rc;
  }
  bench_progress_begin(&o->progress, "tombolo tune", 0);
  o->counting = true;
  if (nowhere) (void)tune_kinds(o, nowhere);
  if (nowhere) fclose(nowhere);
  o->counting = false;
  rc = tune_kinds(o, out);
  bench_progress_end(&o->progress);
  return rc;
}

/* Whether the table can be written, known before minutes of measuring. */
static bool writable(const char *path) {
  FILE *file = path && strcmp(path, "-") != 0 ? fopen(path, "a") : stdout;
  if (!file) tmb_print("tune: --output %s: %s", path, strerror(errno));
  if (file && file != stdout) fclose(file);
  return file != NULL;
}

/* Write the finished table. */
static int save(const char *path, const char *text) {
  const bool to_stdout = !path || strcmp(path, "-") == 0;
  FILE *file = to_stdout ? stdout : fopen(path, "w");
  int rc = file && fputs(text, file) >= 0 ? 0 : -1;
  if (file && (to_stdout ? fflush(file) : fclose(file)) != 0) rc = -1;
  if (rc == 0) return 0;
  tmb_print("tune: --output %s: %s", path ? path : "-", strerror(errno));
  return TOOL_EXIT_FAILED;
}

int tool_tune_main(int argc, char **argv) {
  static const struct argp parser = {option_table, parse_option, NULL, doc, 0, 0, 0};
  struct tune_options o = {.bench = {.timeout_s = 300, .bind = true}, .bytes_max = ALL_BYTES};
  char *text = NULL;
  size_t bytes = 0;
  tool_parse(&parser, argc, argv, 0, &o);
  if (o.counts == 0) o.ranks[o.counts++] = o.bench.hosts ? 0 : 2; /* 0: as the list of hosts says */
  o.bench.quick = o.quick;
  o.bench.runs = o.quick ? 7 : 31;
  o.bench.sample_us = 100;
  int rc = bench_find_programs(&o.bench);
  if (rc) return rc;
  if (!writable(o.output)) return TOOL_EXIT_FAILED;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) {
    tmb_print("tune: no memory");
    return TOOL_EXIT_FAILED;
  }
  rc = tune(&o, out);
  fclose(out);
  if (rc == 0) rc = save(o.output, text);
  free(text);
  hosts_free(&o.hosts);
  return rc;
}
