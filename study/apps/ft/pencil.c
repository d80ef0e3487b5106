/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of pencils: see pencil.h. Called by transform.c for every plane; calls FFTW and the
 * stopwatch. A tile takes a part of the second-level cache (256 KiB) and is as wide as that allows,
 * because the strided side of a transposition reads or writes one run of the tile's width from each
 * line of memory, and long runs are faster. Where the result is adjacent rows the tile is the
 * result itself, and where the input is that place too nothing is copied at all. Invariant: every
 * address given to a plan is 16-byte aligned, as the ones it was planned with.
 */
#include "pencil.h"

#include <string.h>

#define TILE_POINTS 16384 /* 256 KiB */
#define BATCH_MIN   8     /* two cache lines of a column view */
#define BATCH_MAX   64    /* 1 KiB of every line of a column view */
#define TILE_PAD    4     /* one cache line */

struct ft_view ft_rows(struct cplx *base, int n) {
  return (struct ft_view){base, (size_t)n, 1, (size_t)n, 0};
}

struct ft_view ft_split_rows(struct cplx *base, int chunk, size_t chunk_step) {
  return (struct ft_view){base, (size_t)chunk, 1, (size_t)chunk, chunk_step};
}

struct ft_view ft_columns(struct cplx *base, int n, size_t element) {
  return (struct ft_view){base, 1, element, (size_t)n, 0};
}

/* The widest tile that fits, by the limits above, and divides count. */
static int choose_batch(int n, int count) {
  int batch = TILE_POINTS / n;
  if (batch < BATCH_MIN) batch = BATCH_MIN;
  if (batch > BATCH_MAX) batch = BATCH_MAX;
  if (batch > count) batch = count;
  while (count % batch != 0) batch--;
  return batch;
}

static fftw_plan plan_rows(const struct ft_pencil *p, fftw_complex *at, size_t step, int sign,
                           unsigned flags) {
  return fftw_plan_many_dft(1, &p->n, p->batch, at, NULL, 1, (int)step, at, NULL, 1, (int)step,
                            sign, flags);
}

bool ft_pencil_init(struct ft_pencil *pencil, int n, int count, int sign, unsigned flags) {
  *pencil = (struct ft_pencil){.n = n, .count = count, .batch = choose_batch(n, count)};
  pencil->tile_step = (size_t)n + TILE_PAD;
  fftw_complex *tile = fftw_malloc((size_t)pencil->batch * pencil->tile_step * sizeof *tile);
  if (!tile) return false;
  pencil->tile = (struct cplx *)tile;
  pencil->in_tile = plan_rows(pencil, tile, pencil->tile_step, sign, flags);
  pencil->in_rows = plan_rows(pencil, tile, (size_t)n, sign, flags);
  return pencil->in_tile && pencil->in_rows;
}

void ft_pencil_free(struct ft_pencil *pencil) {
  if (pencil->in_tile) fftw_destroy_plan(pencil->in_tile);
  if (pencil->in_rows) fftw_destroy_plan(pencil->in_rows);
  fftw_free(pencil->tile);
  *pencil = (struct ft_pencil){0};
}

static void gather_columns(struct cplx *tile, size_t step, const struct ft_view *v, size_t first,
                           const struct ft_pencil *p) {
  size_t n = (size_t)p->n, batch = (size_t)p->batch, whole = batch - batch % 4;
  for (size_t k = 0; k < n; k++) {
    const struct cplx *line = v->base + k * v->element + first;
    struct cplx *to = tile + k;
    for (size_t j = 0; j < whole; j += 4, to += 4 * step) {
      to[0] = line[j];
      to[step] = line[j + 1];
      to[2 * step] = line[j + 2];
      to[3 * step] = line[j + 3];
    }
    for (size_t j = whole; j < batch; j++, to += step) *to = line[j];
  }
}

static void scatter_columns(const struct cplx *tile, size_t step, const struct ft_view *v,
                            size_t first, const struct ft_pencil *p) {
  size_t n = (size_t)p->n, batch = (size_t)p->batch, whole = batch - batch % 4;
  for (size_t k = 0; k < n; k++) {
    struct cplx *line = v->base + k * v->element + first;
    const struct cplx *from = tile + k;
    for (size_t j = 0; j < whole; j += 4, from += 4 * step) {
      line[j] = from[0];
      line[j + 1] = from[step];
      line[j + 2] = from[2 * step];
      line[j + 3] = from[3 * step];
    }
    for (size_t j = whole; j < batch; j++, from += step) line[j] = *from;
  }
}

/* Copies rows between a view of pieces and adjacent pieces `step` apart; `out` says which side is
 * the view. */
static void copy_rows(struct cplx *tile, size_t step, const struct ft_view *v, size_t first,
                      const struct ft_pencil *p, bool out) {
  size_t bytes = v->chunk * sizeof *tile;
  for (size_t j = 0; j < (size_t)p->batch; j++) {
    struct cplx *piece = v->base + (first + j) * v->vector;
    struct cplx *row = tile + j * step;
    for (size_t k = 0; k < (size_t)p->n; k += v->chunk, piece += v->chunk_step)
      memcpy(out ? piece : row + k, out ? row + k : piece, bytes);
  }
}

/* Copies a batch from a view into the tile, or out of it. */
static void move(struct cplx *tile, size_t step, const struct ft_view *v, size_t first,
                 const struct ft_pencil *p, bool out) {
  if (v->element == 1)
    copy_rows(tile, step, v, first, p, out);
  else if (out)
    scatter_columns(tile, step, v, first, p);
  else
    gather_columns(tile, step, v, first, p);
}

static void gather_weighted(struct cplx *tile, size_t step, const struct ft_view *v, size_t first,
                            const struct ft_pencil *p, const struct ft_weights *w) {
  for (size_t j = 0; j < (size_t)p->batch; j++) {
    const struct cplx *from = v->base + (first + j) * v->vector;
    struct cplx *row = tile + j * step;
    double scale = w->common * w->across[first + j];
    for (size_t k = 0; k < (size_t)p->n; k++) {
      double f = scale * w->along[k];
      row[k] = (struct cplx){from[k].re * f, from[k].im * f};
    }
  }
}

void ft_pencil_apply(const struct ft_pencil *p, const struct ft_view *in, const struct ft_view *out,
                     const struct ft_weights *weights, struct ft_phases *phases) {
  bool in_result = out->element == 1 && out->chunk == (size_t)p->n;
  size_t step = in_result ? out->vector : p->tile_step;
  for (size_t first = 0; first < (size_t)p->count; first += (size_t)p->batch) {
    struct cplx *tile = in_result ? out->base + first * out->vector : p->tile;
    if (weights) {
      ft_phases_enter(phases, FT_EVOLVE);
      gather_weighted(tile, step, in, first, p, weights);
    } else if (!in_result || in->base != out->base) {
      ft_phases_enter(phases, FT_MOVE);
      move(tile, step, in, first, p, false);
    }
    ft_phases_enter(phases, FT_FFT);
    fftw_complex *at = (fftw_complex *)tile;
    fftw_execute_dft(in_result ? p->in_rows : p->in_tile, at, at);
    if (in_result) continue;
    ft_phases_enter(phases, FT_MOVE);
    move(tile, step, out, first, p, true);
  }
}
