/* SPDX-License-Identifier: BSD-3-Clause */
/* Bar charts of phases in the terminal, in plain characters so that they survive any log.
 * Called by report.c on rank 0; calls stdio only.
 * Invariant: the cells of a stacked bar are rounded from running sums, so a bar ends where its
 * total does.
 */
#include "report.h"

#define BAR_WIDTH 48

/* One letter a phase, for stacked bars. */
static const char letter[FT_PHASES + 1] = "iFemCSk";

static int columns(double value, double whole) {
  return whole > 0 ? (int)(value / whole * BAR_WIDTH + 0.5) : 0;
}

static void repeat(FILE *out, char c, int count) {
  for (int i = 0; i < count; i++) fputc(c, out);
}

void ft_chart_phases(FILE *out, const struct ft_result *r) {
  double longest = 0;
  for (int i = 0; i < FT_PHASES; i++)
    if (r->phase[i].max > longest) longest = r->phase[i].max;
  for (int i = 0; i < FT_PHASES; i++) {
    int mean = columns(r->phase[i].mean, longest), max = columns(r->phase[i].max, longest);
    fprintf(out, "  %-18s |", ft_phase_title(i));
    repeat(out, '#', mean);
    repeat(out, '-', max - mean);
    repeat(out, ' ', BAR_WIDTH - max);
    fprintf(out, "| %.4f s\n", r->phase[i].mean);
  }
  fprintf(out, "  %-18s  (# mean, - up to the slowest rank)\n", "");
}

void ft_chart_stacked(FILE *out, const struct ft_result *results, int count) {
  double longest = 0;
  for (int i = 0; i < count; i++)
    if (results[i].seconds > longest) longest = results[i].seconds;
  for (int i = 0; i < count; i++) {
    double end = 0;
    int drawn = 0;
    fprintf(out, "  %-15s |", results[i].schedule->name);
    for (int p = 0; p < FT_PHASES; p++) {
      end += results[i].phase[p].mean;
      int upto = columns(end, longest);
      repeat(out, letter[p], upto - drawn);
      drawn = upto;
    }
    repeat(out, ' ', BAR_WIDTH - drawn);
    fprintf(out, "| %.4f s\n", results[i].seconds);
  }
  fprintf(out, "  ");
  for (int p = 0; p < FT_PHASES; p++)
    fprintf(out, "%c %s%s", letter[p], ft_phase_title(p), p + 1 < FT_PHASES ? ", " : "\n");
}
