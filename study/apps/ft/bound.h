/* SPDX-License-Identifier: BSD-3-Clause */
/* The least time of a run, from what wire and processors can do apart (--bound). Measured before
 * the timed part, of the same transforms and the same bytes; nothing of it is fitted to a run.
 * Two bounds: of wire and computation, as if the data moved themselves, and with the processor time
 * that moving them takes, which ranks and links of one machine share.
 */
#ifndef FT_BOUND_H
#define FT_BOUND_H

#include "solver.h"

struct ft_bound {
  double wire;     /* seconds of all exchanges of the run, one after the other; 0: not measured */
  double compute;  /* processor seconds of transforms, evolving and movement of a rank, alone */
  double conduit;  /* processor seconds of a rank, all its threads, in the exchanges alone */
  double kernel;   /* of these, in the kernel */
  double share;    /* processors of a rank: those of a machine over its ranks; the least of all */
  int ranks, cpus; /* of that machine */
};

/* Processor seconds of all threads of this rank so far. */
double ft_processor_time(void);

/* Measures all of it for a run of so many iterations; complete on rank 0. Collective. Changes what
 * has landed and the solution. */
void ft_bound_measure(struct ft_solver *solver, int iterations, struct ft_bound *bound);

/* The least seconds of a run, of which `others` (initial data, checksums) overlap with nothing, and
 * whose stages have so many planes: one plane comes before anything can be sent, one after all has
 * come. compute: seconds of computation. ft_bound_shared: also with the processor time of the
 * exchanges, on the processors that a rank has. That time is what they take alone, where waiting
 * ranks poll and packets come one by one; beside a computation it may be somewhat less. */
double ft_bound_least(const struct ft_bound *bound, double others, double compute, int planes);
double ft_bound_shared(const struct ft_bound *bound, double others, int planes);

#endif
