/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what bounds a run, see bound.h. Called by run.c before the timed part. Calls the solver
 * with a schedule that sends nothing, exchanges alone, and the clocks of processor time. That is
 * the scheduler's, so other work on the machine makes it little longer. What the kernel does for a
 * packet in the context of a rank counts as that rank's, also where it forwards for another host of
 * the same machine. Ranks are of one machine when they see the same boot: hosts that are only
 * pretended share its processors.
 */
#define _GNU_SOURCE
#include "bound.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* What a rank reports to rank 0: as many doubles as solver.c has room for. */
enum { MASKS = 4, MASK_BITS = 48 };
struct report {
  double boot, compute, conduit, kernel;
  double mask[MASKS]; /* processors that it may use, 48 a number, exact as a double */
};
_Static_assert(sizeof(struct report) == (FT_PHASES + 1) * sizeof(double), "room of a gather");

/* Exact at any moment, unlike getrusage, which is renewed with the scheduler's ticks. */
static double processor_time(clockid_t of) {
  struct timespec t;
  clock_gettime(of, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that all threads of this process spent in the kernel, which counts in ticks. */
static double kernel_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

double ft_processor_time(void) {
  return processor_time(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- computation alone */

/* As slabs, but only the own piece of a plane goes anywhere. */
static void alone_plane(struct ft_exchange *x, int plane) {
  const size_t size = (size_t)x->team->size, me = (size_t)x->team->me, p = (size_t)plane;
  const size_t at = x->order == FT_BY_PLANE ? p * size + me : me * (size_t)x->planes + p;
  ft_phases_enter(x->phases, FT_MOVE);
  memcpy(x->land + at * x->piece, ft_exchange_target(x, plane) + me * x->piece,
         x->piece * sizeof(struct cplx));
  x->slot++;
}

static void alone_finish(struct ft_exchange *x) {
  x->slot = 0;
}

static const struct ft_schedule alone = {.plane = alone_plane, .finish = alone_finish};

/* Processor seconds of an inverse transform of this thread; the less of two. */
static double compute_alone(struct ft_solver *s) {
  const struct ft_schedule *const schedule = s->schedule;
  double least = 0;
  s->schedule = &alone;
  for (int k = 0; k < 2; k++) {
    comm_barrier();
    const double before = processor_time(CLOCK_THREAD_CPUTIME_ID);
    ft_solver_inverse(s, 1);
    const double took = processor_time(CLOCK_THREAD_CPUTIME_ID) - before;
    if (k == 0 || took < least) least = took;
  }
  s->schedule = schedule;
  return least;
}

/* ---- exchanges alone */

static void exchanges_alone(const struct ft_solver *s, struct ft_bound *b, struct report *report) {
  comm_barrier();
  const double before = ft_processor_time(), kernel = kernel_time();
  b->wire = ft_exchange_alone(&s->exchange[FT_COLUMN_INVERSE]);
  if (s->layout.ty > 1) b->wire += ft_exchange_alone(&s->exchange[FT_ROW_INVERSE]);
  report->conduit = (ft_processor_time() - before) / FT_ALONE_TIMES;
  report->kernel = (kernel_time() - kernel) / FT_ALONE_TIMES;
  if (report->kernel > report->conduit) report->kernel = report->conduit;
}

/* ---- processors */

/* A number that ranks on one machine have in common, exact as a double; 0: not known. */
static double boot_of_machine(void) {
  char text[64] = "";
  unsigned long long hash = 1469598103934665603u; /* FNV-1a */
  FILE *in = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!in || !fgets(text, sizeof text, in)) text[0] = '\0';
  if (in) fclose(in);
  for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  return text[0] ? (double)(hash >> 12) : 0;
}

static void mask_of_rank(double mask[MASKS]) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < MASKS * MASK_BITS && i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set)) mask[i / MASK_BITS] += (double)(1ull << i % MASK_BITS);
}

/* Ranks on the machine of `first`, and processors that any of them may use. */
static void count_machine(const struct report *all, int ranks, int first, int *here, int *cpus) {
  unsigned long long any[MASKS] = {0};
  *here = *cpus = 0;
  for (int r = 0; r < ranks; r++) {
    if (all[r].boot != all[first].boot) continue;
    ++*here;
    for (int i = 0; i < MASKS; i++) any[i] |= (unsigned long long)all[r].mask[i];
  }
  for (int i = 0; i < MASKS; i++) *cpus += __builtin_popcountll(any[i]);
  if (*cpus == 0) *cpus = *here; /* more processors than a mask holds */
}

static void combine(const struct report *all, int ranks, int times, struct ft_bound *b) {
  for (int r = 0; r < ranks; r++) {
    int here, cpus;
    b->compute += times * all[r].compute / ranks;
    b->conduit += times * all[r].conduit / ranks;
    b->kernel += times * all[r].kernel / ranks;
    count_machine(all, ranks, r, &here, &cpus);
    const double share = (double)cpus / here;
    if (r && share >= b->share) continue;
    b->share = share;
    b->ranks = here;
    b->cpus = cpus;
  }
}

void ft_bound_measure(struct ft_solver *s, int iterations, struct ft_bound *b) {
  const int times = iterations + 1; /* and the forward transform */
  struct report mine = {.boot = boot_of_machine()}, *all = NULL;
  *b = (struct ft_bound){0};
  mask_of_rank(mine.mask);
  ft_solver_fill(s);
  mine.compute = compute_alone(s);
  exchanges_alone(s, b, &mine);
  b->wire *= times;
  if (comm_rank() == 0) {
    all = malloc(comm_gather_bytes(FT_PHASES + 1));
    if (!all) comm_fail("out of memory for the bound", "leave out --bound");
  }
  comm_gather((const double *)&mine, FT_PHASES + 1, (double *)all);
  if (all) combine(all, comm_size(), times, b);
  free(all);
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

double ft_bound_least(const struct ft_bound *b, double others, double compute, int planes) {
  return others + compute / planes + larger(b->wire, compute);
}

double ft_bound_shared(const struct ft_bound *b, double others, int planes) {
  const double busy = (b->compute + b->conduit) / b->share;
  return others + b->compute / planes + larger(larger(b->wire, b->compute), busy);
}
