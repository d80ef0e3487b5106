/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench --json`: everything that was measured, with machine, revision and settings.
 *
 * Owns: the text of each figure, which is made once. Called by bench.c and, for a file, by
 * bench_job.c after each figure, so that a bench that is ended keeps its figures. Calls: jansson,
 * bench_stat.c, base/config, os. Invariants: samples are raw, in the order in which they were
 * taken; a number that does not exist is null; a file is always whole, because it is renamed into
 * place; saving takes less than a millisecond of a processor, so it disturbs the ranks little.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "base/config.h"
#include "base/log.h"
#include "build_info.h"
#include "os/os.h"
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

static json_t *number(double value) {
  return isnan(value) ? json_null() : json_real(value);
}

static json_t *numbers(const double *values, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(array, json_real(values[i]));
  return array;
}

static json_t *figure_to_json(const struct bench_figure *f) {
  struct bench_summary s;
  bench_summarise(f, &s);
  json_t *o = json_pack("{s:s, s:s, s:i, s:I, s:s, s:i}", "group", f->group, "name", f->name,
                        "ranks", (int)f->ranks, "bytes", (json_int_t)f->bytes, "unit", f->unit,
                        "runs", (int)f->count);
  json_object_set_new(o, "min", number(s.min));
  json_object_set_new(o, "p10", number(s.p10));
  json_object_set_new(o, "median", number(s.median));
  json_object_set_new(o, "p90", number(s.p90));
  json_object_set_new(o, "max", number(s.max));
  json_object_set_new(o, "gb_per_s", number(s.gb_per_s));
  json_object_set_new(o, "floor", f->floor_count ? json_string(f->floor) : json_null());
  json_object_set_new(o, "floor_min", number(s.floor_min));
  json_object_set_new(o, "floor_median", number(s.floor_median));
  json_object_set_new(o, "ratio", number(s.ratio));
  json_object_set_new(o, "ratio_of_minima", number(s.ratio_min));
  json_object_set_new(o, "ratio_is", json_string(f->more ? "bandwidth" : "time"));
  json_object_set_new(o, "target", f->target > 0 ? json_real(f->target) : json_null());
  json_object_set_new(o, "ok", s.verdict < 0 ? json_null() : json_boolean(s.verdict));
  json_object_set_new(o, "samples", numbers(f->samples, f->count));
  json_object_set_new(o, "floor_samples", numbers(f->floors, f->floor_count));
  return o;
}

static json_t *machine_to_json(void) {
  struct tmb_os_topology t;
  struct utsname kernel = {0};
  tmb_os_topology(&t);
  uname(&kernel);
  return json_pack(
      "{s:s, s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:s, s:s}", "host", tmb_os_hostname(),
      "processor", t.model, "online", t.online, "usable", t.usable, "sockets", t.sockets, "cores",
      t.cores, "l1d", (json_int_t)t.l1d, "l2", (json_int_t)t.l2, "l3", (json_int_t)t.l3, "memory",
      (json_int_t)tmb_os_mem_total(), "kernel", kernel.release, "architecture", kernel.machine);
}

/* Settings that are not at their default. */
static json_t *settings_to_json(void) {
  json_t *o = json_object();
  for (int id = 0; id < TMB_CFG_COUNT; id++) {
    const struct tmb_cfg_row *row = tmb_cfg_row((enum tmb_cfg_id)id);
    const char *value = row->name ? tmb_env_get(row->name) : NULL;
    if (value) json_object_set_new(o, row->name, json_string(value));
    value = row->alias ? tmb_env_get(row->alias) : NULL;
    if (value) json_object_set_new(o, row->alias, json_string(value));
  }
  return o;
}

/* All but the figures. */
static json_t *head_to_json(struct bench_results *results, const struct bench_options *options,
                            enum bench_when when) {
  char date[32];
  struct tm utc;
  const time_t now = time(NULL);
  if (!results->machine) results->machine = machine_to_json();
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return json_pack(
      "{s:i, s:b, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}, s:O, s:o, s:{s:i, s:f, s:b, s:b}}",
      "format", 1, "complete", when == BENCH_COMPLETE, "mode",
      bench_mode(bench_handoff_ns(results)), "date", date, "tombolo", "version", TMB_BUILD_VERSION,
      "revision", TMB_BUILD_REVISION, "build", TMB_BUILD_TYPE, "compiler", TMB_BUILD_COMPILER,
      "flags", TMB_BUILD_FLAGS, "machine", results->machine, "settings", settings_to_json(),
      "options", "runs", (int)options->runs, "sample_us", options->sample_us, "quick",
      options->quick, "bind", options->bind);
}

/* The text of a JSON value, which it frees; NULL: no memory. */
static char *text_of(json_t *value) {
  char *text = value ? json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(value);
  return text;
}

/* Whether it has all its samples: one that is being reported has its floors last. */
static bool is_whole(const struct bench_figure *f) {
  return f->count && (!f->floor_count || f->floor_count == f->count);
}

/* Makes the text of a figure that has new samples. False: no memory. */
static bool renew_text(struct bench_figure *f) {
  if (f->text && f->text_samples == f->count) return true;
  free(f->text);
  f->text = text_of(figure_to_json(f));
  f->text_samples = f->count;
  return f->text != NULL;
}

/* Returns 0, or an errno. */
static int write_report(FILE *out, struct bench_results *results,
                        const struct bench_options *options, enum bench_when when) {
  char *head = text_of(head_to_json(results, options, when));
  const char *between = "";
  int rc = head ? 0 : ENOMEM;
  errno = 0;
  if (head) fprintf(out, "%.*s,\n \"figures\": [", (int)(strlen(head) - 2), head);
  for (size_t i = 0; rc == 0 && i < results->count; i++) {
    struct bench_figure *f = &results->figures[i];
    if (!is_whole(f)) continue;
    if (!renew_text(f)) rc = ENOMEM;
    if (rc == 0) fprintf(out, "%s\n%s", between, f->text);
    between = ",";
  }
  free(head);
  if (rc) return rc;
  fputs("\n ]\n}\n", out);
  if (fflush(out) == 0 && !ferror(out)) return 0;
  return errno ? errno : EIO;
}

static int failed(const struct bench_options *options, int error) {
  tmb_print("bench: --json %s: %s", options->json, strerror(error));
  return TOOL_EXIT_FAILED;
}

/* A device or a pipe, which is written once, at the end; a rename would replace it. */
static bool is_stream(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

/* Writes PATH.new and renames it; before there is a figure it only tries whether that can be done.
 * Returns 0, or an errno. */
static int replace_file(const char *path, struct bench_results *results,
                        const struct bench_options *options, enum bench_when when) {
  char *fresh = NULL;
  if (asprintf(&fresh, "%s.new", path) < 0) return ENOMEM;
  FILE *out = fopen(fresh, "w");
  int rc = out ? write_report(out, results, options, when) : errno;
  if (out && fclose(out) != 0 && rc == 0) rc = errno;
  const bool any = results->count || when != BENCH_GOES_ON;
  if (rc == 0 && any && rename(fresh, path) != 0) rc = errno;
  if (out && (rc || !any)) remove(fresh);
  free(fresh);
  return rc;
}

int bench_json_save(const struct bench_options *options, struct bench_results *results,
                    enum bench_when when) {
  if (!options->json) return 0;
  const bool to_stdout = strcmp(options->json, "-") == 0;
  if (to_stdout || is_stream(options->json)) {
    if (when == BENCH_GOES_ON) return 0;
    FILE *out = to_stdout ? stdout : fopen(options->json, "w");
    int rc = out ? write_report(out, results, options, when) : errno;
    if (out && !to_stdout && fclose(out) != 0 && rc == 0) rc = errno;
    return rc ? failed(options, rc) : 0;
  }
  char *real = realpath(options->json, NULL); /* a link stays one; NULL: there is no file yet */
  const int rc = replace_file(real ? real : options->json, results, options, when);
  free(real);
  return rc ? failed(options, rc) : 0;
}
