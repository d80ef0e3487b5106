/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remap, see kernels.h.
 *
 * Owns nothing. Called by hydro.c. Calls: grid.h. One code for both dimensions: `along` is the
 * distance in an array to the next cell in the direction of the sweep, `across` in the other one.
 * Invariant: what leaves a cell or dual cell enters the next one with the same bits.
 */
#include "kernels.h"

struct sweep {
  struct grid *g;
  long along, across;
  double *flux;                 /* of mass through faces */
  const double *volume, *other; /* swept in this and in the other dimension */
  bool first;
};

static struct sweep sweep_of(struct grid *g, bool in_x, bool first) {
  struct sweep s = {.g = g, .along = g->pitch, .across = 1, .flux = g->q[FLUX_Y], .first = first};
  s.volume = g->q[VOLUME_Y];
  s.other = g->q[VOLUME_X];
  if (in_x) {
    s.along = 1;
    s.across = g->pitch;
    s.flux = g->q[FLUX_X];
    s.volume = g->q[VOLUME_X];
    s.other = g->q[VOLUME_Y];
  }
  return s;
}

/* Cells of this rank, one more in the dimension of the sweep if `faces`. */
static long cells_x(const struct sweep *s, bool faces) {
  return s->g->nx + (faces && s->along == 1 ? 1 : 0);
}

static long cells_y(const struct sweep *s, bool faces) {
  return s->g->ny + (faces && s->along != 1 ? 1 : 0);
}

/* Volume of a cell before the sweep. */
static double volume_before(const struct sweep *s, long c) {
  const double here = s->volume[c + s->along] - s->volume[c];
  const double there = s->first ? s->other[c + s->across] - s->other[c] : 0;
  return s->g->dx * s->g->dy + (here + there);
}

static double volume_after(const struct sweep *s, long c) {
  return s->g->dx * s->g->dy + (s->first ? s->other[c + s->across] - s->other[c] : 0);
}

/* Value of `a` at what leaves cell d, of which it is the part `part`, towards d + step. */
static double carried(const double *a, long d, long step, double part) {
  const double ahead = a[d + step] - a[d], behind = a[d] - a[d - step];
  const double product = ahead * behind;
  if (product <= 0) return a[d];
  return a[d] + (1 - part) * product / (ahead + behind);
}

static void node_masses(struct grid *g) {
  const double *const m = g->q[MASS];
  for (long j = -1; j <= g->ny + 1; j++)
    for (long i = -1; i <= g->nx + 1; i++) {
      const long ne = at(g, i, j), nw = ne - 1, se = ne - g->pitch, sw = se - 1;
      g->q[NODE_MASS][ne] = 0.25 * ((m[sw] + m[se]) + (m[nw] + m[ne]));
    }
}

static void cell_fluxes(const struct sweep *s) {
  struct grid *const g = s->g;
  for (long j = 0; j < cells_y(s, true); j++) {
    for (long i = 0; i < cells_x(s, true); i++) {
      const long c = at(g, i, j);
      const double swept = s->volume[c];
      const long from = swept > 0 ? c - s->along : c, step = swept > 0 ? s->along : -s->along;
      const double density =
          carried(g->q[DENSITY], from, step, fabs(swept) / volume_before(s, from));
      const double mass = swept * density;
      s->flux[c] = mass;
      g->q[ENERGY_FLUX][c] =
          mass * carried(g->q[ENERGY], from, step, fabs(mass) / g->q[MASS][from]);
    }
  }
}

void remap_cells(struct grid *g, bool in_x, bool first) {
  const struct sweep s = sweep_of(g, in_x, first);
  double *const m = g->q[MASS], *const e = g->q[ENERGY];
  const double *const heat = g->q[ENERGY_FLUX];
  node_masses(g);
  cell_fluxes(&s);
  for (long j = 0; j < g->ny; j++) {
    for (long i = 0; i < g->nx; i++) {
      const long c = at(g, i, j), d = c + s.along;
      const double before = m[c];
      m[c] = before + (s.flux[c] - s.flux[d]);
      e[c] = (before * e[c] + (heat[c] - heat[d])) / m[c];
      g->q[DENSITY][c] = m[c] / volume_after(&s, c);
    }
  }
}

/* Flux from node n - along to node n: mass, momentum, kinetic energy. */
static void node_flux(const struct sweep *s, long n) {
  struct grid *const g = s->g;
  const long back = n - s->along;
  const double mass =
      0.25 * ((s->flux[back - s->across] + s->flux[n - s->across]) + (s->flux[back] + s->flux[n]));
  const long from = mass > 0 ? back : n, step = mass > 0 ? s->along : -s->along;
  const double part = fabs(mass) / g->q[NODE_MASS][from];
  const double u = carried(g->q[VELOCITY_X], from, step, part);
  const double v = carried(g->q[VELOCITY_Y], from, step, part);
  g->q[ENERGY_FLUX][n] = mass;
  g->q[MOMENTUM_X][n] = mass * u;
  g->q[MOMENTUM_Y][n] = mass * v;
  g->q[KINETIC][n] = mass * 0.5 * (u * u + v * v);
}

/* New velocity of node n; KINETIC becomes the energy that its motion has lost. */
static void node_update(const struct sweep *s, long n) {
  struct grid *const g = s->g;
  double *const u = g->q[VELOCITY_X], *const v = g->q[VELOCITY_Y], *const k = g->q[KINETIC];
  const double *const mass = g->q[ENERGY_FLUX];
  const double *const px = g->q[MOMENTUM_X], *const py = g->q[MOMENTUM_Y];
  const long next = n + s->along;
  const double before = g->q[NODE_MASS][n], after = before + (mass[n] - mass[next]);
  const double energy = before * 0.5 * (u[n] * u[n] + v[n] * v[n]) + (k[n] - k[next]);
  u[n] = (before * u[n] + (px[n] - px[next])) / after;
  v[n] = (before * v[n] + (py[n] - py[next])) / after;
  k[n] = energy - after * 0.5 * (u[n] * u[n] + v[n] * v[n]);
}

void remap_nodes(struct grid *g, bool in_x) {
  const struct sweep s = sweep_of(g, in_x, false);
  const double *const k = g->q[KINETIC];
  for (long j = 0; j <= cells_y(&s, true); j++)
    for (long i = 0; i <= cells_x(&s, true); i++) node_flux(&s, at(g, i, j));
  for (long j = 0; j <= g->ny; j++)
    for (long i = 0; i <= g->nx; i++) node_update(&s, at(g, i, j));
  for (long j = 0; j < g->ny; j++) {
    for (long i = 0; i < g->nx; i++) {
      const long sw = at(g, i, j), nw = sw + g->pitch;
      g->q[ENERGY][sw] += 0.25 * ((k[sw] + k[sw + 1]) + (k[nw] + k[nw + 1])) / g->q[MASS][sw];
    }
  }
}
