/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress lines and result tables of FT. Called by run.c (progress) and main.c (tables), on every
 * rank for progress (silent except on rank 0), on rank 0 for the rest. Calls stdio, and chart.c for
 * the bars.
 */
#include "report.h"

#include <string.h>
#include <unistd.h>

void ft_progress_start(struct ft_progress *p, const struct ft_options *o,
                       const struct ft_class *class, const struct ft_result *r) {
  *p = (struct ft_progress){.iterations = r->iterations, .schedule = r->schedule->name};
  if (comm_rank() != 0 || o->quiet) return;
  p->terminal = isatty(STDERR_FILENO);
  p->started = p->shown = ft_now();
  if (ft_class_points(class) < 8e6) return; /* below class A: over before it needs a line */
  p->every = (r->iterations + 4) / 5;
}

void ft_progress_show(struct ft_progress *p, int done) {
  if (p->started == 0) return;
  double now = ft_now();
  if (p->terminal) {
    if (now - p->shown < 1.0) return;
    fprintf(stderr, "\r%s: iteration %d of %d, %.0f s ", p->schedule, done + 1, p->iterations,
            now - p->started);
  } else if (p->every && done && done % p->every == 0) {
    fprintf(stderr, "%s: %d of %d iterations in %.1f s\n", p->schedule, done, p->iterations,
            now - p->started);
  }
  p->shown = now;
}

void ft_progress_end(struct ft_progress *p) {
  if (p->terminal && p->shown != p->started) fprintf(stderr, "\r%60s\r", "");
}

const char *ft_verification_name(enum ft_verification v) {
  static const char *const names[] = {"NOT VERIFIED", "VERIFIED", "FAILED"};
  return names[v];
}

void ft_report_head(FILE *out, const struct ft_setting *s) {
  const struct ft_layout *l = &s->layout;
  struct ft_buffers most = ft_solver_buffers(l, ft_options_extra(s->options));
  fprintf(
      out,
      "NAS FT class %c: %d x %d x %d points, %d iterations, %d rank%s as grid %d x %d (TY x TZ)\n",
      s->class->name, l->n[0], l->n[1], l->n[2],
      s->options->iterations ? s->options->iterations : s->class->iterations, comm_size(),
      comm_size() == 1 ? "" : "s", l->ty, l->tz);
  const char *shape = l->ty > 1 && l->tz > 1 ? "pencils, two exchanges a transform"
                      : comm_size() > 1      ? "slabs of planes, one exchange a transform"
                                             : "one rank, no exchange";
  fprintf(out, "decomposition: %s; %.1f MiB a rank; FFTW %s plans\n", shape,
          (double)(most.segment_bytes + most.private_bytes) / 0x1p20,
          s->options->measure ? "measured" : "estimated");
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (comm_size() > cores)
    fprintf(out, "note: %d ranks share %ld cores; waiting for a core counts as synchronisation\n",
            comm_size(), cores);
}

static void print_sums(FILE *out, const struct ft_result *r) {
  fprintf(out, "\n  iteration          real part     imaginary part   relative error\n");
  for (int t = 0; t < r->iterations; t++) {
    const struct ft_sum *sum = &r->sums[t];
    fprintf(out, "  %9d %18.12e %18.12e", t + 1, sum->value.re, sum->value.im);
    if (sum->error < 0)
      fprintf(out, "   no reference\n");
    else
      fprintf(out, "   %.1e %s\n", sum->error, sum->error <= FT_TOLERANCE ? "ok" : "WRONG");
  }
}

static void print_phases(FILE *out, const struct ft_result *r) {
  fprintf(out, "\n  phase, seconds           min       mean        max    of the time\n");
  for (int i = 0; i < FT_PHASES; i++)
    fprintf(out, "  %-18s %9.4f  %9.4f  %9.4f   %6.1f %%\n", ft_phase_title(i), r->phase[i].min,
            r->phase[i].mean, r->phase[i].max, 100.0 * r->phase[i].mean / r->seconds);
  fprintf(out, "  %-18s %9s  %9s  %9.4f\n", "total", "", "", r->seconds);
}

/* How near a run came to the least times, see bound.h. */
static void print_bound(FILE *out, const struct ft_setting *s, const struct ft_result *r) {
  const struct ft_bound *b = &r->bound;
  if (!s->options->bound) return;
  if (b->wire <= 0) {
    fprintf(out, "bound: none: %s\n",
            comm_size() == 1
                ? "one rank sends nothing"
                : "all ranks share memory, so the processors themselves move the data");
    return;
  }
  fprintf(out,
          "bound: %.4f s: the longer one of wire (%.4f s) and computation (%.4f s), initial data,"
          " first and last planes; this run takes %.3f times as long\n",
          r->least, b->wire, ft_result_compute(r), r->seconds / r->least);
  fprintf(
      out,
      "bound with the processors: %.4f s: a rank needs one for %.4f s to compute and for %.4f s "
      "to send and receive (%.4f s in the kernel), each measured alone; %d rank%s share%s %d; "
      "this run takes %.3f times as long, and a rank's processor for %.4f s\n",
      r->shared, b->compute, b->conduit, b->kernel, b->ranks, b->ranks == 1 ? "" : "s",
      b->ranks == 1 ? "s" : "", b->cpus, r->seconds / r->shared, r->busy.mean);
}

static void print_verdict(FILE *out, const struct ft_setting *s, const struct ft_result *r) {
  fprintf(out, "%s: class %c, %s, %d rank%s (%dx%d): %.4f s, %.1f Mop/s",
          ft_verification_name(r->verification), s->class->name, r->schedule->name, comm_size(),
          comm_size() == 1 ? "" : "s", s->layout.ty, s->layout.tz, r->seconds, r->mops);
  if (r->compared < r->iterations)
    fprintf(out, " (%d of %d iterations have a reference)", r->compared, r->iterations);
  fprintf(out, "\n");
}

void ft_report_run(FILE *out, const struct ft_setting *s, const struct ft_result *r) {
  if (!s->options->quiet) {
    fprintf(out, "\nschedule %s: %s\n", r->schedule->name, r->schedule->help);
    print_sums(out, r);
    print_phases(out, r);
    fprintf(out, "\n");
    ft_chart_phases(out, r);
    if (r->messages)
      fprintf(out,
              "\n  %llu puts a rank, %.1f KiB each on average; %.2f s of planning beforehand\n",
              (unsigned long long)r->messages, (double)r->bytes / (double)r->messages / 1024.0,
              r->planning);
    fprintf(out, "\n");
  }
  print_bound(out, s, r);
  print_verdict(out, s, r);
  fflush(out);
}

void ft_report_comparison(FILE *out, const struct ft_result *results, int count) {
  fprintf(out, "\ncomparison (seconds: mean over ranks; speed relative to %s)\n",
          results[0].schedule->name);
  fprintf(out, "  %-15s %9s %9s %9s %9s %9s %10s %6s\n", "schedule", "total", "FFT", "movement",
          "commun.", "sync", "Mop/s", "speed");
  for (int i = 0; i < count; i++) {
    const struct ft_result *r = &results[i];
    fprintf(out, "  %-15s %9.4f %9.4f %9.4f %9.4f %9.4f %10.1f %6.2f\n", r->schedule->name,
            r->seconds, r->phase[FT_FFT].mean, r->phase[FT_MOVE].mean, r->phase[FT_COMM].mean,
            r->phase[FT_SYNC].mean, r->mops, results[0].seconds / r->seconds);
  }
  fprintf(out, "\n");
  ft_chart_stacked(out, results, count);
  fflush(out);
}
