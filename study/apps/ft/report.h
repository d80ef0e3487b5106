/* SPDX-License-Identifier: BSD-3-Clause */
/* What FT shows and writes: progress, tables, bar charts in the terminal, a drawing, JSON.
 * report.c holds progress and tables, chart.c the bars, export.c the files. Only rank 0 shows
 * anything. Results go to standard output or to files, progress and complaints to standard error.
 */
#ifndef FT_REPORT_H
#define FT_REPORT_H

#include "run.h"

#include <stdio.h>

struct ft_progress {
  bool terminal; /* one line, rewritten every second; else whole lines, now and then */
  int every;     /* iterations between lines if not a terminal; 0: silent */
  int iterations;
  const char *schedule;
  double started, shown;
};

/* Progress goes to standard error, so that results can be redirected. */
void ft_progress_start(struct ft_progress *progress, const struct ft_options *options,
                       const struct ft_class *class, const struct ft_result *result);
void ft_progress_show(struct ft_progress *progress, int done);
void ft_progress_end(struct ft_progress *progress);

/* Print the setting, before the runs. */
void ft_report_head(FILE *out, const struct ft_setting *setting);

/* One run: checksums, verdict, rate, phases; with options->quiet one line. */
void ft_report_run(FILE *out, const struct ft_setting *setting, const struct ft_result *result);

/* Several runs side by side. */
void ft_report_comparison(FILE *out, const struct ft_result *results, int count);

/* Bars of one run's phases (mean over ranks, and the spread), and one stacked bar for each of
 * several runs. */
void ft_chart_phases(FILE *out, const struct ft_result *result);
void ft_chart_stacked(FILE *out, const struct ft_result *results, int count);

/* "VERIFIED", "FAILED", "NOT VERIFIED". */
const char *ft_verification_name(enum ft_verification verification);

/* Whether gnuplot can be run; says on standard error how to get it if not. */
bool ft_plot_available(void);

/* Writes a file; false, with a message on standard error, if that failed. */
bool ft_plot_write(const char *path, const struct ft_setting *setting,
                   const struct ft_result *results, int count);
bool ft_json_write(const char *path, const struct ft_setting *setting,
                   const struct ft_result *results, int count);

#endif
