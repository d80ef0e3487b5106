/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the grid that a rank has, and the quantities on it.
 *
 * Owns: struct grid. Used by all of hydro. A grid of cells is divided among a grid of ranks; each
 * has GHOST layers of cells and of nodes beyond its own. Cell (i, j) lies between nodes (i, j) and
 * (i+1, j+1); a rank's cells are 0 <= i < nx, its nodes 0 <= i <= nx, those at the sides shared
 * with the neighbour, who computes the same bits. x face (i, j) is the left one of cell (i, j), y
 * face (i, j) the lower one. All arrays have the same shape, whatever they are on.
 */
#ifndef TMB_HYDRO_GRID_H
#define TMB_HYDRO_GRID_H

#include "lib/app.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define GHOST 2
#define GAMMA 1.4 /* ratio of specific heats */

/* What an array is on, in each dimension: on cells, or on the lines between them. */
enum place { CELL = 0, X_FACE = 1, Y_FACE = 2, NODE = X_FACE | Y_FACE };

enum quantity {
  DENSITY,
  ENERGY, /* internal, for a unit of mass */
  MASS,   /* of a cell */
  PRESSURE,
  VISCOSITY, /* artificial, a pressure */
  SOUND,     /* its speed */
  VELOCITY_X,
  VELOCITY_Y,
  VOLUME_X, /* swept by an x face in a step, towards larger x */
  VOLUME_Y,
  FLUX_X, /* mass through an x face in a step, towards larger x */
  FLUX_Y,
  NODE_MASS,
  MOMENTUM_X, /* of the dual cell of a node */
  MOMENTUM_Y,
  KINETIC,     /* energy of the dual cell of a node, as carried; then what is missing of it */
  ENERGY_FLUX, /* internal energy through a face in a sweep */
  WORK,        /* in a cell for a while */
  QUANTITIES
};

struct grid {
  long all_x, all_y;     /* cells of the whole grid */
  int ranks_x, ranks_y;  /* grid of ranks */
  int rank_x, rank_y;    /* this one */
  long x0, y0, nx, ny;   /* first cell and cells of this rank */
  long most_x, most_y;   /* cells of the rank with most */
  long pitch, lines;     /* of each array, with ghosts */
  double dx, dy;         /* sides of a cell */
  double *q[QUANTITIES]; /* [lines][pitch] */
};

static inline long at(const struct grid *g, long i, long j) {
  return (j + GHOST) * g->pitch + i + GHOST;
}

/* Divide a grid of x * y cells with the physical size w * h; ends the job if that is impossible. */
void grid_divide(struct job *job, struct grid *g, const long cells[2], const double size[2]);

/* The rank `dx`, `dy` (-1, 0, 1) away, or -1 at a wall. */
int grid_neighbour(const struct grid *g, int dx, int dy);

/* Bytes of memory for all quantities. */
double grid_bytes(const struct grid *g);

/* Memory for all quantities, zero. Returns false if there is none. */
bool grid_allocate(struct grid *g);
void grid_free(struct grid *g);

#endif
