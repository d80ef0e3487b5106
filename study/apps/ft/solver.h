/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's state of a run: its share of the grid, buffers, plans and exchanges, and the
 * operations of the benchmark. Owned by run.c. Everything but ft_solver_point is collective over
 * the job.
 */
#ifndef FT_SOLVER_H
#define FT_SOLVER_H

#include "exchange.h"
#include "layout.h"
#include "pencil.h"

/* The exchanges of a 3-D transform and its inverse, by the team they run in. */
enum ft_exchange_id {
  FT_ROW_FORWARD,
  FT_COLUMN_FORWARD,
  FT_COLUMN_INVERSE,
  FT_ROW_INVERSE,
  FT_EXCHANGES
};

struct ft_buffers {
  size_t segment_bytes; /* of the segment a run needs */
  size_t private_bytes; /* of the memory beside it */
};

struct ft_solver {
  const struct ft_class *class;
  struct ft_layout layout;
  const struct ft_schedule *schedule;
  struct ft_team team[FT_TEAMS];
  struct ft_exchange exchange[FT_EXCHANGES];
  struct ft_pencil forward[3], inverse[3]; /* by dimension */
  struct ft_phases phases;
  struct cplx
      *spectrum; /* [ny_z][nx][nz]; before the forward transform the initial data [nz][ny_x][nx] */
  struct cplx *work; /* send buffer of every stage */
  struct cplx *rows; /* that of the row exchanges: work, or where both exchanges of a transform are
                        in progress at once, an array of its own */
  struct cplx *result; /* at the end of an iteration the solution [nz][ny_x][nx]: work, or where
                          work is still being sent, an array of its own */
  struct cplx *pack;   /* packed schedule only, else NULL */
  struct cplx
      *inner; /* landing zone of the column exchanges when they are local (TZ = 1), else NULL */
  double *decay[3]; /* factors of x [nx], y [ny_z], z [n[2]] */
};

/* Buffers that a layout needs on each rank, with the extra memory of a schedule. */
struct ft_buffers ft_solver_buffers(const struct ft_layout *layout, enum ft_extra extra);

/* The row and the column team of this rank: team is [FT_TEAMS]. Collective, before comm_attach. */
void ft_solver_teams(struct ft_team *team, const struct ft_layout *layout);

/* Buffers and plans; segment is what comm_attach returned. class, layout, schedule and team are set
 * beforehand. Returns NULL, or what could not be had. */
const char *ft_solver_init(struct ft_solver *solver, char *segment, unsigned fftw_flags);
void ft_solver_free(struct ft_solver *solver);

/* Initial data into spectrum. */
void ft_solver_fill(struct ft_solver *solver);

/* Initial data to spectrum, which later iterations do not change. Ends with a barrier. */
void ft_solver_forward(struct ft_solver *solver);

/* Solution at time t into result, from the spectrum. */
void ft_solver_inverse(struct ft_solver *solver, int t);

/* The checksum of the solution in result, the same on all ranks. Synchronises the job. */
struct cplx ft_solver_checksum(struct ft_solver *solver);

/* This rank's copy of point (x, y, z) in the x-pencils at base, or NULL if another rank holds it.
 */
struct cplx *ft_solver_point(const struct ft_solver *solver, struct cplx *base, int x, int y,
                             int z);

#endif
