/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of a rank's solver: teams, buffers, exchanges, plans; initial data and checksum.
 * transform.c holds the transforms. Called by run.c; calls comm.c, pencil.c, problem.c. Memory of a
 * rank, in arrays of `points` complex numbers: spectrum and work (private), one landing zone for
 * each team of more than one rank (segment; of the column team also when it is one rank, then
 * private), for the packed schedule a pack buffer (private) and, if there is a row team, a staging
 * zone (segment); for one that streams the solution and, if there is a row team, what rows send
 * (private). Invariant: the segment of every rank
 * has the same layout, [gathered statistics][column][row][staging].
 */
#include "solver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHECKSUM_POINTS 1024
#define HUGE_PAGE       ((size_t)2 << 20)
#define ZONE_ALIGN      ((size_t)4096)

struct zones {
  size_t column, row, staging, end; /* offsets in the segment */
};

static size_t array_bytes(const struct ft_layout *layout) {
  size_t bytes = layout->points * sizeof(struct cplx);
  return (bytes + ZONE_ALIGN - 1) / ZONE_ALIGN * ZONE_ALIGN;
}

/* Planes of both sides of an exchange are in work at the same time. With a row exchange, too, only
 * where that brings something, because it takes one more array. */
static bool has_result(const struct ft_layout *layout, enum ft_extra extra) {
  return extra == FT_RESULT && layout->tz > 1 && (layout->ty == 1 || !comm_all_near());
}

static struct zones place_zones(const struct ft_layout *layout, enum ft_extra extra) {
  size_t array = array_bytes(layout);
  size_t statistics = comm_gather_bytes(FT_PHASES + 1);
  struct zones at;
  at.column = (statistics + ZONE_ALIGN - 1) / ZONE_ALIGN * ZONE_ALIGN;
  at.row = at.column + (layout->tz > 1 ? array : 0);
  at.staging = at.row + (layout->ty > 1 ? array : 0);
  at.end = at.staging + (extra == FT_PACKS && layout->ty > 1 ? array : 0);
  return at;
}

struct ft_buffers ft_solver_buffers(const struct ft_layout *layout, enum ft_extra extra) {
  const bool result = has_result(layout, extra);
  size_t private_arrays = 2 + (extra == FT_PACKS || result ? 1 : 0) + (layout->tz == 1 ? 1 : 0);
  if (result && layout->ty > 1) private_arrays++;
  return (struct ft_buffers){.segment_bytes = place_zones(layout, extra).end,
                             .private_bytes = private_arrays * array_bytes(layout)};
}

void ft_solver_teams(struct ft_team *team, const struct ft_layout *l) {
  team[FT_ROW] =
      (struct ft_team){.size = l->ty, .me = l->my_ty, .first = l->my_tz * l->ty, .stride = 1};
  team[FT_COLUMN] =
      (struct ft_team){.size = l->tz, .me = l->my_tz, .first = l->my_ty, .stride = l->ty};
  comm_team_init(&team[FT_ROW], FT_ROW);
  comm_team_init(&team[FT_COLUMN], FT_COLUMN);
}

/* Memory of its own in large pages where the system has them, touched now so that no fault falls
 * into the timed part. */
