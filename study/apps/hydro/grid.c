/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Division of the grid among ranks, see grid.h.
 *
 * Owns: the arrays. Called by hydro.c and halo.c. Calls: links.h. Invariant: every rank has at
 * least GHOST cells in each direction, because a neighbour needs as many from it.
 */
#include "grid.h"

#include <stdlib.h>

/* Of the pairs of factors of `size`, the one with the shortest sides between ranks. */
static void rank_grid(int size, const long cells[2], int *px, int *py) {
  double best = -1;
  for (int x = 1; x <= size; x++) {
    if (size % x) continue;
    const int y = size / x;
    const double sides = (double)cells[1] * (x - 1) + (double)cells[0] * (y - 1);
    const bool fits = cells[0] / x >= GHOST && cells[1] / y >= GHOST;
    if (!fits || (best >= 0 && sides >= best)) continue;
    best = sides;
    *px = x;
    *py = y;
  }
  if (best < 0) *px = *py = 0;
}

void grid_divide(struct job *job, struct grid *g, const long cells[2], const double size[2]) {
  *g = (struct grid){.all_x = cells[0], .all_y = cells[1]};
  rank_grid(job->size, cells, &g->ranks_x, &g->ranks_y);
  if (!g->ranks_x)
    job_refuse(job,
               "%ld x %ld cells cannot be divided among %d ranks so that each has %d x %d; take "
               "more cells or fewer ranks",
               cells[0], cells[1], job->size, GHOST, GHOST);
  g->rank_x = job->rank % g->ranks_x;
  g->rank_y = job->rank / g->ranks_x;
  g->x0 = cells[0] * g->rank_x / g->ranks_x;
  g->nx = cells[0] * (g->rank_x + 1) / g->ranks_x - g->x0;
  g->y0 = cells[1] * g->rank_y / g->ranks_y;
  g->ny = cells[1] * (g->rank_y + 1) / g->ranks_y - g->y0;
  g->most_x = (cells[0] + g->ranks_x - 1) / g->ranks_x;
  g->most_y = (cells[1] + g->ranks_y - 1) / g->ranks_y;
  g->pitch = g->nx + 1 + 2L * GHOST;
  g->lines = g->ny + 1 + 2L * GHOST;
  g->dx = size[0] / (double)cells[0];
  g->dy = size[1] / (double)cells[1];
}

int grid_neighbour(const struct grid *g, int dx, int dy) {
  const int x = g->rank_x + dx, y = g->rank_y + dy;
  if (x < 0 || x >= g->ranks_x || y < 0 || y >= g->ranks_y) return -1;
  return y * g->ranks_x + x;
}

double grid_bytes(const struct grid *g) {
  return (double)sizeof(double) * QUANTITIES * (double)g->pitch * (double)g->lines;
}

bool grid_allocate(struct grid *g) {
  for (int k = 0; k < QUANTITIES; k++) {
    g->q[k] = calloc((size_t)g->pitch * (size_t)g->lines, sizeof(double));
    if (!g->q[k]) return false;
  }
  return true;
}

void grid_free(struct grid *g) {
  for (int k = 0; k < QUANTITIES; k++) free(g->q[k]);
}
