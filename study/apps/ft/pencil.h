/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of one-dimensional transforms over strided data: gather a tile of pencils into cache,
 * transform it with FFTW, scatter it to where it goes next. A plane's transposition is thereby part
 * of its transform, in cache. Used by transform.c, one ft_pencil for each dimension and direction.
 * No communication.
 */
#ifndef FT_PENCIL_H
#define FT_PENCIL_H

#include "phases.h"
#include "problem.h"

#include <fftw3.h>
#include <stdbool.h>

/* Where a batch of pencils lies. Element k of pencil v is at base + v * vector + (k / chunk) *
 * chunk_step + (k % chunk) * element; either element is 1 (rows, perhaps in pieces) or vector is 1
 * and chunk is n (columns). All in complex numbers. */
struct ft_view {
  struct cplx *base;
  size_t vector, element, chunk, chunk_step;
};

/* Multiplies pencil v, element k by common * across[v] * along[k] on the way in. */
struct ft_weights {
  const double *along;  /* [n] */
  const double *across; /* [count] */
  double common;
};

struct ft_pencil {
  int n;     /* length of a transform */
  int count; /* pencils of a plane */
  int batch; /* pencils of a tile; divides count */
  size_t
      tile_step; /* distance between pencils of the tile: n and a pad against cache-set conflicts */
  struct cplx *tile;
  fftw_plan in_tile; /* batch transforms, in place in the tile */
  fftw_plan in_rows; /* the same on adjacent rows of n */
};

/* Views: adjacent rows of n; rows whose pieces of `chunk` lie chunk_step apart; columns `element`
 * apart. */
struct ft_view ft_rows(struct cplx *base, int n);
struct ft_view ft_split_rows(struct cplx *base, int chunk, size_t chunk_step);
struct ft_view ft_columns(struct cplx *base, int n, size_t element);

/* Plans `count` transforms of length n; sign is FFTW_FORWARD or FFTW_BACKWARD, flags an FFTW
 * planner flag. Returns false if memory is lacking. */
bool ft_pencil_init(struct ft_pencil *pencil, int n, int count, int sign, unsigned flags);
void ft_pencil_free(struct ft_pencil *pencil);

/* Transforms one plane from `in` to `out` (the same place, or no overlap). weights may be NULL;
 * with weights `in` must be adjacent rows. Charges FFT, movement and evolve time to phases. */
void ft_pencil_apply(const struct ft_pencil *pencil, const struct ft_view *in,
                     const struct ft_view *out, const struct ft_weights *weights,
                     struct ft_phases *phases);

#endif
