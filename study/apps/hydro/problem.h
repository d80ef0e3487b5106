/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is computed, and what is known of the answer.
 *
 * Owns nothing. Called by hydro.c. Calls: links.h, grid.h. Names: `blast`, a hot disc in the
 * middle, which stays a mirror image of itself; `tube`, Sod's shock tube in x (G. A. Sod, J.
 * Comput. Phys. 27, 1978), whose solution is known; `tube-y`, the same in y; `corner`, a dense hot
 * box in a corner.
 */
#ifndef TMB_HYDRO_PROBLEM_H
#define TMB_HYDRO_PROBLEM_H

#include "grid.h"

enum problem { BLAST, TUBE, TUBE_Y, CORNER, PROBLEMS };

/* Returns PROBLEMS if there is none of that name. */
enum problem problem_find(const char *name);

/* DENSITY, ENERGY and VELOCITY of this rank's cells and nodes at the start. */
void problem_start(struct grid *g, enum problem problem);

/* Sums over the whole grid. */
struct totals {
  double mass, energy; /* energy: internal and kinetic */
};

struct totals problem_totals(struct job *job, const struct grid *g);

/* Of a shock tube at time `time`: mean deviation of the density from the known one, divided by the
 * side of a cell; -1 where there is no solution or the waves have reached a wall. */
double problem_deviation(struct job *job, const struct grid *g, enum problem problem, double time);

/* A sum of bits that is the same for the same DENSITY and ENERGY on any number of ranks; with
 * `mirror_x`, `mirror_y` of the mirror image. */
double problem_bits(struct job *job, const struct grid *g, bool mirror_x, bool mirror_y);

#endif
