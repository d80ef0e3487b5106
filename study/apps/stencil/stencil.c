/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Star stencil of radius R on an n x n grid, with exchange of halos.
 *
 * The kernel "Stencil" of the Parallel Research Kernels (R. F. Van der Wijngaart and T. G. Mattson,
 * HPEC 2014, doi:10.1109/HPEC.2014.7040972), written afresh: ranks form a grid of their own, each
 * has a block of points with R ghost points around it; an iteration exchanges the outermost R lines
 * with up to four neighbours, adds the stencil of `in` to `out`, and adds 1 to `in`. With --overlap
 * 1 it computes between sending and waiting what needs no ghost point. Calls: study/lib/links.h
 * only, so it runs on MPI too (study/compare). Invariants: halos lie in the
 * segment twice, by parity of the iteration: a neighbour can be one iteration ahead, not two,
 * because it needs this rank's halos. `in` is linear in both coordinates, so each point of `out` is
 * (iterations) * (COEF_X + COEF_Y). Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "lib/app.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COEF_X     1.0
#define COEF_Y     1.0
#define RADIUS_MAX 9

enum side { LEFT, RIGHT, DOWN, UP, SIDES };
static const enum side opposite[SIDES] = {RIGHT, LEFT, UP, DOWN};

struct block {
  long n; /* points a side of the whole grid */
  int radius;
  int px, py;            /* grid of ranks */
  long x0, y0, nx, ny;   /* first point and points of this rank */
  long stride;           /* of a line of `in`: nx + 2 radius */
  double *in, *out;      /* [ny + 2 radius][stride], [ny][nx] */
  double *pack[SIDES];   /* lines in flight */
  size_t doubles[SIDES]; /* of the halo at a side; 0: the edge of the grid */
  size_t offset;         /* doubles of one parity of one halo in the segment, the same everywhere */
  double weight[RADIUS_MAX + 1];
  double alone; /* seconds that an iteration's computation takes by itself */
};

/* Ranks as square as they come. */
static void rank_grid(int size, int *px, int *py) {
  int best = 1;
  for (int d = 1; (long)d * d <= size; d++)
    if (size % d == 0) best = d;
  *py = best;
  *px = size / best;
}

static int neighbour(const struct job *job, const struct block *b, enum side side) {
  const int x = job->rank % b->px, y = job->rank / b->px;
  switch (side) {
  case LEFT: return x > 0 ? job->rank - 1 : -1;
  case RIGHT: return x + 1 < b->px ? job->rank + 1 : -1;
  case DOWN: return y > 0 ? job->rank - b->px : -1;
  default: return y + 1 < b->py ? job->rank + b->px : -1;
  }
}

static double *at(const struct block *b, long x, long y) {
  return b->in + (y + b->radius) * b->stride + x + b->radius;
}

/* Bytes of a rank: both grids, and what is sent and received, in the segment and packed. */
static double needed(const struct block *b) {
  const double lines = (double)(b->ny + 2 * b->radius) + (double)b->ny;
  return sizeof(double) * ((double)b->stride * lines + SIDES * 4 * (double)b->offset);
}

static void divide(struct job *job, const struct app_options *o, struct block *b) {
  *b = (struct block){.n = o->n[0], .radius = (int)o->n[1]};
  rank_grid(job->size, &b->px, &b->py);
  const int x = job->rank % b->px, y = job->rank / b->px;
  b->x0 = b->n * x / b->px;
  b->nx = b->n * (x + 1) / b->px - b->x0;
  b->y0 = b->n * y / b->py;
  b->ny = b->n * (y + 1) / b->py - b->y0;
  const long least = b->n / b->px; /* px >= py */
  if (least < b->radius || b->n <= 2L * b->radius)
    job_refuse(job,
               "%ld points a side on %d x %d ranks are %ld for a rank, fewer than the radius %d "
               "needs; take at least --points %ld",
               b->n, b->px, b->py, least, b->radius,
               2L * b->radius + 1 > (long)b->radius * b->px ? 2L * b->radius + 1
                                                            : (long)b->radius * b->px);
  b->stride = b->nx + 2 * b->radius;
  const long longest = (b->n + b->py - 1) / b->py; /* py <= px: sides are at most this long */
  b->offset = (size_t)longest * (size_t)b->radius;
  for (int k = 1; k <= b->radius; k++) b->weight[k] = 1.0 / (2.0 * k * b->radius);
}

static bool allocate(struct job *job, struct block *b) {
  b->in = calloc((size_t)b->stride * (size_t)(b->ny + 2 * b->radius), sizeof(double));
  if (!b->in) return false;
  b->out = calloc((size_t)b->nx * (size_t)b->ny, sizeof(double));
  if (!b->out) return false;
  for (int s = 0; s < SIDES; s++) {
    b->doubles[s] = neighbour(job, b, (enum side)s) < 0
                        ? 0
                        : (size_t)b->radius * (size_t)(s < DOWN ? b->ny : b->nx);
    b->pack[s] = malloc(2 * b->offset * sizeof(double));
    if (!b->pack[s]) return false;
  }
  return true;
}

