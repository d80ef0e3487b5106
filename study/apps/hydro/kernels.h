/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of a time step: Lagrangian step, then remap.
 *
 * Owns nothing. Called by hydro.c. Compressible Euler equations of an ideal gas on a staggered
 * grid: density, energy and pressure on cells, velocity on nodes (M. L. Wilkins, "Calculation of
 * elastic-plastic flow", 1964, for the staggering and the artificial viscosity; B. van Leer, J.
 * Comput. Phys. 32, 1979, for the limited second-order fluxes; R. B. DeBar, UCIR-760, 1974, for the
 * kinetic energy that a remap of momentum loses and that is given back as heat). Work and volume
 * are reckoned with the same mean velocities, so that the sum of internal and kinetic energy is
 * kept to rounding, and so is mass. Sums of four are taken as ((a + b) + (c + d)): mirror images
 * stay equal to the last bit.
 */
#ifndef TMB_HYDRO_KERNELS_H
#define TMB_HYDRO_KERNELS_H

#include "grid.h"

/* Pressure, speed of sound, viscosity and mass of cells, ghosts too.
 * Needs: DENSITY, ENERGY, VELOCITY of depth 2. */
void state(struct grid *g);

/* Largest stable time step of this rank's cells, after state(). */
double stable_step(const struct grid *g);

/* Move the nodes for a time step. Needs state(). Then DENSITY, ENERGY and VELOCITY are those of
 * the moved cells (own ones), VOLUME what their faces have swept. */
void lagrange(struct grid *g, double dt);

/* Carry what lies in the moved cells across faces back into the grid, in one dimension; `first` of
 * the two sweeps of a step or the second. remap_flux computes FLUX_X or FLUX_Y of own faces and new
 * DENSITY, ENERGY, MASS of own cells from DENSITY, ENERGY, MASS of depth 2; remap_momentum new
 * VELOCITY from the fluxes of depth 1, and MASS as it was in CELLS of depth 2. */
void remap_cells(struct grid *g, bool in_x, bool first);
void remap_nodes(struct grid *g, bool in_x);

#endif
