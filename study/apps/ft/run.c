/* SPDX-License-Identifier: BSD-3-Clause */
/* One run: set-up, optional warm-up, the timed part (initial data, forward transform, iterations),
 * verification, and the statistics of all ranks. Called by main.c; calls the solver, comm.c and the
 * progress display. The time of a run is that of its slowest rank, from a barrier to the last
 * checksum, as the published benchmark counts it; FFTW planning and the first touch of memory come
 * before it and are reported apart.
 */
#include "run.h"

#include "report.h"

#include <math.h>
#include <stdlib.h>

static double ft_relative_error(struct cplx value, struct cplx reference) {
  return hypot(value.re - reference.re, value.im - reference.im) /
         hypot(reference.re, reference.im);
}

/* Negates one input value, at a point that the checksum includes and that lies near the far corner
 * of the grid. */
static void inject_error(struct ft_solver *s) {
  const int *n = s->layout.n;
  int j = n[2] - 1;
  struct cplx *u = ft_solver_point(s, s->spectrum, j % n[0], 3 * j % n[1], 5 * j % n[2]);
  if (u) u->re = -u->re;
}

static void warm_up(struct ft_solver *s) {
  ft_solver_fill(s);
  ft_solver_forward(s);
  ft_solver_inverse(s, 1);
  ft_solver_checksum(s);
}

/* The bounds of a run; of its phases those count that overlap with nothing. */
static void bounds_of(const struct ft_solver *s, struct ft_result *r) {
  const double others = r->phase[FT_SETUP].mean + r->phase[FT_CHECKSUM].mean;
  r->least = ft_bound_least(&r->bound, others, ft_result_compute(r), s->layout.nz);
  r->shared = ft_bound_shared(&r->bound, others, s->layout.nz);
}

static void timed_part(struct ft_solver *s, const struct ft_options *o, struct ft_result *r) {
  struct ft_progress progress;
  comm_barrier();
  r->busy.mean = -ft_processor_time();
  for (int i = 0; i < FT_EXCHANGES; i++) s->exchange[i].messages = s->exchange[i].bytes = 0;
  ft_phases_start(&s->phases, FT_SETUP);
  ft_progress_start(&progress, o, s->class, r);
  ft_solver_fill(s);
  if (o->inject_error) inject_error(s);
  ft_solver_forward(s);
  for (int t = 1; t <= r->iterations; t++) {
    ft_progress_show(&progress, t - 1);
    ft_solver_inverse(s, t);
    r->sums[t - 1].value = ft_solver_checksum(s);
  }
  ft_phases_enter(&s->phases, FT_SYNC);
  r->busy.mean += ft_processor_time();
  ft_progress_end(&progress);
}

static void verify(const struct ft_class *class, struct ft_result *r) {
  r->verification = FT_NOT_VERIFIED;
  r->compared = r->iterations < class->references ? r->iterations : class->references;
  for (int t = 0; t < r->iterations; t++) {
    r->sums[t].error = -1.0;
    if (t >= r->compared) continue;
    double error = ft_relative_error(r->sums[t].value, class->sums[t]);
    r->sums[t].error = error;
    bool good = error <= FT_TOLERANCE; /* false for NaN too */
    if (!good) r->verification = FT_FAILED;
    if (r->verification == FT_NOT_VERIFIED) r->verification = FT_VERIFIED;
  }
}

/* min, mean and max over ranks of column `at` of all[ranks][FT_PHASES + 1]. */
static struct ft_stats column_stats(const double *all, int ranks, int at) {
  struct ft_stats s = {.min = all[at], .max = all[at]};
  for (int i = 0; i < ranks; i++) {
    double value = all[i * (FT_PHASES + 1) + at];
    s.mean += value / ranks;
    if (value < s.min) s.min = value;
    if (value > s.max) s.max = value;
  }
  return s;
}

/* The longest sum of all phases of a rank: that of the whole run. */
static double longest(const double *all, int ranks) {
  double most = 0;
  for (int i = 0; i < ranks; i++) {
    double sum = 0;
    for (int p = 0; p < FT_PHASES; p++) sum += all[i * (FT_PHASES + 1) + p];
    if (sum > most) most = sum;
  }
  return most;
}

static void collect(const struct ft_solver *s, struct ft_result *r) {
  double mine[FT_PHASES + 1], *all = NULL;
  mine[FT_PHASES] = r->busy.mean; /* of this rank so far */
  for (int i = 0; i < FT_PHASES; i++) mine[i] = s->phases.seconds[i];
  if (comm_rank() == 0) {
    all = malloc(comm_gather_bytes(FT_PHASES + 1));
    if (!all) comm_fail("out of memory for the statistics", "use fewer ranks");
  }
  comm_gather(mine, FT_PHASES + 1, all);
  for (int i = 0; i < FT_EXCHANGES; i++) {
    r->messages += s->exchange[i].messages;
    r->bytes += s->exchange[i].bytes;
    r->round[s->exchange[i].team->id].messages += s->exchange[i].messages;
    r->round[s->exchange[i].team->id].bytes += s->exchange[i].bytes;
  }
  if (comm_rank() != 0) return;
  for (int i = 0; i < FT_PHASES; i++) r->phase[i] = column_stats(all, comm_size(), i);
  r->busy = column_stats(all, comm_size(), FT_PHASES);
  r->seconds = longest(all, comm_size());
  r->mops = ft_mops(s->class, r->iterations, r->seconds);
  if (r->bound.wire > 0) bounds_of(s, r);
  free(all);
}

void ft_run(struct ft_setting *setting, const struct ft_schedule *schedule, struct ft_result *r) {
  const struct ft_options *o = setting->options;
  struct ft_solver s = {.class = setting->class, .layout = setting->layout, .schedule = schedule};
  int iterations = o->iterations ? o->iterations : setting->class->iterations;
  *r = (struct ft_result){.schedule = schedule, .iterations = iterations};
  r->sums = calloc((size_t)iterations, sizeof *r->sums);
  if (!r->sums) comm_fail("out of memory for the checksums", "give a smaller --iterations");
  double start = ft_now();
  for (int i = 0; i < FT_TEAMS; i++) s.team[i] = setting->team[i];
  const char *missing =
      ft_solver_init(&s, setting->segment, o->measure ? FFTW_MEASURE : FFTW_ESTIMATE);
  if (missing) comm_fail("cannot get", missing);
  r->planning = ft_now() - start;
  comm_barrier(); /* no put may arrive before its landing zone is ready */
  if (o->warmup || o->schedule == FT_ALL_SCHEDULES) warm_up(&s); /* compare like with like */
  if (o->bound && !comm_all_near()) ft_bound_measure(&s, iterations, &r->bound);
  timed_part(&s, o, r);
  verify(setting->class, r);
  collect(&s, r);
  for (int i = 0; i < FT_TEAMS; i++) setting->team[i] = s.team[i];
  ft_solver_free(&s);
}

void ft_result_free(struct ft_result *result) {
  free(result->sums);
}
