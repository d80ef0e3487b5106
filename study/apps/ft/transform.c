/* SPDX-License-Identifier: BSD-3-Clause */
/* The three-dimensional transforms: six stages of one-dimensional ones, each working plane by
 * plane, with the exchanges between them. Called by run.c through solver.h; calls pencil.c for a
 * plane, exchange.c for what follows it.
 *
 *   stage        plane  reads                              writes (piece for each destination)
 *   x forward    z      initial data [z][y_row][x]         [x member][y_row][x_local]  to the row,
 * by plane y forward    z      [z][y][x_local]                    [y member][y_col][x_local]  to
 * the column, by source z forward    y_col  [z][y_col][x_local]                spectrum
 * [y_col][x_local][z] z inverse    y_col  spectrum, with decay factors       [z
 * member][z_local][x_local] to the column, by source y inverse    z      [y][z][x_local] [y
 * member][y_row][x_local]  to the row, by plane x inverse    z      [z][x member][y_row][x_local]
 * solution [z][y_row][x]
 *
 * Every piece is contiguous where it leaves and where it lands. With TY = 1 the stages of x and y
 * have the same planes and run one after the other on each, while it is in cache.
 */
#include "solver.h"

static size_t area(int a, int b) {
  return (size_t)a * (size_t)b;
}

static void x_forward(struct ft_solver *s, int z) {
  const struct ft_layout *l = &s->layout;
  struct cplx *plane = s->spectrum + (size_t)z * area(l->ny_x, l->n[0]);
  struct ft_view in = ft_rows(plane, l->n[0]), out = in;
  if (l->ty > 1)
    out = ft_split_rows(ft_exchange_target(&s->exchange[FT_ROW_FORWARD], z), l->nx,
                        area(l->ny_x, l->nx));
  ft_pencil_apply(&s->forward[0], &in, &out, NULL, &s->phases);
}

static void y_forward(struct ft_solver *s, int z) {
  const struct ft_layout *l = &s->layout;
  struct cplx *from = l->ty > 1 ? s->exchange[FT_ROW_FORWARD].land : s->spectrum;
  struct cplx *to = ft_exchange_target(&s->exchange[FT_COLUMN_FORWARD], z);
  struct ft_view in = ft_columns(from + (size_t)z * area(l->n[1], l->nx), l->n[1], (size_t)l->nx);
  struct ft_view out = ft_columns(to, l->n[1], (size_t)l->nx);
  ft_pencil_apply(&s->forward[1], &in, &out, NULL, &s->phases);
}

static void z_forward(struct ft_solver *s, int y) {
  const struct ft_layout *l = &s->layout;
  struct cplx *from = s->exchange[FT_COLUMN_FORWARD].land + area(y, l->nx);
  struct ft_view in = ft_columns(from, l->n[2], area(l->ny_z, l->nx));
  struct ft_view out = ft_rows(s->spectrum + (size_t)y * area(l->nx, l->n[2]), l->n[2]);
  ft_pencil_apply(&s->forward[2], &in, &out, NULL, &s->phases);
}

static void z_inverse(struct ft_solver *s, int y) {
  const struct ft_layout *l = &s->layout;
  struct cplx *to = ft_exchange_target(&s->exchange[FT_COLUMN_INVERSE], y);
  struct ft_weights decay = {s->decay[2], s->decay[0], s->decay[1][y]};
  struct ft_view in = ft_rows(s->spectrum + (size_t)y * area(l->nx, l->n[2]), l->n[2]);
  struct ft_view out = ft_columns(to, l->n[2], (size_t)l->nx);
  ft_pencil_apply(&s->inverse[2], &in, &out, &decay, &s->phases);
}

static void y_inverse(struct ft_solver *s, int z) {
  const struct ft_layout *l = &s->layout;
  struct cplx *from = s->exchange[FT_COLUMN_INVERSE].land + area(z, l->nx);
  struct cplx *to = l->ty > 1 ? ft_exchange_target(&s->exchange[FT_ROW_INVERSE], z)
                              : s->result + (size_t)z * area(l->n[1], l->nx);
  struct ft_view in = ft_columns(from, l->n[1], area(l->nz, l->nx));
  struct ft_view out = ft_columns(to, l->n[1], (size_t)l->nx);
  ft_pencil_apply(&s->inverse[1], &in, &out, NULL, &s->phases);
}

static void x_inverse(struct ft_solver *s, int z) {
  const struct ft_layout *l = &s->layout;
  size_t plane = area(l->ny_x, l->n[0]);
  struct ft_view out = ft_rows(s->result + (size_t)z * plane, l->n[0]), in = out;
  if (l->ty > 1)
    in = ft_split_rows(s->exchange[FT_ROW_INVERSE].land + (size_t)z * plane, l->nx,
                       area(l->ny_x, l->nx));
  ft_pencil_apply(&s->inverse[0], &in, &out, NULL, &s->phases);
}

/* All pieces of an exchange are here, and its buffer serves the next one. */
static void complete(struct ft_solver *s, struct ft_exchange *x) {
  ft_exchange_finish(s->schedule, x);
  ft_exchange_end(s->schedule, x);
}

/* Whether both exchanges of a transform may be in progress: the second has a buffer of its own. */
static bool two_at_once(const struct ft_solver *s) {
  return s->rows != s->work;
}

