/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring loop that both sides of the collective comparison compile.
 *
 * Owns: sizes, repetition and the output format. Included by coll_mpi.c and coll_gex.c, which
 * define what a collective is in their library. Calls: the two functions of struct side. A sample
 * is the mean of enough calls to last about 2 ms, timed on rank 0 between two barriers; a line
 * "KIND BYTES MICROSECONDS" is the least of SAMPLES samples. Both libraries run exactly this, and
 * bind themselves alike: rank r to the r-th processor of a list that is the first argument. A
 * second argument is the only size that is measured.
 */
#ifndef TMB_COMPARE_COLL_LOOP_H
#define TMB_COMPARE_COLL_LOOP_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "written.h"

enum { BROADCAST, ALLREDUCE, ALLGATHER, EXCHANGE, KINDS };

struct side {
  void (*run)(int kind, void *dst, void *src, size_t bytes); /* one blocking collective */
  void (*barrier)(void);
  int rank, size;
};

#define LOOP_BYTES_MAX    ((size_t)1 << 20)
#define LOOP_SAMPLES      15

#define LOOP_CALLS_LEAST  4 /* of a sample, so that its barrier counts little */
#define LOOP_TRIAL_CALLS  16
#define LOOP_FAR_OFF      4.0 /* times what the size let expect: what was seen counts */
/* Calls that take longer have few samples: where ranks outnumber processors a peer that spins takes
 * tens of milliseconds, and would not be done in time. */
#define LOOP_SLOW_US      1000.0
#define LOOP_SAMPLES_SLOW 3

/* Microseconds of one of so many calls, between two barriers. */
static double loop_sample(const struct side *s, int kind, void *dst, void *src, size_t bytes,
                          int calls) {
  s->barrier();
  const double start = now_us();
  for (int i = 0; i < calls; i++) s->run(kind, dst, src, bytes);
  s->barrier();
  return (now_us() - start) / calls;
}

/* What rank 0 has seen, on all ranks: a number of calls must be the same everywhere. */
static double loop_agree(const struct side *s, double us, void *dst, void *src) {
  memcpy(dst, &us, sizeof us);
  s->run(BROADCAST, dst, src, sizeof us);
  memcpy(&us, dst, sizeof us);
  memset(dst, 0, sizeof us);
  s->barrier();
  return us;
}

/* Calls of a sample of 2 ms, the same on all ranks: by the size, or by what has been seen if that
 * is much more. out slow: a call takes so long that few samples must do. */
static int loop_calls(const struct side *s, int kind, void *dst, void *src, size_t bytes,
                      bool *slow) {
  const double guess_us = 1.0 + (double)bytes / 4000.0;
  loop_sample(s, kind, dst, src, bytes, 1); /* the first one pays for what is set up */
  double us = loop_agree(s, loop_sample(s, kind, dst, src, bytes, 1), dst, src);
  const int trial = us > LOOP_SLOW_US ? LOOP_CALLS_LEAST : LOOP_TRIAL_CALLS;
  us = loop_agree(s, loop_sample(s, kind, dst, src, bytes, trial), dst, src);
  *slow = us > LOOP_SLOW_US;
  const int calls = (int)(2000.0 / (us > LOOP_FAR_OFF * guess_us ? us : guess_us));
  return calls < LOOP_CALLS_LEAST ? LOOP_CALLS_LEAST : calls;
}

/* The least time of one call in microseconds. */
static double loop_figure(const struct side *s, int kind, void *dst, void *src, size_t bytes) {
  bool slow;
  const int calls = loop_calls(s, kind, dst, src, bytes, &slow);
  double best = 1e30;
  for (int sample = 0; sample < (slow ? LOOP_SAMPLES_SLOW : LOOP_SAMPLES); sample++) {
    const double us = loop_sample(s, kind, dst, src, bytes, calls);
    if (us < best) best = us;
  }
  return best;
}

/* in cpus: "0,1,...", one for each rank; NULL or "": stay where the launcher put us. */
static void loop_bind(const struct side *s, const char *cpus) {
  cpu_set_t one;
  char *end = NULL;
  if (!cpus || !*cpus) return;
  for (int r = 0; r < s->rank; r++) {
    cpus = strchr(cpus, ',');
    if (!cpus) return;
    cpus++;
  }
  CPU_ZERO(&one);
  CPU_SET((size_t)strtol(cpus, &end, 10), &one);
  if (end == cpus || sched_setaffinity(0, sizeof one, &one) != 0)
    fprintf(stderr, "coll comparison: rank %d is not bound\n", s->rank);
}

static int loop_main(const struct side *s, int argc, char **argv) {
  const size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  loop_bind(s, argc > 1 ? argv[1] : NULL);
  static const char *const name[KINDS] = {"broadcast", "allreduce", "allgather", "exchange"};
  char *dst = written(LOOP_BYTES_MAX * (size_t)s->size);
  char *src = written(LOOP_BYTES_MAX * (size_t)s->size);
  if (!dst || !src) {
    fprintf(stderr, "coll comparison: out of memory\n");
    return 1;
  }
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t bytes = 8; bytes <= LOOP_BYTES_MAX;
         bytes = bytes == 262144 ? LOOP_BYTES_MAX : bytes * 8) {
      if (only && bytes != only) continue;
      const double us = loop_figure(s, kind, dst, src, bytes);
      if (s->rank == 0) printf("%s %zu %.4f\n", name[kind], bytes, us);
      if (s->rank == 0) fflush(stdout); /* a run may be cut off */
    }
  free(dst);
  free(src);
  return 0;
}

#endif