static struct cplx *private_array(const struct ft_layout *layout) {
  size_t bytes = (array_bytes(layout) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  struct cplx *array = aligned_alloc(HUGE_PAGE, bytes);
  if (!array) return NULL;
  madvise(array, bytes, MADV_HUGEPAGE); /* a wish: failure only costs speed */
  memset(array, 0, bytes);
  return array;
}

/* Both exchanges of a transform are in progress at once. */
static void join_exchanges(struct ft_exchange *x) {
  x[FT_ROW_FORWARD].behind = &x[FT_COLUMN_FORWARD];
  x[FT_COLUMN_FORWARD].before = &x[FT_ROW_FORWARD];
  x[FT_COLUMN_INVERSE].behind = &x[FT_ROW_INVERSE];
  x[FT_ROW_INVERSE].before = &x[FT_COLUMN_INVERSE];
}

/* Sizes of the four exchanges: see the stages in transform.c. */
static void init_exchanges(struct ft_solver *s, char *segment, const struct zones *at) {
  const struct ft_layout *l = &s->layout;
  const size_t row = (size_t)l->ny_x * (size_t)l->nx, column = (size_t)l->ny_z * (size_t)l->nx;
  const struct {
    int planes, rows;
    size_t piece;
    enum ft_order order;
  } shape[FT_EXCHANGES] = {
      [FT_ROW_FORWARD] = {l->nz, l->ny_x, row, FT_BY_PLANE},
      [FT_COLUMN_FORWARD] = {l->nz, l->ny_z, column, FT_BY_SOURCE},
      [FT_COLUMN_INVERSE] = {l->ny_z, l->nz, (size_t)l->nz * (size_t)l->nx, FT_BY_SOURCE},
      [FT_ROW_INVERSE] = {l->nz, l->ny_x, row, FT_BY_PLANE},
  };
  const bool streams = has_result(l, s->schedule->extra) && !comm_all_near();
  for (int i = 0; i < FT_EXCHANGES; i++) {
    bool is_row = i == FT_ROW_FORWARD || i == FT_ROW_INVERSE;
    struct ft_exchange *x = &s->exchange[i];
    *x = (struct ft_exchange){.team = &s->team[is_row ? FT_ROW : FT_COLUMN],
                              .phases = &s->phases,
                              .planes = shape[i].planes,
                              .rows = shape[i].rows,
                              .piece = shape[i].piece,
                              .order = shape[i].order,
                              .send = is_row ? s->rows : s->work,
                              .land_offset = is_row ? at->row : at->column,
                              .pack = s->pack,
                              .staging_offset = at->staging};
    x->parts = streams ? ft_exchange_parts(x) : 1;
    x->land = (struct cplx *)(void *)(segment + x->land_offset);
    x->staging = (struct cplx *)(void *)(segment + at->staging);
    if (!is_row && l->tz == 1) x->land = s->inner;
    if (is_row && l->ty == 1) x->land = NULL; /* the stages of x and y then share their planes */
  }
  if (streams && l->ty > 1) join_exchanges(s->exchange);
}

static bool init_plans(struct ft_solver *s, unsigned flags) {
  const struct ft_layout *l = &s->layout;
  const int count[3] = {l->ny_x, l->nx, l->nx}; /* pencils of a plane, by dimension */
  bool ok = true;
  for (int d = 0; d < 3; d++) {
    ok = ft_pencil_init(&s->forward[d], l->n[d], count[d], FFTW_FORWARD, flags) && ok;
    ok = ft_pencil_init(&s->inverse[d], l->n[d], count[d], FFTW_BACKWARD, flags) && ok;
  }
  return ok;
}

/* All arrays but the decay factors. Returns whether they could be had. */
static bool init_arrays(struct ft_solver *s) {
  const struct ft_layout *l = &s->layout;
  const bool packs = s->schedule->extra == FT_PACKS, apart = has_result(l, s->schedule->extra);
  s->spectrum = private_array(l);
  s->work = private_array(l);
  s->pack = packs ? private_array(l) : NULL;
  s->result = apart ? private_array(l) : s->work;
  s->rows = apart && l->ty > 1 ? private_array(l) : s->work;
  s->inner = l->tz == 1 ? private_array(l) : NULL;
  return s->spectrum && s->work && (s->pack || !packs) && s->result && s->rows &&
         (s->inner || l->tz > 1);
}

const char *ft_solver_init(struct ft_solver *s, char *segment, unsigned fftw_flags) {
  const struct ft_layout *l = &s->layout;
  struct zones at = place_zones(l, s->schedule->extra);
  if (!init_arrays(s)) return "memory for the grid";
  s->decay[0] = calloc((size_t)l->nx, sizeof(double));
  s->decay[1] = calloc((size_t)l->ny_z, sizeof(double));
  s->decay[2] = calloc((size_t)l->n[2], sizeof(double));
  if (!s->decay[0] || !s->decay[1] || !s->decay[2]) return "memory for the decay factors";
  memset(segment, 0, at.end);
  init_exchanges(s, segment, &at);
  return init_plans(s, fftw_flags) ? NULL : "FFTW plans";
}

void ft_solver_free(struct ft_solver *s) {
  for (int d = 0; d < 3; d++) {
    ft_pencil_free(&s->forward[d]);
    ft_pencil_free(&s->inverse[d]);
    free(s->decay[d]);
  }
  free(s->spectrum);
  if (s->result != s->work) free(s->result);
  if (s->rows != s->work) free(s->rows);
  free(s->work);
  free(s->pack);
  free(s->inner);
}

void ft_solver_fill(struct ft_solver *s) {
  ft_phases_enter(&s->phases, FT_SETUP);
  ft_initial_data(s->spectrum, &s->layout);
}

struct cplx *ft_solver_point(const struct ft_solver *s, struct cplx *base, int x, int y, int z) {
  const struct ft_layout *l = &s->layout;
  int row = y - l->y0_x, plane = z - l->z0;
  if (row < 0 || row >= l->ny_x || plane < 0 || plane >= l->nz) return NULL;
  return base + ((size_t)plane * (size_t)l->ny_x + (size_t)row) * (size_t)l->n[0] + x;
}

struct cplx ft_solver_checksum(struct ft_solver *s) {
  const int *n = s->layout.n;
  struct cplx sum = {0, 0};
  comm_region("checksum");
  ft_phases_enter(&s->phases, FT_CHECKSUM);
  for (int j = 1; j <= CHECKSUM_POINTS; j++) {
    const struct cplx *u = ft_solver_point(s, s->result, j % n[0], 3 * j % n[1], 5 * j % n[2]);
    if (!u) continue;
    sum.re += u->re;
    sum.im += u->im;
  }
  ft_phases_enter(&s->phases, FT_SYNC);
  sum = comm_sum(sum);
  comm_region_end();
  return sum;
}
