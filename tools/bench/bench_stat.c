/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench`: medians, spreads, ratios and verdicts.
 *
 * Owns: nothing. Called by bench_table.c and bench_json.c. Calls: libc.
 * Invariants: nothing is discarded: every sample counts. Quantiles interpolate between order
 * statistics.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A hand-off below this is the fast mode of a machine: both processors share a cache. */
#define FAST_BELOW_NS 300.0

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* in sorted: [count], ascending; in q: 0..1. */
static double quantile(const double *sorted, size_t count, double q) {
  const double at = q * (double)(count - 1);
  const size_t low = (size_t)at;
  if (low + 1 >= count) return sorted[count - 1];
  return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static double *sorted_copy(const double *values, size_t count) {
  double *copy = malloc((count ? count : 1) * sizeof *copy);
  if (!copy) abort();
  memcpy(copy, values, count * sizeof *copy);
  qsort(copy, count, sizeof *copy, compare);
  return copy;
}

/* Figure over floor, or floor over figure for bandwidths. */
static double ratio_of(const struct bench_figure *f, double figure, double floor) {
  return f->more ? floor / figure : figure / floor;
}

static void summarise_floor(const struct bench_figure *f, struct bench_summary *out) {
  double *floors = sorted_copy(f->floors, f->floor_count);
  double *ratios = sorted_copy(f->samples, f->count);
  out->floor_min = floors[0];
  out->floor_median = quantile(floors, f->floor_count, 0.5);
  for (size_t i = 0; i < f->count; i++) ratios[i] = ratio_of(f, f->samples[i], f->floors[i]);
  qsort(ratios, f->count, sizeof *ratios, compare);
  out->ratio = quantile(ratios, f->count, 0.5);
  out->ratio_min = ratio_of(f, out->min, out->floor_min);
  free(ratios);
  free(floors);
}

static int verdict(const struct bench_figure *f, const struct bench_summary *s) {
  if (f->target <= 0) return -1;
  if (!f->floor_count) return s->median <= f->target;
  return f->more ? s->ratio >= f->target : s->ratio <= f->target;
}

double bench_handoff_ns(const struct bench_results *results) {
  for (size_t i = 0; i < results->count; i++) {
    const struct bench_figure *f = &results->figures[i];
    const bool itself = strcmp(f->name, "handoff_rtt") == 0;
    const bool beside = strcmp(f->floor, "handoff") == 0 && f->ranks == 2 && f->floor_count > 0;
    if (!f->count || !(itself || beside)) continue;
    double *sorted =
        sorted_copy(itself ? f->samples : f->floors, itself ? f->count : f->floor_count);
    const double median = quantile(sorted, itself ? f->count : f->floor_count, 0.5);
    free(sorted);
    return median;
  }
  return NAN;
}

const char *bench_mode(double handoff_ns) {
  return isnan(handoff_ns) ? "unknown" : handoff_ns < FAST_BELOW_NS ? "fast" : "slow";
}

void bench_summarise(const struct bench_figure *f, struct bench_summary *out) {
  double *sorted = sorted_copy(f->samples, f->count);
  *out = (struct bench_summary){.min = sorted[0],
                                .p10 = quantile(sorted, f->count, 0.1),
                                .median = quantile(sorted, f->count, 0.5),
                                .p90 = quantile(sorted, f->count, 0.9),
                                .max = sorted[f->count - 1],
                                .floor_min = NAN,
                                .floor_median = NAN,
                                .ratio = NAN,
                                .ratio_min = NAN,
                                .gb_per_s = NAN};
  free(sorted);
  if (f->floor_count == f->count) summarise_floor(f, out);
  if (f->bytes && strcmp(f->unit, "ns") == 0) out->gb_per_s = (double)f->bytes / out->median;
  out->verdict = verdict(f, out);
}
