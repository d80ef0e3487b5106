/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equation of state, time step and Lagrangian step, see kernels.h.
 *
 * Owns nothing. Called by hydro.c. Calls: grid.h. A predictor of half a step gives the pressure
 * that moves the nodes; the energy of cells changes by the work of just these pressures along the
 * mean of old and new velocity.
 */
#include "kernels.h"

#define LINEAR    0.5 /* artificial viscosity: times density * sound * jump of velocity */
#define QUADRATIC 2.0 /* times density * jump squared */
#define COURANT   0.4 /* of the way of the fastest wave through a cell */

/* Jump of velocity across a cell where it is compressed, else 0. `below`, `above`: at (i, j) and
 * (i, j + 1). */
static double jump(const struct grid *g, long below, long above) {
  const double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y];
  const double du = 0.5 * ((u[below + 1] + u[above + 1]) - (u[below] + u[above]));
  const double dv = 0.5 * ((v[above] + v[above + 1]) - (v[below] + v[below + 1]));
  const double length = fmin(g->dx, g->dy);
  const double change = (du / g->dx + dv / g->dy) * length;
  return change < 0 ? -change : 0;
}

void state(struct grid *g) {
  double *const rho = g->q[DENSITY], *const e = g->q[ENERGY];
  for (long j = -GHOST; j < g->ny + GHOST; j++) {
    for (long i = -GHOST; i < g->nx + GHOST; i++) {
      const long c = at(g, i, j);
      const double p = (GAMMA - 1) * rho[c] * e[c];
      const double s = sqrt(GAMMA * p / rho[c]), d = jump(g, c, c + g->pitch);
      g->q[PRESSURE][c] = p;
      g->q[SOUND][c] = s;
      g->q[VISCOSITY][c] = rho[c] * d * (LINEAR * s + QUADRATIC * d);
      g->q[MASS][c] = rho[c] * (g->dx * g->dy);
    }
  }
}

double stable_step(const struct grid *g) {
  const double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y];
  double fastest = 0;
  for (long j = 0; j < g->ny; j++)
    for (long i = 0; i < g->nx; i++) {
      const long c = at(g, i, j), d = c + g->pitch;
      const double sound = g->q[SOUND][c];
      const double wave =
          sqrt(sound * sound + 2 * g->q[VISCOSITY][c] / g->q[DENSITY][c]) + 2 * jump(g, c, d);
      const double x = fmax(fmax(fabs(u[c]), fabs(u[c + 1])), fmax(fabs(u[d]), fabs(u[d + 1])));
      const double y = fmax(fmax(fabs(v[c]), fabs(v[c + 1])), fmax(fabs(v[d]), fabs(v[d + 1])));
      fastest = fmax(fastest, fmax((wave + x) / g->dx, (wave + y) / g->dy));
    }
  return COURANT / fastest;
}

/* Volume that x face c sweeps in dt. */
static double swept_x(const struct grid *g, const double *u, long c, double dt) {
  return dt * g->dy * 0.5 * (u[c] + u[c + g->pitch]);
}

static double swept_y(const struct grid *g, const double *v, long c, double dt) {
  return dt * g->dx * 0.5 * (v[c] + v[c + 1]);
}

/* Pressure at half of the step, with the viscosity added: what acts on nodes. Into WORK. */
static void predict(struct grid *g, double dt) {
  const double volume = g->dx * g->dy;
  const double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y];
  for (long j = -GHOST; j < g->ny + GHOST; j++) {
    for (long i = -GHOST; i < g->nx + GHOST; i++) {
      const long c = at(g, i, j);
      const double grown = (swept_x(g, u, c + 1, dt / 2) - swept_x(g, u, c, dt / 2)) +
                           (swept_y(g, v, c + g->pitch, dt / 2) - swept_y(g, v, c, dt / 2));
      const double q = g->q[VISCOSITY][c], mass = g->q[MASS][c];
      const double e = g->q[ENERGY][c] - (g->q[PRESSURE][c] + q) * grown / mass;
      g->q[WORK][c] = (GAMMA - 1) * mass / (volume + grown) * e + q;
    }
  }
}

/* Velocity of nodes of depth 1: the old one stays, the change goes into MOMENTUM. */
static void accelerate(struct grid *g, double dt) {
  const double *const p = g->q[WORK], *const m = g->q[MASS];
  for (long j = -1; j <= g->ny + 1; j++) {
    for (long i = -1; i <= g->nx + 1; i++) {
      const long ne = at(g, i, j), nw = ne - 1, se = ne - g->pitch, sw = se - 1;
      const double mass = 0.25 * ((m[sw] + m[se]) + (m[nw] + m[ne]));
      const double x = 0.5 * g->dy * ((p[sw] + p[nw]) - (p[se] + p[ne]));
      const double y = 0.5 * g->dx * ((p[sw] + p[se]) - (p[nw] + p[ne]));
      g->q[MOMENTUM_X][ne] = dt * x / mass;
      g->q[MOMENTUM_Y][ne] = dt * y / mass;
    }
  }
}

/* Mean velocity of nodes of depth 1 into VELOCITY, for the volumes; then the new velocity. */
static void move(struct grid *g, double dt) {
  double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y];
  const double *const du = g->q[MOMENTUM_X], *const dv = g->q[MOMENTUM_Y];
  for (int half = 0; half < 2; half++) {
    for (long j = -1; j <= g->ny + 1; j++)
      for (long i = -1; i <= g->nx + 1; i++) {
        const long n = at(g, i, j);
        u[n] += 0.5 * du[n];
        v[n] += 0.5 * dv[n];
      }
    if (half) return;
    for (long j = -1; j <= g->ny + 1; j++)
      for (long i = -1; i <= g->nx + 1; i++) {
        const long n = at(g, i, j);
        g->q[VOLUME_X][n] = swept_x(g, u, n, dt);
        g->q[VOLUME_Y][n] = swept_y(g, v, n, dt);
      }
  }
}

void lagrange(struct grid *g, double dt) {
  const double volume = g->dx * g->dy;
  predict(g, dt);
  accelerate(g, dt);
  move(g, dt);
  const double *const x = g->q[VOLUME_X], *const y = g->q[VOLUME_Y];
  for (long j = 0; j < g->ny; j++) {
    for (long i = 0; i < g->nx; i++) {
      const long c = at(g, i, j);
      const double grown = (x[c + 1] - x[c]) + (y[c + g->pitch] - y[c]);
      g->q[ENERGY][c] -= g->q[WORK][c] * grown / g->q[MASS][c];
      g->q[DENSITY][c] = g->q[MASS][c] / (volume + grown);
    }
  }
}
