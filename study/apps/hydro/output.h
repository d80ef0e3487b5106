/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots.
 *
 * Owns nothing. Called by hydro.c. Calls: links.h, grid.h, libpng where the build found it. All
 * ranks write their lines of one VTK file (legacy format, binary; cell data density, energy,
 * pressure), so they need a common file system; rank 0 then draws the density as PNG.
 */
#ifndef TMB_HYDRO_OUTPUT_H
#define TMB_HYDRO_OUTPUT_H

#include "grid.h"

/* Write PREFIX.STEP.vtk and PREFIX.STEP.png; ends the job if that fails. Needs state(). */
void output_write(struct job *job, const struct grid *g, const char *prefix, long step);

#endif
