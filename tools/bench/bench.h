/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench`: figures, options, and the parts of the command.
 *
 * Owns: struct bench_figure and struct bench_results. Included by tools/bench*.c. Calls: nothing.
 * bench.c chooses the parts to run, bench_job.c runs a measuring program and reads its output
 * (bench/lib/bench.h describes the protocol), bench_start.c times whole jobs, bench_stat.c makes
 * medians and ratios, bench_table.c and bench_json.c show them. Invariants: samples are kept in the
 * order in which they were taken, floor sample i just before figure sample i. A ratio is the median
 * of the sample-wise ratios.
 */
#ifndef TMB_TOOL_BENCH_H
#define TMB_TOOL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define BENCH_NAME_BYTES 32

/* One measured figure with its floor. */
struct bench_figure {
  char group[BENCH_NAME_BYTES], name[BENCH_NAME_BYTES];
  char unit[BENCH_NAME_BYTES];  /* of samples and floor: ns, us, bytes */
  char floor[BENCH_NAME_BYTES]; /* name of the floor, "" if none */
  uint32_t ranks;
  uint64_t bytes;  /* of one operation, 0 if it has no size */
  double target;   /* 0: none; else the limit of the ratio, or of the figure if there is no floor */
  bool more;       /* the ratio is bandwidth over the floor's bandwidth, and must not be less */
  double *samples; /* [count] */
  double *floors;  /* [floor_count]: count or 0 */
  size_t count, floor_count;
  char *text;          /* as JSON with `text_samples` samples, or NULL; freed with the results */
  size_t text_samples; /* of bench_json.c */
};

struct bench_results {
  struct bench_figure *figures; /* [count] */
  size_t count, capacity;
  json_t *machine; /* of bench_json.c, made once; NULL before */
  bool saved;      /* the file of --json is renewed with each figure */
};

/* Rows of a table of options: those of `bench` and `tune`. */
#define BENCH_DIR_KEY  2
#define BENCH_DIR_HELP "folder of the measuring programs (default: as installed or built)"
#define BENCH_DIR_OPTION \
 { "dir", BENCH_DIR_KEY, "DIR", 0, BENCH_DIR_HELP, 0 }
#define BENCH_VERBOSE_OPTION \
 { "verbose", 'v', NULL, 0, "print the commands that are run", 0 }

struct bench_options {
  bool quick, verbose, bind;
  uint32_t parts;      /* bit i: part i of bench.c is measured */
  uint32_t ranks;      /* of oversubscribed, most of startup; 0: chosen */
  uint32_t runs;       /* samples of a figure */
  double sample_us;    /* length of a sample */
  const char *hosts;   /* of net: for `tombolo run --hosts`; NULL: two that are pretended */
  const char *json;    /* file, "-" for standard output, NULL for none */
  const char *dir;     /* folder of the measuring programs, NULL: found */
  char self[4096];     /* this executable */
  char programs[4096]; /* folder in which they were found */
  double timeout_s;    /* of one program */
};

/* ---- bench_job.c */

/* One run of a measuring program. */
struct bench_job {
  const char *program; /* "p2p": tombolo-bench-p2p */
  const char *mode;    /* --mode, or NULL */
  uint32_t ranks;
  bool bind;
  bool apart;    /* ranks in turn on two hosts: options.hosts, or pretended ones */
  double wall_s; /* out: from before the launch to its end */
};

/* Find the folder of the measuring programs. Returns 0, or the exit code after a message. */
int bench_find_programs(struct bench_options *options);

/* Run `tombolo run` with the program and append its results. out results: may be NULL. Returns 0,
 * or the exit code after a message when the program failed or its report is not complete. */
int bench_job_run(const struct bench_options *options, struct bench_job *job,
                  struct bench_results *results);

/* Append a copy of the named figure's identity with room for `samples` samples. NULL: no memory
 * (said). */
struct bench_figure *bench_add(struct bench_results *results, const char *group, const char *name,
                               size_t samples);
void bench_results_free(struct bench_results *results);

/* ---- bench_start.c */

/* Start time, all-pairs and memory at several rank counts. Returns 0 or the exit code. */
int bench_startup(const struct bench_options *options, struct bench_results *results);

/* ---- bench_stat.c */

struct bench_summary {
  double min, p10, median, p90, max;
  double floor_min, floor_median; /* NaN without a floor */
  double ratio, ratio_min; /* median of sample ratios, ratio of the minima; NaN without a floor */
  double gb_per_s;         /* of the median; NaN if it makes no sense */
  int verdict;             /* 1 meets the target, 0 does not, -1 has none */
};
void bench_summarise(const struct bench_figure *figure, struct bench_summary *out);

/* Median round trip of a cache line between two ranks, NaN if it was not measured; and its mode:
 * "fast" where both processors are under one cache, else "slow". */
double bench_handoff_ns(const struct bench_results *results);
const char *bench_mode(double handoff_ns);

/* ---- bench_table.c, bench_json.c */
void bench_print_table(const struct bench_results *results, const struct bench_options *options);
void bench_print_machine(const struct bench_options *options);

enum bench_when { BENCH_GOES_ON, BENCH_FAILED, BENCH_COMPLETE };

/* Write the measurements so far to the file of --json, in one piece; nothing without that option.
 * Standard output, a device and a pipe get nothing while the bench goes on. A file gets nothing
 * before there is a figure, but it is tried whether it could. Returns 0, or the exit code after a
 * message. */
int bench_json_save(const struct bench_options *options, struct bench_results *results,
                    enum bench_when when);

#endif
