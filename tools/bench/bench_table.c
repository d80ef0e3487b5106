/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench`: the table on standard output.
 *
 * Owns: nothing. Called by bench.c. Calls: bench_stat.c, base/fmt, os.
 * Invariants: a group is headed once; numbers have three significant digits; a verdict stands only
 * where the issue that asked for the figure set a target.
 */
#include "bench/bench.h"

#include "base/fmt.h"
#include "build_info.h"
#include "os/os.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CELL_BYTES 64

static const struct {
  const char *group, *title;
} titles[] = {
    {"floor", "The machine by itself"},
    {"p2p", "Put and get between two ranks"},
    {"am", "Active messages between two ranks"},
    {"wake", "A rank that sleeps"},
    {"vis", "Strided and indexed put and get, beside loop nests"},
    {"atomic", "Remote atomics, by one rank and by two at once on one word"},
    {"notify", "Notified access between two ranks, one way"},
    {"lock", "Handler-safe locks of a client with threads"},
    {"coll", "Collectives of two ranks"},
    {"team", "Operations of all ranks: barriers; creating and destroying a team"},
    {"loggp", "LogGP parameters, and overlap with computation, of two ranks on one host"},
    {"loggp_far", "The same of two ranks on two hosts"},
    {"net", "Two ranks on two hosts, beside bare sockets"},
    {"net_crowd", "A round trip between two hosts, while the other ranks wait"},
    {"oversubscribed", "A round trip between two of many ranks, the others wait in a barrier"},
    {"fortran", "Coarray Fortran: two images"},
    {"upc", "UPC: two threads"},
    {"shmem", "OpenSHMEM: two PEs, beside the C interface"},
    {"startup", "Start-up"},
};

static const char *title_of(const char *group) {
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    if (strcmp(titles[i].group, group) == 0) return titles[i].title;
  return group;
}

/* Three significant digits without an exponent. */
static void format_digits(char *out, size_t bytes, double value) {
  const double size = fabs(value);
  const int digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  snprintf(out, bytes, "%.*f", digits, value);
}

/* A value with a unit that suits it. */
static void format_value(char out[CELL_BYTES], double value, const char *unit) {
  static const char *const times[] = {"ns", "us", "ms", "s"};
  char digits[32];
  size_t at = strcmp(unit, "us") == 0 ? 1 : strcmp(unit, "ms") == 0 ? 2 : 0;
  if (isnan(value)) {
    snprintf(out, CELL_BYTES, "%s", "");
    return;
  }
  if (strcmp(unit, "bytes") == 0) {
    tmb_fmt_bytes((uint64_t)value, out, CELL_BYTES);
    return;
  }
  while (value >= 1000 && at < 3) {
    value /= 1000;
    at++;
  }
  format_digits(digits, sizeof digits, value);
  snprintf(out, CELL_BYTES, "%s %s", digits, times[at]);
}

static void format_size(char out[CELL_BYTES], const struct bench_figure *f) {
  static const char *const units[] = {"B", "KiB", "MiB"};
  uint64_t value = f->bytes;
  size_t at = 0;
  out[0] = '\0';
  if (strcmp(f->group, "startup") == 0 || strcmp(f->group, "oversubscribed") == 0 ||
      strcmp(f->group, "net_crowd") == 0) {
    snprintf(out, CELL_BYTES, "%u ranks", f->ranks);
    return;
  }
  if (!value) return;
  while (value >= 1024 && value % 1024 == 0 && at < 2) {
    value /= 1024;
    at++;
  }
  snprintf(out, CELL_BYTES, "%llu %s", (unsigned long long)value, units[at]);
}

static void format_target(char out[CELL_BYTES], const struct bench_figure *f,
                          const struct bench_summary *s) {
  char limit[CELL_BYTES];
  out[0] = '\0';
  if (s->verdict < 0) return;
  if (f->floor_count)
    snprintf(limit, sizeof limit, "%s %g", f->more ? ">=" : "<=", f->target);
  else {
    char value[CELL_BYTES];
    format_value(value, f->target, f->unit);
    snprintf(limit, sizeof limit, "<= %.40s", value);
  }
  snprintf(out, CELL_BYTES, "%.50s  %s", limit, s->verdict ? "ok" : "OVER");
  if (!s->verdict && f->more) snprintf(out, CELL_BYTES, "%.50s  UNDER", limit);
}

static void print_row(const struct bench_figure *f) {
  struct bench_summary s;
  char size[CELL_BYTES], median[CELL_BYTES], min[CELL_BYTES], p10[CELL_BYTES], p90[CELL_BYTES];
  char rate[CELL_BYTES] = "", floor[CELL_BYTES], ratio[CELL_BYTES] = "", target[CELL_BYTES];
  bench_summarise(f, &s);
  format_size(size, f);
  format_value(median, s.median, f->unit);
  const bool spread = f->count > 1;
  format_value(min, spread ? s.min : NAN, f->unit);
  format_value(p10, spread ? s.p10 : NAN, f->unit);
  format_value(p90, spread ? s.p90 : NAN, f->unit);
  format_value(floor, s.floor_median, f->unit);
  format_target(target, f, &s);
  if (!isnan(s.gb_per_s)) {
    char digits[32];
    format_digits(digits, sizeof digits, s.gb_per_s);
    snprintf(rate, sizeof rate, "%s GB/s", digits);
  }
  if (!isnan(s.ratio)) format_digits(ratio, sizeof ratio, s.ratio);
  printf("  %-18s %10s %10s %10s  %9s%s%-9s %5zu %10s  %-11s %9s %6s  %s\n", f->name, size, median,
         min, p10, spread ? ".." : "  ", p90, f->count, rate, f->floor, floor, ratio, target);
}

static void print_group(const struct bench_results *results, const char *group) {
  printf("\n%s\n", title_of(group));
  printf("  %-18s %10s %10s %10s  %9s..%-9s %5s %10s  %-11s %9s %6s  %s\n", "figure", "size",
         "median", "min", "p10", "p90", "runs", "rate", "floor", "median", "ratio", "target");
  for (size_t i = 0; i < results->count; i++)
    if (strcmp(results->figures[i].group, group) == 0 && results->figures[i].count)
      print_row(&results->figures[i]);
}

void bench_print_machine(const struct bench_options *o) {
  struct tmb_os_topology t;
  tmb_os_topology(&t);
  printf("tombolo %s (%s), %s, %d of %d processors usable, %s\n", TMB_BUILD_VERSION,
         TMB_BUILD_REVISION, t.model[0] ? t.model : "unknown processor", t.usable, t.online,
         !o->bind || t.usable < 2 ? "ranks not bound" : "two ranks bound to a processor each");
  printf("%u samples of %g us each; every figure in alternation with its floor\n", o->runs,
         o->sample_us);
  fflush(stdout);
}

/* Ratios to the hand-off are hard to reach in the fast mode and easy in the slow one. */
static void print_mode(const struct bench_results *results) {
  const double ns = bench_handoff_ns(results);
  if (isnan(ns)) return;
  printf("\nmode of the machine: %s: a cache line goes to another processor and back in %.0f ns%s "
         "(fast: below 300 ns)\n",
         bench_mode(ns), ns, ns < 60 ? ", two threads of one core" : "");
}

void bench_print_table(const struct bench_results *results, const struct bench_options *o) {
  size_t over = 0, targets = 0;
  (void)o;
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    for (size_t k = 0; k < results->count; k++)
      if (strcmp(results->figures[k].group, titles[i].group) == 0) {
        print_group(results, titles[i].group);
        break;
      }
  for (size_t i = 0; i < results->count; i++) {
    struct bench_summary s;
    if (!results->figures[i].count) continue;
    bench_summarise(&results->figures[i], &s);
    targets += s.verdict >= 0;
    over += s.verdict == 0;
  }
  print_mode(results);
  printf("\n%zu of %zu targets met", targets - over, targets);
  printf("%s\n",
         over ? "; a busy machine spoils ratios: compare 'min' and run again when it is idle" : "");
}
