/* SPDX-License-Identifier: BSD-3-Clause */
/* One benchmark run with one schedule, and what it measured.
 * Called by main.c on every rank (collective); the statistics are complete on rank 0 only,
 * checksums and the verdict are the same on all.
 */
#ifndef FT_RUN_H
#define FT_RUN_H

#include "bound.h"
#include "options.h"
#include "solver.h"

enum ft_verification { FT_NOT_VERIFIED, FT_VERIFIED, FT_FAILED };

struct ft_stats {
  double min, mean, max; /* over ranks */
};

struct ft_sum {
  struct cplx value;
  double error; /* relative to the reference; negative: no reference for this iteration */
};

struct ft_result {
  const struct ft_schedule *schedule;
  double planning; /* seconds in FFTW's planner and in touching memory, not timed */
  double seconds;  /* of the slowest rank: initial data, forward transform, iterations */
  double mops;
  struct ft_bound bound; /* with --bound, else its wire is 0 */
  double least, shared;  /* the two bounds of the run, rank 0 only */
  struct ft_stats busy;  /* processor seconds of a rank, all its threads, in the timed part */
  struct ft_stats phase[FT_PHASES]; /* seconds */
  uint64_t messages, bytes;         /* put by this rank (every rank puts the same) */
  struct {
    uint64_t messages, bytes;
  } round[FT_TEAMS]; /* of these, in exchanges of rows and of columns */
  int iterations;
  int compared;        /* iterations with a reference */
  struct ft_sum *sums; /* [iterations] */
  enum ft_verification verification;
};

/* Setting that all runs of this invocation share. */
struct ft_setting {
  const struct ft_options *options;
  const struct ft_class *class;
  struct ft_layout layout;
  struct ft_team team[FT_TEAMS]; /* keep their round counts from run to run */
  char *segment;
};

/* Runs and measures. Ends the job with a message if memory is lacking. result->sums is freed by
 * ft_result_free. */
void ft_run(struct ft_setting *setting, const struct ft_schedule *schedule,
            struct ft_result *result);
/* Seconds of transforms, evolving and movement in memory, mean of the ranks. */
static inline double ft_result_compute(const struct ft_result *r) {
  return r->phase[FT_FFT].mean + r->phase[FT_EVOLVE].mean + r->phase[FT_MOVE].mean;
}

void ft_result_free(struct ft_result *result);

/* Relative error of a checksum against its reference (modulus), and the largest that verifies. */
#define FT_TOLERANCE 1.0e-12

#endif