static void fill(struct block *b) {
  for (long y = 0; y < b->ny; y++)
    for (long x = 0; x < b->nx; x++) {
      *at(b, x, y) = COEF_X * (double)(b->x0 + x) + COEF_Y * (double)(b->y0 + y);
      b->out[y * b->nx + x] = 0;
    }
}

/* The first point of the lines of a side: the outermost own ones, or the ghost points beyond. */
static double *lines(const struct block *b, int side, bool ghost, long *width, long *height) {
  const int r = b->radius;
  *width = side < DOWN ? r : b->nx;
  *height = side < DOWN ? b->ny : r;
  switch (side) {
  case LEFT: return at(b, ghost ? -r : 0, 0);
  case RIGHT: return at(b, ghost ? b->nx : b->nx - r, 0);
  case DOWN: return at(b, 0, ghost ? -r : 0);
  default: return at(b, 0, ghost ? b->ny : b->ny - r);
  }
}

/* Copy `height` lines of `width` points. Short lines, those of the left and right side, point by
 * point: a call of memcpy for each would take longer than the points. */
static void copy_lines(double *restrict to, long to_stride, const double *restrict from,
                       long from_stride, long width, long height) {
  for (long y = 0; y < height; y++, to += to_stride, from += from_stride) {
    if (width > RADIUS_MAX)
      memcpy(to, from, (size_t)width * sizeof(double));
    else
      for (long x = 0; x < width; x++) to[x] = from[x];
  }
}

/* Where halo `side` of a parity lies in the segment, in doubles. */
static size_t place(const struct block *b, int side, long iteration) {
  return ((size_t)side * 2 + (size_t)(iteration & 1)) * b->offset;
}

static void send_halos(struct job *job, struct block *b, struct job_link *links, long iteration) {
  long w, h;
  for (int s = 0; s < SIDES; s++)
    job_expect(job, b->doubles[s] ? neighbour(job, b, (enum side)s) : -1, s,
               place(b, s, iteration) * sizeof(double), b->doubles[s] * sizeof(double));
  job_flush(job);
  for (int s = 0; s < SIDES; s++) {
    if (!b->doubles[s]) continue;
    app_enter(job, APP_COPY);
    const double *const from = lines(b, s, false, &w, &h);
    copy_lines(b->pack[s], w, from, b->stride, w, h);
    app_enter(job, APP_SEND);
    job_send(job, &links[s], place(b, opposite[s], iteration) * sizeof(double), b->pack[s],
             b->doubles[s] * sizeof(double));
  }
}

static void take_halos(struct job *job, struct block *b, long iteration) {
  long w, h;
  app_enter(job, APP_WAIT);
  job_step(job);
  for (int s = 0; s < SIDES; s++) {
    if (!b->doubles[s]) continue;
    app_enter(job, APP_WAIT);
    job_wait(job, s);
    app_enter(job, APP_COPY);
    double *const to = lines(b, s, true, &w, &h);
    const double *const halo = (const double *)(const void *)job->mine + place(b, s, iteration);
    copy_lines(to, b->stride, halo, w, w, h);
  }
}

/* First and one past the last of `count` points from `first` that lie R from the edges. */
static void inside(const struct block *b, long first, long count, long *from, long *to) {
  const long low = b->radius - first, high = b->n - b->radius - first;
  *from = low > 0 ? low : 0;
  *to = high < count ? high : count;
}

/* Add the stencil of a line to `out`. Inlined into one copy for each radius, so that the compiler
 * knows the number of terms and computes several points at once. */
static inline __attribute__((always_inline)) void stencil_line(const struct block *b,
                                                               double *restrict out,
                                                               const double *restrict in, long from,
                                                               long to, int radius) {
  const long stride = b->stride;
  const double *const weight = b->weight;
  for (long x = from; x < to; x++) {
    double sum = 0;
    for (int k = 1; k <= radius; k++)
      sum += weight[k] * (in[x + k] - in[x - k] + in[x + k * stride] - in[x - k * stride]);
    out[x] += sum;
  }
}

static void stencil_of_line(const struct block *b, double *out, const double *in, long from,
                            long to) {
  switch (b->radius) {
  case 1: stencil_line(b, out, in, from, to, 1); return;
  case 2: stencil_line(b, out, in, from, to, 2); return;
  case 3: stencil_line(b, out, in, from, to, 3); return;
  case 4: stencil_line(b, out, in, from, to, 4); return;
  default: stencil_line(b, out, in, from, to, b->radius);
  }
}

static long larger(long a, long b) {
  return a > b ? a : b;
}

static long smaller(long a, long b) {
  return a < b ? a : b;
}

/* Points of this rank, [x0, x1) in lines [y0, y1). */
struct box {
  long x0, x1, y0, y1;
};

