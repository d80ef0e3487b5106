/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem that NAS FT solves: sizes and reference checksums of each class, the random initial
 * data, and the factors by which a spectrum is multiplied to advance it in time. Everything here is
 * arithmetic on local memory; nothing communicates. Source: NAS Parallel Benchmarks, FT (NAS-94-001
 * and later reports); npb_ft_reference.csv states what is used.
 */
#ifndef FT_PROBLEM_H
#define FT_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

/* One complex number; layout of fftw_complex. A plain struct, so that copying one is a single
 * 16-byte move. */
struct cplx {
  double re, im;
};

struct ft_layout;

struct ft_class {
  char name;
  int n[3];                /* points in x, y, z */
  int iterations;          /* of the published benchmark */
  int references;          /* rows in sums */
  const struct cplx *sums; /* [references] published checksums, iteration 1 first */
};

/* Finds a class by its letter (either case). Returns NULL if there is none. */
const struct ft_class *ft_class_find(char name);

/* Number of grid points of a class. */
double ft_class_points(const struct ft_class *class);

/* Fills this rank's x-pencils [nz_local][ny_local][nx] with the initial data, as the one stream
 * that a single rank would draw (x fastest, real before imaginary part). */
void ft_initial_data(struct cplx *out, const struct ft_layout *layout);

/* exp(-4 alpha pi^2 t k^2) * scale for `count` indices from `first` in a dimension of n points (k
 * is the signed frequency). The three-dimensional factor is the product of one entry of each
 * dimension's table. [out] table: [count]. */
void ft_decay_table(double *table, int first, int count, int n, double time, double scale);

/* Operations (millions a second) that the benchmark counts for a run of `iterations` in `seconds`.
 */
double ft_mops(const struct ft_class *class, int iterations, double seconds);

#endif
