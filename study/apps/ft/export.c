/* SPDX-License-Identifier: BSD-3-Clause */
/* Result files of FT: a drawing of the phases through gnuplot, and JSON. Called by main.c on rank
 * 0. gnuplot is a child process that reads its script and data from a pipe; nothing is written but
 * the file asked for.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char plot_missing[] =
    "ft: --plot needs gnuplot, which is not installed: apt-get install gnuplot-nox\n";

bool ft_plot_available(void) {
  if (system("command -v gnuplot >/dev/null 2>&1") == 0) return true;
  fputs(plot_missing, stderr);
  return false;
}

/* A string in gnuplot's single quotes. */
static void put_quoted(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', out);
    fputc(*text, out);
  }
  fputc('\'', out);
}

static void plot_data(FILE *gp, const struct ft_result *results, int count) {
  fprintf(gp, "$phases << EOD\nschedule");
  for (int p = 0; p < FT_PHASES; p++) fprintf(gp, " \"%s\"", ft_phase_title(p));
  for (int i = 0; i < count; i++) {
    fprintf(gp, "\n\"%s\\n%.0f Mop/s\"", results[i].schedule->name, results[i].mops);
    for (int p = 0; p < FT_PHASES; p++) fprintf(gp, " %.6f", results[i].phase[p].mean);
  }
  fprintf(gp, "\nEOD\n");
}

static void plot_script(FILE *gp, const char *path, const struct ft_setting *s, int count) {
  const char *kind = strrchr(path, '.');
  fprintf(gp, "set terminal %s size 900,560\nset output ",
          strcmp(kind, ".png") == 0 ? "pngcairo" : "svg enhanced background 'white'");
  put_quoted(gp, path);
  fprintf(gp, "\nset title 'NAS FT class %c, %d x %d x %d, %d ranks as %d x %d'\n", s->class->name,
          s->layout.n[0], s->layout.n[1], s->layout.n[2], comm_size(), s->layout.ty, s->layout.tz);
  fprintf(gp,
          "set style data histograms\nset style histogram rowstacked\n"
          "set style fill solid 0.85 border -1\nset boxwidth 0.6\nset key outside right top\n"
          "set ylabel 'seconds, mean over ranks'\nset yrange [0:*]\nset grid ytics\nset bmargin 4\n"
          "set xrange [-0.7:%d.7]\n",
          count - 1);
  fprintf(gp, "plot for [c=2:%d] $phases using c:xticlabels(1) title columnheader(c)\n",
          FT_PHASES + 1);
}

bool ft_plot_write(const char *path, const struct ft_setting *setting,
                   const struct ft_result *results, int count) {
  FILE *probe = fopen(path, "w");
  if (!probe) {
    fprintf(stderr, "ft: --plot %s: cannot write: %s\n", path, strerror(errno));
    return false;
  }
  fclose(probe);
  FILE *gp = popen("gnuplot", "w");
  if (!gp) {
    fputs(plot_missing, stderr);
    return false;
  }
  plot_data(gp, results, count);
  plot_script(gp, path, setting, count);
  int status = pclose(gp);
  if (status == 0) return true;
  fprintf(stderr, "ft: --plot %s: gnuplot failed (status %d); its message is above\n", path,
          status);
  return false;
}

static void json_stats(FILE *out, const char *key, const struct ft_stats *s) {
  fprintf(out, "\"%s\": {\"min\": %.9g, \"mean\": %.9g, \"max\": %.9g}", key, s->min, s->mean,
          s->max);
}

static void json_bound(FILE *out, const struct ft_result *r) {
  const struct ft_bound *b = &r->bound;
  fprintf(out, "     \"wire_seconds\": %.9g, \"bound_seconds\": %.9g,\n", b->wire, r->least);
  fprintf(out,
          "     \"shared_bound_seconds\": %.9g, \"compute_alone_seconds\": %.9g,\n"
          "     \"conduit_seconds\": %.9g, \"kernel_seconds\": %.9g,\n"
          "     \"machine\": {\"ranks\": %d, \"processors\": %d},\n",
          r->shared, b->compute, b->conduit, b->kernel, b->ranks, b->cpus);
}

static void json_run(FILE *out, const struct ft_result *r) {
  fprintf(
      out,
      "    {\"schedule\": \"%s\", \"verification\": \"%s\", \"seconds\": %.9g, \"mops\": %.9g,\n",
      r->schedule->name, ft_verification_name(r->verification), r->seconds, r->mops);
  fprintf(
      out,
      "     \"planning_seconds\": %.9g, \"puts_per_rank\": %llu, \"put_bytes_per_rank\": %llu,\n",
      r->planning, (unsigned long long)r->messages, (unsigned long long)r->bytes);
  for (int i = 0; i < FT_TEAMS; i++)
    fprintf(out, "     \"%s\": {\"puts_per_rank\": %llu, \"put_bytes_per_rank\": %llu},\n",
            i == FT_ROW ? "rows" : "columns", (unsigned long long)r->round[i].messages,
            (unsigned long long)r->round[i].bytes);
  if (r->least > 0) json_bound(out, r);
  fprintf(out, "     ");
  json_stats(out, "processor_seconds", &r->busy);
  fprintf(out, ",\n     \"phases\": {");
  for (int p = 0; p < FT_PHASES; p++) {
    json_stats(out, ft_phase_key(p), &r->phase[p]);
    if (p + 1 < FT_PHASES) fprintf(out, ",\n                ");
  }
  fprintf(out, "},\n     \"checksums\": [");
  for (int t = 0; t < r->iterations; t++) {
    const struct ft_sum *sum = &r->sums[t];
    fprintf(out, "%s\n       {\"real\": %.15e, \"imag\": %.15e, \"relative_error\": ", t ? "," : "",
            sum->value.re, sum->value.im);
    if (sum->error >= 0)
      fprintf(out, "%.3e}", sum->error);
    else
      fprintf(out, "null}");
  }
  fprintf(out, "]}");
}

bool ft_json_write(const char *path, const struct ft_setting *s, const struct ft_result *results,
                   int count) {
  FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!out) {
    fprintf(stderr, "ft: --json %s: cannot write: %s\n", path, strerror(errno));
    return false;
  }
  fprintf(out, "{\"benchmark\": \"NAS FT\", \"class\": \"%c\", \"points\": [%d, %d, %d],\n",
          s->class->name, s->layout.n[0], s->layout.n[1], s->layout.n[2]);
  fprintf(out, " \"ranks\": %d, \"grid\": {\"ty\": %d, \"tz\": %d}, \"fft_plan\": \"%s\",\n",
          comm_size(), s->layout.ty, s->layout.tz, s->options->measure ? "measure" : "estimate");
  fprintf(out, " \"iterations\": %d, \"tolerance\": %.1e,\n \"runs\": [\n", results[0].iterations,
          FT_TOLERANCE);
  for (int i = 0; i < count; i++) {
    json_run(out, &results[i]);
    fprintf(out, "%s\n", i + 1 < count ? "," : "");
  }
  fprintf(out, "]}\n");
  bool good = fflush(out) == 0 && !ferror(out);
  if (out != stdout && fclose(out) != 0) good = false;
  if (!good) fprintf(stderr, "ft: --json %s: writing failed: %s\n", path, strerror(errno));
  return good;
}