static void update_box(const struct block *b, struct box box) {
  for (long y = box.y0; y < box.y1; y++)
    stencil_of_line(b, b->out + y * b->nx, at(b, 0, y), box.x0, box.x1);
}

/* Points that the stencil updates, and those of them that need no ghost point. */
static void boxes(const struct block *b, struct box *all, struct box *inner) {
  const long r = b->radius;
  inside(b, b->x0, b->nx, &all->x0, &all->x1);
  inside(b, b->y0, b->ny, &all->y0, &all->y1);
  inner->x0 = smaller(larger(all->x0, r), all->x1);
  inner->x1 = larger(smaller(all->x1, b->nx - r), inner->x0);
  inner->y0 = smaller(larger(all->y0, r), all->y1);
  inner->y1 = larger(smaller(all->y1, b->ny - r), inner->y0);
}

/* All of `all` but `inner`: lines below and above, then what is left and right of it. */
static void update_frame(const struct block *b, struct box all, struct box inner) {
  update_box(b, (struct box){all.x0, all.x1, all.y0, inner.y0});
  update_box(b, (struct box){all.x0, all.x1, inner.y1, all.y1});
  update_box(b, (struct box){all.x0, inner.x0, inner.y0, inner.y1});
  update_box(b, (struct box){inner.x1, all.x1, inner.y0, inner.y1});
}

static void add_one(struct block *b) {
  for (long y = 0; y < b->ny; y++) {
    double *const line = at(b, 0, y);
    for (long x = 0; x < b->nx; x++) line[x] += 1.0;
  }
}

/* Largest deviation of a point that the stencil has touched. */
static double deviation(const struct block *b, double expected) {
  long x0, x1, y0, y1;
  double worst = 0;
  inside(b, b->x0, b->nx, &x0, &x1);
  inside(b, b->y0, b->ny, &y0, &y1);
  for (long y = y0; y < y1; y++)
    for (long x = x0; x < x1; x++) worst = fmax(worst, fabs(b->out[y * b->nx + x] - expected));
  return worst;
}

/* Computation of an iteration. */
static void compute_alone(void *about) {
  struct block *const b = about;
  struct box all, inner;
  boxes(b, &all, &inner);
  update_box(b, all);
  add_one(b);
}

static bool run(struct job *job, const struct app_options *o, struct block *b, int way) {
  struct job_link links[SIDES];
  job_links(job, way);
  fill(b);
  for (int s = 0; s < SIDES; s++)
    links[s] = job_link_open(job, neighbour(job, b, (enum side)s), (int)opposite[s]);
  job_barrier(job);
  struct box all, inner;
  boxes(b, &all, &inner);
  for (long k = 0; app_iteration(job, o, k); k++) { /* the first one warms up */
    send_halos(job, b, links, k);
    app_enter(job, APP_COMPUTE);
    if (o->n[2]) update_box(b, inner);
    take_halos(job, b, k);
    app_enter(job, APP_COMPUTE);
    if (o->n[2])
      update_frame(b, all, inner);
    else
      update_box(b, all);
    add_one(b);
  }
  job_flush(job);
  const double expected = (double)(o->iterations + 2) * (COEF_X + COEF_Y);
  if (o->inject_error && job->rank == job->size - 1) b->out[b->nx * b->ny / 2] += 1;
  const bool good = job_max(job, deviation(b, expected)) <= 1e-8 * expected;
  const double points = (double)(b->n - 2 * b->radius) * (double)(b->n - 2 * b->radius);
  app_report(job, o,
             &(struct app_result){.seconds = job->seconds,
                                  .work = points * (2.0 * (4 * b->radius) + 1),
                                  .verified = good,
                                  .share = b->alone / job->seconds});
  return good;
}

static const struct app_number numbers[] = {
    {"points", 'p', 1000, 3, 0, "Points a side of the grid"},
    {"radius", 'r', 2, 1, RADIUS_MAX, "Radius of the stencil"},
    {"overlap", 'o', 0, 0, 1, "1: what needs no halo is computed while halos travel"}};
static const struct app_program program =
    APP_PROGRAM("stencil", "Star stencil with exchange of halos", numbers, 20);

static bool run_all(struct job *job, const struct app_options *options) {
  struct block block;
  divide(job, options, &block);
  app_need(job, needed(&block));
  job_attach(job, (size_t)SIDES * 2 * block.offset * sizeof(double));
  if (job_sum(job, allocate(job, &block) ? 0 : 1) != 0)
    job_refuse(job, "a grid of %ld x %ld does not fit in memory; take a smaller one", block.n,
               block.n);
  bool good = true;
  fill(&block);
  block.alone = app_alone(job, compute_alone, &block);
  app_head(job, options);
  APP_EACH_WAY(options, job_way_count) good = run(job, options, &block, way) && good;
  for (int s = 0; s < SIDES; s++) free(block.pack[s]);
  free(block.in);
  free(block.out);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
