/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronised pipeline: a wavefront that runs over a grid, point to point.
 *
 * The kernel "Synch_p2p" of the Parallel Research Kernels (R. F. Van der Wijngaart and T. G.
 * Mattson, HPEC 2014, doi:10.1109/HPEC.2014.7040972), written afresh: a grid of rows x columns of
 * doubles, columns divided among the ranks; A[j][i] = A[j-1][i] + A[j][i-1] - A[j-1][i-1]. A rank
 * can compute a row when its left neighbour has computed its part of that row and sent the last
 * value of it; after the last row, the corner value goes back to the first rank, negated, and the
 * next iteration begins. So its time is that of data arriving together with the notice that they
 * are there. Calls: study/lib/links.h only, so it runs on MPI too (study/compare). Invariant: after
 * k iterations the corner is k * (rows + columns - 2). Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "lib/app.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_LEFT, LINK_CORNER }; /* incoming links: from the left neighbour, from the last rank */

struct grid {
  long rows, columns, group; /* of the whole grid; rows of one message */
  long first, count;         /* columns of this rank */
  double *value;             /* [rows][count] */
  double *halo;              /* [rows] the last column of the left neighbour; in the segment */
  double *corner;            /* value of the last rank, after the halo */
  double *out;               /* [group] in flight */
  double alone;              /* seconds that computing takes by itself */
};

static double *row(const struct grid *g, long j) {
  return g->value + (size_t)j * (size_t)g->count;
}

static void fill(struct grid *g) {
  for (long j = 0; j < g->rows; j++) {
    g->halo[j] = j == 0 ? (double)(g->first - 1) : 0;
    for (long i = 0; i < g->count; i++)
      row(g, j)[i] = j == 0 ? (double)(g->first + i) : g->first + i == 0 ? (double)j : 0;
  }
}

/* The points of a row behind the first one. Each is its left neighbour plus what the row above
 * gains there; the gains of four points are summed beside the chain from point to point, which then
 * has one addition for four points. */
static void compute_row(double *restrict now, const double *restrict above, long count) {
  double left = now[0];
  long i = 1;
  for (; i + 4 <= count; i += 4) {
    const double one = above[i] - above[i - 1], two = one + (above[i + 1] - above[i]);
    const double more = above[i + 2] - above[i + 1], last = above[i + 3] - above[i + 2];
    now[i] = left + one;
    now[i + 1] = left + two;
    now[i + 2] = left + (two + more);
    now[i + 3] = left += two + (more + last);
  }
  for (; i < count; i++) now[i] = left += above[i] - above[i - 1];
}

/* Compute rows [from, to) of this rank's columns. */
static void compute(const struct grid *g, long from, long to) {
  for (long j = from; j < to; j++) {
    double *const now = row(g, j);
    const double *const above = row(g, j - 1);
    if (g->first > 0) now[0] = above[0] + g->halo[j] - g->halo[j - 1];
    compute_row(now, above, g->count);
  }
}

/* Computation of an iteration. */
static void compute_alone(void *about) {
  const struct grid *const g = about;
  compute(g, 1, g->rows);
}

static void send_right(struct job *job, const struct grid *g, struct job_link *right, long from,
                       long to) {
  if (right->peer < 0) return;
  job_flush(job);
  for (long j = from; j < to; j++) g->out[j - from] = row(g, j)[g->count - 1];
  job_send(job, right, (size_t)from * sizeof(double), g->out, (size_t)(to - from) * sizeof(double));
}

/* The last rank's corner is the first rank's next origin. */
static void close_iteration(struct job *job, const struct grid *g, struct job_link *home) {
  const bool first = job->rank == 0, last = job->rank == job->size - 1;
  const size_t offset = (size_t)g->rows * sizeof(double);
  if (first) job_expect(job, job->size - 1, LINK_CORNER, offset, sizeof(double));
  if (last) {
    job_flush(job);
    g->out[0] = -row(g, g->rows - 1)[g->count - 1];
    job_send(job, home, offset, g->out, sizeof(double));
  }
  job_step(job);
  if (!first) return;
  app_enter(job, APP_WAIT);
  job_wait(job, LINK_CORNER);
  g->value[0] = *(volatile double *)g->corner;
}

