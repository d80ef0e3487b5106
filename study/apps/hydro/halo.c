/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of halos, see halo.h.
 *
 * Owns: buffers of messages. Called by hydro.c. Calls: links.h. Invariant: walls are filled after
 * the neighbours' halos, first in x, then in y over the ghost columns too, so that corners are
 * right whatever they adjoin.
 */
#include "halo.h"

#include "lib/app.h"

#include <stdlib.h>
#include <string.h>

static const int side_x[SIDES] = {-1, 1, 0, 0, -1, 1, -1, 1};
static const int side_y[SIDES] = {0, 0, -1, 1, -1, -1, 1, 1};

static const enum place placed[QUANTITIES] = {
    [VELOCITY_X] = NODE, [VELOCITY_Y] = NODE, [FLUX_X] = X_FACE, [FLUX_Y] = Y_FACE};

struct range {
  long from, to;
};

static int opposite(int side) {
  for (int s = 0; s < SIDES; s++)
    if (side_x[s] == -side_x[side] && side_y[s] == -side_y[side]) return s;
  return -1;
}

/* Of a dimension with n cells, what goes to the neighbour in direction d. */
static struct range outgoing(int d, long n, long depth, long on_lines) {
  if (d < 0) return (struct range){on_lines, on_lines + depth};
  if (d > 0) return (struct range){n - depth, n};
  return (struct range){0, n + on_lines};
}

/* Range of cells that arrives from there. */
static struct range incoming(int d, long n, long depth, long on_lines) {
  if (d < 0) return (struct range){-depth, 0};
  if (d > 0) return (struct range){n + on_lines, n + on_lines + depth};
  return (struct range){0, n + on_lines};
}

typedef struct range range_of(int d, long n, long depth, long on_lines);

/* Copy the part of a group at a side into (`packing`) or out of a message. Returns its doubles. */
static size_t message(const struct halo *h, const struct halo_group *group, int side, bool packing,
                      double *buffer) {
  const struct grid *const g = h->grid;
  range_of *const range = packing ? outgoing : incoming;
  double *next = buffer;
  for (int f = 0; f < group->count; f++) {
    const enum place on = placed[group->field[f]];
    const struct range x = range(side_x[side], g->nx, group->depth, on & X_FACE ? 1 : 0);
    const struct range y = range(side_y[side], g->ny, group->depth, on & Y_FACE ? 1 : 0);
    const size_t bytes = (size_t)(x.to - x.from) * sizeof(double);
    for (long j = y.from; j < y.to; j++) {
      double *const line = g->q[group->field[f]] + at(g, x.from, j);
      memcpy(packing ? next : line, packing ? line : next, bytes);
      next += x.to - x.from;
    }
  }
  return (size_t)(next - buffer);
}

/* Doubles of a message, which both ends compute alike: sides across it are of the same length. */
static size_t doubles(const struct halo *h, const struct halo_group *group, int side) {
  const struct grid *const g = h->grid;
  size_t sum = 0;
  for (int f = 0; f < group->count; f++) {
    const enum place on = placed[group->field[f]];
    const struct range x = incoming(side_x[side], g->nx, group->depth, on & X_FACE ? 1 : 0);
    const struct range y = incoming(side_y[side], g->ny, group->depth, on & Y_FACE ? 1 : 0);
    sum += (size_t)(x.to - x.from) * (size_t)(y.to - y.from);
  }
  return sum;
}

static size_t slot_doubles(const struct grid *g) {
  const long longest = (g->most_x > g->most_y ? g->most_x : g->most_y) + 1;
  return (size_t)longest * GHOST * HALO_FIELD_MAX;
}

size_t halo_bytes(const struct grid *g) {
  return (size_t)SIDES * 2 * slot_doubles(g) * sizeof(double);
}

