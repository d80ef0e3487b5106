/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problems and their answers, see problem.h.
 *
 * Owns nothing. Called by hydro.c. Calls: links.h. The exact solution of the shock tube: E. F.
 * Toro, "Riemann Solvers and Numerical Methods for Fluid Dynamics", chapter 4, for the case at
 * hand, a wave of rarefaction to the left and a shock to the right.
 */
#include "problem.h"

#include "lib/mix.h"

#include <stdint.h>
#include <string.h>

static const char *const names[PROBLEMS] = {"blast", "tube", "tube-y", "corner"};

static const double left_density = 1, left_pressure = 1, right_density = 0.125,
                    right_pressure = 0.1;

enum problem problem_find(const char *name) {
  for (int p = 0; p < PROBLEMS; p++)
    if (strcmp(name, names[p]) == 0) return (enum problem)p;
  return PROBLEMS;
}

/* Density and pressure of the cell i, j of the whole grid. */
static void cell(const struct grid *g, enum problem problem, long i, long j, double *density,
                 double *pressure) {
  bool inner;
  if (problem == BLAST) {
    /* Twice the distance from the middle, in cells: exact, so mirror images are equal. */
    const double x = (double)(2 * i + 1 - g->all_x), y = (double)(2 * j + 1 - g->all_y);
    const double radius = 0.2 * (double)(g->all_x < g->all_y ? g->all_x : g->all_y);
    inner = x * x + y * y < radius * radius;
    *density = 1;
    *pressure = inner ? 10 : 0.1;
    return;
  }
  if (problem == TUBE)
    inner = 2 * i + 1 < g->all_x;
  else if (problem == TUBE_Y)
    inner = 2 * j + 1 < g->all_y;
  else
    inner = 2 * (2 * i + 1) < g->all_x && 4 * (2 * j + 1) < g->all_y;
  *density = inner ? left_density : right_density;
  *pressure = inner ? left_pressure : right_pressure;
}

void problem_start(struct grid *g, enum problem problem) {
  for (int k = 0; k < QUANTITIES; k++)
    memset(g->q[k], 0, (size_t)g->pitch * (size_t)g->lines * sizeof(double));
  for (long j = 0; j < g->ny; j++)
    for (long i = 0; i < g->nx; i++) {
      double pressure;
      const long c = at(g, i, j);
      cell(g, problem, g->x0 + i, g->y0 + j, &g->q[DENSITY][c], &pressure);
      g->q[ENERGY][c] = pressure / ((GAMMA - 1) * g->q[DENSITY][c]);
    }
}

struct totals problem_totals(struct job *job, const struct grid *g) {
  const double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y];
  double mass = 0, energy = 0;
  for (long j = 0; j < g->ny; j++)
    for (long i = 0; i < g->nx; i++) {
      const long c = at(g, i, j), node[] = {c, c + 1, c + g->pitch, c + g->pitch + 1};
      const double m = g->q[DENSITY][c] * g->dx * g->dy;
      double motion = 0;
      for (int k = 0; k < 4; k++) motion += u[node[k]] * u[node[k]] + v[node[k]] * v[node[k]];
      mass += m;
      energy += m * (g->q[ENERGY][c] + motion / 8);
    }
  return (struct totals){job_sum(job, mass), job_sum(job, energy)};
}

/* Pressure and velocity between the rarefaction and the shock. */
static void middle(double *pressure, double *velocity) {
  const double a = sqrt(GAMMA * left_pressure / left_density);
  double low = right_pressure, high = left_pressure, u = 0, p = 0;
  for (int k = 0; k < 200; k++) { /* bisection: the velocities behind both waves are equal */
    p = (low + high) / 2;
    u = 2 * a / (GAMMA - 1) * (1 - pow(p / left_pressure, (GAMMA - 1) / (2 * GAMMA)));
    const double shock =
        (p - right_pressure) *
        sqrt(2 / ((GAMMA + 1) * right_density) / (p + (GAMMA - 1) / (GAMMA + 1) * right_pressure));
    if (u > shock)
      low = p;
    else
      high = p;
  }
  *pressure = p;
  *velocity = u;
}

/* Density at x, measured from the membrane, divided by the time. */
static double known_density(double s) {
  double p, u;
  middle(&p, &u);
  const double a = sqrt(GAMMA * left_pressure / left_density);
  const double ratio = p / right_pressure, g = (GAMMA - 1) / (GAMMA + 1);
  const double shock = sqrt(GAMMA * right_pressure / right_density) *
                       sqrt((GAMMA + 1) / (2 * GAMMA) * ratio + (GAMMA - 1) / (2 * GAMMA));
  const double tail = u - a * pow(p / left_pressure, (GAMMA - 1) / (2 * GAMMA));
  if (s < -a) return left_density;
  if (s < tail) return left_density * pow(2 / (GAMMA + 1) - g * s / a, 2 / (GAMMA - 1));
  if (s < u) return left_density * pow(p / left_pressure, 1 / GAMMA);
  if (s < shock) return right_density * (ratio + g) / (g * ratio + 1);
  return right_density;
}

double problem_deviation(struct job *job, const struct grid *g, enum problem problem, double time) {
  const bool in_x = problem == TUBE;
  const double side = in_x ? g->dx : g->dy, length = side * (double)(in_x ? g->all_x : g->all_y);
  const double fastest = 1.8; /* of all waves, the shock's is 1.75 */
  if ((problem != TUBE && problem != TUBE_Y) || time <= 0 || fastest * time > length / 2) return -1;
  double sum = 0;
  for (long j = 0; j < g->ny; j++)
    for (long i = 0; i < g->nx; i++) {
      const double x = ((double)(in_x ? g->x0 + i : g->y0 + j) + 0.5) * side - length / 2;
      sum += fabs(g->q[DENSITY][at(g, i, j)] - known_density(x / time));
    }
  const double lines = (double)(in_x ? g->all_y : g->all_x);
  return job_sum(job, sum) / lines; /* mean over `length`, divided by `side` */
}

double problem_bits(struct job *job, const struct grid *g, bool mirror_x, bool mirror_y) {
  double sum = 0; /* of whole numbers below 2^28, so exact in any order up to 2^25 cells */
  for (long j = 0; j < g->ny; j++)
    for (long i = 0; i < g->nx; i++) {
      const long x = g->x0 + i, y = g->y0 + j, c = at(g, i, j);
      const long place =
          (mirror_y ? g->all_y - 1 - y : y) * g->all_x + (mirror_x ? g->all_x - 1 - x : x);
      uint64_t density, energy;
      memcpy(&density, &g->q[DENSITY][c], sizeof density);
      memcpy(&energy, &g->q[ENERGY][c], sizeof energy);
      sum += (double)(mix64(density ^ mix64(energy ^ mix64((uint64_t)place + 1))) >> 36);
    }
  return job_sum(job, sum);
}
