/* SPDX-License-Identifier: BSD-3-Clause */
/* How the grid is cut: a process grid of TY x TZ ranks (rank = tz * TY + ty) and the three
 * distributions of the data.
 *
 *   x-pencils  x whole, y cut in TY, z cut in TZ    start and end of each 3-D transform
 *   y-pencils  y whole, x cut in TY, z cut in TZ    reached from x-pencils by an exchange in the
 * row team (TY ranks) z-pencils  z whole, x cut in TY, y cut in TZ    reached from y-pencils by an
 * exchange in the column team (TZ ranks)
 *
 * A dimension that is not cut needs no exchange: TY = 1 or TZ = 1 is the one-dimensional ("slab")
 * decomposition with one exchange per transform, otherwise there are two. Invariant: nx_local * ny
 * * nz = nx * ny_x * nz = points, the same number on every rank.
 */
#ifndef FT_LAYOUT_H
#define FT_LAYOUT_H

#include "problem.h"

#include <stdbool.h>

struct ft_layout {
  int n[3];   /* global points in x, y, z */
  int ty, tz; /* process grid */
  int my_ty;  /* coordinates of this rank */
  int my_tz;
  int nx, x0;     /* local share of x in y- and z-pencils, and its first index */
  int ny_x, y0_x; /* local share of y in x-pencils */
  int ny_z, y0_z; /* local share of y in z-pencils */
  int nz, z0;     /* local share of z in x- and y-pencils */
  size_t points;  /* complex numbers a rank holds */
};

/* Why TY x TZ cannot hold the class on `ranks` ranks: writes a sentence to reason ([bytes]) and
 * returns false; or returns true. */
bool ft_layout_possible(const struct ft_class *class, int ty, int tz, int ranks, char *reason,
                        size_t bytes);

/* The default grid: 1 x ranks if that divides, else the possible grid nearest to a square. Returns
 * false if none is. */
bool ft_layout_choose(const struct ft_class *class, int ranks, int *ty, int *tz);

/* Writes every possible grid of `ranks` ranks ("1x4 2x2 4x1"), or what rank counts would do, to
 * text ([bytes]). */
void ft_layout_advise(const struct ft_class *class, int ranks, char *text, size_t bytes);

/* Fills in the layout of one rank of a possible grid. */
void ft_layout_init(struct ft_layout *layout, const struct ft_class *class, int ty, int tz,
                    int rank);

#endif