/* Whether a plane has come; wait: it has on return. */
static bool is_here(struct ft_solver *s, struct ft_exchange *x, int z, bool wait) {
  if (!wait) return ft_exchange_come(s->schedule, x, z);
  ft_exchange_await(s->schedule, x, z);
  return true;
}

/* Planes from *z to end, which this rank has produced, are transformed along y and sent to the
 * column, as far as they have come from the row; wait: all of them. */
static void y_forward_come(struct ft_solver *s, int *z, int end, bool wait) {
  for (; *z < end && is_here(s, &s->exchange[FT_ROW_FORWARD], *z, wait); ++*z) {
    y_forward(s, *z);
    ft_exchange_plane(s->schedule, &s->exchange[FT_COLUMN_FORWARD], *z);
  }
}

/* x and y, with an exchange in between. */
static void xy_forward(struct ft_solver *s) {
  struct ft_exchange *row = &s->exchange[FT_ROW_FORWARD];
  int next = 0;
  for (int z = 0; z < s->layout.nz; z++) {
    x_forward(s, z);
    ft_exchange_plane(s->schedule, row, z);
    if (two_at_once(s)) y_forward_come(s, &next, z + 1, false);
  }
  if (two_at_once(s)) {
    ft_exchange_finish(s->schedule, row);
    y_forward_come(s, &next, s->layout.nz, true);
    return;
  }
  complete(s, row);
  for (int z = 0; z < s->layout.nz; z++) {
    y_forward(s, z);
    ft_exchange_plane(s->schedule, &s->exchange[FT_COLUMN_FORWARD], z);
  }
}

void ft_solver_forward(struct ft_solver *s) {
  const struct ft_layout *l = &s->layout;
  struct ft_exchange *column = &s->exchange[FT_COLUMN_FORWARD];
  comm_region("x and y, forward");
  if (l->ty > 1) xy_forward(s);
  for (int z = 0; l->ty == 1 && z < l->nz; z++) {
    x_forward(s, z);
    y_forward(s, z);
    ft_exchange_plane(s->schedule, column, z);
  }
  ft_exchange_finish(s->schedule, column);
  comm_region_end();
  comm_region("z, forward");
  for (int y = 0; y < l->ny_z; y++) {
    ft_exchange_await(s->schedule, column, y);
    z_forward(s, y);
  }
  if (two_at_once(s)) ft_exchange_end(s->schedule, &s->exchange[FT_ROW_FORWARD]);
  ft_exchange_end(s->schedule, column);
  comm_region_end();
  ft_phases_enter(&s->phases, FT_SYNC);
  comm_barrier(); /* all have read their landing zones */
}

static void set_decay(struct ft_solver *s, int t) {
  const struct ft_layout *l = &s->layout;
  ft_phases_enter(&s->phases, FT_EVOLVE);
  ft_decay_table(s->decay[0], l->x0, l->nx, l->n[0], t, 1.0);
  ft_decay_table(s->decay[1], l->y0_z, l->ny_z, l->n[1], t, 1.0);
  ft_decay_table(s->decay[2], 0, l->n[2], l->n[2], t, 1.0 / ft_class_points(s->class));
}

/* Planes from *z to end, which this rank has produced, are transformed along x, as far as they have
 * come from the row; wait: all of them. */
static void x_inverse_come(struct ft_solver *s, int *z, int end, bool wait) {
  for (; *z < end && is_here(s, &s->exchange[FT_ROW_INVERSE], *z, wait); ++*z) x_inverse(s, *z);
}

/* y and x, with an exchange in between, as far as the column's planes have come. */
static void yx_inverse(struct ft_solver *s) {
  const int planes = s->layout.nz;
  struct ft_exchange *column = &s->exchange[FT_COLUMN_INVERSE];
  struct ft_exchange *row = &s->exchange[FT_ROW_INVERSE];
  int next = 0;
  for (int z = 0; z < planes; z++) {
    if (two_at_once(s)) ft_exchange_await(s->schedule, column, z);
    y_inverse(s, z);
    ft_exchange_plane(s->schedule, row, z);
    if (two_at_once(s)) x_inverse_come(s, &next, z + 1, false);
  }
  if (!two_at_once(s)) {
    complete(s, row);
    for (int z = 0; z < planes; z++) x_inverse(s, z);
    return;
  }
  ft_exchange_finish(s->schedule, row);
  x_inverse_come(s, &next, planes, true);
  ft_exchange_end(s->schedule, column);
  ft_exchange_end(s->schedule, row);
}

void ft_solver_inverse(struct ft_solver *s, int t) {
  const struct ft_layout *l = &s->layout;
  struct ft_exchange *column = &s->exchange[FT_COLUMN_INVERSE];
  comm_region("evolve and z, inverse");
  set_decay(s, t);
  for (int y = 0; y < l->ny_z; y++) {
    z_inverse(s, y);
    ft_exchange_plane(s->schedule, column, y);
  }
  ft_exchange_finish(s->schedule, column);
  if (l->ty > 1 && !two_at_once(s)) ft_exchange_end(s->schedule, column);
  comm_region_end();
  comm_region("y and x, inverse");
  if (l->ty > 1) yx_inverse(s);
  for (int z = 0; l->ty == 1 && z < l->nz; z++) {
    ft_exchange_await(s->schedule, column, z);
    y_inverse(s, z);
    x_inverse(s, z);
  }
  if (l->ty == 1) ft_exchange_end(s->schedule, column);
  comm_region_end();
}
