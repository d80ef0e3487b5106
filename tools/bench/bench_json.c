/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench --json`: everything that was measured, with machine, revision and settings.
 *
 * Owns: nothing. Called by bench.c. Calls: jansson, bench_stat.c, base/config, os.
 * Invariants: samples are raw, in the order in which they were taken; a number that does not exist
 * is null.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "base/config.h"
#include "build_info.h"
#include "os/os.h"

#include <math.h>
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

json_t *bench_to_json(const struct bench_results *results, const struct bench_options *options) {
  char date[32];
  struct tm utc;
  const time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  json_t *figures = json_array();
  for (size_t i = 0; i < results->count; i++)
    if (results->figures[i].count)
      json_array_append_new(figures, figure_to_json(&results->figures[i]));
  return json_pack(
      "{s:i, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}, s:o, s:o, s:{s:i, s:f, s:b, s:b}, s:o}",
      "format", 1, "mode", bench_mode(bench_handoff_ns(results)), "date", date, "tombolo",
      "version", TMB_BUILD_VERSION, "revision", TMB_BUILD_REVISION, "build", TMB_BUILD_TYPE,
      "compiler", TMB_BUILD_COMPILER, "flags", TMB_BUILD_FLAGS, "machine", machine_to_json(),
      "settings", settings_to_json(), "options", "runs", (int)options->runs, "sample_us",
      options->sample_us, "quick", options->quick, "bind", options->bind, "figures", figures);
}
