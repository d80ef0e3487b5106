/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressible hydrodynamics in two dimensions, with exchange of halos.
 *
 * An explicit solver of second order on a staggered grid, Lagrangian step and remap (kernels.h), of
 * the class of CloverLeaf (A. C. Mallinson et al., "CloverLeaf: preparing hydrodynamics codes for
 * exascale", Cray User Group 2013). A step needs five exchanges of halos and the smallest of all
 * ranks' time steps. Calls: study/lib/links.h only, so it runs on MPI too (study/compare).
 * Verification: mass and energy are kept to rounding; `blast` stays a mirror image of itself to the
 * last bit; `tube` comes near the known solution; the bits do not depend on the number of ranks
 * (tests/study/hydro_ranks.py compares them). Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "halo.h"
#include "kernels.h"
#include "output.h"
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>

#define GROWTH    1.2 /* of the time step from one step to the next */
#define BEGINNING 0.1 /* of the stable time step: the first one */
#define ROUNDING  1e-13
#define DEVIATION 1.0 /* of a shock tube, in cells (problem.h) */

enum { CELLS_X, CELLS_Y, EVERY };
enum { PROBLEM, OUTPUT };

static const struct halo_group all_moving = {2, 4, {DENSITY, ENERGY, VELOCITY_X, VELOCITY_Y}};
static const struct halo_group all_remap = {2, 5, {DENSITY, ENERGY, MASS, VELOCITY_X, VELOCITY_Y}};
static const struct halo_group flux_x = {1, 1, {FLUX_X}};
static const struct halo_group flux_y = {1, 1, {FLUX_Y}};

struct run {
  struct job *job;
  const struct app_options *options;
  struct grid *grid;
  struct halo *halo;
  enum problem problem;
  double time, step; /* since the start; the last time step */
  long steps_alone;  /* how often compute_alone was called */
  double alone;      /* seconds that computing takes by itself, a step */
};

/* Fill ghosts. Without a halo, those of walls only. */
static void exchange(struct run *r, const struct halo_group *group) {
  if (r->halo)
    halo_exchange(r->halo, group);
  else
    halo_walls(r->grid, group);
}

/* One time step. */
static void advance(struct run *r, long number) {
  struct grid *const g = r->grid;
  exchange(r, &all_moving);
  state(g);
  double stable = stable_step(g);
  if (r->halo) stable = -job_max(r->job, -stable);
  r->step = number ? fmin(stable, GROWTH * r->step) : BEGINNING * stable;
  r->time += r->step;
  lagrange(g, r->step);
  for (int sweep = 0; sweep < 2; sweep++) {
    const bool in_x = (number + sweep) % 2 == 0; /* the first one changes from step to step */
    exchange(r, sweep ? &all_remap : &all_moving);
    remap_cells(g, in_x, sweep == 0);
    exchange(r, in_x ? &flux_x : &flux_y);
    remap_nodes(g, in_x);
  }
}

/* Computation of a step: this rank's cells in a box of their own, with walls on all sides. */
static void compute_alone(void *about) {
  struct run *const r = about;
  advance(r, r->steps_alone++);
}

static double alone(const struct run *r) {
  struct grid box = *r->grid;
  struct run in_box = {.grid = &box};
  box.ranks_x = box.ranks_y = 1;
  box.rank_x = box.rank_y = 0;
  problem_start(&box, r->problem);
  return app_alone(r->job, compute_alone, &in_box);
}

static void snapshot(struct run *r, long step) {
  const char *const prefix = r->options->text[OUTPUT];
  const long every = r->options->n[EVERY];
  if (!prefix || (step % every && step != r->options->iterations)) return;
  halo_exchange(r->halo, &all_moving);
  state(r->grid);
  output_write(r->job, r->grid, prefix, step);
}

/* Whether the answer is right; says what is not. */
static bool check(struct run *r, struct totals before) {
  struct job *const job = r->job;
  struct grid *const g = r->grid;
  if (r->options->inject_error && job->rank == job->size - 1)
    g->q[DENSITY][at(g, g->nx / 2, g->ny / 2)] *= 1 + 1e-6;
  const struct totals after = problem_totals(job, g);
  const double allowed = ROUNDING * (double)(r->options->iterations + 1);
  const double mass = fabs(after.mass / before.mass - 1);
  const double energy = fabs(after.energy / before.energy - 1);
  const double deviation = problem_deviation(job, g, r->problem, r->time);
  const double bits = problem_bits(job, g, false, false);
  bool mirrored = true;
  if (r->problem == BLAST)
    mirrored =
        bits == problem_bits(job, g, true, false) && bits == problem_bits(job, g, false, true);
  if (job->rank == 0 && !r->options->json) {
    printf("  time %.6g, mass off by %.1e, energy by %.1e", r->time, mass, energy);
    if (deviation >= 0) printf(", density by %.2f cells", deviation);
    printf("%s, bits %.0f\n",
           r->problem != BLAST ? ""
           : mirrored          ? ", symmetric"
                               : ", NOT symmetric",
           bits);
  }
  return mass <= allowed && energy <= allowed && deviation <= DEVIATION && mirrored;
}

static bool run(struct run *r, int way) {
  struct job *const job = r->job;
  const long steps = r->options->iterations;
  job_links(job, way);
  problem_start(r->grid, r->problem);
  halo_open(r->halo);
  r->time = r->step = 0;
  const struct totals before = problem_totals(job, r->grid);
  snapshot(r, 0);
  job_barrier(job);
  double start = job_now();
  for (long k = 0; k < steps; k++) {
    app_progress(job, r->options, k);
    advance(r, k);
    const double stopped = job_now();
    snapshot(r, k + 1);
    start += job_now() - stopped; /* snapshots are not timed */
  }
  job_flush(job);
  const double step = job_max(job, (job_now() - start) / (double)steps);
  const bool good = check(r, before);
  if (app_iteration(job, r->options, steps + 1)) advance(r, steps); /* for the phases only */
  app_stop(job);
  app_report(job, r->options,
             &(struct app_result){.seconds = step,
                                  .work = (double)r->grid->all_x * (double)r->grid->all_y,
                                  .verified = good,
                                  .share = r->alone / step});
  return good;
}

static const struct app_number numbers[] = {
    {"cells-x", 'x', 240, GHOST, 0, "Cells in x"},
    {"cells-y", 'y', 240, GHOST, 0, "Cells in y"},
    {"every", 'e', 100, 1, 0, "Steps from one snapshot to the next"}};
static const struct app_text texts[] = {
    {"problem", 'p', "blast", "NAME",
     "blast, tube (shock tube in x), tube-y or corner (default blast)"},
    {"output", 'o', NULL, "PREFIX", "Write snapshots PREFIX.STEP.vtk and .png"}};
static const struct app_program program =
    APP_PROGRAM("hydro",
                "Compressible hydrodynamics, Lagrangian step "
                "and remap",
                numbers, 50, .unit = "Mcells/s", .texts = texts, .text_count = 2);

static bool run_all(struct job *job, const struct app_options *options) {
  struct grid grid;
  struct halo halo;
  struct run r = {.job = job, .options = options, .grid = &grid, .halo = &halo};
  r.problem = problem_find(options->text[PROBLEM]);
  if (r.problem == PROBLEMS)
    job_refuse(job, "--problem %s: expected blast, tube, tube-y or corner", options->text[PROBLEM]);
  const long shorter =
      options->n[CELLS_X] < options->n[CELLS_Y] ? options->n[CELLS_X] : options->n[CELLS_Y];
  const double side = 1 / (double)(r.problem == TUBE     ? options->n[CELLS_X]
                                   : r.problem == TUBE_Y ? options->n[CELLS_Y]
                                                         : shorter);
  grid_divide(
      job, &grid, options->n,
      (const double[2]){side * (double)options->n[CELLS_X], side * (double)options->n[CELLS_Y]});
  app_need(job, grid_bytes(&grid) + 2 * (double)halo_bytes(&grid));
  job_attach(job, halo_bytes(&grid));
  const bool enough = grid_allocate(&grid) && halo_allocate(&halo, job, &grid);
  if (job_sum(job, enough ? 0 : 1) != 0)
    job_refuse(job, "%ld x %ld cells do not fit in memory; take fewer", grid.all_x, grid.all_y);
  bool good = true;
  r.alone = alone(&r);
  app_head(job, options);
  APP_EACH_WAY(options, job_way_count) good = run(&r, way) && good;
  halo_free(&halo);
  grid_free(&grid);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
