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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BROADCAST, ALLREDUCE, ALLGATHER, EXCHANGE, KINDS };

struct side {
  void (*run)(int kind, void *dst, void *src, size_t bytes); /* one blocking collective */
  void (*barrier)(void);
  int rank, size;
};

#define LOOP_BYTES_MAX ((size_t)1 << 20)
#define LOOP_SAMPLES   15

static double loop_now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Calls in one sample: the same on all ranks, from the size alone. */
static int loop_calls(size_t bytes) {
  const double guess_us = 1.0 + (double)bytes / 4000.0;
  const int calls = (int)(2000.0 / guess_us);
  return calls < 4 ? 4 : calls;
}

/* The least time of one call in microseconds. */
static double loop_figure(const struct side *s, int kind, void *dst, void *src, size_t bytes) {
  const int calls = loop_calls(bytes);
  double best = 1e30;
  for (int sample = 0; sample < LOOP_SAMPLES; sample++) {
    s->barrier();
    const double start = loop_now_us();
    for (int i = 0; i < calls; i++) s->run(kind, dst, src, bytes);
    s->barrier();
    const double us = (loop_now_us() - start) / calls;
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
  char *dst = malloc(LOOP_BYTES_MAX * (size_t)s->size);
  char *src = malloc(LOOP_BYTES_MAX * (size_t)s->size);
  if (!dst || !src) {
    fprintf(stderr, "coll comparison: out of memory\n");
    return 1;
  }
  memset(dst, 0, LOOP_BYTES_MAX * (size_t)s->size);
  memset(src, 0, LOOP_BYTES_MAX * (size_t)s->size);
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