bool halo_allocate(struct halo *halo, struct job *job, struct grid *grid) {
  *halo = (struct halo){.job = job, .grid = grid, .slot = slot_doubles(grid)};
  for (int s = 0; s < SIDES; s++) {
    halo->pack[s] = malloc(2 * halo->slot * sizeof(double));
    if (!halo->pack[s]) return false;
  }
  return true;
}

void halo_free(struct halo *halo) {
  for (int s = 0; s < SIDES; s++) free(halo->pack[s]);
}

void halo_open(struct halo *halo) {
  for (int s = 0; s < SIDES; s++)
    halo->links[s] =
        job_link_open(halo->job, grid_neighbour(halo->grid, side_x[s], side_y[s]), opposite(s));
  halo->exchanges = 0;
}

/* Ghosts of one line across a wall: element k steps inside the wall is a[k * in]. */
static void mirror_line(double *a, long in, bool on_wall, bool turns) {
  const double sign = turns ? -1 : 1;
  if (on_wall && turns) a[0] = 0;
  /* The first element inside lies on the wall, or half a step from it. */
  for (long k = 1; k <= GHOST; k++) a[-k * in] = sign * a[(on_wall ? k : k - 1) * in];
}

/* Ghosts of one quantity beyond a wall in one dimension: a mirror image. `low`: at index 0, else at
 * n. A velocity or flux towards the wall turns round, and is nothing on it. */
static void mirror(struct grid *g, enum quantity field, bool in_x, bool low) {
  const bool on_wall = placed[field] & (in_x ? X_FACE : Y_FACE);
  const bool turns = field == (in_x ? VELOCITY_X : VELOCITY_Y) || field == (in_x ? FLUX_X : FLUX_Y);
  const long n = in_x ? g->nx : g->ny, lines = in_x ? g->lines : g->pitch;
  const long first = low ? 0 : on_wall ? n : n - 1, along = in_x ? 1 : g->pitch;
  for (long c = -GHOST; c < lines - GHOST; c++)
    mirror_line(g->q[field] + (in_x ? at(g, first, c) : at(g, c, first)), low ? along : -along,
                on_wall, turns);
}

void halo_walls(struct grid *g, const struct halo_group *group) {
  for (int in_x = 1; in_x >= 0; in_x--)
    for (int low = 1; low >= 0; low--) {
      const int d = low ? -1 : 1;
      if (grid_neighbour(g, in_x ? d : 0, in_x ? 0 : d) >= 0) continue;
      for (int f = 0; f < group->count; f++) mirror(g, group->field[f], in_x, low);
    }
}

void halo_exchange(struct halo *h, const struct halo_group *group) {
  struct job *const job = h->job;
  const size_t parity = (size_t)(h->exchanges++ & 1);
  for (int s = 0; s < SIDES; s++)
    job_expect(job, grid_neighbour(h->grid, side_x[s], side_y[s]), s,
               ((size_t)s * 2 + parity) * h->slot * sizeof(double),
               doubles(h, group, s) * sizeof(double));
  job_flush(job);
  for (int s = 0; s < SIDES; s++) {
    if (h->links[s].peer < 0) continue;
    double *const buffer = h->pack[s] + parity * h->slot;
    app_enter(job, APP_COPY);
    const size_t count = message(h, group, s, true, buffer);
    app_enter(job, APP_SEND);
    job_send(job, &h->links[s], ((size_t)opposite(s) * 2 + parity) * h->slot * sizeof(double),
             buffer, count * sizeof(double));
  }
  app_enter(job, APP_WAIT);
  job_step(job);
  for (int s = 0; s < SIDES; s++) {
    if (h->links[s].peer < 0) continue;
    app_enter(job, APP_WAIT);
    job_wait(job, s);
    app_enter(job, APP_COPY);
    double *const slots = (double *)(void *)job->mine;
    message(h, group, s, false, slots + ((size_t)s * 2 + parity) * h->slot);
  }
  app_enter(job, APP_COMPUTE);
  halo_walls(h->grid, group);
}
