/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring loop of collectives over hosts that levels_gex.c and levels_mpi.c compile.
 *
 * Owns: kinds, sizes, the check of results and the output. Calls: the functions of struct levels. A
 * sample is the mean of CALLS collectives, each with a barrier behind it, without which those that
 * send to or from one rank would overtake each other. Rank 0 prints "KIND BYTES MICROSECONDS", the
 * median of SAMPLES samples; a wrong result ends the program with code 1.
 */
#ifndef TMB_COMPARE_LEVELS_LOOP_H
#define TMB_COMPARE_LEVELS_LOOP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "written.h"

enum { BARRIER, BROADCAST, REDUCE, ALLREDUCE, GATHER, ALLGATHER, EXCHANGE, SCAN, SPLIT, KINDS };
enum { CALLS = 10, SAMPLES = 7, SPLIT_BYTES = 40, LEVELS_BYTES_MAX = 1024 };

struct levels {
  void (*run)(int kind, char *out, char *in, size_t bytes);
  void (*barrier)(void);
  int rank, size;
};

/* Block b of rank r; the sum of these over r below n. */
static double levels_value(int r, int b) {
  return 100 * r + b;
}

static double levels_sum(int n, int b) {
  return 50.0 * n * (n - 1) + (double)n * b;
}

/* The last word of block `b` of a result. */
static double levels_last(const char *out, int b, size_t bytes) {
  double x;
  memcpy(&x, out + (size_t)(b + 1) * bytes - sizeof x, sizeof x);
  return x;
}

/* Whether the last words of a result are right. */
static bool levels_right(const struct levels *l, int kind, const char *out, size_t bytes) {
  bool right = true;
  switch (kind) {
  case BROADCAST: return levels_last(out, 0, bytes) == 42;
  case REDUCE: return l->rank || levels_last(out, 0, bytes) == levels_sum(l->size, 0);
  case ALLREDUCE: return levels_last(out, 0, bytes) == levels_sum(l->size, 0);
  case SCAN: return levels_last(out, 0, bytes) == levels_sum(l->rank + 1, 0);
  case GATHER:
    if (l->rank) return true;
    /* fallthrough */
  case ALLGATHER:
    for (int b = 0; b < l->size; b++)
      right = right && levels_last(out, b, bytes) == levels_value(b, 0);
    return right;
  case EXCHANGE:
    for (int b = 0; b < l->size; b++)
      right = right && levels_last(out, b, bytes) == levels_value(b, l->rank);
    return right;
  default: return true;
  }
}

static bool levels_try(const struct levels *l, int kind, char *out, char *in, size_t bytes) {
  const double value = kind == BROADCAST && l->rank == 0 ? 42 : 0;
  for (int b = 0; b < l->size; b++)
    for (size_t i = 0; i < bytes / sizeof value; i++) {
      const double mine = levels_value(l->rank, b);
      memcpy(in + (size_t)b * bytes + i * sizeof mine, &mine, sizeof mine);
      memcpy(out + (size_t)b * bytes + i * sizeof value, &value, sizeof value);
    }
  l->barrier();
  l->run(kind, out, in, bytes);
  l->barrier();
  return levels_right(l, kind, out, bytes);
}

static double levels_median(const struct levels *l, int kind, char *out, char *in, size_t bytes) {
  double us[SAMPLES];
  for (int s = 0; s < SAMPLES; s++) {
    l->barrier();
    const double begin = now_us();
    for (int i = 0; i < CALLS; i++) {
      l->run(kind, out, in, bytes);
      l->barrier();
    }
    us[s] = (now_us() - begin) / CALLS;
  }
  qsort(us, SAMPLES, sizeof *us, by_value);
  return us[SAMPLES / 2];
}

static int levels_main(const struct levels *l) {
  static const char *const name[KINDS] = {"barrier",   "broadcast", "reduce", "allreduce", "gather",
                                          "allgather", "exchange",  "scan",   "split"};
  char *const in = written((size_t)l->size * LEVELS_BYTES_MAX);
  char *const out = written((size_t)l->size * LEVELS_BYTES_MAX);
  if (!in || !out) return 1;
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t bytes = 8; bytes <= LEVELS_BYTES_MAX; bytes *= LEVELS_BYTES_MAX / 8) {
      const bool sized = kind != BARRIER && kind != SPLIT;
      if (!sized && bytes > 8) break;
      if (!levels_try(l, kind, out, in, bytes)) {
        fprintf(stderr, "levels: rank %d: %s of %zu B: wrong\n", l->rank, name[kind], bytes);
        return 1;
      }
      const double us = levels_median(l, kind, out, in, bytes);
      if (l->rank == 0) printf("%s %zu %.3f\n", name[kind], sized ? bytes : 0, us);
      if (l->rank == 0) fflush(stdout);
    }
  free(in);
  free(out);
  return 0;
}

#endif