static void iterate(struct job *job, const struct grid *g, struct job_link *right,
                    struct job_link *home) {
  const long blocks = (g->rows - 1 + g->group - 1) / g->group;
  const bool steps = job_has_steps(job);
  for (long step = 0; step < blocks + (steps ? job->size - 1 : 0); step++) {
    const long block = steps ? step - job->rank : step;
    if (block >= 0 && block < blocks) {
      const long from = 1 + block * g->group;
      const long to = from + g->group < g->rows ? from + g->group : g->rows;
      if (job->rank > 0) {
        job_expect(job, job->rank - 1, LINK_LEFT, (size_t)from * sizeof(double),
                   (size_t)(to - from) * sizeof(double));
        app_enter(job, APP_WAIT);
        job_wait(job, LINK_LEFT);
        app_enter(job, APP_COMPUTE);
      }
      compute(g, from, to);
      app_enter(job, APP_SEND);
      send_right(job, g, right, from, to);
    }
    app_enter(job, APP_WAIT);
    job_step(job);
    app_enter(job, APP_COMPUTE);
  }
  close_iteration(job, g, home);
}

/* Run one way. Returns whether the corner is right. */
static bool run(struct job *job, const struct app_options *o, struct grid *g, int way) {
  job_links(job, way);
  fill(g);
  struct job_link right =
      job_link_open(job, job->rank + 1 < job->size ? job->rank + 1 : -1, LINK_LEFT);
  struct job_link home = job_link_open(job, job->rank == job->size - 1 ? 0 : -1, LINK_CORNER);
  job_barrier(job);
  for (long k = 0; app_iteration(job, o, k); k++) { /* the first one warms up */
    iterate(job, g, &right, &home);
  }
  job_flush(job);
  const double expected = (double)(o->iterations + 2) * (double)(g->rows + g->columns - 2);
  const bool last = job->rank == job->size - 1;
  double corner = last ? row(g, g->rows - 1)[g->count - 1] : 0;
  if (o->inject_error && last) corner += 1;
  const double wrong = job_sum(job, last && fabs(corner - expected) > 1e-8 * expected ? 1 : 0);
  app_report(job, o,
             &(struct app_result){.seconds = job->seconds,
                                  .work = 2.0 * (double)(g->rows - 1) * (double)(g->columns - 1),
                                  .verified = wrong == 0,
                                  .share = g->alone / job->seconds});
  return wrong == 0;
}

static void divide(struct job *job, const struct app_options *o, struct grid *g) {
  g->rows = o->n[0];
  g->columns = o->n[1];
  g->group = o->n[2] < g->rows ? o->n[2] : g->rows;
  if (g->columns < 2L * job->size)
    job_refuse(job,
               "%ld columns cannot be divided among %d ranks, which need 2 each; take at least "
               "--columns %d",
               g->columns, job->size, 2 * job->size);
  g->first = g->columns * job->rank / job->size;
  g->count = g->columns * (job->rank + 1) / job->size - g->first;
}

static const struct app_number numbers[] = {
    {"rows", 'r', 1000, 2, 0, "Rows of the grid"},
    {"columns", 'c', 1000, 2, 0, "Columns of the grid, divided among the ranks"},
    {"group", 'g', 1, 1, 0, "Rows whose boundary values travel together"}};
static const struct app_program program =
    APP_PROGRAM("pipeline", "Wavefront over a grid, synchronised point to point", numbers, 10);

static bool run_all(struct job *job, const struct app_options *options) {
  struct grid grid;
  divide(job, options, &grid);
  app_need(job, (double)sizeof(double) * (double)grid.rows * (double)(grid.count + 2));
  job_attach(job, (size_t)(grid.rows + 1) * sizeof(double));
  grid.halo = (double *)(void *)job->mine;
  grid.corner = grid.halo + grid.rows;
  grid.value = malloc((size_t)grid.rows * (size_t)grid.count * sizeof(double));
  grid.out = malloc((size_t)grid.group * sizeof(double));
  if (job_sum(job, grid.value && grid.out ? 0 : 1) != 0)
    job_refuse(job, "a grid of %ld x %ld does not fit in memory; take a smaller one", grid.rows,
               grid.columns);
  bool good = true;
  fill(&grid);
  grid.alone = app_alone(job, compute_alone, &grid);
  app_head(job, options);
  APP_EACH_WAY(options, job_way_count) good = run(job, options, &grid, way) && good;
  free(grid.value);
  free(grid.out);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
